//! Kills callers, callees and those between, and sees what the others notice.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn_interfaces as interfaces;
use cairn_interfaces::{Thread, spawn};
use cairn_test_hostile_contract::say;
use cairn_test_hostile_nest::{Holder, Hop};
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};
use harness::{Judge, pause, wait_until};

cairn::component! {
    name: "hostile-judge-death",
    imports: {
        console: interfaces::Console,
        scheduling: interfaces::SchedulerStatistics,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        usage: interfaces::MemoryStatistics,
        code: interfaces::PortalListing,
        names: interfaces::Names,
        portals: interfaces::Portals,
        holder: Holder,
        front: Holder,
        first: Hop,
        fifth: Hop,
        eighth: Hop,
    },
    main: main,
}

cairn_test_hostile_contract::harness!();

fn main() {
    let mut judge = harness::begin();
    // The front's own call is over then.
    wait_until(|| imports::HOLDER.finished() == Ok(1));
    pause(20_000);
    caller(&mut judge);
    callee(&mut judge);
    middle(&mut judge);
    object(&mut judge);
    chain(&mut judge);
    fault_inside(&mut judge);
    let failed = judge.failed();
    say!("hostile-death: {failed} failed");
    let _ = imports::SUPERVISOR.halt(failed.min(1));
}

/// Starts the front again and waits until its main function's call has come and gone.
fn restart_front(finished: u64) {
    imports::SUPERVISOR.restart("front").expect("restart");
    wait_until(|| imports::HOLDER.finished() == Ok(finished + 1));
}

fn restart_holder() {
    imports::SUPERVISOR.restart("holder").expect("restart");
    wait_until(|| imports::HOLDER.holding().is_ok());
}

fn is_held() -> bool {
    imports::HOLDER.holding() == Ok(1)
}

static STACK: Stack<8192> = Stack::new();
static RESULT: AtomicI64 = AtomicI64::new(0);
const WAITING: i64 = 1000;

/// Has another thread call `hold`, directly or through the front.
fn hold(through_front: bool, microseconds: u64) -> Thread {
    RESULT.store(WAITING, Relaxed);
    let call: fn(u64) = match through_front {
        true => |time| keep(imports::FRONT.hold(time)),
        false => |time| keep(imports::HOLDER.hold(time)),
    };
    spawn(imports::THREADS, &STACK, call, microseconds, 50).expect("spawn")
}

fn keep(result: Result<u64, Error>) {
    RESULT.store(result.map_or_else(Error::status, |value| value as i64), Relaxed);
}

fn caller(judge: &mut Judge) {
    let name = "the caller is killed, with a lock held in the callee";
    judge.start();
    imports::SUPERVISOR.restart("front").expect("restart");
    // Its main function calls the holder.
    wait_until(is_held);
    judge.expect(name, imports::SUPERVISOR.kill("front"), Ok(()));
    judge.expect(name, imports::HOLDER.holding(), Ok(1));
    // The thread finishes in the holder and gives the lock back; until then it is waited for.
    judge.expect(name, imports::HOLDER.hold(0), Ok(3));
    judge.expect(name, imports::FRONT.holding(), Err(Error::Dead));
    restart_front(3);
    judge.expect(name, imports::FRONT.holding(), Ok(0));
    judge.end(name);
}

fn callee(judge: &mut Judge) {
    let name = "the callee is killed, with its lock held";
    judge.start();
    let thread = hold(false, 100_000_000);
    wait_until(is_held);
    judge.expect(name, imports::SUPERVISOR.kill("holder"), Ok(()));
    judge.expect(name, thread.join(), Ok(()));
    judge.expect(name, RESULT.load(Relaxed), Error::Dead.status());
    judge.expect(name, imports::HOLDER.holding(), Err(Error::Dead));
    restart_holder();
    judge.expect(name, imports::HOLDER.hold(100), Ok(1));
    judge.expect(name, imports::HOLDER.hold(100), Ok(2));
    judge.end(name);
}

fn middle(judge: &mut Judge) {
    let name = "the middle one of three is killed, with a lock held in the last";
    judge.start();
    let thread = hold(true, 300_000);
    wait_until(is_held);
    judge.expect(name, imports::SUPERVISOR.kill("front"), Ok(()));
    judge.expect(name, RESULT.load(Relaxed), WAITING);
    judge.expect(name, imports::HOLDER.holding(), Ok(1));
    judge.expect(name, imports::HOLDER.hold(0), Ok(4));
    judge.expect(name, thread.join(), Ok(()));
    judge.expect(name, RESULT.load(Relaxed), Error::Dead.status());
    restart_front(4);
    judge.end(name);
}

fn object(judge: &mut Judge) {
    let name = "an object's portal after its server was started again";
    judge.start();
    let object = imports::HOLDER.token(imports::PORTALS, 7);
    judge.expect(name, object.and_then(|object| object.proxy().number()), Ok(7));
    restart_holder();
    judge.expect(name, object.and_then(|object| object.proxy().number()), Err(Error::NoPortal));
    // The successor's object gets other portals: those of the first lead nowhere until they are closed.
    let next = imports::HOLDER.token(imports::PORTALS, 8);
    judge.expect(name, next.and_then(|object| object.proxy().number()), Ok(8));
    judge.expect(name, object.and_then(|object| object.proxy().number()), Err(Error::NoPortal));
    for made in [object, next] {
        let closed = made.and_then(|object| imports::PORTALS.close(object.first_portal().into()));
        judge.expect(name, closed, Ok(()));
    }
    judge.expect(name, next.and_then(|object| object.proxy().number()), Err(Error::NoPortal));
    // As it was: with its lock.
    judge.expect(name, imports::HOLDER.hold(0), Ok(1));
    judge.end(name);
}

fn chain(judge: &mut Judge) {
    let name = "more nested calls than an invocation stack holds";
    // Each link makes its lock, as deep as it is.
    judge.expect(name, imports::FIRST.go(100), Err(Error::InvocationOverflow));
    judge.start();
    for _ in 0..100 {
        judge.expect(name, imports::FIRST.go(100), Err(Error::InvocationOverflow));
    }
    // The second half of the chain fits.
    judge.expect(name, imports::EIGHTH.go(100), Ok(9));
    judge.end(name);
}

fn fault_inside(judge: &mut Judge) {
    let name = "a fault in the middle of nested calls";
    judge.start();
    let counts = (imports::FIRST.count(), imports::EIGHTH.count());
    judge.expect(name, imports::FIRST.go(4), Err(Error::Dead));
    wait_until(|| imports::FIFTH.count().is_ok());
    // It started again; the others went on.
    judge.expect(name, imports::FIFTH.count(), Ok(0));
    judge.expect(name, imports::FIRST.count(), counts.0.map(|count| count + 1));
    judge.expect(name, imports::EIGHTH.count(), counts.1);
    // The successor makes its lock anew.
    judge.expect(name, imports::FIRST.go(100), Err(Error::InvocationOverflow));
    judge.end(name);
}
