//! Stands for all that runs between two entries into a critical section, and reports what that one counts: its own table of
//! samples would not fit into the TLB.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::exclusive::Exclusive;
use cairn_bench::{Distribution, PAGE, Page, Report, WITNESSED, Witness, over_code};

struct Reporter;
static REPORTER: Reporter = Reporter;
static SAMPLES: Exclusive<Distribution> = Exclusive::new(Distribution::EMPTY);
/// More than the data TLB of a core has entries, also of one whose entries are of four pages each.
static PAGES: Exclusive<[Page; 48]> = Exclusive::new([Page::ZERO; 48]);

cairn::component! {
    name: "witness",
    exports: { witness: Witness = REPORTER },
}

impl Witness for Reporter {
    fn disturb(&self) -> Result<u64, Error> {
        PAGES.with(|pages| {
            for (number, page) in pages.iter_mut().enumerate() {
                // Each in another line of a cache.
                let byte = &mut page.bytes()[number * 64 % PAGE as usize];
                *byte = byte.wrapping_add(1);
            }
        });
        Ok(over_code(1))
    }
    fn add(&self, misses: u64) -> Result<u64, Error> {
        SAMPLES.with(|samples| samples.add(misses as i64));
        Ok(0)
    }
    fn report(&self, what: u64) -> Result<u64, Error> {
        let name = WITNESSED.get(what as usize).ok_or(Error::NotFound)?;
        SAMPLES.with(|samples| {
            Report::new().misses(name, samples);
            samples.clear();
        });
        Ok(0)
    }
    fn end(&self) -> Result<u64, Error> {
        Report::new().end();
        Ok(0)
    }
}
