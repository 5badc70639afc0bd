//! A component takes all it can get.

use crate::harness::{Harness, say};
use crate::imports::{ATTACKER, MEMORY, PORTALS};
use cairn::Error;
use cairn_test_hostile_contract::{Victim, attack};

pub fn attacks(harness: &mut Harness) {
    let kinds = [
        ("threads", attack::EXHAUST_THREADS),
        ("memory", attack::EXHAUST_MEMORY),
        ("portals", attack::EXHAUST_PORTALS),
        ("names", attack::EXHAUST_NAMES),
        ("semaphores", attack::EXHAUST_SEMAPHORES),
        ("locks", attack::EXHAUST_LOCKS),
    ];
    for (name, kind) in kinds {
        let failed = harness.failed();
        for _ in 0..2 {
            let refused =
                ATTACKER.attack(kind, 0, 0).map(|status| Error::from_status(status as i64));
            harness.expect(name, refused, Ok(Error::Exhausted));
        }
        // Others get theirs meanwhile.
        let opened = PORTALS.open_object::<dyn Victim>("victim.victim");
        harness.expect(name, opened.and_then(|object| object.proxy().echo(1)), Ok(2));
        let closed = opened.and_then(|object| PORTALS.close(object.first_portal().into()));
        harness.expect(name, closed, Ok(()));
        let freed = MEMORY.allocate(4).and_then(|address| MEMORY.free(address, 4));
        harness.expect(name, freed, Ok(()));
        harness.after(name);
        if failed == harness.failed() {
            say!("ok: all {name} taken");
        }
    }
}
