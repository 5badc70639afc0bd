//! Uses the disk of a hostile client, which it kills by chance: whatever that one has at the driver comes back.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;
use cairn_random::Random;

cairn::component! {
    name: "hostile-queue-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        blocks: cairn_driver_interfaces::Blocks,
    },
    main: main,
}

/// Deaths of the client; the driver has 8 places.
const DEATHS: u64 = 150;

fn main() {
    let counts = environment::section("counts").expect("the description has a section `counts`");
    let mut random = Random::of_seed(1);
    let pause = |microseconds| {
        let _ = imports::THREADS.sleep_until(now() + ticks(microseconds));
    };
    while imports::BLOCKS.size().is_err() {
        pause(100);
    }
    let mut buffer = [0; 16 << 10];
    for _ in 0..DEATHS {
        pause(random.below(4000));
        let read = imports::BLOCKS.read(random.below(1000), &mut buffer);
        read.expect("the driver is alive and has room");
        imports::SUPERVISOR.restart("client").expect("restart");
    }
    let (served, refused) = (counts.load(0), counts.load(8));
    assert!(served > 0 && refused > 0, "{served} served, {refused} refused");
    let _ = imports::CONSOLE.print(format_args!(
        "ok: the driver serves others after {DEATHS} deaths of a hostile client\n"
    ));
    let _ = imports::SUPERVISOR.halt(0);
}
