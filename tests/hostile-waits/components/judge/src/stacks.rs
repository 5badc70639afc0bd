//! Stacks of a server: what a client that opened it by name gets, and the death of a client whose thread
//! waits for one.

use crate::harness::{Judge, pause, wait_until};
use crate::imports::{KEPT, PORTALS, SCHEDULING, SUPERVISOR, THREADS};
use cairn::Error;
use cairn::thread::Stack;
use cairn_interfaces::{Activity, spawn};
use cairn_test_hostile_places::{Keeper, KeeperProxy};
use core::sync::atomic::{AtomicI64, AtomicU32, Ordering::Relaxed};

static STACKS: [Stack<8192>; 2] = [const { Stack::new() }; 2];
static RESULTS: [AtomicI64; 2] = [const { AtomicI64::new(0) }; 2];
static PORTAL: AtomicU32 = AtomicU32::new(0);
const WAITING: i64 = 1000;

fn keep(number: u64, result: Result<u64, Error>) {
    RESULTS[number as usize]
        .store(result.map_or_else(Error::status, |value| value as i64), Relaxed);
}

pub fn attacks(judge: &mut Judge) {
    opened_by_name(judge);
    client_waits(judge);
}

fn opened_by_name(judge: &mut Judge) {
    let name = "all stacks of a client that opened by name";
    judge.start();
    let opened = PORTALS.open_object::<dyn Keeper>("lonely.keeper");
    let Ok(lonely) = opened.map(|opened| opened.proxy()) else {
        return judge.expect(name, false, true);
    };
    PORTAL.store(lonely.first_portal(), Relaxed);
    RESULTS[0].store(WAITING, Relaxed);
    let wait = |_| keep(0, KeeperProxy::at(PORTAL.load(Relaxed)).keep());
    let thread = spawn(THREADS, &STACKS[0], wait, 0, 50).expect("spawn");
    pause(5000);
    judge.expect(name, RESULTS[0].load(Relaxed), WAITING);
    // On the second stack. With one, this would wait for ever.
    judge.expect(name, lonely.ended(), Ok(0));
    judge.expect(name, SUPERVISOR.restart("lonely"), Ok(()));
    judge.expect(name, thread.join(), Ok(()));
    judge.expect(name, RESULTS[0].load(Relaxed), Error::Dead.status());
    wait_until(|| lonely.ended() == Ok(0));
    judge.expect(name, PORTALS.close(lonely.first_portal().into()), Ok(()));
    judge.end(name);
}

/// Its first thread and one more have the client's two stacks of the keeper.
fn client_waits(judge: &mut Judge) {
    let name = "the client dies whose thread waits for a stack";
    judge.start();
    let threads = [0, 1].map(|number: u64| {
        RESULTS[number as usize].store(WAITING, Relaxed);
        let wait = |number| keep(number, KEPT.wait());
        spawn(THREADS, &STACKS[number as usize], wait, number, 50).expect("spawn")
    });
    wait_until(|| KEPT.waiting() == Ok(3));
    let waits = |index: u64| {
        SCHEDULING.thread(index).is_ok_and(|thread| thread.activity == Activity::Stack)
    };
    wait_until(|| (0..64).any(waits));
    judge.expect(name, (0..64).filter(|index| waits(*index)).count(), 1);
    judge.expect(name, SUPERVISOR.restart("kept"), Ok(()));
    for (thread, result) in threads.into_iter().zip(&RESULTS) {
        judge.expect(name, thread.join(), Ok(()));
        judge.expect(name, result.load(Relaxed), Error::Dead.status());
    }
    wait_until(|| KEPT.waiting() == Ok(1));
    judge.expect(name, KEPT.generation(), Ok(4));
    judge.end(name);
}
