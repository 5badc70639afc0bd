//! A server that says the version that its client wants, and other letters; and one that says that any
//! index is its object.

use crate::report::Failed;
use crate::{drop_block, imports, service};
use cairn::{Error, time};
use cairn_abi::domain::PORTALS_MAXIMUM;
use cairn_test_portals_contract::Harmless;

/// Takes the registration of the last attempt back.
const NO_MORE: u64 = 99;

pub fn lies() -> Result<(), Failed> {
    let service = succeed!(service());
    // The first is as it should be; the others would read or write memory where words are passed.
    for attempt in 100..105 {
        succeed!(service.register(attempt));
        let opened = imports::PORTALS.open_object::<dyn Harmless>("server.hostile");
        match attempt {
            100 => succeed!(drop_block(succeed!(opened).first_portal())),
            _ => expect!((attempt, opened.err()), (attempt, Some(Error::VersionMismatch))),
        }
    }
    succeed!(service.register(NO_MORE));

    let own = u64::from(imports::PORTALS.first_portal());
    let behind = PORTALS_MAXIMUM as u64;
    for index in [0, 1, 15, own, own + 1, behind - 2, behind, u64::from(u32::MAX)] {
        expect!((index, service.claim(index).err()), (index, Some(Error::Malformed)));
    }
    // Who serves what is in the own table, says the portal manager.
    let server = time::own_domain() - 1;
    let counter = succeed!(service.counter(1)).first_portal();
    expect!(imports::PORTALS.served_by(counter.into()), Ok(server | 3 << 32));
    let semaphore = succeed!(imports::PORTALS.semaphore(0)).first_portal();
    let scheduler = succeed!(imports::PORTALS.served_by(semaphore.into())) as u32;
    expect!(u64::from(scheduler) != server, true);
    for first in [0, own, u64::from(counter) + 1, behind, u64::MAX] {
        expect!(imports::PORTALS.served_by(first), Err(Error::NotFound));
    }
    succeed!(drop_block(semaphore));
    succeed!(drop_block(counter));
    succeed!(drop_block(service.first_portal()));
    Ok(())
}

/// A server cannot use up what its client has by making objects.
pub fn too_many_objects() -> Result<(), Failed> {
    let server = succeed!(service());
    let before = succeed!(imports::LISTING.usage());
    let mut made = [0; 256];
    let mut count = 0;
    let error = loop {
        match server.counter(1) {
            Ok(counter) => made[count] = counter.first_portal(),
            Err(error) => break error,
        }
        count += 1;
    };
    expect!(error, Error::Exhausted);
    expect!((4..made.len()).contains(&count), true);
    // The other half is there.
    for _ in 0..count / 2 {
        let other = succeed!(imports::PORTALS.semaphore(0));
        succeed!(drop_block(other.first_portal()));
    }
    let other = succeed!(service());
    expect!(other.add(1, 2), Ok(3));
    succeed!(drop_block(other.first_portal()));
    for first in &made[..count] {
        succeed!(cairn_test_portals_contract::CounterProxy::at(*first).close());
        succeed!(drop_block(*first));
    }
    expect!(imports::LISTING.usage(), Ok(before));
    succeed!(drop_block(server.first_portal()));
    Ok(())
}
