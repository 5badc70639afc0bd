//! Uses the pages of a section, one more now and then. It dies of a page that has not what it wrote there last.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, environment, time};
use cairn_interfaces::Threads;
use cairn_test_replaced_pagers_contract::User;
// Relaxed: a count.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

const PAGE: usize = 4096;
const PAGES: usize = 256;
/// Rounds until it misses a page that it has not had.
const ROUNDS_OF_PAGE: u64 = 8;

struct Server;
static SERVER: Server = Server;
static ROUNDS: AtomicU64 = AtomicU64::new(0);

cairn::component! {
    name: "replaced-pagers-user",
    imports: { threads: Threads },
    exports: { user: User = SERVER },
    arguments: {
        section: &str,
        // Where its words are in each page: others may have theirs there, too.
        at: u64 = 0,
        // Microseconds from a round to the next.
        pause: u64 = 10,
    },
    main: main,
}

impl User for Server {
    fn rounds(&self) -> Result<u64, Error> {
        Ok(ROUNDS.load(Relaxed))
    }
}

fn main() -> Result<(), Error> {
    let section = environment::section(arguments::section()).ok_or(Error::NotFound)?;
    let pages = (section.size() / PAGE).min(PAGES);
    let at = arguments::at() as usize;
    let mut written = [0_u64; PAGES];
    let mut used = 0;
    for round in 1.. {
        let is_next = used < pages && round % ROUNDS_OF_PAGE == 1;
        let page = if is_next { used } else { round as usize % used };
        used += usize::from(is_next);
        let places = [page * PAGE + at, page * PAGE + PAGE - 8 - at];
        for (place, offset) in places.into_iter().enumerate() {
            let found = section.load(offset);
            if written[page] != 0 && found != written[page] + place as u64 {
                panic!("page {page} has {found:#x}, and not {:#x}", written[page] + place as u64);
            }
        }
        written[page] = round << 16 | (page as u64) << 1;
        for (place, offset) in places.into_iter().enumerate() {
            section.store(offset, written[page] + place as u64);
        }
        ROUNDS.store(round, Relaxed);
        imports::THREADS.sleep_until(time::now() + time::ticks(arguments::pause()))?;
    }
    Ok(())
}
