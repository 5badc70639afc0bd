//! Kills the kernel at any time of its life, and sees that it comes back; has another server of processes attack, and one tried, which nobody
//! needs.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;
use cairn_test_hostile_contract::{judge, say};

cairn::component! {
    name: "processes-judge",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        usage: interfaces::MemoryStatistics,
        kernel: cairn_test_processes_contract::Progress,
        computer: cairn_test_processes_contract::Progress,
        idler: cairn_test_processes_contract::Progress,
        attacker: cairn_app_interfaces::Echo,
    },
    arguments: { kills: u64, step: u64, requests: u64 },
    main: main,
}

fn pause(microseconds: u64) {
    let _ = imports::THREADS.sleep_until(now() + ticks(microseconds));
}

/// Whether an instance is alive, and after how many lives.
fn life(name: &str) -> Option<(bool, u64)> {
    judge::life(imports::SUPERVISOR, name, |state, lives| (state == "alive", lives))
}

/// Waits until the kernel has gone so far in a life.
fn wait_for(rounds: u64) {
    loop {
        match imports::KERNEL.rounds() {
            Ok(found) if found >= rounds => return,
            Ok(_) | Err(Error::Dead) => pause(500),
            Err(error) => panic!("{}", error.text()),
        }
    }
}

/// A server that may be needless is not disturbed: its process computes on while it is tried, again and again.
fn computes_on_while_it_is_tried() {
    // It would leave no time to who looks.
    let _ = imports::SUPERVISOR.kill("kernel");
    while imports::IDLER.rounds() != Ok(1) {
        pause(500);
    }
    for _ in 0..5 {
        // Once and a half of its time.
        pause(60_000);
        assert!(imports::IDLER.rounds() == Ok(1) && life("idler") == Some((true, 0)));
    }
    // Twice of it, and as long as two turns of who computes.
    pause(120_000);
    assert!(life("idler") == Some((false, 1)), "it was tried");
    say!("ok: a process computes on while its server is tried");
}

/// The end of a server reaches a process that computes, and never enters it.
fn ends_what_computes() {
    while imports::COMPUTER.rounds() != Ok(1) {
        pause(500);
    }
    assert!(life("computer") == Some((true, 0)), "it has computed until now");
    say!(
        "{} to crash who computes",
        if imports::SUPERVISOR.crash("computer") == Ok(()) { "ok:" } else { "FAILED" }
    );
    // Nobody else has to do with it; it shares the processor with the kernel.
    pause(200_000);
}

fn main() {
    wait_for(10);
    let before = imports::USAGE.usage();
    for kill in 0..arguments::kills() {
        // Also while it makes its processes.
        pause(kill * arguments::step());
        let killed = imports::SUPERVISOR.restart("kernel");
        assert!(killed.is_ok(), "{killed:?}");
        if kill % 16 == 15 {
            wait_for(10);
        }
    }
    wait_for(10);
    assert!(imports::USAGE.usage() == before, "nothing is lost with a life");
    say!("ok: lives of a kernel");
    let wrong = imports::ATTACKER.add(arguments::requests(), 0);
    say!(
        "{} of requests by chance, {wrong:?} did what none may",
        if wrong == Ok(0) { "ok:" } else { "FAILED" }
    );
    wait_for(20);
    say!("ok: the other kernel goes on");
    ends_what_computes();
    computes_on_while_it_is_tried();
    say!("processes: done");
    let _ = imports::SUPERVISOR.halt(0);
}
