//! Preempts the clients wherever they are, and sees that nobody waits for them meanwhile: neither who asks
//! the supervisor nor who asks the clock.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn::time::{self, ticks};
use cairn_interfaces as interfaces;
use cairn_interfaces::{TimerProxy, spawn};
use core::fmt::{self, Write};

cairn::component! {
    name: "starvation-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        portals: interfaces::Portals,
        supervisor: interfaces::Supervisor,
        clock: interfaces::Clock,
    },
    main: main,
}

struct Screen;
impl Write for Screen {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        imports::CONSOLE.write(text.as_bytes()).map(drop).map_err(|_| fmt::Error)
    }
}

static STACK: Stack<4096> = Stack::new();

/// For how long a thread of a priority in between takes the processor.
const SPIN_MICROSECONDS: u64 = 2000;
/// Each begins at another place of the clients' calls.
const ATTEMPTS: u64 = 60;

fn spin(from: u64) {
    if imports::THREADS.sleep_until(from).is_ok() {
        while time::counter() < from + ticks(SPIN_MICROSECONDS) {}
    }
}

/// The longest time that `body` takes while a spinner keeps the clients from running.
fn longest(body: impl Fn()) -> u64 {
    let mut longest = 0;
    for attempt in 0..ATTEMPTS {
        let from = time::counter() + ticks(300) + attempt * 7;
        let spinner = spawn(imports::THREADS, &STACK, spin, from, 49).expect("the quota has room");
        imports::THREADS.sleep_until(from + ticks(20)).expect("sleep");
        let before = time::counter();
        body();
        longest = longest.max(time::counter() - before);
        spinner.join().expect("the spinner ends");
    }
    longest
}

fn ask_supervisor() {
    imports::SUPERVISOR.describe(1, &mut [0; 64]).expect("there is an instance");
}

fn ask_clock() {
    let timer =
        imports::CLOCK.timer(imports::PORTALS, 1_000_000_000).expect("a timer").first_portal();
    TimerProxy::at(timer).close().expect("closed");
    imports::PORTALS.close(timer.into()).expect("closed");
}

fn main() {
    let mut failed = 0;
    for (name, body) in [("supervisor", ask_supervisor as fn()), ("clock", ask_clock)] {
        let longest = longest(body);
        // So that the other client has all the time that is left.
        let _ = imports::SUPERVISOR.kill("client_supervisor");
        if longest < ticks(SPIN_MICROSECONDS / 2) {
            let _ = writeln!(Screen, "ok {name}");
        } else {
            failed += 1;
            let _ = writeln!(Screen, "FAILED {name}: {longest} ticks");
        }
    }
    let _ = writeln!(Screen, "starvation: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed);
}
