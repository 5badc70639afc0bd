//! Keeps who calls it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};
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
        loop {
            let _ = imports::THREADS.sleep_until(now() + ticks(1000));
        }
    }
}
