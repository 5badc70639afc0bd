//! Passes all that it is called with on to a fellow in its domain, what its callers' memory holds in pieces.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn::window::{ReadWindow, WriteWindow};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_test_kernel_inside::{Inside, mixed};

/// What needs no place of its own to be passed on.
const PIECE: usize = 64;

struct Server;
static SERVER: Server = Server;
static STACK: Stack<4096> = Stack::new();

cairn::component! {
    name: "hostile-front",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        portals: interfaces::Portals,
        inside: Inside,
    },
    exports: { inside: Inside = SERVER },
    main: main,
}

use imports::{CONSOLE, INSIDE, PORTALS, THREADS};

/// It has a thread that is mostly in its fellow, and takes what it can get of portals, semaphores and locks.
fn main() {
    if spawn(THREADS, &STACK, call_always, 0, 21).is_err_and(|error| error != Error::Cancelled) {
        let _ = CONSOLE.print(format_args!("FAILED: the front has one thread\n"));
    }
    while PORTALS.semaphore(0).is_ok() {}
    while PORTALS.lock().is_ok() {}
    let mut opened = 0;
    while PORTALS.open_proxy::<dyn cairn_app_interfaces::Echo>("console.console").is_ok()
        || PORTALS.open("console.console", 0, &[]).is_ok()
    {
        opened += 1;
    }
    if opened == 0 {
        let _ = CONSOLE.print(format_args!("FAILED: the front opened nothing\n"));
    }
}

fn call_always(_: u64) {
    for round in 0.. {
        let found = INSIDE.mix(round, 2, 3);
        if found != Ok(mixed(round, 2, 3)) {
            let _ = CONSOLE.print(format_args!("FAILED: a fellow answered {found:?}\n"));
        }
        if round % 64 == 0 {
            let _ = THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(100));
        }
    }
}

impl Inside for Server {
    fn mix(&self, first: u64, second: u64, third: u64) -> Result<(u64, u64, u64), Error> {
        INSIDE.mix(first, second, third)
    }

    fn spin(&self, rounds: u64) -> Result<(), Error> {
        INSIDE.spin(rounds)
    }

    fn deep(&self, calls: u64) -> Result<u64, Error> {
        INSIDE.deep(calls)
    }

    fn fail(&self) -> Result<(), Error> {
        INSIDE.fail()
    }

    fn sum(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        let mut sum = 0;
        bytes.pieces::<PIECE>(|piece| {
            sum += INSIDE.sum(piece)?;
            Ok(())
        })?;
        Ok(sum)
    }

    fn turn(&self, bytes: WriteWindow<'_>) -> Result<u64, Error> {
        let mut buffer = [0; PIECE];
        let mut offset = 0;
        while offset < bytes.len() {
            let count = bytes.as_read().read(offset, &mut buffer)?;
            INSIDE.turn(&mut buffer[..count])?;
            offset += bytes.write(offset, &buffer[..count])?;
        }
        Ok(offset as u64)
    }
}
