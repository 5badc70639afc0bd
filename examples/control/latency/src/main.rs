//! Every millisecond this wakes, as a control loop does, and looks how late it is; ten seconds are a line. Whoever is beside it shows there.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::{now, ticks};
use cairn_interfaces::{Console, Threads};

cairn::component! {
    name: "latency",
    imports: { console: Console, threads: Threads },
    // A line comes after so many beats, and at each that is later than so many microseconds.
    arguments: { line: u64 = 10_000, deadline: u64 = 1_000_000 },
    main: main,
}

const MILLISECOND: u64 = 1_000;

fn main() {
    let name = cairn::environment::name();
    let (mut beats, mut worst) = (0u64, 0);
    let mut due = now();
    loop {
        due += ticks(MILLISECOND);
        if imports::THREADS.sleep_until(due).is_err() {
            return;
        }
        let late = (now() - due).div_ceil(ticks(1));
        worst = worst.max(late);
        beats += 1;
        let said = if late > arguments::deadline() {
            imports::CONSOLE.print(format_args!("{name}: missed a deadline, {late} us late\n"))
        } else if beats.is_multiple_of(arguments::line()) {
            imports::CONSOLE.print(format_args!("{name}: {beats} beats, at most {worst} us late\n"))
        } else {
            Ok(())
        };
        match said {
            // The console takes its time, behind what others write: beats begin anew.
            Ok(()) if now() > due + ticks(MILLISECOND) => due = now(),
            Ok(()) => {}
            Err(_) => return,
        }
    }
}
