//! Takes the server's lock and keeps it: in a sleep that it begins again and again, or in a call. Or calls, without a
//! lock.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::time::{now, ticks};
use cairn::{Error, environment};
use cairn_interfaces::{Lock, Portals, Threads};
use cairn_test_blame_contract::{Hold, Keep};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

struct Holder {
    shall: AtomicBool,
    has: AtomicBool,
}
static HOLDER: Holder = Holder { shall: AtomicBool::new(false), has: AtomicBool::new(false) };

cairn::component! {
    name: "blame-holder",
    imports: { portals: Portals, threads: Threads, keeper: Keep },
    exports: { hold: Hold = HOLDER },
    main: main,
}

fn pause() {
    // Whatever comes of it: this component does not come home.
    let _ = imports::THREADS.sleep_until(now() + ticks(1000));
}

fn main() {
    if environment::argument() == "visits" {
        HOLDER.has.store(true, Relaxed);
        let _ = imports::KEEPER.keep();
        return;
    }
    while !HOLDER.shall.load(Relaxed) {
        pause();
    }
    let lock = imports::PORTALS.open_proxy::<dyn Lock>("server.lock").expect("open the lock");
    lock.lock().expect("take the lock");
    HOLDER.has.store(true, Relaxed);
    match environment::argument() {
        "in a call" => assert_eq!(imports::KEEPER.keep(), Err(Error::Dead)),
        _ => loop {
            pause();
        },
    }
    HOLDER.has.store(false, Relaxed);
    lock.unlock().expect("give the lock back");
}

impl Hold for Holder {
    fn begin(&self) -> Result<(), Error> {
        self.shall.store(true, Relaxed);
        Ok(())
    }

    fn has(&self) -> Result<bool, Error> {
        Ok(self.has.load(Relaxed))
    }
}
