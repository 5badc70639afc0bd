//! Kills, crashes and starts again two instances of one domain beside their callers, by either name and by both at once.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::{Error, InstanceId};
use cairn_interfaces::{self as interfaces, spawn};
use cairn_random::Random;
use cairn_test_kernel_inside::{Inside, mixed};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

cairn::component! {
    name: "shared-storm",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        scheduling: interfaces::SchedulerStatistics,
        supervisor: interfaces::Supervisor,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        names: interfaces::Names,
        inside: Inside,
        front: Inside,
    },
    main: main,
}

cairn_test_hostile_contract::harness!();

const ROUNDS: u64 = 30;
/// Numbers of the copies of `caller`, each with three threads.
const CALLERS: [u16; 3] = [10, 11, 12];
const BOTH: [&str; 2] = ["inside", "front"];

static SECOND: Stack<8192> = Stack::new();
static IS_OVER: AtomicBool = AtomicBool::new(false);

fn answer() -> bool {
    [imports::INSIDE, imports::FRONT].iter().all(|of| of.mix(1, 2, 3) == Ok(mixed(1, 2, 3)))
}

/// Does something to one of them, whatever the other thread of this component does to it.
fn strike(random: &mut Random) {
    let name = BOTH[random.below(2) as usize];
    let _ = match random.below(3) {
        0 => imports::SUPERVISOR.kill(name),
        1 => imports::SUPERVISOR.restart(name),
        _ => imports::SUPERVISOR.crash(name),
    };
}

fn strike_too(seed: u64) {
    let mut random = Random::of_seed(seed);
    while !IS_OVER.load(Relaxed) {
        harness::pause(random.below(2000));
        strike(&mut random);
    }
}

fn main() {
    let mut judge = harness::begin();
    let name = "two of one domain die beside their callers";
    let mut random = Random::of_seed(5);
    let has_begun = |caller| imports::SCHEDULING.held(caller).is_ok_and(|held| held.threads == 3);
    harness::wait_until(|| CALLERS.map(InstanceId).into_iter().all(has_begun) && answer());
    // Until the front has all that it can get.
    harness::pause(400_000);
    judge.start();
    let second = spawn(imports::THREADS, &SECOND, strike_too, 6, 60).expect("spawn");
    for _ in 0..ROUNDS {
        harness::pause(random.below(3000));
        strike(&mut random);
        // Faults in a row are punished with waiting, which would make this test long.
        harness::wait_until(|| answer() || imports::SUPERVISOR.restart("front").is_err());
    }
    IS_OVER.store(true, Relaxed);
    judge.expect(name, second.join(), Ok(()));
    harness::pause(5000);
    for killed in BOTH {
        judge.expect(name, imports::SUPERVISOR.restart(killed), Ok(()));
        harness::wait_until(answer);
        judge.expect(name, imports::SUPERVISOR.kill(killed), Ok(()));
        judge.expect(name, imports::INSIDE.mix(1, 2, 3), Err(Error::Dead));
        judge.expect(name, imports::FRONT.mix(1, 2, 3), Err(Error::Dead));
    }
    judge.expect(name, imports::SUPERVISOR.restart("inside"), Ok(()));
    harness::wait_until(answer);
    judge.expect(name, answer(), true);
    judge.end(name);
    imports::SUPERVISOR.halt(judge.failed()).expect("halt");
}
