//! Keeps who calls it.
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
        if environment::argument() == "once" {
            return imports::THREADS.sleep_until(u64::MAX);
        }
        loop {
            let _ = imports::THREADS.sleep_until(now() + ticks(1000));
        }
    }
}
