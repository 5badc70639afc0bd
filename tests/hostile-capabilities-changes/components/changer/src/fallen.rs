//! Who has a lock or a semaphore for so many calls dies in its last one.

use crate::imports::{LISTING, ONE};
use crate::*;
use cairn_interfaces::{Lock, LockError, Semaphore};
use cairn_test_hostile_capabilities_contract::operations;

/// Starts a thread with this word, and lets it come as far as it can.
fn start(function: fn(u64), word: u64) -> interfaces::Thread {
    OUTCOME.store(1, Relaxed);
    let thread = spawn(THREADS, &STACK, function, word, 40).expect("a thread");
    pause(3_000);
    thread
}

/// Whoever waits for what died goes on, nobody holds it for ever, and the successor has none of it.
pub fn fallen() {
    let mut before = None;
    for _ in 0..3 {
        // It falls while its client's thread holds the lock; that thread comes back, and has it still, until it ends.
        let lock: Object<dyn Lock> = PORTALS.lock().expect("a lock");
        let grant = GRANTS.pass(&lock, ONE.first_portal(), Rights::ONCE).expect("a grant");
        let place = ONE.keep_lock(grant).expect("it is accepted");
        expect("it falls", ONE.fall(place), Err(Error::Dead));
        expect("its client's thread gives it back", lock.proxy().unlock(), Ok(()));
        expect(
            "its successor has no lock",
            successor(place, operations::LOCK),
            Err(Error::NotFound),
        );
        let taken = GRANTS.take_back(grant);
        expect("nor is anything left of the grant", taken, Err(Error::NotFound));

        let grant = GRANTS.pass(&lock, ONE.first_portal(), Rights::ONCE).expect("a grant");
        let place = ONE.keep_lock(grant).expect("it is accepted");
        let fall = |place| {
            OUTCOME.store(ONE.fall(place).map_or_else(Error::status, |()| 0), Relaxed);
            // While another waits for it.
            pause(10_000);
        };
        let thread = start(fall, place);
        expect("the thread was told", OUTCOME.load(Relaxed), Error::Dead.status());
        let locked = lock.proxy().lock();
        expect("who waits is told of its end", locked, Err(LockError::OwnerEnded));
        expect("and has the lock", lock.proxy().unlock(), Ok(()));
        let _ = thread.join();
        expect("it ends", PORTALS.close(lock.first_portal().into()), Ok(()));

        // It is killed while a thread waits in it, in its last call.
        let semaphore: Object<dyn Semaphore> = PORTALS.semaphore(0).expect("a semaphore");
        let none = successor(place, operations::P);
        expect("the next successor has nothing either", none, Err(Error::NotFound));
        let grant = GRANTS.pass(&semaphore, ONE.first_portal(), Rights::ONCE).expect("a grant");
        let place = ONE.keep_semaphore(grant).expect("it is accepted");
        let wait = |place| {
            let outcome = operate(place, operations::P);
            OUTCOME.store(outcome.map_or_else(Error::status, |()| 0), Relaxed);
        };
        let thread = start(wait, place);
        expect("a thread waits", OUTCOME.load(Relaxed), 1);
        expect("it is killed", SUPERVISOR.restart("one"), Ok(()));
        pause(3_000);
        expect("the thread waits no more", OUTCOME.load(Relaxed), Error::Dead.status());
        let _ = thread.join();
        expect("the semaphore is as it was", semaphore.proxy().try_p(), Err(Error::WouldBlock));
        expect("and takes one", semaphore.proxy().v(), Ok(()));
        expect("for who is there", semaphore.proxy().p(), Ok(()));
        expect("it ends", PORTALS.close(semaphore.first_portal().into()), Ok(()));
        let now = LISTING.usage();
        expect("nothing is left", *before.get_or_insert(now), now);
    }
    say!("ok: who has it falls on its last call");
}

fn operate(place: u64, operation: u64) -> Result<(), Error> {
    ONE.operate(place, operation, 1).map(drop)
}

/// The same, once it lives again.
fn successor(place: u64, operation: u64) -> Result<(), Error> {
    for _ in 0..100 {
        match operate(place, operation) {
            Err(Error::Dead) => pause(1_000),
            outcome => return outcome,
        }
    }
    Err(Error::Dead)
}
