//! What cannot be loaded.

use crate::harness::Judge;
use crate::imports::{LOADER, SUPERVISOR};
use cairn::Error;

pub fn all(judge: &mut Judge) {
    judge.start();
    judge.expect("load", LOADER.load("guest", "taken").is_ok(), true);
    let cases = [
        ("nothing", "one", Error::NotFound, "there is no package `nothing`"),
        ("guest", "taken", Error::Busy, "the name is taken"),
        ("guest", "console", Error::Busy, "the name is taken"),
        ("guest", "", Error::BadArgument, "`` is no name"),
        ("guest", "a.b", Error::BadArgument, "`a.b` is no name"),
        ("lonely", "one", Error::NotFound, "from `greedy.guest`: there is no such export"),
        ("stranger", "one", Error::NotAllowed, "from `host.guest`: it is not open"),
        ("urgent", "one", Error::NotAllowed, "its `priority` is above that of its parent"),
    ];
    for (package, name, error, why) in cases {
        judge.expect(package, LOADER.load(package, name).err(), Some(error));
        let mut text = [0; 192];
        let length = LOADER.explain(&mut text).unwrap_or(0);
        let text = core::str::from_utf8(&text[..length]).unwrap_or("");
        judge.expect(why, text.contains(why), true);
    }
    judge.expect("nobody's", LOADER.unload("nobody"), Err(Error::NotFound));
    judge.expect("not its own", LOADER.unload("console"), Err(Error::NotAllowed));
    judge.expect("essential", SUPERVISOR.retire("memory"), Err(Error::NotAllowed));
    judge.expect("with a device and users", SUPERVISOR.retire("console"), Err(Error::Busy));
    judge.expect("with a user", SUPERVISOR.retire("shelf"), Err(Error::Busy));
    let mut user = [0; 32];
    let length = SUPERVISOR.user_of("shelf", &mut user).unwrap_or(0);
    judge.expect("which is", &user[..length], b"loader".as_slice());
    judge.expect("unload", LOADER.unload("taken"), Ok(()));
    judge.end("what cannot be loaded leaves nothing");
}
