//! A call of the server is late, because another component has the lock that it waits for: that one dies, or whom it
//! calls, and neither the server nor anyone else.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::{now, ticks};
use cairn_interfaces::{Console, Supervisor, Threads};
use cairn_test_blame_contract::{Hold, HoldProxy, Work};

cairn::component! {
    name: "blame-judge",
    imports: {
        console: Console,
        threads: Threads,
        supervisor: Supervisor,
        server: Work,
        sleeper: Hold,
        caller: Hold,
    },
    main: main,
}

/// Microseconds that the description lets a callee keep a thread, in general and the keeper.
const CANCELLED_FOR: u64 = 100_000;
const KEEPER_CANCELLED_FOR: u64 = 20_000;

/// How long the server's call takes while `holder` has its lock.
fn work_beside(holder: HoldProxy, done: u64) -> u64 {
    holder.begin().expect("begin");
    while !holder.has().expect("has") {
        imports::THREADS.sleep_until(now() + ticks(1000)).expect("sleep");
    }
    let begin = now();
    assert_eq!(imports::SERVER.work(), Ok(done), "the server is not at fault");
    (now() - begin) / ticks(1)
}

fn main() {
    imports::SERVER.prepare().expect("prepare");
    assert_eq!(imports::SERVER.work(), Ok(1));
    let took = work_beside(imports::SLEEPER, 2);
    assert!(took >= CANCELLED_FOR, "it has its time, {took} us");
    let took = work_beside(imports::CALLER, 3);
    assert!(took >= KEEPER_CANCELLED_FOR, "it has its time, {took} us");
    assert!(took < CANCELLED_FOR, "the export's time counts, not the system's, {took} us");
    // Whom the keeper kept lives, and has given the lock back.
    while imports::CALLER.has().expect("the caller lives") {
        imports::THREADS.sleep_until(now() + ticks(1000)).expect("sleep");
    }
    assert_eq!(imports::SERVER.work(), Ok(4), "and the server has lived all the time");
    imports::CONSOLE.print(format_args!("ok: who is at fault has the lock\n")).expect("console");
    let _ = imports::SUPERVISOR.halt(0);
}
