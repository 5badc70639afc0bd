//! Keeps who calls it; with an argument, until its wait is ended.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::{now, ticks};
use cairn::{Error, environment};
use cairn_interfaces::Threads;
use cairn_test_blame_contract::Keep;

struct Keeper;
static KEEPER: Keeper = Keeper;

cairn::component! {
    name: "blame-keeper",
    imports: { threads: Threads },
    exports: { keep: Keep = KEEPER },
}

impl Keep for Keeper {
    fn keep(&self) -> Result<(), Error> {
        match environment::argument() {
            "once" => return imports::THREADS.sleep_until(u64::MAX),
            "tidy" => {
                let ended = imports::THREADS.sleep_until(u64::MAX);
                // What it has to do before it returns: some waits, shorter than its time.
                for _ in 0..3 {
                    imports::THREADS.sleep_until(now() + ticks(20_000))?;
                }
                return ended;
            }
            _ => {}
        }
        loop {
            let _ = imports::THREADS.sleep_until(now() + ticks(1000));
        }
    }
}
