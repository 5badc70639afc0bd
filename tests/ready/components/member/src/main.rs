//! Prepares what it serves, with what others serve.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::sync::Mutex;
use cairn::time::{now, ticks};
use cairn::{Error, environment};
use cairn_interfaces as interfaces;
use cairn_test_ready_member::{ANSWERED, Member, REFUSED, lives, open, passed};

/// How often a peer is asked again that does not serve.
const ASKED_AGAIN: u64 = 300;

struct Server;
static SERVER: Server = Server;
static VALUE: Mutex<u64> = Mutex::new(0);

cairn::component! {
    name: "ready-member",
    imports: { threads: interfaces::Threads, portals: interfaces::Portals, before: Option<Member> },
    exports: { member: Member = SERVER },
    // Its gate, from 1 on; whom it opens and calls; whether it panics in its first life.
    arguments: { gate: u64 = 0, peer: &str = "", fails: bool = false },
    init: prepare,
}

fn prepare() -> Result<(), Error> {
    if let Some(gate) = arguments::gate().checked_sub(1) {
        let section = environment::section("gates").ok_or(Error::NotFound)?;
        section.store(lives(gate), section.load(lives(gate)) + 1);
        while section.load(open(gate)) == 0 {
            imports::THREADS.sleep_until(now() + ticks(20))?;
        }
        section.store(passed(gate), 1);
    }
    assert!(!arguments::fails() || environment::startup().generation > 0, "as asked");
    let mut value = 1;
    if let Some(before) = imports::BEFORE.get() {
        value += before.value()?;
    }
    if !arguments::peer().is_empty() {
        let peer = imports::PORTALS.open_object::<dyn Member>(arguments::peer())?;
        // As long as it is not told otherwise, somebody may ask again and again.
        let mut answers = (0..=ASKED_AGAIN).map(|_| peer.proxy().value());
        let refused = Err(Error::NotReady);
        value += match answers.find(|answer| *answer != refused).unwrap_or(refused) {
            Ok(_) => ANSWERED,
            Err(Error::NotReady) => REFUSED,
            Err(error) => return Err(error),
        };
    }
    *VALUE.lock()? = value;
    Ok(())
}

impl Member for Server {
    fn value(&self) -> Result<u64, Error> {
        Ok(*VALUE.lock()?)
    }

    fn value_after(&self, microseconds: u64) -> Result<u64, Error> {
        imports::THREADS.sleep_until(now() + ticks(microseconds))?;
        self.value()
    }
}
