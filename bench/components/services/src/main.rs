//! Measures making portals and threads.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::component::Interface;
use cairn::measure;
use cairn::thread::Stack;
use cairn::time::instructions;
use cairn_bench::{Link, Meter, Report};
use cairn_interfaces::{PortalControl, Portals, Threads, spawn};
use core::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "services",
    imports: { portals: Portals, control: PortalControl, threads: Threads },
    main: main,
}

const WARM_UP: usize = 20;
const ROUNDS: usize = 1_000;
/// Priorities, below that of the first thread: of the thread that creates others, of those that run
/// at once, of those that run when their creator waits.
const CREATOR: u8 = 20;
const BEFORE_CREATOR: u8 = 30;
const AFTER_CREATOR: u8 = 10;

static CREATOR_STACK: Stack<16384> = Stack::new();
static STACK: Stack<4096> = Stack::new();
/// The instruction count of the created thread.
static COUNT: AtomicU64 = AtomicU64::new(0);

fn main() {
    let mut report = Report::new();
    for specification in ["smcii", "npcwi"] {
        report.samples(format_args!("portal.generate.{specification}"), 1, |samples| {
            for round in 0..WARM_UP + ROUNDS {
                let cost = imports::CONTROL.measure(specification).expect("the portal is made");
                if round >= WARM_UP {
                    samples.add(cost - 1);
                }
            }
        });
    }
    report.samples(format_args!("portal.open"), 1, |samples| {
        for round in 0..WARM_UP + ROUNDS {
            let begin = instructions();
            let opened = imports::PORTALS.open_object::<dyn Link>("end.link");
            let end = instructions();
            let first = opened.expect("the export can be opened").first_portal();
            imports::PORTALS.close(first.into()).expect("the portals can be closed");
            if round >= WARM_UP {
                samples.add(end - begin - 1);
            }
        }
    });
    drop(report);
    let creator = spawn(imports::THREADS, &CREATOR_STACK, |_| threads(), 0, CREATOR)
        .expect("the quota has room");
    creator.join().expect("the thread ends");
}

/// A created thread notes when it runs.
fn note(_argument: u64) {
    COUNT.store(instructions(), Relaxed);
}

fn threads() {
    let mut report = Report::new();
    let meter = Meter::new();
    // `Threads::spawn` is the third method, `join` the fourth.
    let first = imports::THREADS.first_portal();
    report.samples(format_args!("thread.create"), 1, |samples| {
        for round in 0..WARM_UP + ROUNDS {
            let claim = STACK.claim(note, 0).expect("the thread before has ended");
            let start = claim.start();
            let words =
                [0, 0, 0, start.entry(), start.stack(), start.argument(), BEFORE_CREATOR.into(), 0];
            let sample = measure::portal(first + 2, &words, &AtomicI64::new(0));
            assert!(sample.reply.status == 0, "spawning failed");
            if round >= WARM_UP {
                samples.add(meter.between(sample.begin, COUNT.load(Relaxed)));
            }
        }
    });
    report.samples(format_args!("thread.join"), 1, |samples| {
        for round in 0..WARM_UP + ROUNDS {
            let thread = spawn(imports::THREADS, &STACK, note, 0, AFTER_CREATOR)
                .expect("the quota has room");
            let words = [0, 0, 0, thread.name(), 0, 0, 0, 0];
            let sample = measure::portal(first + 3, &words, &AtomicI64::new(0));
            assert!(
                sample.reply.status == 0 && sample.begin < COUNT.load(Relaxed),
                "joining did not wait"
            );
            if round >= WARM_UP {
                samples.add(sample.end - COUNT.load(Relaxed) - 1);
            }
        }
    });
    report.end();
}
