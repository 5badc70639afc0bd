//! Keeps the processor by threads that end, each before anybody looks at it twice: below the shell, and above it once that asks for it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn::window::{ReadWindow, WriteWindow};
use cairn_app_interfaces::Echo;
use cairn_interfaces::{Threads, spawn};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Anew;
static ANEW: Anew = Anew;

cairn::component! {
    name: "anew",
    imports: { threads: Threads },
    exports: { echo: Echo = ANEW },
    main: main,
}

/// How long each thread lives.
const LIFE_MICROSECONDS: u64 = 5_000;

static STACK: Stack<4096> = Stack::new();
static PRIORITY: AtomicU64 = AtomicU64::new(1);

fn main() {
    loop {
        let priority = PRIORITY.load(Relaxed) as u8;
        let thread = spawn(imports::THREADS, &STACK, live, 0, priority).expect("the stack is free");
        thread.join().expect("it ends");
    }
}

fn live(_: u64) {
    let end = now() + ticks(LIFE_MICROSECONDS);
    while now() < end {}
}

impl Echo for Anew {
    /// The priority of threads from now on.
    fn add(&self, priority: u64, _: u64) -> Result<u64, Error> {
        PRIORITY.store(priority, Relaxed);
        Ok(priority)
    }

    fn say(&self, _: ReadWindow<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn fill(&self, _: WriteWindow<'_>) -> Result<usize, Error> {
        Ok(0)
    }
}
