//! Kills, crashes and starts again the component in the kernel domain beside its callers, at times by chance.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::{Error, InstanceId};
use cairn_interfaces as interfaces;
use cairn_random::Random;
use cairn_test_kernel_inside::{Inside, mixed};

cairn::component! {
    name: "judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        scheduling: interfaces::SchedulerStatistics,
        supervisor: interfaces::Supervisor,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        names: interfaces::Names,
        inside: Inside,
    },
    main: main,
}

cairn_test_hostile_contract::harness!();

const ROUNDS: u64 = 40;
/// Numbers of the copies of `caller`, each with three threads.
const CALLERS: [u16; 3] = [10, 11, 12];

fn answers() -> bool {
    imports::INSIDE.mix(1, 2, 3) == Ok(mixed(1, 2, 3))
}

fn main() {
    let mut judge = harness::begin();
    let name = "a component in the kernel domain dies beside its callers";
    let mut random = Random::of_seed(3);
    let has_begun = |caller| imports::SCHEDULING.held(caller).is_ok_and(|held| held.threads == 3);
    harness::wait_until(|| CALLERS.map(InstanceId).into_iter().all(has_begun) && answers());
    judge.start();
    let mut dead = 0;
    for _ in 0..ROUNDS {
        harness::pause(random.below(3000));
        match random.below(3) {
            0 => {
                judge.expect(name, imports::SUPERVISOR.kill("inside"), Ok(()));
                judge.expect(name, imports::INSIDE.mix(1, 2, 3), Err(Error::Dead));
                dead += 1;
                judge.expect(name, imports::SUPERVISOR.restart("inside"), Ok(()));
            }
            1 => judge.expect(name, imports::SUPERVISOR.restart("inside"), Ok(())),
            // It may be dead already.
            _ => drop(imports::SUPERVISOR.crash("inside")),
        }
        // Faults in a row are punished with waiting, which would make this test long.
        harness::wait_until(|| answers() || imports::SUPERVISOR.restart("inside").is_err());
    }
    judge.expect(name, dead > 5, true);
    judge.end(name);
    imports::SUPERVISOR.halt(judge.failed()).expect("halt");
}
