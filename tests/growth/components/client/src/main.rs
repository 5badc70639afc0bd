//! Calls the server, and once more when all have; client 100 dies between the two, and its next life calls again.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::time::{counter, ticks};
use cairn_interfaces::Threads;
use cairn_test_growth_contract::{CLIENTS, Roll};

cairn::component! {
    name: "growth-client",
    imports: { threads: Threads, server: Roll },
    main: main,
}

fn main() {
    let number = environment::argument().parse().expect("the argument is this client's number");
    let calls = imports::SERVER.call(number).expect("the server answers every client");
    while imports::SERVER.count(1) != Ok(CLIENTS) {
        let _ = imports::THREADS.sleep_until(counter() + ticks(10_000));
    }
    if number == 100 && calls == 1 {
        panic!("this client's first life ends");
    }
    imports::SERVER.call(number).expect("the server answers every client");
}
