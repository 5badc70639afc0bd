//! Holds a till.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::call::Call;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, Error, environment};
use cairn_interfaces as interfaces;
use cairn_test_shared_contract::Till;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use core::time::Duration;

struct Server;
static SERVER: Server = Server;
static HELD: AtomicU64 = AtomicU64::new(0);

/// How a part of it is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, cairn::Wire)]
enum Lock {
    Open = 3,
    Locked = 7,
}

cairn::component! {
    name: "teller",
    imports: { memory: interfaces::Memory },
    exports: { till: Till = SERVER },
    arguments: {
        opening: u64 = 1000,
        drawer: usize,
        debt: i64,
        period: Duration = Duration::from_millis(2),
        is_open: bool = false,
        name: &str,
        motto: &str = "",
        lock: Lock = Lock::Open,
        window: Lock = Lock::Open,
    },
    main: main,
}

/// What it holds at the beginning of a life.
fn main() {
    HELD.fetch_add(arguments::opening(), Relaxed);
}

impl Till for Server {
    fn add(&self, amount: u64) -> Result<u64, Error> {
        Ok(HELD.fetch_add(amount, Relaxed))
    }

    fn sum(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        let mut buffer = [0; 256];
        Ok(bytes.copy(&mut buffer)?.iter().map(|byte| u64::from(*byte)).sum())
    }

    fn number(&self, bytes: WriteWindow<'_>) -> Result<(), Error> {
        for place in 0..bytes.len() {
            bytes.write(place, &[place as u8])?;
        }
        Ok(())
    }

    fn count_on(&self, first: u64) -> Result<(u64, u64, u64), Error> {
        Ok((first, first + 1, first + 2))
    }

    fn who(&self, caller: Caller) -> Result<u64, Error> {
        Ok(caller.0.into())
    }

    fn page_by_index(&self) -> Result<(), Error> {
        let mut call = Call::new();
        call.skip();
        call.word(1);
        let (status, [address, ..]) = call.invoke(imports::MEMORY.first_portal());
        match status {
            0 => imports::MEMORY.free(address, 1),
            _ => Err(Error::from_status(status)),
        }
    }

    fn notice(&self) -> Result<u64, Error> {
        environment::section("notice").map(|notice| notice.load(0)).ok_or(Error::NotFound)
    }

    fn given(&self) -> Result<(u64, i64, bool), Error> {
        let is_right = arguments::name() == "left till"
            && arguments::motto().is_empty()
            && (arguments::lock(), arguments::window()) == (Lock::Locked, Lock::Open)
            && arguments::period() == Duration::from_micros(1500);
        Ok((arguments::drawer() as u64, arguments::debt(), is_right && arguments::is_open()))
    }

    fn break_down(&self) -> Result<(), Error> {
        panic!("out of change");
    }

    fn take_pages(&self, pages: u64) -> Result<u64, Error> {
        Ok((0..pages).take_while(|_| imports::MEMORY.allocate(1).is_ok()).count() as u64)
    }
}
