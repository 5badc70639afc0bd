//! Children that break all rules, and a parent that dies between them and others.

use crate::imports::{LOADER, THREADS, TILL};
use crate::*;
use cairn::call::Call;
use cairn_interfaces::SemaphoreProxy;

/// An address of nobody's region.
const NOBODY: u64 = 0x10;

pub fn all(done: SemaphoreProxy) {
    lies();
    let before = usage();
    wild_indexes(done);
    dies(done);
    let after = usage();
    // What is kept for the next is the same for all.
    expect("nothing of them is left", after, before);
}

/// What the loader is told by who forks by hand.
fn lies() {
    let entry = main as *const () as u64;
    let stack = core::ptr::from_ref(&entry) as u64 & !0xf;
    let word = QUOTAS.word();
    let none = Quotas { pages: 1, ..QUOTAS };
    for (what, name, intercept, begins, stack, quotas, error) in [
        ("foreign interposer", "lie", NOBODY, entry, stack, word, Error::BadArgument),
        ("foreign beginning", "lie", entry, NOBODY, stack, word, Error::BadArgument),
        ("foreign stack", "lie", entry, entry, NOBODY, word, Error::BadArgument),
        ("odd stack", "lie", entry, entry, stack + 8, word, Error::BadArgument),
        ("another's name", "teller", entry, entry, stack, word, Error::Busy),
        ("no name", "a.b", entry, entry, stack, word, Error::BadArgument),
        ("no memory", "lie", entry, entry, stack, none.word(), Error::Exhausted),
        ("all memory", "lie", entry, entry, stack, u64::MAX, Error::Exhausted),
    ] {
        let made = LOADER.fork(name, intercept, begins, stack, quotas);
        expect(what, made, Err(error));
    }
}

fn wild_indexes(done: SemaphoreProxy) {
    let side = fork("wild", QUOTAS);
    match side {
        Ok(Side::Child) => {
            let mut reached = 0;
            for index in (250..2100).chain([u32::MAX, u32::MAX - 1, 1 << 31, 1 << 16 | 20]) {
                let mut call = Call::new();
                (0..7).for_each(|word| call.word(word << 40));
                let (status, _) = call.invoke(index);
                reached += u64::from(Error::from_status(status) != Error::NoPortal);
            }
            expect("wild indexes lead nowhere", reached, 0);
            let _ = done.v();
            idle();
        }
        Ok(Side::Parent(_)) => wait_and_end(done, "wild"),
        Err(_) => explain(&side),
    }
}

fn dies(done: SemaphoreProxy) {
    let side = fork("dying", QUOTAS);
    match side {
        Ok(Side::Child) => {
            let _ = done.v();
            panic!("a child dies, as it was told to");
        }
        Ok(Side::Parent(_)) => wait_and_end(done, "dying"),
        Err(_) => explain(&side),
    }
}

/// The parent dies on a child's thread, in the child's call.
pub fn die_between() -> Result<(), Error> {
    MANNER.store(DIE, Relaxed);
    match fork("mortal", QUOTAS)? {
        Side::Child => {
            let _ = TILL.add(SIGN);
            expect("a child is not there any more behind its parent's death", true, false);
        }
        Side::Parent(_) => idle(),
    }
    Ok(())
}

/// Waits until a child of the life before is gone, and so all that it had.
fn wait_for_end(name: &str) {
    while LOADER.unload(name) != Err(Error::NotFound) {
        let _ = THREADS.yield_now();
    }
}

/// The lives behind a death.
pub fn behind_a_death() -> Result<(), Error> {
    if environment::startup().generation > 1 {
        wait_for_end("kept");
        say!("ok who keeps a dead child's thread dies, and starts again");
        end();
        return Ok(());
    }
    wait_for_end("mortal");
    say!("ok with a parent its children go");
    let done = PORTALS.semaphore(0)?;
    wild_indexes(done.proxy());
    MANNER.store(KEEP, Relaxed);
    match fork("kept", QUOTAS)? {
        Side::Child => {
            // Below its parent, whose first thread is to go on.
            THREADS.set_priority(THREADS.own_name()?, 20)?;
            done.proxy().v()?;
            let _ = TILL.add(SIGN);
        }
        Side::Parent(_) => {
            done.proxy().p()?;
            while KEPT.load(Relaxed) == 0 {
                THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(200))?;
            }
            LOADER.unload("kept")?;
            idle();
        }
    }
    Ok(())
}
