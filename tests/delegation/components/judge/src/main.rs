//! Asks, is refused, kills who asks and who is asked, and sees that nobody else notices.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::InstanceId;
use cairn::thread::Stack;
use cairn::{Error, time};
use cairn_interfaces as interfaces;
use cairn_interfaces::{Thread, spawn};
use cairn_test_delegation_contract::{Gate, Treasure, Visitor, VisitorProxy, mode};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

cairn::component! {
    name: "delegation-judge",
    imports: {
        console: interfaces::Console,
        scheduling: interfaces::SchedulerStatistics,
        threads: interfaces::Threads,
        supervisor: interfaces::Supervisor,
        listing: interfaces::PortalListing,
        portals: interfaces::Portals,
        gate: Gate,
        one: Visitor,
        two: Visitor,
    },
    main: main,
}

use imports::{CONSOLE, GATE, LISTING, ONE, PORTALS, SCHEDULING, SUPERVISOR, THREADS, TWO};

struct Screen;
impl Write for Screen {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        CONSOLE.write(text.as_bytes()).map(drop).map_err(|_| fmt::Error)
    }
}

struct Judge(u64);

impl Judge {
    fn expect<T: PartialEq + fmt::Debug>(&mut self, what: &str, found: T, expected: T) {
        if found != expected {
            self.0 += 1;
            let _ = writeln!(Screen, "FAILED {what}: {found:?}, expected {expected:?}");
        }
    }

    fn passed(&self, what: &str) {
        if self.0 == 0 {
            let _ = writeln!(Screen, "ok {what}");
        }
    }
}

fn wait_until(condition: impl Fn() -> bool) -> bool {
    for _ in 0..5000 {
        if condition() {
            return true;
        }
        let _ = THREADS.sleep_until(time::now() + time::ticks(200));
    }
    condition()
}

static STACK: Stack<8192> = Stack::new();
/// How the visit ended: its value, or its error's status.
static ENDED: AtomicI64 = AtomicI64::new(0);

fn visit(_: u64) {
    let result = ONE.visit();
    ENDED.store(result.map_or_else(Error::status, |value| value as i64), Relaxed);
}

/// A visit of the first visitor to the silent gate: when this returns, its thread waits there.
fn silent_visit(judge: &mut Judge) -> Thread {
    let _ = GATE.set_mode(mode::SILENT);
    let asked = GATE.asked().unwrap_or(0);
    ENDED.store(0, Relaxed);
    let thread = spawn(THREADS, &STACK, visit, 0, 20).expect("the quota has room");
    judge.expect("asked", wait_until(|| GATE.asked() == Ok(asked + 1)), true);
    judge.expect("it waits", ENDED.load(Relaxed), 0);
    thread
}

/// Others open, are admitted, and go on while that one waits.
fn others(judge: &mut Judge) {
    let semaphore = PORTALS.semaphore(1).map(|semaphore| semaphore.first_portal());
    judge.expect("a semaphore", semaphore.is_ok(), true);
    let closed = PORTALS.close(semaphore.unwrap_or(0).into());
    judge.expect("closed", closed, Ok(()));
    let _ = GATE.set_mode(mode::ALLOW);
    judge.expect("another visitor", TWO.visit(), Ok(42));
    judge.expect("the first waits on", ENDED.load(Relaxed), 0);
}

/// Once a component that was killed is there again.
fn again(visitor: VisitorProxy) -> bool {
    wait_until(|| visitor.visit() == Ok(42))
}

fn main() {
    let mut judge = Judge(0);
    let two = u64::from(cairn::environment::startup().instance) - 1;
    // The gate has registered when it answers in its own way.
    let _ = GATE.set_mode(mode::REFUSE);
    wait_until(|| ONE.visit() == Err(Error::NotAllowed));

    judge.expect("refused", ONE.visit(), Err(Error::NotAllowed));
    let _ = GATE.set_mode(mode::FORGET);
    judge.expect("yes without admission", ONE.visit(), Err(Error::WouldBlock));
    judge.passed("refused");

    let _ = GATE.set_mode(mode::ALLOW);
    let asked = GATE.asked().unwrap_or(0);
    judge.expect("allowed", ONE.visit(), Ok(42));
    let _ = GATE.set_mode(mode::REFUSE);
    judge.expect("allowed again", ONE.visit(), Ok(42));
    judge.expect("asked once", GATE.asked(), Ok(asked + 1));
    judge.expect("another", TWO.visit(), Err(Error::NotAllowed));
    judge.expect(
        "nobody decides for others",
        PORTALS.admit("gate.treasure", InstanceId(two as u16), true),
        Err(Error::NotFound),
    );
    judge.expect(
        "no such domain",
        PORTALS.admit("gate.treasure", InstanceId(1 << 8), true),
        Err(Error::BadArgument),
    );
    judge.expect("nobody by itself", PORTALS.open("gate.treasure", 0, &[]), Err(Error::WouldBlock));
    judge.expect(
        "by the library",
        PORTALS.open_object::<dyn Treasure>("gate.treasure").err(),
        Some(Error::NotAllowed),
    );
    judge.passed("allowed");

    let one = two - 1;
    judge.expect("dismissed", GATE.dismiss(one), Ok(()));
    judge.expect("asks again", ONE.visit(), Err(Error::NotAllowed));
    judge.passed("dismissed");

    let code = LISTING.usage();
    let thread = silent_visit(&mut judge);
    others(&mut judge);
    judge.passed("a server that never answers");

    judge.expect("kill the client", SUPERVISOR.restart("one"), Ok(()));
    judge.expect("home", wait_until(|| ENDED.load(Relaxed) != 0), true);
    judge.expect("as dead", ENDED.load(Relaxed), Error::Dead.status());
    judge.expect("joined", thread.join(), Ok(()));
    judge.expect("the client again", again(ONE), true);
    judge.expect("portal code", wait_until(|| LISTING.usage() == code), true);
    judge.passed("the client dies while it waits");

    judge.expect("dismissed", GATE.dismiss(one), Ok(()));
    let thread = silent_visit(&mut judge);
    judge.expect("kill the server", SUPERVISOR.restart("gate"), Ok(()));
    judge.expect("home", wait_until(|| ENDED.load(Relaxed) != 0), true);
    judge.expect("as dead", ENDED.load(Relaxed), Error::Dead.status());
    judge.expect("joined", thread.join(), Ok(()));
    judge.expect("the server again", again(ONE) && again(TWO), true);
    judge.passed("the server dies while a client waits");

    let threads = (0..64).filter(|index| SCHEDULING.thread(*index).is_ok()).count();
    let _ = writeln!(Screen, "delegation: {} failed, {threads} threads", judge.0);
    let _ = SUPERVISOR.halt(judge.0.min(1));
}
