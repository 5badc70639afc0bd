//! A thread that samples promises a watchdog to go on, and does not in its first life.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::environment::startup;
use cairn::thread::{Stack, sleep, spawn};
use cairn::time::Duration;
use cairn::watchdog::Watchdog;
use cairn_interfaces::{Console, Supervisor, Threads};

static SAMPLING: Watchdog = Watchdog::new("sampling", Duration::from_millis(20));
static STACKS: [Stack<8192>; 2] = [const { Stack::new() }; 2];

cairn::component! {
    name: "sampler",
    imports: { console: Console, threads: Threads, supervisor: Supervisor },
    main: main,
}

fn say(text: &str) {
    let _ = imports::CONSOLE.print(format_args!("sampler: {text}\n"));
}

fn sample() -> Result<(), Error> {
    for _ in 0..50 {
        sleep(Duration::from_millis(2))?;
        SAMPLING.feed();
    }
    say("fed it for 100 ms");
    while startup().generation == 0 {
        core::hint::spin_loop();
    }
    SAMPLING.stop();
    sleep(Duration::from_millis(50))
}

fn main() -> Result<(), Error> {
    // More urgent than what it looks after, which may be a loop without end.
    let looking = SAMPLING.start(&STACKS[0], 50)?;
    spawn(&STACKS[1], 30, sample)?.join()??;
    looking.join()?;
    say("nothing is promised any more");
    imports::SUPERVISOR.halt(0)
}
