//! Waits until every client has called twice, and says it.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::{counter, ticks};
use cairn_interfaces::{Console, Supervisor, Threads};
use cairn_test_growth_contract::{CLIENTS, Roll};

cairn::component! {
    name: "growth-judge",
    imports: { console: Console, supervisor: Supervisor, threads: Threads, server: Roll },
    main: main,
}

fn main() {
    // The one that died has called once in its first life and twice in its second.
    let is_done = || imports::SERVER.count(2) == Ok(CLIENTS) && imports::SERVER.count(3) == Ok(1);
    while !is_done() {
        let _ = imports::THREADS.sleep_until(counter() + ticks(10_000));
    }
    let line = "growth: 240 clients, each called twice or more, one in a second life\n";
    let _ = imports::CONSOLE.write(line.as_bytes());
    let _ = imports::SUPERVISOR.halt(0);
}
