//! Has mutated packages loaded. Whatever they are and do, nothing else notices, and nothing of them is left.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::{judge, say};
use cairn_test_hostile_packages_contract::Mutator;

cairn::component! {
    name: "hostile-packages-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        portals: interfaces::Portals,
        loader: interfaces::Loader,
        mutator: Mutator,
        scheduling: interfaces::SchedulerStatistics,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        names: interfaces::Names,
    },
    arguments: { packages: u64 = 50 },
    main: main,
}

use imports::{LOADER, MUTATOR, SUPERVISOR};

cairn_test_hostile_contract::harness!();

/// Who must live on as if nothing had been.
const OTHERS: [&str; 4] = ["loader", "mutator", "shelf", "console"];

fn main() {
    let mut judge = harness::begin();
    // As it is on the shelf it is good.
    MUTATOR.mutate(0).expect("the package is read");
    judge.expect("a good one", LOADER.load("guest", "good").is_ok(), true);
    judge.expect("unload", LOADER.unload("good"), Ok(()));
    judge.start();
    let mut loaded = 0;
    for number in 1..=arguments::packages() {
        MUTATOR.mutate(number).expect("the package is read");
        if LOADER.load("guest", "mutant").is_ok() {
            loaded += 1;
            // It runs meanwhile, and faults perhaps.
            harness::pause(2000);
            judge.expect("unload", LOADER.unload("mutant"), Ok(()));
        }
    }
    let some = loaded > 0 && loaded < arguments::packages();
    judge.expect("some are loaded, and some refused", some, true);
    for other in OTHERS {
        let life = judge::life(SUPERVISOR, other, |state, restarts| (state == "alive", restarts));
        judge.expect(other, life, Some((true, 0)));
    }
    judge.end("mutated packages");
    say!("{loaded} of {} were loaded", arguments::packages());
    say!("hostile-packages: done");
    let _ = SUPERVISOR.halt(judge.failed().min(255));
}
