//! Takes the place of its own first thread, so that it cannot be started. With an argument, faults in so many lives instead.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, environment};
use cairn_interfaces::{Threads, spawn};
use cairn_test_hostile_starts_contract as contract;
use core::sync::atomic::{AtomicBool, Ordering::SeqCst};

struct Server;
static SERVER: Server = Server;
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
static STACK: Stack<4096> = Stack::new();

cairn::component! {
    name: "hostile-newborn",
    imports: { threads: Threads, tidy: contract::Tidy },
    exports: { newborn: contract::Newborn = SERVER },
    main: main,
}

fn main() {
    HAS_BEGUN.store(true, SeqCst);
    let lives = environment::argument().parse().unwrap_or(0);
    assert!(environment::startup().generation >= lives, "one more life");
    stay(0);
}

fn stay(_: u64) {
    let _ = imports::THREADS.sleep_until(u64::MAX);
}

impl contract::Newborn for Server {
    fn take(&self) -> Result<bool, Error> {
        if HAS_BEGUN.load(SeqCst) {
            return Ok(true);
        }
        spawn(imports::THREADS, &STACK, stay, 0, 1)?;
        imports::TIDY.work()?;
        Ok(false)
    }
}
