//! Kills callers, callees and those between, and sees what the others notice.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn::thread::Stack;
use cairn::time::{now, ticks};
use cairn_interfaces as interfaces;
use cairn_interfaces::{Thread, spawn};
use cairn_test_hostile_contract::Line;
use cairn_test_hostile_contract::measure::{Measure, Tellers};
use cairn_test_hostile_nest::{Holder, Hop};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

cairn::component! {
    name: "hostile-judge-death",
    imports: {
        console: interfaces::Console,
        control: interfaces::SchedulerControl,
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

fn write(text: &[u8]) {
    imports::CONSOLE.write(text).expect("console");
}

macro_rules! say {
    ($($argument:tt)*) => {{
        let mut line = Line::new(write);
        let _ = writeln!(line, $($argument)*);
        line.flush();
    }};
}

struct Judge {
    failed: u64,
}

impl Judge {
    fn expect<T: PartialEq + fmt::Debug>(&mut self, what: &str, found: T, expected: T) {
        if found != expected {
            self.failed += 1;
            say!("FAILED {what}: {found:?} expected {expected:?}");
        }
    }

    /// Says whether a test held, and whether all that it took came back.
    fn end(&mut self, name: &str, before: Measure) {
        // What dead domains had goes back when nobody is in them any more.
        for _ in 0..500 {
            if measure() == before {
                break;
            }
            pause(1000);
        }
        self.expect(name, measure(), before);
        if self.failed == 0 {
            say!("ok: {name}");
        }
    }
}

fn measure() -> Measure {
    Tellers {
        control: imports::CONTROL,
        memory: imports::USAGE,
        portals: imports::CODE,
        names: imports::NAMES,
    }
    .measure()
}

fn pause(microseconds: u64) {
    imports::THREADS.sleep_until(now() + ticks(microseconds)).expect("sleep");
}

/// Time in the emulator stands still or runs on as the host's load has it, so nothing here relies on
/// how long anything takes.
fn wait_until(condition: impl Fn() -> bool) {
    for _ in 0..20_000 {
        if condition() {
            return;
        }
        pause(200);
    }
}

fn main() {
    let mut judge = Judge { failed: 0 };
    // The front's own call is over then.
    wait_until(|| imports::HOLDER.finished() == Ok(1));
    pause(20_000);
    caller(&mut judge);
    callee(&mut judge);
    middle(&mut judge);
    object(&mut judge);
    chain(&mut judge);
    fault_inside(&mut judge);
    let failed = judge.failed;
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
    let before = measure();
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
    judge.end(name, before);
}

fn callee(judge: &mut Judge) {
    let name = "the callee is killed, with its lock held";
    let before = measure();
    let thread = hold(false, 100_000_000);
    wait_until(is_held);
    judge.expect(name, imports::SUPERVISOR.kill("holder"), Ok(()));
    judge.expect(name, thread.join(), Ok(()));
    judge.expect(name, RESULT.load(Relaxed), Error::Dead.status());
    judge.expect(name, imports::HOLDER.holding(), Err(Error::Dead));
    restart_holder();
    judge.expect(name, imports::HOLDER.hold(100), Ok(1));
    judge.expect(name, imports::HOLDER.hold(100), Ok(2));
    judge.end(name, before);
}

fn middle(judge: &mut Judge) {
    let name = "the middle one of three is killed, with a lock held in the last";
    let before = measure();
    let thread = hold(true, 300_000);
    wait_until(is_held);
    judge.expect(name, imports::SUPERVISOR.kill("front"), Ok(()));
    judge.expect(name, RESULT.load(Relaxed), WAITING);
    judge.expect(name, imports::HOLDER.holding(), Ok(1));
    judge.expect(name, imports::HOLDER.hold(0), Ok(4));
    judge.expect(name, thread.join(), Ok(()));
    judge.expect(name, RESULT.load(Relaxed), Error::Dead.status());
    restart_front(4);
    judge.end(name, before);
}

fn object(judge: &mut Judge) {
    let name = "an object's portal after its server was started again";
    let before = measure();
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
    judge.end(name, before);
}

fn chain(judge: &mut Judge) {
    let name = "more nested calls than an invocation stack holds";
    let before = measure();
    for _ in 0..100 {
        judge.expect(name, imports::FIRST.go(100), Err(Error::InvocationOverflow));
    }
    // The second half of the chain fits.
    judge.expect(name, imports::EIGHTH.go(100), Ok(9));
    judge.end(name, before);
}

fn fault_inside(judge: &mut Judge) {
    let name = "a fault in the middle of nested calls";
    let before = measure();
    let counts = (imports::FIRST.count(), imports::EIGHTH.count());
    judge.expect(name, imports::FIRST.go(4), Err(Error::Dead));
    wait_until(|| imports::FIFTH.count().is_ok());
    // It started again; the others went on.
    judge.expect(name, imports::FIFTH.count(), Ok(0));
    judge.expect(name, imports::FIRST.count(), counts.0.map(|count| count + 1));
    judge.expect(name, imports::EIGHTH.count(), counts.1);
    judge.end(name, before);
}
