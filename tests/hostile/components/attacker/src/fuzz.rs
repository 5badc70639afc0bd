//! Calls portals by chance: every index from 0 to 4096 and others, with arguments by chance. The
//! chance is a generator with a fixed beginning for each call, so a call can be repeated alone.

use crate::memory::PAGES;
use cairn::section::Section;
use cairn::{Error, environment};
use cairn_abi::address::{DOMAINS, NUCLEUS, REGION_SHIFT, ROLE_RECORD};
use cairn_abi::domain::{PORTAL_FIRST_IMPORT, PORTAL_TIME, PORTALS_MAXIMUM};
use cairn_random::Random;
use cairn_test_hostile_contract::notes;
use cairn_test_hostile_machine as machine;

/// The first calls go through the indexes in order, this often.
const SWEEPS: u64 = 8;
const SWEEP: u64 = 4097;
/// The indexes of the privileged portals, which were granted to others, and those that nobody has.
const PRIVILEGED: core::ops::Range<u64> = PORTAL_TIME as u64 + 1..PORTAL_FIRST_IMPORT as u64;

struct Chance(Random);

impl Chance {
    fn of_call(number: u64) -> Chance {
        let mut random = Random::of_seed(number);
        for _ in 0..4 {
            random.next();
        }
        Chance(random)
    }

    fn index(&mut self, number: u64) -> u64 {
        if number < SWEEPS * SWEEP {
            return number % SWEEP;
        }
        match self.0.next() % 8 {
            // What lies before the table: the entries of exceptions and interrupts, the domain's fields.
            0 => (self.0.next() % 512).wrapping_neg(),
            1 => self.0.next() >> (self.0.next() % 64),
            2 => u64::MAX - self.0.next() % 8,
            // Valid portals, but seldom those that end the thread at once.
            _ => 16 + self.0.next() % 64,
        }
    }

    fn word(&mut self) -> u64 {
        let page = PAGES.0.as_ptr() as u64;
        let region = page >> REGION_SHIFT << REGION_SHIFT;
        let base = match self.0.next() % 12 {
            0 => 0,
            1 => self.0.next() % 9,
            2 => 1 << (self.0.next() % 64),
            3 => page,
            4 => page + self.0.next() % 8192,
            5 => region + self.0.next() % (1 << REGION_SHIFT),
            6 => self.0.next() % (1 << (REGION_SHIFT + 5)),
            7 => NUCLEUS + self.0.next() % (1 << 30),
            8 => DOMAINS + self.0.next() % (1 << 16),
            9 => ROLE_RECORD + self.0.next() % (1 << 34),
            10 => self.0.next() % 20000,
            _ => self.0.next(),
        };
        match self.0.next() % 4 {
            0 => base & !4095,
            1 => base.wrapping_neg(),
            _ => base,
        }
    }
}

/// Goes on where an earlier instance of the attacker ended, hung or was killed.
pub fn go_on() {
    let Some(section) = environment::section("notes") else { return };
    loop {
        let number = section.load(notes::CALLS);
        if number >= section.load(notes::CALLS_WANTED) {
            return;
        }
        section.store(notes::CALLS, number + 1);
        call(&section, number);
    }
}

fn call(section: &Section, number: u64) {
    let mut chance = Chance::of_call(number);
    let index = chance.index(number);
    let words = core::array::from_fn(|_| chance.word());
    let (status, _) = machine::call(index, words);
    let count = |offset| section.store(offset, section.load(offset) + 1);
    match Error::from_status(status) {
        Error::NoPortal => count(notes::NO_PORTAL),
        _ if index >= PORTALS_MAXIMUM as u64 || PRIVILEGED.contains(&index) => count(notes::WRONG),
        _ if status == 0 => count(notes::SUCCEEDED),
        _ => {}
    }
}
