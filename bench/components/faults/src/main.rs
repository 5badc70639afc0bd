//! Measures what a fault costs its caller, and how long a component is gone when it is restarted.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment::section;
use cairn::measure::{self, Stamp, unused_mark};
use cairn::time::{now, ticks};
use cairn_bench::{Meter, Report, Rounds, Victim};
use cairn_interfaces::{Console, Supervisor, Threads};

cairn::component! {
    name: "faults",
    imports: { console: Console, supervisor: Supervisor, victim: Victim, threads: Threads },
    main: main,
}

const WARM_UP: usize = 3;
const ROUNDS: usize = 50;
/// A round takes as long as many calls.
const WEIGHT: usize = 30;

fn main() {
    let section = section("faults").expect("the description maps the section `faults`");
    let mark = section.words(2).as_array().expect("so many were asked for");
    let meter = Meter::new();
    let rounds = Rounds::new(WARM_UP, ROUNDS, WEIGHT);
    let mut report = Report::through(|bytes| _ = imports::CONSOLE.write(bytes));
    report.samples(format_args!("fault.kill_and_return"), 1, |samples| {
        for round in rounds.all() {
            // `fault` is the second method.
            let index = imports::VICTIM.first_portal() + 1;
            let sample = measure::portal(index, &[0; 8], &unused_mark());
            assert!(sample.reply.status < 0, "the victim did not fault");
            if rounds.counts(round) {
                samples.add(meter.between(Stamp::load(mark), sample.end));
            }
            restart("victim", victim_answers);
            pause();
        }
    });
    let fault = || assert!(imports::VICTIM.fault().is_err(), "the victim did not fault");
    restarts(&mut report, &meter, "victim", fault, victim_answers);
    let crash =
        || imports::SUPERVISOR.crash("console").expect("the supervisor crashes a component");
    restarts(&mut report, &meter, "console", crash, || imports::CONSOLE.write(&[]).is_ok());
    report.end();
}

/// Reports are printed at this thread's priority: between two rounds.
fn pause() {
    let _ = imports::THREADS.sleep_until(now() + ticks(20_000));
}

fn victim_answers() -> bool {
    imports::VICTIM.answer().is_ok()
}

/// From a crash until the component answers again.
fn restarts(
    report: &mut Report,
    meter: &Meter,
    name: &str,
    crash: impl Fn(),
    answers: impl Fn() -> bool,
) {
    let rounds = Rounds::new(WARM_UP, ROUNDS, WEIGHT);
    report.samples(format_args!("restart.{name}"), 1, |samples| {
        for round in rounds.all() {
            let begin = Stamp::begin();
            crash();
            restart(name, &answers);
            let end = Stamp::end();
            if rounds.counts(round) {
                samples.add(meter.since(begin, end));
            }
            pause();
        }
    });
}

/// Asks for the start that the policy would delay more and more after so many faults, until the
/// component answers.
fn restart(name: &str, answers: impl Fn() -> bool) {
    // It did not know yet that it crashed: the first call into it finds out.
    let _ = answers();
    if !answers() {
        // It may have started by itself meanwhile, and is not to die once more.
        let _ = imports::SUPERVISOR.restart(name);
    }
    while !answers() {}
}
