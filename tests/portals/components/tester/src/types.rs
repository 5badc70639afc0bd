//! A trusted component registers a parameter type; another serves it; this one calls through it.

use crate::report::Failed;
use crate::{drop_block, imports, service};
use cairn::Error;
use cairn::call::Call;

/// The attempt of `register` that serves the type.
const HANDLES: u64 = 110;

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
    succeed!(drop_block(service.first_portal()));
    Ok(())
}
