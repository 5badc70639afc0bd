//! Two clients share memory by nodes that have none in common: what one has written the other reads, whoever dies.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::text::Line;
use cairn::thread::{Stack, sleep, spawn};
use cairn::time::{Duration, now, ticks};
use cairn_interfaces as interfaces;
use cairn_random::Random;
use cairn_test_distributed_contract::Sayings;
use cairn_test_paged_contract::{Probe, ProbeProxy, when_it_lives};
use core::fmt::{Arguments, Write};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

const PAGE: u64 = 4096;
/// Of the section.
const PAGES: u64 = 16;
/// How often each counts.
const COUNTS: u64 = 300;
/// How long the home waits for a node, and until who was ended lives again.
const PATIENCE_MICROSECONDS: u64 = 200_000;
const LIVES_MICROSECONDS: u64 = 5_000_000;

cairn::component! {
    name: "distributed-judge",
    imports: {
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        threads: interfaces::Threads,
        portals: interfaces::Portals,
        one: Probe,
        two: Probe,
        stranger: Sayings,
    },
    main: main,
}

use imports::{CONSOLE, ONE, STRANGER, SUPERVISOR, TWO};

fn say(text: Arguments) {
    let mut line = Line::<96>::new();
    let _ = line.write_fmt(text);
    CONSOLE.write(line.bytes()).expect("console");
}

fn main() {
    what_one_writes_the_other_reads();
    words_of_one_page();
    answers_on_their_way();
    in_turns();
    who_keeps_to_no_protocol();
    a_node_dies();
    say(format_args!("distributed: done\n"));
    let _ = SUPERVISOR.halt(0);
}

fn what_one_writes_the_other_reads() {
    for round in 1..=3 {
        for page in 0..PAGES {
            ONE.store(page * PAGE, round * 100 + page).expect("a page");
            assert_eq!(TWO.load(page * PAGE), Ok(round * 100 + page));
            TWO.store(page * PAGE + 8, round * 1000 + page).expect("a page");
        }
        for page in 0..PAGES {
            for probe in [ONE, TWO] {
                assert_eq!(probe.load(page * PAGE), Ok(round * 100 + page));
                assert_eq!(probe.load(page * PAGE + 8), Ok(round * 1000 + page));
            }
        }
    }
    say(format_args!("ok: what one writes the other reads\n"));
}

static STOPS: AtomicBool = AtomicBool::new(false);
static STACKS: [Stack<8192>; 2] = [const { Stack::new() }; 2];

/// Two threads, one with each client.
fn together(work: impl Fn(ProbeProxy, u64) + Copy + Send + 'static) {
    let other = spawn(&STACKS[0], 50, move || work(TWO, 1)).expect("a thread");
    let one = spawn(&STACKS[1], 50, move || work(ONE, 0)).expect("a thread");
    one.join().expect("its end");
    other.join().expect("its end");
}

/// Each counts in a word of its own, and both words are in one page.
fn words_of_one_page() {
    ONE.store(0, 0).and_then(|()| ONE.store(8, 0)).expect("a page");
    together(|probe, number| {
        for count in 0..COUNTS {
            assert_eq!(probe.load(number * 8), Ok(count));
            probe.store(number * 8, count + 1).expect("a page");
        }
    });
    assert_eq!((TWO.load(0), ONE.load(8)), (Ok(COUNTS), Ok(COUNTS)));
    say(format_args!("ok: nothing is lost of a page that both write\n"));
}

/// A less urgent thread misses a page again and again, and the other's client takes it at any instant, also before the thread has mapped what
/// it was answered.
fn answers_on_their_way() {
    ONE.store(0, 0).and_then(|()| ONE.store(8, 0)).expect("a page");
    let mut random = Random::of_seed(1);
    let count = spawn(&STACKS[0], 45, || {
        for count in 0.. {
            if STOPS.load(Relaxed) {
                return count;
            }
            assert_eq!(ONE.load(0), Ok(count));
            ONE.store(0, count + 1).expect("a page");
        }
        0
    });
    for count in 0..4 * COUNTS {
        sleep(Duration::from_micros(random.below(80))).expect("time passes");
        assert_eq!(TWO.load(8), Ok(count));
        TWO.store(8, count + 1).expect("a page");
    }
    STOPS.store(true, Relaxed);
    let count = count.and_then(|thread| thread.join()).expect("its end");
    assert_eq!((TWO.load(0), ONE.load(8)), (Ok(count), Ok(4 * COUNTS)));
    say(format_args!("ok: nor of one that is taken at any instant\n"));
}

/// Peterson's algorithm: it holds only if all writes of one are seen by the other in their order.
fn in_turns() {
    const TURN: u64 = 5 * PAGE;
    const COUNT: u64 = 6 * PAGE;
    let wants = |number: u64| (3 + number) * PAGE;
    for at in [wants(0), wants(1), TURN, COUNT] {
        ONE.store(at, 0).expect("a page");
    }
    together(move |probe, number| {
        for _ in 0..COUNTS / 3 {
            probe.store(wants(number), 1).expect("a page");
            probe.store(TURN, 1 - number).expect("a page");
            while probe.load(wants(1 - number)) == Ok(1) && probe.load(TURN) == Ok(1 - number) {}
            let count = probe.load(COUNT).expect("a page");
            probe.store(COUNT, count + 1).expect("a page");
            probe.store(wants(number), 0).expect("a page");
        }
    });
    assert_eq!(TWO.load(COUNT), Ok(COUNTS / 3 * 2));
    say(format_args!("ok: writes are seen in their order\n"));
}

fn who_keeps_to_no_protocol() {
    ONE.store(9 * PAGE, 9).expect("a page");
    for pages in [0, PAGES - 1, PAGES + 1, u64::MAX] {
        assert_eq!(STRANGER.join(pages), Err(Error::BadArgument));
    }
    assert!(STRANGER.fetch(1, 0, true).is_err(), "it is no member");
    let member = STRANGER.join(PAGES).expect("a member");
    for other in [0, 1, 2, member + 1, u64::MAX] {
        assert_eq!(
            STRANGER.fetch(other, 0, true),
            Err(Error::NotFound),
            "another one's membership"
        );
        assert_eq!(STRANGER.give_back(other, 0, 1, 5), Err(Error::NotFound));
    }
    for (page, grant) in [(9, 1), (9, 0), (9, u64::MAX), (9, 1 << 32)] {
        assert_eq!(STRANGER.give_back(member, page, grant, 5), Err(Error::NotAllowed));
    }
    for page in [PAGES, u64::MAX] {
        assert_eq!(STRANGER.fetch(member, page, true), Err(Error::BadArgument));
        assert!(STRANGER.give_back(member, page, 1, 5).is_err());
    }
    for length in [0, 8, 4095, 8192] {
        assert_eq!(STRANGER.lengths(member, 1, length), Ok(true), "{length}");
    }
    assert_eq!((ONE.load(9 * PAGE), TWO.load(9 * PAGE)), (Ok(9), Ok(9)));
    // What it has it may change, once.
    let (grant, word) = STRANGER.fetch(member, 9, true).expect("a page");
    assert_eq!(word, 9);
    assert_eq!(STRANGER.give_back(member, 9, grant, 10), Ok(()));
    assert_eq!(STRANGER.give_back(member, 9, grant, 11), Err(Error::NotAllowed));
    assert_eq!(ONE.load(9 * PAGE), Ok(10));
    // It never gives back: others wait as long as the home does, and find what the home has.
    STRANGER.fetch(member, 9, true).expect("a page");
    let begin = now();
    assert_eq!(TWO.load(9 * PAGE), Ok(10));
    let took = now() - begin;
    assert!(took >= ticks(PATIENCE_MICROSECONDS) && took < ticks(3 * PATIENCE_MICROSECONDS));
    assert_eq!(STRANGER.give_back(member, 9, grant + 1, 12), Err(Error::NotFound));
    assert_eq!(STRANGER.fetch(member, 9, true), Err(Error::NotFound));
    say(format_args!("ok: who keeps to no protocol is a member no more\n"));
}

/// What a node has not given back when it dies, nobody has.
fn a_node_dies() {
    ONE.store(7 * PAGE, 1).expect("a page");
    assert_eq!(TWO.load(7 * PAGE), Ok(1));
    ONE.store(7 * PAGE, 2).expect("a page");
    SUPERVISOR.restart("node-one").expect("restart");
    assert_eq!(TWO.load(7 * PAGE), Ok(1), "what the home had of it");
    assert_eq!(ONE.load(7 * PAGE), Err(Error::Dead), "its client has lost it");
    assert_eq!(when_it_lives(LIVES_MICROSECONDS, || ONE.load(7 * PAGE)), 1);
    ONE.store(7 * PAGE, 3).expect("a page");
    assert_eq!(TWO.load(7 * PAGE), Ok(3));
    // A client's death takes nothing from the other.
    TWO.store(7 * PAGE, 4).expect("a page");
    SUPERVISOR.restart("two").expect("restart");
    assert_eq!(
        (ONE.load(7 * PAGE), when_it_lives(LIVES_MICROSECONDS, || TWO.load(7 * PAGE))),
        (Ok(4), 4)
    );
    say(format_args!("ok: who dies takes along only what was its own\n"));
}
