//! A call of the server is late, because another thread has the lock that it waits for: that one's component
//! dies, or whom it calls, and neither the server nor anyone else. If it waits for a stack or the processor, nobody dies.
//! What is essential never dies so.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_interfaces::{Console, Supervisor, Threads, spawn};
use cairn_test_blame_contract::{Hold, HoldProxy, Keep, Work};

cairn::component! {
    name: "blame-judge",
    imports: {
        console: Console,
        threads: Threads,
        supervisor: Supervisor,
        server: Work,
        sleeper: Hold,
        caller: Hold,
        pillar: Keep,
        visitor: Hold,
    },
    main: main,
}

/// The instance's, above the supervisor's when that makes way.
const PRIORITY: u8 = 200;
/// Microseconds that the description lets a callee keep a thread, in general and the keeper.
const CANCELLED_FOR: u64 = 100_000;
const KEEPER_CANCELLED_FOR: u64 = 20_000;
/// And after which a call of the server is late: before, nobody is called home.
const LATE: u64 = 30_000;

/// How long the server's call takes while `holder` has its lock.
fn work_beside(holder: HoldProxy, done: u64) -> u64 {
    holder.begin().expect("begin");
    while !holder.has().expect("has") {
        pause(1000);
    }
    let begin = now();
    assert_eq!(imports::SERVER.work(), Ok(done), "the server is not at fault");
    (now() - begin) / ticks(1)
}

static STACK: Stack<8192> = Stack::new();

fn pause(microseconds: u64) {
    imports::THREADS.sleep_until(now() + ticks(microseconds)).expect("sleep");
}

/// A thread that is called home out of an essential component comes by it as by any other.
fn home_from_the_essential() {
    let call = |_| assert_eq!(imports::PILLAR.keep(), Err(Error::Cancelled));
    let thread = spawn(imports::THREADS, &STACK, call, 0, 100).expect("spawn");
    pause(1000);
    imports::SUPERVISOR.call_home(thread.name()).expect("call home");
    thread.join().expect("it comes home");
}

/// A call that is late because its thread never gets the processor is nobody's fault.
fn late_without_the_processor() {
    let call = |_| assert_eq!(imports::SERVER.work(), Ok(6));
    let thread = spawn(imports::THREADS, &STACK, call, 0, 20).expect("spawn");
    // It is in there, and this thread is more urgent.
    pause(1000);
    let end = now() + ticks(5 * LATE);
    while now() < end {}
    thread.join().expect("it has come back");
}

/// A callee whose thread has not got the processor since its wait was ended, and waits a little when it has, is not at fault.
fn home_without_the_processor() {
    assert_eq!(imports::VISITOR.has(), Ok(true), "it visits");
    imports::SUPERVISOR.kill("visitor").expect("kill");
    // The visitor's thread is less urgent, and is called home meanwhile.
    let end = now() + ticks(5 * CANCELLED_FOR / 2);
    while now() < end {}
    pause(CANCELLED_FOR);
    imports::SUPERVISOR.restart("visitor").expect("restart");
    while imports::VISITOR.has() != Ok(true) {
        pause(1000);
    }
}

/// Who sleeps is nobody's guest, even if another thread runs in the middle of each look at it.
fn in_nobodys_way() {
    let disturb = |_| {
        let end = now() + ticks(2 * CANCELLED_FOR);
        while now() < end {
            pause(1);
        }
    };
    while imports::VISITOR.has() != Ok(true) {
        pause(1000);
    }
    let thread = spawn(imports::THREADS, &STACK, disturb, 0, PRIORITY).expect("spawn");
    imports::SUPERVISOR.kill("visitor").expect("kill");
    for _ in 0..200 {
        pause(1000);
    }
    thread.join().expect("nobody ends its sleep");
    imports::SUPERVISOR.restart("visitor").expect("restart");
}

fn main() {
    // What it may have is for a thread of its own.
    let own = imports::THREADS.own_name().expect("own name");
    imports::THREADS.set_priority(own, 100).expect("set priority");
    imports::SERVER.prepare().expect("prepare");
    assert_eq!(imports::SERVER.work(), Ok(1));
    let took = work_beside(imports::SLEEPER, 2);
    assert!(took >= CANCELLED_FOR, "it has its time, {took} us");
    let took = work_beside(imports::CALLER, 3);
    assert!(took >= KEEPER_CANCELLED_FOR, "it has its time, {took} us");
    assert!(took < LATE + CANCELLED_FOR, "the export's time counts, not the system's, {took} us");
    // Whom the keeper kept lives, and has given the lock back.
    while imports::CALLER.has().expect("the caller lives") {
        pause(1000);
    }
    assert_eq!(imports::SERVER.work(), Ok(4), "and the server has lived all the time");
    imports::CONSOLE.print(format_args!("ok: who is at fault has the lock\n")).expect("console");
    while !imports::SERVER.occupy().expect("occupy") {
        pause(1000);
    }
    pause(1000);
    assert_eq!(imports::SERVER.wait(), Ok(5), "the server is not at fault");
    imports::CONSOLE.print(format_args!("ok: a wait for a stack is ended\n")).expect("console");
    late_without_the_processor();
    imports::CONSOLE
        .print(format_args!("ok: who is late without the processor is not at fault\n"))
        .expect("console");
    home_from_the_essential();
    imports::CONSOLE.print(format_args!("ok: what is essential goes on\n")).expect("console");
    home_without_the_processor();
    imports::CONSOLE
        .print(format_args!("ok: who waits for the processor is not at fault\n"))
        .expect("console");
    in_nobodys_way();
    imports::CONSOLE
        .print(format_args!("ok: who is in nobody's way is not called home\n"))
        .expect("console");
    let _ = imports::SUPERVISOR.halt(0);
}
