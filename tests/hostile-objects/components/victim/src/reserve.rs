//! The client as the hostile side: reservations that must be refused, and ones that it never gives back.

use crate::imports::{BANK, CONTROL, PORTALS, SECOND, THREADS};
use crate::report::Failed;
use crate::{close, left};
use cairn::Error;
use cairn::component::Interface;
use cairn::object::Places;
use cairn_test_hostile_objects_contract::Numbers;

const SIGNATURE: &[u8] = b"Numbers cii ";

fn version() -> u64 {
    <dyn Numbers as Interface>::DESCRIPTOR.version
}

pub fn arguments() -> Result<(), Failed> {
    let before = left();
    let semaphore = u64::from(succeed!(PORTALS.semaphore(0)).first_portal());
    let place = succeed!(PORTALS.reserve_for::<dyn Numbers>(BANK.first_portal()));
    let (bank, manager) = (u64::from(BANK.first_portal()), u64::from(PORTALS.first_portal()));
    let threads = u64::from(THREADS.first_portal());
    let tries = [
        // Portals that lead to no server: short circuits, nothing, a place that was not filled, no index.
        (0, SIGNATURE, Error::NoPortal),
        (1, SIGNATURE, Error::NoPortal),
        (2, SIGNATURE, Error::NoPortal),
        (3, SIGNATURE, Error::NoPortal),
        (4, SIGNATURE, Error::NoPortal),
        (15, SIGNATURE, Error::NoPortal),
        (500, SIGNATURE, Error::NoPortal),
        (511, SIGNATURE, Error::NoPortal),
        (512, SIGNATURE, Error::NoPortal),
        (place & 0xffff, SIGNATURE, Error::NoPortal),
        (1 << 32 | bank, SIGNATURE, Error::NoPortal),
        (u64::MAX, SIGNATURE, Error::NoPortal),
        // Servers that have no such objects, or whose objects are made otherwise.
        (threads, b"Semaphore ct ct cit ct ", Error::NotAllowed),
        (threads, b"Numbers cii ", Error::NotAllowed),
        (semaphore, b"Semaphore ct ct cit ct ", Error::NotAllowed),
        (semaphore + 1, SIGNATURE, Error::NotAllowed),
        (manager, SIGNATURE, Error::NotFound),
        (manager, b"Portals c ", Error::NotFound),
        (u64::from(CONTROL.first_portal()), SIGNATURE, Error::NotFound),
        // Interfaces that it does not have, an export that is none of an object.
        (bank, b"Bank c ", Error::NotFound),
        (bank, b"bank c ", Error::NotFound),
        (bank, b"Number cii ", Error::NotFound),
        (bank, b"\xff\xfe cii ", Error::NotFound),
        (bank, b"", Error::BadArgument),
        (bank, b" ", Error::BadArgument),
        (bank, b" cii ", Error::BadArgument),
        (bank, b"Numbers", Error::BadArgument),
        (bank, &[b'x'; 1000], Error::TooLarge),
        (bank, &[b' '; 64], Error::BadArgument),
        // Other letters than it has.
        (bank, b"Reader cii ", Error::VersionMismatch),
        (bank, b"Numbers cr ", Error::VersionMismatch),
        (bank, b"Numbers ci ", Error::VersionMismatch),
        (bank, b"Numbers cii c ", Error::VersionMismatch),
        (bank, b"Numbers cii", Error::VersionMismatch),
    ];
    for (at, (server, signature, error)) in tries.into_iter().enumerate() {
        let reserved = PORTALS.reserve(server, version(), signature);
        expect!((at, reserved), (at, Err(error)));
    }
    expect!(PORTALS.reserve(bank, 1, SIGNATURE), Err(Error::VersionMismatch));
    succeed!(close(semaphore as u32));
    succeed!(close(place as u16 as u32));
    // A place is closed by its first index alone, and once.
    for first in [place, place & 0xffff, 0, 15, 512, u64::MAX] {
        expect!(PORTALS.close(first), Err(Error::NotFound));
    }
    expect!(left(), before);
    Ok(())
}

/// Whoever never gives places back takes them from nobody but itself.
pub fn leak() -> Result<(), Failed> {
    let all = left();
    let mut words = [0; 512];
    let mut count = 0;
    while let Ok(word) = PORTALS.reserve_for::<dyn Numbers>(BANK.first_portal()) {
        words[count] = word;
        count += 1;
    }
    expect!(count as u64, all);
    expect!(PORTALS.semaphore(0).err(), Some(Error::Exhausted));
    expect!(SECOND.work(), Ok(()));
    for word in &words[..count] {
        succeed!(close(*word as u16 as u32));
    }
    expect!(left(), all);
    Ok(())
}
