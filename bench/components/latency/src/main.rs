//! Measures interrupt latency, from the moment at which the interrupt is due to the first instruction
//! of the thread that waited for it, while a load of lower priority runs.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod control;
mod emulated;
mod serial;

use cairn::Error;
use cairn::abi::domain::PORTAL_FIRST_IMPORT;
use cairn::cost::Cost;
use cairn::environment::{argument, section};
use cairn::time::{counter, ticks};
use cairn::window::WriteWindow;
use cairn_bench::{LOADS, Link, Load, Report};
use cairn_interfaces::Threads;
use cairn_random::Random;
use control::Control;
use core::sync::atomic::Ordering;
use emulated::Emulated;

/// The target of the load that calls.
struct Own;
static OWN: Own = Own;

cairn::component! {
    name: "latency",
    imports: { threads: Threads },
    exports: { link: Link = OWN },
    main: main,
}

const WARM_UP: usize = 20;
/// Index of the portal of `sleep_until`, the second method; its time is the fourth register.
const SLEEP_UNTIL: u32 = PORTAL_FIRST_IMPORT as u32 + 1;

impl Link for Own {
    fn pass(&self, _next: u64, _second: u64, _third: u64) -> Result<u64, Error> {
        Ok(0)
    }
    fn leave(&self, _buffer: WriteWindow, _word: u64) -> Result<(), Error> {
        Err(Error::NotSupported)
    }
    fn touch(&self, _buffer: WriteWindow, _word: u64) -> Result<(), Error> {
        Err(Error::NotSupported)
    }
    fn own_cost(&self, _method: u64) -> Result<Cost, Error> {
        Err(Error::NotSupported)
    }
}

fn main() {
    let [chosen, ready] =
        section("load").expect("the description maps the section `load`").words(2)
    else {
        unreachable!("two words were asked for")
    };
    // What the loads do before would be in the first samples: it takes the caches.
    while ready.load(Ordering::Acquire) < LOADS {
        imports::THREADS.sleep_until(counter() + ticks(1000)).expect("sleeping does not fail");
    }
    let mut random = Random::new(1);
    let control = Control::find(&mut random);
    let emulated = control.is_none().then(Emulated::new);
    let mut report = Report::new();
    let loads = if argument() == Load::Linux.name() { &[Load::Linux][..] } else { &Load::ALL };
    for load in loads.iter().copied() {
        chosen.store(load as i64, Ordering::Relaxed);
        if let Some(control) = &control {
            control.timer(&mut report, load, &mut random);
            control.device(&mut report, load, &mut random);
        } else if let Some(emulated) = &emulated {
            emulated.timer(&mut report, load, &mut random);
            emulated.device(&mut report, load, &mut random);
        }
    }
    report.end();
}

/// Passes a random time, up to so many rounds of a loop.
fn spin(random: &mut Random, rounds: u64) {
    for round in 0..random.between(0, rounds) {
        core::hint::black_box(round);
    }
}
