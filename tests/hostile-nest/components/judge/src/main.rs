//! Kills links and their callers while they are in each other, and sees that nothing is lost.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn_interfaces as interfaces;
use cairn_random::Random;
use cairn_test_nest_link::Link;

cairn::component! {
    name: "nest-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        scheduling: interfaces::SchedulerStatistics,
        supervisor: interfaces::Supervisor,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        names: interfaces::Names,
        left: Link,
        right: Link,
        far: Link,
    },
    main: main,
}

cairn_test_hostile_contract::harness!();

use imports::{FAR, LEFT, RIGHT, SUPERVISOR};

const ROUNDS: u64 = 40;
const LINKS: [&str; 3] = ["left", "right", "far"];
const CALLERS: [&str; 2] = ["caller-1", "caller-2"];

/// Nobody is in the links, and they are as new.
fn calm() {
    CALLERS.iter().for_each(|name| _ = SUPERVISOR.kill(name));
    LINKS.iter().for_each(|name| _ = SUPERVISOR.restart(name));
    harness::wait_until(answer);
    harness::pause(200_000);
}

fn answer() -> bool {
    [LEFT, RIGHT, FAR].iter().all(|link| link.down(0, 7) == Ok(0))
}

fn main() {
    let name = "links die in each other";
    let mut judge = harness::begin();
    let mut random = Random::of_seed(13);
    calm();
    judge.start();
    for _ in 0..ROUNDS {
        CALLERS.iter().for_each(|name| _ = SUPERVISOR.restart(name));
        harness::pause(random.below(4000));
        let struck = match random.below(3) {
            0 => CALLERS[random.below(2) as usize],
            _ => LINKS[random.below(3) as usize],
        };
        let _ = match random.below(3) {
            0 => SUPERVISOR.kill(struck),
            1 => SUPERVISOR.restart(struck),
            _ => SUPERVISOR.crash(struck),
        };
        LINKS.iter().for_each(|name| _ = SUPERVISOR.restart(name));
        harness::wait_until(answer);
    }
    calm();
    judge.expect(name, answer(), true);
    judge.end(name);
    SUPERVISOR.halt(judge.failed()).expect("halt");
}
