//! Changes pages of a section in transactions, and dies of a page that has not what it wrote there in the last one that it committed.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::section::Section;
use cairn::{Error, environment, time};
use cairn_interfaces::{Threads, Transactions};
use cairn_test_replaced_pagers_contract::User;
// Relaxed: a count.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const PAGE: usize = 4096;
/// Pages of a transaction.
const PAGES: usize = 6;

struct Server;
static SERVER: Server = Server;
static ROUNDS: AtomicU64 = AtomicU64::new(0);

cairn::component! {
    name: "replaced-pagers-changer",
    imports: { threads: Threads, transactions: Transactions },
    exports: { user: User = SERVER },
    arguments: {
        section: &str,
        // The first of its pages.
        first: u64 = 0,
    },
    main: main,
}

use imports::{THREADS, TRANSACTIONS};

impl User for Server {
    fn rounds(&self) -> Result<u64, Error> {
        Ok(ROUNDS.load(Relaxed))
    }
}

fn pause() -> Result<(), Error> {
    THREADS.sleep_until(time::now() + time::ticks(10))
}

/// Whether each of its pages has its word of a round; the first life knows of none.
fn check(section: &Section, round: u64) {
    let first = arguments::first() as usize;
    for page in first..first + PAGES {
        let found = section.load(page * PAGE);
        if round != 0 && found != round << 16 | page as u64 {
            panic!("page {page} has {found:#x}, and not that of round {round}");
        }
    }
}

fn main() -> Result<(), Error> {
    let section = environment::section(arguments::section()).ok_or(Error::NotFound)?;
    let first = arguments::first() as usize;
    let mut committed = 0;
    for round in 1.. {
        TRANSACTIONS.begin(first as u64, PAGES as u64)?;
        check(&section, committed);
        for page in first..first + PAGES {
            section.store(page * PAGE, round << 16 | page as u64);
            pause()?;
        }
        check(&section, round);
        let changed = match round % 3 {
            0 => TRANSACTIONS.abort(),
            _ => TRANSACTIONS.commit().inspect(|_| committed = round),
        };
        if changed? != PAGES as u64 {
            panic!("a page was not changed in round {round}");
        }
        check(&section, committed);
        ROUNDS.store(round, Relaxed);
        pause()?;
    }
    Ok(())
}
