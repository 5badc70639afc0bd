//! A trusted component registers a parameter type; another serves it; this one calls through it.

use crate::report::Failed;
use crate::{drop_block, imports, service};
use cairn::Error;
use cairn::call::Call;
use cairn_test_portals_contract::ServiceProxy;

/// The attempt of `register` that serves the type.
const HANDLES: u64 = 110;
/// The one that serves another.
const TABLE: u64 = 111;

pub fn types() -> Result<(), Failed> {
    let service = succeed!(service());
    expect!(service.register(HANDLES), Err(Error::NotSupported));
    // Who is not connected to it cannot register types.
    expect!(imports::PORTALS.open("portals.types", 0, &[]), Err(Error::NotAllowed));
    succeed!(imports::TYPIST.register());
    expect!(imports::TYPIST.refusals(), Ok(0));
    // What a component that starts again does.
    succeed!(imports::TYPIST.register());

    succeed!(service.register(HANDLES));
    for wrong in [&b"cii "[..], b"cHi cHi ", b"cHH ", b"cr "] {
        let opened = imports::PORTALS.open("server.handles", 0, wrong);
        expect!((wrong, opened), (wrong, Err(Error::VersionMismatch)));
    }
    let first = succeed!(imports::PORTALS.open("server.handles", 0, b"cHi ")) as u32;
    for (handle, expected) in
        [(0, 1), (1, 0), (2, 3), (3, 2), (4, 5), (5, 4), (6, 7), (7, 6), (8, 15), (u64::MAX, 15)]
    {
        let mut call = Call::new();
        call.word(handle);
        call.word(10);
        let (status, words) = call.invoke(first);
        expect!((handle, status, !words[0]), (handle, 0, expected * 10));
    }
    succeed!(drop_block(first));
    table(&service)?;
    succeed!(drop_block(service.first_portal()));
    Ok(())
}

/// A type reads its server's words, which that one changes.
fn table(service: &ServiceProxy) -> Result<(), Failed> {
    expect!(imports::TYPIST.set(0, 1), Err(Error::NotAllowed));
    expect!(service.register(TABLE), Err(Error::NotSupported));
    for none in [0, 65, u64::MAX] {
        expect!(imports::TYPIST.keep(none), Err(Error::Exhausted));
    }
    for _ in 0..2 {
        succeed!(imports::TYPIST.keep(8));
    }
    expect!(imports::TYPIST.keep(7), Err(Error::Exhausted));
    expect!(imports::TYPIST.set(8, 1), Err(Error::BadArgument));
    succeed!(service.register(TABLE));
    let first = succeed!(imports::PORTALS.open("server.table", 0, b"cDi ")) as u32;
    for round in 1..4 {
        for place in 0..8 {
            succeed!(imports::TYPIST.set(place, 100 * round + place));
        }
        for handle in [0, 1, 7, 8, 13, u64::MAX] {
            let mut call = Call::new();
            call.word(handle);
            call.word(10);
            let (status, words) = call.invoke(first);
            let expected = (100 * round + handle % 8) * 10;
            expect!((handle, status, words[0]), (handle, 0, expected));
        }
    }
    succeed!(drop_block(first));
    Ok(())
}
