//! A chain of eight owners, each of which waits for the next one's lock and holds as many locks as a
//! thread may, with a thread waiting for each; at its end come others, more urgent each time.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::thread::Stack;
use cairn_bench::Vault;
use cairn_bench::{VAULT_LOCKS, VaultProxy};
use cairn_interfaces::{Portals, SemaphoreProxy, Supervisor, Threads, spawn};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

cairn::component! {
    name: "chain",
    imports: {
        portals: Portals,
        threads: Threads,
        supervisor: Supervisor,
        zero: Vault,
        one: Vault,
        two: Vault,
        three: Vault,
        four: Vault,
        five: Vault,
        six: Vault,
    },
    main: main,
}

const OWNERS: u64 = 8;
/// Locks of one domain that a thread may hold.
const SHARE: u64 = 4;
const LATER: u8 = 5;
const OWNER_PRIORITY: u8 = 60;
const LATER_PRIORITY: u8 = 80;

static STACKS: [Stack<4096>; OWNERS as usize] = [const { Stack::new() }; OWNERS as usize];
static LATER_STACKS: [Stack<4096>; LATER as usize] = [const { Stack::new() }; LATER as usize];
/// The first owner waits here before it gives its locks back.
static END: AtomicU32 = AtomicU32::new(0);

fn vaults() -> [VaultProxy; 7] {
    use imports::*;
    [ZERO, ONE, TWO, THREE, FOUR, FIVE, SIX]
}

/// Lock `share` of an owner in a vault.
fn lock(owner: u64, share: u64) -> u64 {
    owner * SHARE + share
}

/// Where an owner waits for the one before it: there it leaves a lock of its share to others.
fn meeting(owner: u64) -> usize {
    owner as usize % 7
}

fn own(owner: u64) {
    for (number, vault) in vaults().iter().enumerate() {
        for share in 0..SHARE - u64::from(number == meeting(owner) && owner > 0) {
            vault.take(lock(owner, share)).expect("it is free");
        }
    }
    if owner == 0 {
        SemaphoreProxy::at(END.load(Relaxed)).p().expect("somebody says when");
        for vault in vaults() {
            for share in 0..SHARE {
                let _ = vault.give(lock(0, share));
            }
        }
    } else {
        let _ = vaults()[meeting(owner)].take(lock(owner - 1, 0));
    }
    // It ends with all that it has.
}

/// Comes to the end of the chain.
fn come(_: u64) {
    let _ = vaults()[0].take(lock(OWNERS - 2, 0));
}

fn main() {
    let pause = |_: u8| {
        let now = cairn::time::counter();
        let _ = imports::THREADS.sleep_until(now + cairn::time::ticks(500));
    };
    END.store(imports::PORTALS.semaphore(0).expect("quota").first_portal(), Relaxed);
    for vault in vaults() {
        vault.prepare().expect("the quota has room for the locks");
    }
    assert!(VAULT_LOCKS as u64 == OWNERS * SHARE);
    for owner in 0..OWNERS {
        let stack = &STACKS[owner as usize];
        spawn(imports::THREADS, stack, own, owner, OWNER_PRIORITY).expect("spawn");
        pause(0);
    }
    for vault in vaults() {
        vault.fill().expect("its semaphore");
    }
    pause(0);
    for later in 0..LATER {
        let stack = &LATER_STACKS[later as usize];
        spawn(imports::THREADS, stack, come, 0, LATER_PRIORITY + later).expect("spawn");
        pause(0);
    }
    let _ = SemaphoreProxy::at(END.load(Relaxed)).v();
    for _ in 0..20 {
        pause(0);
    }
    let _ = imports::SUPERVISOR.halt(0);
}
