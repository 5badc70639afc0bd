//! Behind a cut after each single block that is written, the pages are those of the last whole checkpoint.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::text::Line;
use cairn::thread::{Stack, sleep, spawn};
use cairn::time::Duration;
use cairn_interfaces as interfaces;
use cairn_random::Random;
use cairn_test_paged_contract::{Probe, when_it_lives};
use cairn_test_persistent_contract::Cuts;
use core::fmt::{Arguments, Write};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

const PAGE: u64 = 4096;
/// Of the section: more than its pager has in memory.
const PAGES: u64 = 12;
/// Of those the writer's, which fit there.
const RING: u64 = 5;
/// Checkpoints beside a writer.
const BESIDE: u64 = 60;
/// Until who was ended lives again.
const LIVES_MICROSECONDS: u64 = 5_000_000;

cairn::component! {
    name: "persistent-judge",
    imports: {
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        threads: interfaces::Threads,
        portals: interfaces::Portals,
        store: interfaces::PageStore,
        writer: Probe,
        cuts: Cuts,
    },
    main: main,
}

use imports::{CONSOLE, CUTS, STORE, SUPERVISOR, WRITER};

fn say(text: Arguments) {
    let mut line = Line::<96>::new();
    let _ = line.write_fmt(text);
    CONSOLE.write(line.bytes()).expect("console");
}

fn lives<T>(call: impl FnMut() -> Result<T, Error>) -> T {
    when_it_lives(LIVES_MICROSECONDS, call)
}

fn main() {
    for (seed, how) in
        [(0, "all that was written is there"), (9, "what was not flushed is there or not")]
    {
        every_cut(seed, how);
    }
    a_checkpoint_is_of_one_time();
    say(format_args!("persistent: done\n"));
    let _ = SUPERVISOR.halt(0);
}

/// The power comes back: everybody begins anew.
fn begin_anew() -> bool {
    let was_cut = CUTS.mend().expect("the disk");
    for instance in ["persistent", "writer"] {
        SUPERVISOR.restart(instance).expect("restart");
    }
    lives(|| WRITER.size());
    was_cut
}

fn every_cut(seed: u64, how: &str) {
    let mut last = lives(|| WRITER.load(0));
    for cut in 0.. {
        let round = last + 1;
        CUTS.arm(cut, if seed == 0 { 0 } else { seed + cut }).expect("the disk");
        let written = WRITER.fill(PAGES, round);
        let answer = written.and_then(|_| STORE.flush());
        let was_cut = begin_anew();
        let found = WRITER.load(0).expect("a page");
        for page in 1..PAGES {
            assert_eq!(WRITER.load(page * PAGE), Ok(found), "{cut} {page}: of two checkpoints");
        }
        assert!(found == round || found == last, "{cut}: {found} after {last}");
        assert!(answer.is_err() || found == round, "{cut}: it was said that it lasts");
        last = found;
        if !was_cut {
            assert_eq!(found, round);
            say(format_args!("ok: after {cut} cuts, when {how}\n"));
            return;
        }
    }
}

static STACK: Stack<8192> = Stack::new();
static STOPS: AtomicBool = AtomicBool::new(false);

/// The number that a page of the ring has when this one was written last.
fn expected(page: u64, last: u64) -> u64 {
    last - (last + RING - page) % RING
}

/// A writer counts on, a page after the other, also while checkpoints are made: none has a number without all that were written before.
fn a_checkpoint_is_of_one_time() {
    let mut random = Random::of_seed(3);
    let (mut checkpoints, mut last) = (0, 1000);
    for page in 0..RING {
        WRITER.store(page * PAGE, expected(page, last)).expect("a page");
    }
    STORE.flush().expect("a checkpoint");
    for round in 0..BESIDE {
        let count = move || {
            let mut random = Random::of_seed(round);
            for number in last + 1.. {
                // Others make room for what is read.
                let other = RING + random.below(PAGES - RING);
                let written = WRITER.load(other * PAGE);
                let written = written.and_then(|_| WRITER.store(number % RING * PAGE, number));
                if written.is_err() || STOPS.load(Relaxed) {
                    return number;
                }
            }
            0
        };
        STOPS.store(false, Relaxed);
        let writer = spawn(&STACK, 45, count).expect("a thread");
        CUTS.arm(100 + random.below(900), 1 + random.below(1000)).expect("the disk");
        loop {
            sleep(Duration::from_micros(random.below(400))).expect("time passes");
            match STORE.flush() {
                Ok(_) => checkpoints += 1,
                Err(_) => break,
            }
        }
        STOPS.store(true, Relaxed);
        let end = writer.join().expect("its end");
        begin_anew();
        let found = (0..RING).map(|page| WRITER.load(page * PAGE).expect("a page"));
        let now = found.max().expect("a page");
        for page in 0..RING {
            assert_eq!(WRITER.load(page * PAGE), Ok(expected(page, now)), "{page}: {now}");
        }
        assert!(last <= now && now <= end, "{last} {now} {end}");
        last = now;
    }
    say(format_args!("ok: {checkpoints} checkpoints beside a writer, up to {last}\n"));
}
