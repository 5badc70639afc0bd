//! Windows of memory that was got at run time.

use crate::harness::Judge;
use crate::harness::{pause, wait_until};
use crate::imports::{KEEPER, MEMORY, PORTALS, SUPERVISOR, THREADS};
use cairn::Error;
use cairn::thread::Stack;
use cairn_abi::address::PAGE_SIZE;
use cairn_interfaces::spawn;
use cairn_test_hostile_machine as machine;
use cairn_test_hostile_places::{Keeper, KeeperProxy};
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Methods of the keeper.
const SUM: u64 = 1;
const FILL: u64 = 2;
const HOLD: u64 = 4;
/// More than one page table maps.
const PAGES: u64 = 600;
const WINDOW: u64 = 2 * PAGE_SIZE;

/// Passes a buffer by its address, since no reference leads to it; status and value.
fn pass(method: u64, pointer: u64) -> (i64, u64) {
    let index = u64::from(KEEPER.first_portal()) + method;
    machine::call(index, [0, pointer, WINDOW, 3, 0, 0, 0, 0])
}

static STACK: Stack<8192> = Stack::new();
static PORTAL: AtomicU32 = AtomicU32::new(0);
static POINTER: AtomicU64 = AtomicU64::new(0);
static RESULT: AtomicI64 = AtomicI64::new(0);

/// What a server has in a window does not go back to the manager, whether its stacks are the client's by the
/// description or since it opened the export.
fn freed_while_in_a_window(judge: &mut Judge, name: &str, server: &str, keeper: KeeperProxy) {
    let address = MEMORY.allocate(4).unwrap_or(0);
    let passed = address + WINDOW;
    PORTAL.store(keeper.first_portal() + HOLD as u32, Relaxed);
    POINTER.store(passed, Relaxed);
    let hold = |_| {
        let words = [0, POINTER.load(Relaxed), WINDOW, 0, 0, 0, 0, 0];
        RESULT.store(machine::call(PORTAL.load(Relaxed).into(), words).0, Relaxed);
    };
    let thread = spawn(THREADS, &STACK, hold, 0, 50).expect("spawn");
    pause(5000);
    judge.expect(name, MEMORY.free(passed + PAGE_SIZE, 1), Err(Error::Busy));
    judge.expect(name, MEMORY.free(address, 4), Err(Error::Busy));
    judge.expect(name, MEMORY.free(address, 2), Ok(()));
    judge.expect(name, SUPERVISOR.restart(server), Ok(()));
    judge.expect(name, thread.join(), Ok(()));
    judge.expect(name, RESULT.load(Relaxed), Error::Dead.status());
    judge.expect(name, MEMORY.free(passed, 2), Ok(()));
    wait_until(|| keeper.ended() == Ok(0));
}

pub fn attacks(judge: &mut Judge) {
    let name = "memory given back while it is in a window";
    // What waits in it for ever ends first.
    judge.expect(name, SUPERVISOR.restart("keeper"), Ok(()));
    wait_until(|| KEEPER.ended() == Ok(0));
    judge.start();
    freed_while_in_a_window(judge, name, "keeper", KEEPER);
    match PORTALS.open_object::<dyn Keeper>("lonely.keeper") {
        Ok(lonely) => {
            freed_while_in_a_window(judge, name, "lonely", lonely.proxy());
            judge.expect(name, PORTALS.close(lonely.first_portal().into()), Ok(()));
        }
        Err(error) => judge.expect(name, Err(error), Ok(())),
    }
    judge.end(name);

    let name = "windows of memory got at run time";
    judge.start();
    let address = MEMORY.allocate(PAGES).unwrap_or(0);
    for page in [0, 2, PAGES / 2, PAGES - 2] {
        let pointer = address + page * PAGE_SIZE;
        judge.expect(name, pass(SUM, pointer), (0, 0));
        judge.expect(name, pass(FILL, pointer).0, 0);
        judge.expect(name, pass(SUM, pointer), (0, 3 * WINDOW));
    }
    // Half of the window is behind the end.
    let beyond = pass(SUM, address + (PAGES - 1) * PAGE_SIZE).0;
    judge.expect(name, beyond, Error::BadPointer.status());
    judge.expect(name, MEMORY.free(address, PAGES), Ok(()));
    judge.expect(name, pass(SUM, address).0, Error::BadPointer.status());
    judge.end(name);

    let name = "all of its memory, in windows";
    judge.start();
    let mut last = 0;
    let mut pages = 0;
    let refused = loop {
        match MEMORY.allocate(2) {
            Ok(address) => (last, pages) = (address, pages + 2),
            Err(error) => break error,
        }
    };
    judge.expect(name, refused, Error::Exhausted);
    judge.expect(name, pages > PAGES, true);
    judge.expect(name, pass(FILL, last).0, 0);
    judge.expect(name, pass(SUM, last), (0, 3 * WINDOW));
    judge.expect(name, MEMORY.free(last + WINDOW - pages * PAGE_SIZE, pages), Ok(()));
    judge.end(name);
}
