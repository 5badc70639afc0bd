//! Uses as much stack and heap as it is told, and first some of its own, in a thread beside, too.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use cairn::Error;
use cairn::thread::Stack;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{Portals, Threads, spawn};
use core::hint::black_box;

struct User;
static USER: User = User;

cairn::component! {
    name: "user",
    imports: { portals: Portals, threads: Threads },
    exports: { echo: Echo = USER },
    main: main,
}

/// Goes so many KiB deep.
fn descend(kibibytes: u64) -> u64 {
    let room = black_box([1_u8; 1024]);
    match kibibytes {
        0 => room[0].into(),
        _ => descend(kibibytes - 1) + u64::from(room[1023]),
    }
}

#[inline(never)]
fn give_up(length: usize) -> Result<(), Error> {
    panic!("it cannot bear these {length} bytes")
}

impl Echo for User {
    /// KiB of stack, and of the heap, for a moment.
    fn add(&self, stack: u64, heap: u64) -> Result<u64, Error> {
        let mut taken: Vec<u8> = Vec::new();
        taken.try_reserve_exact(heap as usize * 1024).map_err(|_| Error::Exhausted)?;
        Ok(descend(stack))
    }

    /// Dies of it.
    fn say(&self, text: ReadWindow<'_>) -> Result<(), Error> {
        give_up(text.len())
    }

    fn fill(&self, _buffer: WriteWindow<'_>) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }
}

static STACK: Stack<16384> = Stack::new();

fn main() {
    black_box(descend(5));
    let deep = |kibibytes| {
        black_box(descend(kibibytes));
    };
    spawn(imports::THREADS, &STACK, deep, 9, 60).expect("a thread").join().expect("it ends");
}
