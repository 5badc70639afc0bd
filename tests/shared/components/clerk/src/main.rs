//! Serves a desk by means of a till, which may be in its domain.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::window::ReadWindow;
use cairn::{Error, environment};
use cairn_interfaces as interfaces;
use cairn_test_shared_contract::{Desk, Till};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;
static BEGUN: AtomicU64 = AtomicU64::new(0);
static FAILED: AtomicU64 = AtomicU64::new(0);

cairn::component! {
    name: "clerk",
    imports: {
        memory: interfaces::Memory,
        till: Till,
        portals: interfaces::Portals,
        nobody: Option<Till>,
        other: Option<Till>,
    },
    exports: { desk: Desk = SERVER },
    main: main,
}

use imports::{MEMORY, PORTALS, TILL};

fn main() {
    BEGUN.fetch_add(1, Relaxed);
}

/// Everything that a till can do, by these portals.
fn try_all(till: &dyn Fn(Deed) -> Result<u64, Error>) -> Result<(), Error> {
    let own = u64::from(environment::startup().instance);
    let expected = [
        (Deed::Sum(&[7; 200]), 1400),
        (Deed::Sum(&[9; 5]), 45),
        (Deed::Number, 255),
        (Deed::CountOn, 5 + 6 + 7),
        (Deed::Who, own),
        (Deed::Add, 0),
    ];
    for (number, (deed, value)) in expected.into_iter().enumerate() {
        FAILED.store(number as u64 + 1, Relaxed);
        let is_add = matches!(deed, Deed::Add);
        if till(deed)? != value && !is_add {
            return Err(Error::BadArgument);
        }
    }
    FAILED.store(0, Relaxed);
    Ok(())
}

enum Deed {
    Sum(&'static [u8]),
    Number,
    CountOn,
    Who,
    Add,
}

macro_rules! by {
    ($till:expr) => {
        &|deed| match deed {
            Deed::Sum(bytes) => $till.sum(bytes),
            Deed::Number => {
                let mut bytes = [0; 256];
                $till.number(&mut bytes)?;
                let is_right = bytes.iter().enumerate().all(|(at, byte)| at as u8 == *byte);
                Ok(if is_right { 255 } else { 0 })
            }
            Deed::CountOn => $till.count_on(5).map(|(first, second, third)| first + second + third),
            Deed::Who => $till.who(),
            Deed::Add => $till.add(0),
        }
    };
}

impl Desk for Server {
    fn check(&self) -> Result<(), Error> {
        try_all(by!(TILL))?;
        // The same by portals that are opened at run time.
        let opened = PORTALS.open_object::<dyn Till>("teller.till")?;
        try_all(by!(opened.proxy()))?;
        PORTALS.close(opened.first_portal().into())
    }

    fn failed(&self) -> Result<u64, Error> {
        Ok(FAILED.load(Relaxed))
    }

    fn deposit(&self, amount: u64) -> Result<u64, Error> {
        TILL.add(amount)
    }

    fn sum(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        let mut buffer = [0; 256];
        TILL.sum(bytes.copy(&mut buffer)?)
    }

    fn write_notice(&self, word: u64) -> Result<u64, Error> {
        let notice = environment::section("notice").ok_or(Error::NotFound)?;
        let before = notice.load(0);
        notice.store(0, word);
        Ok(before)
    }

    fn options(&self) -> Result<(bool, u64), Error> {
        let other = imports::OTHER.get().ok_or(Error::NotFound)?;
        Ok((imports::NOBODY.get().is_some(), other.sum(&[1; 7])?))
    }

    fn break_till(&self) -> Result<(), Error> {
        TILL.break_down()
    }

    fn begun(&self) -> Result<(u64, u64), Error> {
        Ok((BEGUN.load(Relaxed), TILL.add(0)?))
    }

    fn take_pages(&self, pages: u64) -> Result<u64, Error> {
        Ok((0..pages).take_while(|_| MEMORY.allocate(1).is_ok()).count() as u64)
    }
}
