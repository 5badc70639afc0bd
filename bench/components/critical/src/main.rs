//! A critical section: it works over all pages of its section and over its code, and counts misses of the TLB between
//! two reads of the control device.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::abi::domain::PORTAL_FIRST_IMPORT;
use cairn::environment;
use cairn::registers::Registers;
use cairn::section::Section;
use cairn_bench::{Link, PAGE, Rounds, WITNESSED, Witness, over_code, wants};
use imports::*;

cairn::component! {
    name: "critical",
    imports: {
        witness: Witness,
        new2: Link,
        new4: Link,
        new8: Link,
    },
    main: main,
}

/// Of the control device: how many walks of the page tables have found what a TLB missed.
const MISSES: usize = 32;
const WARM_UP: usize = 20;
const SAMPLES: usize = 100;
/// How many times longer than a call a sample takes, roughly.
const WEIGHT: usize = 10;
/// Passes through the section, of which only the first may miss.
const LATER: usize = 4;
/// Index, in a link's portal table, of the next link's first method.
const NEXT: u32 = PORTAL_FIRST_IMPORT as u32;

struct Counter {
    device: Registers,
}

impl Counter {
    /// Misses while `body` runs.
    fn misses(&self, body: impl FnOnce()) -> u64 {
        let before = self.device.read_u64(MISSES);
        body();
        self.device.read_u64(MISSES) - before
    }
}

/// Every page of the section, read and written, and all code.
fn pass(section: &Section) {
    let word = over_code(section.load(0));
    for page in 0..section.size() / PAGE as usize {
        // Each in another line of a cache.
        let offset = page * PAGE as usize + page * 64 % PAGE as usize;
        section.store(offset, section.load(offset) + word);
    }
}

/// Has as many samples reported as were ordered, as those of `WITNESSED[what]`.
fn sample(what: usize, mut take: impl FnMut() -> u64) {
    if !wants(WITNESSED[what]) {
        return;
    }
    let rounds = Rounds::new(WARM_UP, SAMPLES, WEIGHT);
    for round in rounds.all() {
        let misses = take();
        if rounds.counts(round) {
            WITNESS.add(misses).expect("the witness takes a sample");
        }
    }
    WITNESS.report(what as u64).expect("the witness knows what it is");
}

fn main() {
    let device = environment::device(0).expect("the description gives this instance `control`");
    let counter = Counter { device };
    let section = environment::section("work").expect("the description maps the section `work`");
    let first = || {
        WITNESS.disturb().expect("the witness uses the TLB");
        counter.misses(|| pass(&section))
    };
    sample(0, first);
    sample(1, || {
        first();
        counter.misses(|| (0..LATER).for_each(|_| pass(&section)))
    });
    for (what, link) in (2..).zip([NEW2, NEW4, NEW8]) {
        let call = || _ = link.pass(NEXT.into(), 0, 0).expect("the chain answers");
        sample(what, || {
            WITNESS.disturb().expect("the witness uses the TLB");
            // The first calls are the first pass.
            (0..LATER).for_each(|_| call());
            counter.misses(call)
        });
    }
    WITNESS.end().expect("the witness reports");
}
