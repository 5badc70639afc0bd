//! Stack pointers that are none, threads that begin nowhere, calls that never end.

use crate::harness::{End, Harness, pause, say};
use crate::imports::{ATTACKER, SUPERVISOR, THREADS, VICTIM};
use cairn::exclusive::Exclusive;
use cairn::thread::Stack;
use cairn::{Error, environment};
use cairn_abi::address::{NUCLEUS, REGION_SIZE, STACK_GROUP_SIZE, STACK_GROUPS};
use cairn_interfaces::spawn;
use cairn_test_hostile_contract::{attack, notes};
use core::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// As the layout has it.
const GROUP_STACK_STRIDE: u64 = 64 * 1024;

pub fn attacks(harness: &mut Harness) {
    let page = VICTIM.page().unwrap_or(0);
    let bad = [0, 1, page, page + 3, NUCLEUS, NUCLEUS + 0x0800_0000, u64::MAX];
    let own = ATTACKER.attack(attack::ADDRESS, 3, 0).unwrap_or(0);
    let (region, end) = (own & !(REGION_SIZE - 1), 0x40_0000_0000);
    // Its own memory at odd places and at the ends, and the ends of the region and of user mode.
    let ends = [own, own + 1, own + 4, own + 4095, own + 16384, own + 16385];
    let far = [region, region + REGION_SIZE, region + REGION_SIZE - 1, end - 8, end - 1, end];
    for stack in bad.into_iter().chain(ends).chain(far) {
        harness.attack(
            "a call with a bad stack pointer",
            (attack::CALL_WITH_STACK, stack, 0),
            End::Answers(0),
        );
    }
    shared_stacks(harness, page);
    for address in bad {
        harness.attack(
            "a call with a bad return address",
            (attack::CALL_WITH_RETURN, address, 0),
            End::Dies,
        );
    }
    for word in bad {
        never_ends(harness, "bad registers when interrupts come", attack::SPIN, word);
    }
    harness.attack("an overflow of its stack", (attack::OVERFLOW_STACK, 0, 0), End::Dies);
    let refused = End::Answers(Error::NotAllowed.status() as u64);
    harness.attack("a call into itself", (attack::CALL_ITSELF, 0, 0), refused);
    killed_in_between(harness);
    harness.attack("a thread that returns from nothing", (attack::THREAD, 0, 0), End::Answers(0));
    for address in bad {
        thread_dies(harness, "a thread that begins nowhere", 1, address);
        harness.attack(
            "a thread with a bad stack pointer",
            (attack::THREAD, 2, address),
            End::Answers(0),
        );
    }
}

/// The attacker waits in its call for a thread that faults.
fn thread_dies(harness: &mut Harness, name: &str, what: u64, address: u64) {
    harness.attack(name, (attack::THREAD, what, address), End::Dies);
}

static STACK: Stack<8192> = Stack::new();
static RESULT: AtomicI64 = AtomicI64::new(0);
static ARGUMENT: AtomicU64 = AtomicU64::new(0);
const WAITING: i64 = 1000;

/// The attacker keeps the caller's thread until it is killed; meanwhile others run.
fn never_ends(harness: &mut Harness, name: &str, kind: u64, first: u64) {
    let failed = harness.failed();
    RESULT.store(WAITING, Relaxed);
    ARGUMENT.store(first, Relaxed);
    let run = |kind| {
        let result = ATTACKER.attack(kind, ARGUMENT.load(Relaxed), 0);
        RESULT.store(result.map_or_else(Error::status, |value| value as i64), Relaxed);
    };
    // Below this thread, which wakes up in between.
    match spawn(THREADS, &STACK, run, kind, 30) {
        Ok(thread) => {
            for _ in 0..20 {
                pause(300);
                harness.expect(name, VICTIM.echo(1), Ok(2));
            }
            harness.expect(name, RESULT.load(Relaxed), WAITING);
            harness.expect(name, SUPERVISOR.kill("attacker"), Ok(()));
            harness.expect(name, thread.join(), Ok(()));
            harness.expect(name, RESULT.load(Relaxed), Error::Dead.status());
        }
        Err(error) => harness.fail(name, error),
    }
    harness.after(name);
    if failed == harness.failed() {
        say!("ok: {name}");
    }
}

/// The neighbour that shares stacks runs wherever in the group the caller's stack pointer is, and nowhere
/// else.
fn shared_stacks(harness: &mut Harness, page: u64) {
    let (start, end) = (STACK_GROUPS, STACK_GROUPS + STACK_GROUP_SIZE);
    let refused = Error::BadStack.status() as u64;
    let outside = [
        0,
        1,
        page,
        start - 1,
        start - 16,
        end,
        end + 1,
        end + STACK_GROUP_SIZE / 2,
        NUCLEUS,
        u64::MAX,
    ];
    for stack in outside {
        let name = "a shared stack outside of the group";
        harness.attack(name, (attack::SHARE_STACK, stack, 0), End::Answers(refused));
    }
    // The stack of the group's first member ends where the second's stride begins; its last bytes are
    // there, at odd places too.
    let top = start + GROUP_STACK_STRIDE;
    for stack in [top, top - 16, top - 1, top - 1024] {
        harness.attack(
            "a shared stack in the group",
            (attack::SHARE_STACK, stack, 0),
            End::Answers(0),
        );
    }
    // In the group, but no memory: who runs there faults, and its caller is told.
    let nowhere = [start, start + 8, start + 0x1000, end - 1, end - 16];
    for stack in nowhere {
        let name = "a shared stack without memory";
        harness.attack(
            name,
            (attack::SHARE_STACK, stack, 0),
            End::Answers(Error::Dead.status() as u64),
        );
    }
}

/// Caller and callee are killed while a window is open.
fn killed_in_between(harness: &mut Harness) {
    let name = "the caller is killed while its window is open";
    let failed = harness.failed();
    RESULT.store(WAITING, Relaxed);
    let run = |kind| keep(ATTACKER.attack(kind, 0, 0));
    let begun = |held: u64| held & 0xffff;
    let ended = |held: u64| held >> 16 & 0xffff;
    match spawn(THREADS, &STACK, run, attack::HOLD, 30) {
        Ok(thread) => {
            wait_until(|| VICTIM.held().is_ok_and(|held| begun(held) > 3));
            // It starts again as soon as it can, with zeros where the window is.
            harness.expect(name, SUPERVISOR.restart("attacker"), Ok(()));
            harness.expect(name, thread.join(), Ok(()));
            harness.expect(name, RESULT.load(Relaxed), Error::Dead.status());
            let held = VICTIM.held().unwrap_or(0);
            harness.expect(name, ended(held), begun(held));
            harness.expect(name, held >> 32, 0);
        }
        Err(error) => harness.fail(name, error),
    }
    harness.finish(name, failed);

    let name = "the callee is killed while a window is open";
    let failed = harness.failed();
    let Some(section) = environment::section("notes") else {
        return harness.fail(name, "no section");
    };
    section.store(notes::WINDOW, 0);
    RESULT.store(WAITING, Relaxed);
    let run = |_| BUFFER.with(|buffer| keep(ATTACKER.keep_for_ever(&mut buffer.0)));
    match spawn(THREADS, &STACK, run, 0, 30) {
        Ok(thread) => {
            wait_until(|| section.load(notes::WINDOW) != 0);
            harness.expect(name, SUPERVISOR.kill("attacker"), Ok(()));
            harness.expect(name, thread.join(), Ok(()));
            harness.expect(name, RESULT.load(Relaxed), Error::Dead.status());
        }
        Err(error) => harness.fail(name, error),
    }
    // What it had written is there, and no more comes.
    let written = BUFFER.with(|buffer| core::mem::replace(&mut buffer.0[4095], 0x11));
    harness.expect(name, written, 0x66);
    harness.renew();
    let window = section.load(notes::WINDOW);
    harness.attack(
        "a window that was open at its death, to read",
        (attack::LOAD, window - 7, 0),
        End::Dies,
    );
    harness.attack(
        "a window that was open at its death, to write",
        (attack::STORE, window - 7, 0),
        End::Dies,
    );
    harness.expect(name, BUFFER.with(|buffer| buffer.0.iter().all(|byte| *byte == 0x11)), true);
    harness.finish(name, failed);
}

#[repr(align(4096))]
struct Page([u8; 4096]);
static BUFFER: Exclusive<Page> = Exclusive::new(Page([0x11; 4096]));

fn keep(result: Result<u64, Error>) {
    RESULT.store(result.map_or_else(Error::status, |value| value as i64), Relaxed);
}

fn wait_until(condition: impl Fn() -> bool) {
    for _ in 0..20_000 {
        if condition() {
            return;
        }
        pause(200);
    }
}
