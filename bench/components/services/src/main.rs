//! Measures making portals and threads.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::measure::{self, Mark, Stamp, unused_mark};
use cairn::thread::Stack;
use cairn_bench::{Link, Meter, Report, Rounds};
use cairn_interfaces::{PortalControl, Portals, Threads, spawn};

cairn::component! {
    name: "services",
    imports: { portals: Portals, control: PortalControl, threads: Threads },
    main: main,
}

const WARM_UP: usize = 20;
const ROUNDS: usize = 1_000;
/// To make portals takes as long as many calls.
const WEIGHT: usize = 5;
/// Priorities, below that of the first thread: of the thread that creates others, of those that run
/// at once, of those that run when their creator waits.
const CREATOR: u8 = 20;
const BEFORE_CREATOR: u8 = 30;
const AFTER_CREATOR: u8 = 10;

static CREATOR_STACK: Stack<16384> = Stack::new();
static STACK: Stack<4096> = Stack::new();
/// The stamp of the created thread.
static NOTED: Mark = unused_mark();

fn main() {
    let mut report = Report::new();
    let meter = Meter::new();
    let rounds = Rounds::new(WARM_UP, ROUNDS, WEIGHT);
    for specification in ["smcii", "npcwi"] {
        report.samples(format_args!("portal.generate.{specification}"), 1, |samples| {
            for round in rounds.all() {
                let cost = imports::CONTROL.measure(specification).expect("the portal is made");
                if rounds.counts(round) {
                    samples.add(cost - meter.reading());
                }
            }
        });
    }
    report.samples(format_args!("portal.open"), 1, |samples| {
        for round in rounds.all() {
            let begin = Stamp::begin();
            let opened = imports::PORTALS.open_object::<dyn Link>("end.link");
            let end = Stamp::end();
            let first = opened.expect("the export can be opened").first_portal();
            imports::PORTALS.close(first.into()).expect("the portals can be closed");
            if rounds.counts(round) {
                samples.add(meter.since(begin, end));
            }
        }
    });
    let creator = spawn(imports::THREADS, &CREATOR_STACK, |_| threads(), 0, CREATOR)
        .expect("the quota has room");
    creator.join().expect("the thread ends");
}

/// A created thread notes when it begins to run.
fn note_begin(_argument: u64) {
    Stamp::end().store(&NOTED);
}

/// A thread notes when it has nothing left to do.
fn note_end(_argument: u64) {
    Stamp::begin().store(&NOTED);
}

fn threads() {
    let mut report = Report::new();
    let meter = Meter::new();
    let rounds = Rounds::new(WARM_UP, ROUNDS, 1);
    // `Threads::spawn` is the third method, `join` the fourth.
    let first = imports::THREADS.first_portal();
    report.samples(format_args!("thread.create"), 1, |samples| {
        for round in rounds.all() {
            let claim = STACK.claim(note_begin, 0).expect("the thread before has ended");
            let start = claim.start();
            let words =
                [0, 0, 0, start.entry(), start.stack(), start.argument(), BEFORE_CREATOR.into(), 0];
            let sample = measure::portal(first + 2, &words, &unused_mark());
            assert!(sample.reply.status == 0, "spawning failed");
            if rounds.counts(round) {
                samples.add(meter.between(sample.begin, Stamp::load(&NOTED)));
            }
        }
    });
    report.samples(format_args!("thread.join"), 1, |samples| {
        for round in rounds.all() {
            let thread = spawn(imports::THREADS, &STACK, note_end, 0, AFTER_CREATOR)
                .expect("the quota has room");
            let words = [0, 0, 0, thread.name(), 0, 0, 0, 0];
            let sample = measure::portal(first + 3, &words, &unused_mark());
            let ended = Stamp::load(&NOTED);
            assert!(
                sample.reply.status == 0 && sample.begin.instructions < ended.instructions,
                "joining did not wait"
            );
            if rounds.counts(round) {
                samples.add(meter.since(ended, sample.end));
            }
        }
    });
    report.end();
}
