//! One of many clients, each of which takes all that it can get, keeps it, and then waits for ever in one of
//! the components that everyone shares.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::InstanceId;
use cairn::environment;
use cairn_interfaces as interfaces;
use cairn_interfaces::{SemaphoreProxy, TimerProxy};
use cairn_test_hostile_contract::rounds;

cairn::component! {
    name: "hostile-crowd",
    imports: {
        console: interfaces::Console,
        portals: interfaces::Portals,
        memory: interfaces::Memory,
        threads: interfaces::Threads,
        clock: interfaces::Clock,
    },
    main: main,
}

/// More than anybody's part of anything.
const MANY: usize = 300;
/// Domains to which sections are offered: the system's and the judge's are among them.
const DOMAINS: u64 = 16;

/// Does it until it fails.
fn all<T, E>(mut body: impl FnMut(usize) -> Result<T, E>) -> Option<T> {
    (0..MANY).map_while(|round| body(round).ok()).last()
}

fn main() {
    rounds::wait_for_begin(imports::THREADS);
    let number = u64::from(environment::startup().instance);
    // Half of them have no block left for a semaphore afterwards, the others none for more than one timer.
    let take_timers = || all(|_| imports::CLOCK.timer(imports::PORTALS, 1_000));
    let early = if number.is_multiple_of(2) { take_timers() } else { None };
    all(|_| {
        let section = imports::MEMORY.make_section(1)?;
        (1..DOMAINS)
            .for_each(|domain| _ = imports::MEMORY.share(section, InstanceId(domain as u16), true));
        Ok::<_, cairn::Error>(())
    });
    let semaphore = all(|_| imports::PORTALS.semaphore(0));
    all(|_| imports::PORTALS.lock());
    let mut name = [0; 31];
    let own = environment::startup().name;
    let length = own.iter().position(|byte| *byte == 0).unwrap_or(0);
    name[..length].copy_from_slice(&own[..length]);
    name[length..length + 2].copy_from_slice(b".a");
    if let Some(semaphore) = &semaphore {
        all(|round| {
            name[length + 1] = b'a' + (round % 26) as u8;
            let name = core::str::from_utf8(&name[..length + 2]).unwrap_or("?");
            imports::PORTALS.publish(semaphore.first_portal().into(), name, "*")
        });
    }
    let timer = early.or_else(take_timers);
    all(|_| imports::PORTALS.open("clock.clock", 0, b""));
    all(|_| imports::CONSOLE.open(imports::PORTALS));
    all(|_| imports::MEMORY.allocate(1));
    rounds::count();
    loop {
        let _ = match (number % 4, &timer, &semaphore) {
            (0, Some(timer), _) => TimerProxy::at(timer.first_portal()).wait().map(drop),
            (1, _, Some(semaphore)) => SemaphoreProxy::at(semaphore.first_portal()).p(),
            (2, _, _) => imports::THREADS.sleep_until(u64::MAX),
            _ => imports::CLOCK.sleep(u64::MAX / 4),
        };
    }
}
