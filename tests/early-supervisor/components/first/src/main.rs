//! Asks the supervisor before its worker has run: it is more urgent, and its first call comes before it has waited for anything.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};
use cairn_interfaces::{Console, Supervisor, Threads};

cairn::component! {
    name: "first",
    imports: { console: Console, threads: Threads, supervisor: Supervisor },
    arguments: { question: u64 },
    main: main,
}

/// What the supervisor answers to the first question it is asked.
fn answer(question: u64) -> Result<bool, Error> {
    match question {
        0 => imports::SUPERVISOR.kill("victim").map(|()| true),
        1 => imports::SUPERVISOR.restart("victim").map(|()| true),
        2 => imports::SUPERVISOR.crash("fellow").map(|()| true),
        _ => {
            let mut line = [0; 160];
            let (length, number) = imports::SUPERVISOR.describe(1, &mut line)?;
            Ok(number == 1 && line[..length].starts_with(b"scheduler "))
        }
    }
}

fn main() {
    let question = arguments::question();
    let answer = answer(question);
    let word = if answer == Ok(true) { "ok" } else { "FAILED" };
    // The console may not have begun either.
    let line = || imports::CONSOLE.print(format_args!("{word}: question {question}, {answer:?}\n"));
    while line().is_err() {
        let _ = imports::THREADS.sleep_until(now() + ticks(1000));
    }
}
