//! Lets a driver meddle and die beside its fellow, which is the console's, and sees that the interrupts of both come again.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn_interfaces::{self as interfaces, spawn};
use cairn_random::Random;
use cairn_test_hostile_drivers_meddler::{Meddle, deed};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "drivers-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        scheduling: interfaces::SchedulerStatistics,
        supervisor: interfaces::Supervisor,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        names: interfaces::Names,
        meddle: Meddle,
    },
    main: main,
}

cairn_test_hostile_contract::harness!();

use imports::{CONSOLE, MEDDLE, SUPERVISOR};

const ROUNDS: u64 = 60;
const BOTH: [&str; 2] = ["console", "meddler"];

static STACK: Stack<8192> = Stack::new();
static SEED: AtomicU64 = AtomicU64::new(1);

/// Is inside with whatever calls while both die; comes home when they do.
fn meddle(calls: u64) {
    let _ = MEDDLE.chance(SEED.fetch_add(1, Relaxed), calls);
}

/// The interrupts of both come: one counts its own, and the console's text leaves by its.
fn both_serve() -> bool {
    let Ok(before) = MEDDLE.count() else { return false };
    harness::pause(2000);
    MEDDLE.count().is_ok_and(|count| count > before) && CONSOLE.write(b".").is_ok()
}

/// Both are as new.
fn restart_and_look(judge: &mut harness::Judge, name: &str) {
    for again in BOTH {
        let _ = SUPERVISOR.restart(again);
        harness::wait_until(both_serve);
    }
    judge.expect(name, both_serve(), true);
}

fn main() {
    let name = "the interrupts of two drivers outlive them";
    harness::wait_until(both_serve);
    let mut judge = harness::begin();
    let mut random = Random::of_seed(9);
    restart_and_look(&mut judge, name);
    // Until the supervisor has said so.
    harness::pause(200_000);
    judge.start();
    for _ in 0..ROUNDS {
        let worker = spawn(imports::THREADS, &STACK, meddle, 20 + random.below(300), 40);
        let _ = MEDDLE.next(random.below(deed::DEEDS));
        harness::pause(random.below(2000));
        let struck = BOTH[random.below(2) as usize];
        let _ = match random.below(4) {
            0 => SUPERVISOR.kill(struck),
            1 => SUPERVISOR.restart(struck),
            2 => SUPERVISOR.crash(struck),
            _ => Ok(()),
        };
        harness::pause(random.below(2000));
        restart_and_look(&mut judge, name);
        let _ = worker.map(|worker| worker.join());
    }
    harness::wait_until(both_serve);
    judge.end(name);
    let mut line = [0; 16];
    let _ = CONSOLE.print(format_args!("\ntype\n"));
    let read = CONSOLE.read_line(&mut line);
    judge.expect(name, read, Ok(4));
    judge.passed("what is typed comes");
    SUPERVISOR.halt(judge.failed()).expect("halt");
}
