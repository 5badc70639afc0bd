//! Logs while the reader writes into its log, and finds its own data as they were.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::environment;
use cairn::time::{now, ticks};
use cairn_interfaces::{Console, Supervisor, Threads};
// Relaxed: one thread.
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "hostile-logs-writer",
    imports: { console: Console, threads: Threads, supervisor: Supervisor },
    main: main,
}

static DATA: [AtomicU64; 8192] = [const { AtomicU64::new(7) }; 8192];

fn main() {
    for round in 0..200 {
        for number in 0..10 {
            cairn::log::error!("{number} of round {round}");
        }
        let _ = imports::THREADS.sleep_until(now() + ticks(1000));
    }
    assert!(DATA.iter().all(|word| word.load(Relaxed) == 7), "its data are whole");
    let _ = imports::CONSOLE.print(format_args!("ok: {} has logged\n", environment::name()));
    if environment::argument() == "last" {
        let _ = imports::SUPERVISOR.halt(0);
    }
}
