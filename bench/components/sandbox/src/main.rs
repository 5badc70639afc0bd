//! Measures how two threads wake each other, in a component, and in a copy of it all of whose calls go through it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::fork::{Quotas, Side};
use cairn::interpose::{Answer, Interposer, Passing};
use cairn::measure::Stamp;
use cairn::thread::Stack;
use cairn_bench::{Meter, Report, Rounds};
use cairn_interfaces::{Console, Loader, Portals, SemaphoreProxy, Threads, spawn};
use core::fmt::Arguments;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "sandbox",
    imports: { console: Console, loader: Loader, portals: Portals, threads: Threads },
    main: main,
}

use imports::{CONSOLE, LOADER, PORTALS, THREADS};

const WARM_UP: usize = 20;
const ROUNDS: usize = 500;
/// A round takes as long as many calls.
const WEIGHT: usize = 10;
const PRIORITY: u8 = 40;
const COUNTED: usize = 128;
const QUOTAS: Quotas = Quotas { pages: 224, threads: 2, semaphores: 4, locks: 4, children: 0 };

static CALLED: [AtomicU64; COUNTED] = [const { AtomicU64::new(0) }; COUNTED];
/// The first portals of two semaphores.
static PAIR: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
static STOP: AtomicU64 = AtomicU64::new(0);
static STACK: Stack<4096> = Stack::new();

struct Counter;

impl Interposer for Counter {
    fn intercept(call: &Passing) -> Answer {
        if let Some(count) = CALLED.get(call.portal()) {
            count.fetch_add(1, Relaxed);
        }
        call.forward()
    }
}

fn semaphore(number: usize) -> SemaphoreProxy {
    SemaphoreProxy::at(PAIR[number].load(Relaxed))
}

fn echo(_: u64) {
    while STOP.load(Relaxed) == 0 {
        semaphore(0).p().expect("p");
        semaphore(1).v().expect("v");
    }
}

/// Two P and two V, of which this thread has one each.
fn iteration() {
    semaphore(0).v().expect("v");
    semaphore(1).p().expect("p");
}

fn measure(report: &mut Report, name: Arguments) {
    let own = [(); 2].map(|()| PORTALS.semaphore(0).expect("a semaphore"));
    for (place, semaphore) in PAIR.iter().zip(&own) {
        place.store(semaphore.first_portal(), Relaxed);
    }
    STOP.store(0, Relaxed);
    let other = spawn(THREADS, &STACK, echo, 0, PRIORITY).expect("a thread");
    let meter = Meter::new();
    report.samples(name, 1, |samples| {
        let rounds = Rounds::new(WARM_UP, ROUNDS, WEIGHT);
        for round in rounds.all() {
            let begin = Stamp::begin();
            iteration();
            let end = Stamp::end();
            if rounds.counts(round) {
                samples.add(meter.since(begin, end));
            }
        }
    });
    STOP.store(1, Relaxed);
    // The other one waits, or is about to look whether it shall.
    semaphore(0).v().expect("v");
    other.join().expect("it ends");
    for semaphore in own {
        PORTALS.close(semaphore.first_portal().into()).expect("it is closed");
    }
}

fn main() {
    let mut report = Report::through(|bytes| _ = CONSOLE.write(bytes));
    measure(&mut report, format_args!("portal.sandbox.plain"));
    let side = LOADER.domain_fork::<Counter>("child", QUOTAS).expect("a child");
    if side == Side::Child {
        measure(&mut report, format_args!("portal.sandbox.iteration"));
        report.end();
    }
}
