//! Sleeps for each millisecond and says how late it was, while the time limits of 230 less urgent
//! threads end all at once, shortly before.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::time::{counter, ticks};
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::say;

cairn::component! {
    name: "hostile-limits-beat",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
    },
    main: main,
}

const PERIOD_MICROSECONDS: u64 = 1000;
/// Until the swarm is there.
const BEFORE: u64 = 20;
const ROUNDS: u64 = 200;
/// As late as a high priority may be at most, as in `hostile-time`, unless the argument says another number.
const LATENESS_MICROSECONDS: u64 = 4;

fn main() {
    let period = ticks(PERIOD_MICROSECONDS);
    let mut time = (counter() / period + BEFORE) * period;
    let mut latest = 0;
    for _ in 0..ROUNDS {
        time += period;
        imports::THREADS.sleep_until(time).expect("sleep");
        latest = latest.max(counter() - time);
    }
    let most = ticks(environment::argument().parse().unwrap_or(LATENESS_MICROSECONDS));
    let is_in_time = latest <= most;
    let word = if is_in_time { "ok" } else { "FAILED" };
    say!("{word}: limits of many threads end, {latest} ticks late of at most {most}");
    // The console's driver goes first.
    let _ = imports::THREADS.own_name().and_then(|own| imports::THREADS.set_priority(own, 1));
    let _ = imports::SUPERVISOR.halt((!is_in_time).into());
}
