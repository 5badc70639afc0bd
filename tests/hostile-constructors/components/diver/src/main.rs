//! Two of these call each other until the thread has no room for another call, and from there on back a server that nobody has
//! called yet: its constructors can call nobody then, or can, one call further up.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Error, environment};
use cairn_app_interfaces::{Echo, EchoProxy};
use cairn_interfaces as interfaces;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Diver;
static DIVER: Diver = Diver;
/// The first portal of the other one.
static OTHER: AtomicU64 = AtomicU64::new(0);

cairn::component! {
    name: "diver",
    imports: {
        console: interfaces::Console,
        portals: interfaces::Portals,
        supervisor: interfaces::Supervisor,
        threads: interfaces::Threads,
        server: cairn_app_interfaces::Echo,
    },
    exports: { echo: Echo = DIVER },
    main: main,
}

use imports::{CONSOLE, PORTALS, SERVER, SUPERVISOR, THREADS};

/// What stands in a value when the server has died.
const DIED: u64 = 1 << 32;

impl Echo for Diver {
    /// How deep it came, and [`DIED`].
    fn add(&self, depth: u64, _: u64) -> Result<u64, Error> {
        let other = OTHER.load(Relaxed) as u32;
        let further = EchoProxy::at(other).add(depth + 1, 0).unwrap_or(depth);
        match SERVER.add(0, 0) {
            Err(Error::Dead) => Ok(further | DIED),
            Ok(0) => Ok(further | DIED),
            _ => Ok(further),
        }
    }

    fn say(&self, _: ReadWindow) -> Result<(), Error> {
        Ok(())
    }

    fn fill(&self, _: WriteWindow) -> Result<usize, Error> {
        Ok(0)
    }
}

fn main() {
    let name = environment::argument();
    let other = loop {
        match PORTALS.open_object::<dyn Echo>(name) {
            Ok(other) => break other,
            Err(_) => drop(THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(100))),
        }
    };
    OTHER.store(other.first_portal().into(), Relaxed);
    if name != "second.echo" {
        return;
    }
    let _ = THREADS.sleep_until(cairn::time::now() + cairn::time::ticks(5000));
    let found = other.proxy().add(0, 0).and(other.proxy().add(0, 0));
    let last = SERVER.add(0, 0);
    let _ = CONSOLE.print(format_args!("{found:?} deep, then {last:?}\n"));
    let holds = found.is_ok_and(|found| found > 3 && found < DIED) && last.is_ok();
    let _ = CONSOLE.write(if holds { b"ok: it lives\n" } else { b"FAILED\n" });
    let _ = SUPERVISOR.halt(u64::from(!holds));
}
