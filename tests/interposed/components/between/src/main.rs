//! Stands between others, in whatever manner it is told.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::interpose::{Answer, Interposer, Passing};
use cairn::{Error, time};
use cairn_interfaces as interfaces;
use cairn_test_interposed_contract::{Between, Manner};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;

cairn::component! {
    name: "between",
    imports: { portals: interfaces::Portals, threads: interfaces::Threads },
    exports: { between: Between = SERVER },
    main: main,
}

use imports::{PORTALS, THREADS};

static MANNER: AtomicU64 = AtomicU64::new(Manner::Forward as u64);
static PASSED: AtomicU64 = AtomicU64::new(0);
static LAST: AtomicU64 = AtomicU64::new(NONE);
/// The one before the last.
static OTHER: AtomicU64 = AtomicU64::new(0);
static LATER: AtomicU64 = AtomicU64::new(0);

/// No index of a call.
const NONE: u64 = 0;
/// How its own thread calls by an index: as `LATER` says, or not at all.
const NOT_YET: u64 = 1 << 32;

fn main() -> Result<(), Error> {
    PORTALS.stand_between::<Server>()?;
    loop {
        THREADS.sleep_until(time::now() + time::ticks(200))?;
        if is(Manner::Later) && LATER.load(Relaxed) == NOT_YET && LAST.load(Relaxed) != NONE {
            let mut call = cairn::call::Call::new();
            call.word(1);
            let (status, _) = call.invoke(LAST.load(Relaxed) as u32);
            LATER.store(status as u64, Relaxed);
        }
    }
}

fn is(manner: Manner) -> bool {
    MANNER.load(Relaxed) == manner as u64
}

impl Interposer for Server {
    fn intercept(call: &Passing) -> Answer {
        PASSED.fetch_add(1, Relaxed);
        let before = LAST.swap(call.index(), Relaxed);
        if before != call.index() {
            OTHER.store(before, Relaxed);
        }
        while is(Manner::Wait) {
            let _ = THREADS.sleep_until(time::now() + time::ticks(100));
        }
        if is(Manner::Forward) || is(Manner::Later) {
            return call.forward();
        }
        if is(Manner::Repeat) {
            call.forward();
            return call.forward();
        }
        if is(Manner::Change) {
            let words =
                (1..8).fold(*call, |call, word| call.with_argument(word, 0x1000 * word as u64));
            return words.forward();
        }
        if is(Manner::Mistake) {
            let mut other = cairn::call::Call::new();
            (1..8).for_each(|register| other.word(call.argument(register)));
            let (status, words) = other.invoke(OTHER.load(Relaxed) as u32);
            return Answer { status, words };
        }
        if is(Manner::Keep) {
            loop {
                core::hint::spin_loop();
            }
        }
        if is(Manner::DieBefore) {
            panic!("told to die");
        }
        if is(Manner::Pretend) {
            return Answer { status: 0, words: [call.argument(4) | 3; 4] };
        }
        if is(Manner::DieBehind) {
            call.forward();
            panic!("told to die behind the call");
        }
        Answer::error(Error::NotAllowed)
    }
}

impl Between for Server {
    fn behave(&self, manner: Manner) -> Result<(), Error> {
        if manner == Manner::Later {
            // Of a call that came before this, the client may have closed the portal.
            LAST.store(NONE, Relaxed);
            LATER.store(NOT_YET, Relaxed);
        }
        MANNER.store(manner as u64, Relaxed);
        Ok(())
    }

    fn passed(&self) -> Result<(u64, u64), Error> {
        Ok((PASSED.load(Relaxed), LAST.load(Relaxed)))
    }

    fn later(&self) -> Result<u64, Error> {
        Ok(LATER.load(Relaxed))
    }
}
