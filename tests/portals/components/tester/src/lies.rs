//! A server that says the version that its client wants, and other letters; and one that says
//! that it made an object.

use crate::report::Failed;
use crate::{drop_block, imports, service};
use cairn::Error;
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

    // One that says that it made an object.
    let claimed = succeed!(service.claim(imports::PORTALS));
    expect!(claimed.proxy().next(), Err(Error::NoPortal));
    succeed!(drop_block(claimed.first_portal()));

    let own = u64::from(imports::PORTALS.first_portal());
    let counter = succeed!(service.counter(imports::PORTALS, 1)).first_portal();
    expect!(imports::PORTALS.size(counter.into()), Ok(3));
    for first in [0, own, u64::from(counter) + 1, PORTALS_MAXIMUM as u64, u64::MAX] {
        expect!(imports::PORTALS.size(first), Err(Error::NotFound));
    }
    succeed!(drop_block(counter));
    succeed!(drop_block(service.first_portal()));
    Ok(())
}
