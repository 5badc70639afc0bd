//! Measures what a fault costs its caller, and how long a component is gone when it is restarted.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment::section;
use cairn::measure;
use cairn::time::instructions;
use cairn_bench::{Report, Victim};
use cairn_interfaces::{Console, Supervisor};
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

cairn::component! {
    name: "faults",
    imports: { console: Console, supervisor: Supervisor, victim: Victim },
    main: main,
}

const WARM_UP: usize = 3;
const ROUNDS: usize = 50;

fn main() {
    let mark = &section("faults").expect("the description maps the section `faults`").words(1)[0];
    let mut report = Report::through(|bytes| _ = imports::CONSOLE.write(bytes));
    report.samples(format_args!("fault.kill_and_return"), 1, |samples| {
        for round in 0..WARM_UP + ROUNDS {
            // `fault` is the second method.
            let index = imports::VICTIM.first_portal() + 1;
            let sample = measure::portal(index, &[0; 8], &AtomicI64::new(0));
            assert!(sample.reply.status < 0, "the victim did not fault");
            if round >= WARM_UP {
                samples.add(measure::since_page_fault(mark.load(Relaxed) as u64, sample.end));
            }
            restart("victim", victim_answers);
        }
    });
    let fault = || assert!(imports::VICTIM.fault().is_err(), "the victim did not fault");
    restarts(&mut report, "victim", fault, victim_answers);
    let crash =
        || imports::SUPERVISOR.crash("console").expect("the supervisor crashes a component");
    restarts(&mut report, "console", crash, || imports::CONSOLE.write(&[]).is_ok());
    report.end();
}

fn victim_answers() -> bool {
    imports::VICTIM.answer().is_ok()
}

/// From a crash until the component answers again.
fn restarts(report: &mut Report, name: &str, crash: impl Fn(), answers: impl Fn() -> bool) {
    report.samples(format_args!("restart.{name}"), 1, |samples| {
        for round in 0..WARM_UP + ROUNDS {
            let begin = instructions();
            crash();
            restart(name, &answers);
            let end = instructions();
            if round >= WARM_UP {
                samples.add(end - begin - 1);
            }
        }
    });
}

/// Asks for the start that the policy would delay more and more after so many faults, until the
/// component answers.
fn restart(name: &str, answers: impl Fn() -> bool) {
    // It did not know yet that it crashed: the first call into it finds out.
    let _ = answers();
    let _ = imports::SUPERVISOR.restart(name);
    while !answers() {}
}
