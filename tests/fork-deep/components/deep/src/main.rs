//! Forks, and its copies fork, until they are eight, each the copy of the one before, which stands between it and all others: what the
//! last one calls comes by them all.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::fork::{Quotas, Side};
use cairn::interpose::{Answer, Interposer, Passing};
use cairn::{Error, environment};
use cairn_interfaces as interfaces;
use cairn_test_fork_deep_contract::Ledger;
use cairn_test_hostile_contract::{judge, say};
use core::fmt::Debug;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "deep",
    imports: {
        console: interfaces::Console,
        // Whoever has portals made for it is connected to who makes them.
        grants: interfaces::Grants,
        loader: interfaces::Loader,
        ledger: Ledger,
    },
    main: main,
}

use imports::{CONSOLE, LEDGER, LOADER};

/// How deep copies of copies go.
const DEPTH: u64 = 7;
const PAGES: u32 = 120;
const NAMES: [&str; DEPTH as usize] =
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"];

/// Calls of the ledger that came by.
static PASSED: AtomicU64 = AtomicU64::new(0);

struct Between;

impl Interposer for Between {
    fn intercept(call: &Passing) -> Answer {
        let ledger = LEDGER.first_portal() as usize;
        if (ledger..ledger + 4).contains(&call.portal()) {
            PASSED.fetch_add(1, Relaxed);
        }
        call.forward()
    }
}

fn expect<T: PartialEq + Debug>(what: &str, found: T, expected: T) {
    judge::compare(CONSOLE, what, found, expected);
}

/// Which copy of a copy this is.
static LEVEL: AtomicU64 = AtomicU64::new(0);

fn main() -> Result<(), Error> {
    let own = || u64::from(environment::startup().instance.0);
    let first = own();
    loop {
        let level = LEVEL.load(Relaxed);
        if level == DEPTH {
            expect("the last is itself", (LEDGER.who(), own() == first), (Ok(own()), false));
            let mut bytes = [0; 200];
            let sum = LEDGER.exchange(&[3; 200], &mut bytes);
            expect("its memory goes through all, and back", (sum, bytes[199]), (Ok(600), 199));
            return LEDGER.done();
        }
        let left = DEPTH - level;
        let quotas = Quotas {
            pages: PAGES * left as u32,
            threads: left as u16,
            semaphores: 0,
            locks: 0,
            children: (left - 1) as u8,
        };
        match LOADER.domain_fork::<Between>(NAMES[level as usize], quotas) {
            Ok(Side::Child) => LEVEL.store(level + 1, Relaxed),
            Ok(Side::Parent(_)) if level == 0 => break,
            Ok(Side::Parent(_)) => return Ok(()),
            Err(error) => {
                let mut text = [0; 160];
                let length = LOADER.explain(&mut text)?.min(text.len());
                say!("FAILED {level}: {}", core::str::from_utf8(&text[..length]).unwrap_or("?"));
                return Err(error);
            }
        }
    }
    expect("eight generations, itself the first", LEDGER.wait(), Ok(()));
    expect("all calls came by the first", PASSED.load(Relaxed), 3);
    expect("they end with the first of them", LOADER.unload("first"), Ok(()));
    expect("the last, too", LOADER.unload("seventh"), Err(Error::NotFound));
    say!("fork-deep: done");
    Ok(())
}
