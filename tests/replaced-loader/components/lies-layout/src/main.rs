//! What is no loader, and is asked for its state in the loader's domain, with all that the loader may do: it says what is not so, faults, never answers, or
//! gives back all memory around.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::in_place::State;
use cairn::window::{ReadWindow, WriteWindow};
use cairn::{Caller, Error, InstanceId, time};
use cairn_interfaces::{self as interfaces, InPlace, Location, StatePlace};
use core::sync::atomic::AtomicU64;

cairn::component! {
    name: "replaced-loader-lies",
    imports: {
        packages: interfaces::Packages,
        memory: interfaces::Memory,
        portals: interfaces::Portals,
        domain_memory: interfaces::DomainMemory,
        domain_portals: interfaces::DomainPortals,
        instances: interfaces::InstanceControl,
        threads: interfaces::Threads,
    },
    exports: {
        loader: interfaces::Loader = SERVER,
        replacement: interfaces::Replacement = SERVER,
        in_place: interfaces::InPlace = SERVER,
    },
    main: main,
}

struct Server;
static SERVER: Server = Server;
/// At least as large as the loader's own.
static OWN: State<[AtomicU64; 8192]> = State::new([const { AtomicU64::new(0) }; 8192]);
static CONSTANTS: &str = "a constant";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Nobody lets it go on.
fn main() {
    panic!("a content that was refused runs");
}

/// What the content says that there is: whoever opens it is led there.
fn former() -> Result<StatePlace, Error> {
    let former = imports::PORTALS.open_object::<dyn InPlace>("loader.in_place")?;
    let place = former.proxy().state();
    imports::PORTALS.close(former.first_portal().into())?;
    place
}

impl InPlace for Server {
    fn state(&self) -> Result<StatePlace, Error> {
        let former = former()?;
        let place = StatePlace { at: StatePlace::of(&OWN, 1).at, ..former };
        Ok(match VERSION.as_bytes()[0] {
            b'1' => StatePlace { layout: former.layout + 1, ..place },
            // Nobody writes there.
            b'2' => StatePlace { at: CONSTANTS.as_ptr().addr() as u64 & !0xfff, ..place },
            b'3' => StatePlace { at: place.at + (1 << 20), ..place },
            // Both in one place.
            b'4' => former,
            b'5' => panic!("on purpose"),
            b'6' => loop {
                let _ = imports::THREADS.sleep_until(time::now() + time::ticks(1_000_000));
            },
            _ => {
                for at in (place.at - (1 << 20)..place.at + (1 << 20)).step_by(4096) {
                    if imports::MEMORY.free(at, 1).is_ok() {
                        panic!("it has given back {at:#x}");
                    }
                }
                return Err(Error::NotSupported);
            }
        })
    }

    fn version(&self, text: WriteWindow<'_>) -> Result<usize, Error> {
        text.write(0, VERSION.as_bytes())
    }
}

impl interfaces::Loader for Server {
    fn load(&self, _: Caller, _: ReadWindow<'_>, _: ReadWindow<'_>) -> Result<InstanceId, Error> {
        Err(Error::NotSupported)
    }

    fn prepare(
        &self,
        _: Caller,
        _: ReadWindow<'_>,
        _: ReadWindow<'_>,
    ) -> Result<InstanceId, Error> {
        Err(Error::NotSupported)
    }

    fn begin(&self, _: Caller, _: InstanceId) -> Result<(), Error> {
        Err(Error::NotSupported)
    }

    fn unload(&self, _: Caller, _: ReadWindow<'_>) -> Result<(), Error> {
        Err(Error::NotSupported)
    }

    fn fork(
        &self,
        _: Caller,
        _: ReadWindow<'_>,
        _: u64,
        _: u64,
        _: u64,
        _: u64,
    ) -> Result<InstanceId, Error> {
        Err(Error::NotSupported)
    }

    fn explain(&self, _: Caller, _: WriteWindow<'_>) -> Result<usize, Error> {
        Err(Error::NotSupported)
    }
}

impl interfaces::Replacement for Server {
    fn replace(
        &self,
        _: Caller,
        _: ReadWindow<'_>,
        _: ReadWindow<'_>,
        _: u64,
    ) -> Result<u64, Error> {
        Err(Error::NotSupported)
    }

    fn move_to(&self, _: Caller, _: ReadWindow<'_>, _: Location, _: u64) -> Result<u64, Error> {
        Err(Error::NotSupported)
    }

    fn move_with(
        &self,
        _: Caller,
        _: ReadWindow<'_>,
        _: ReadWindow<'_>,
        _: u64,
    ) -> Result<u64, Error> {
        Err(Error::NotSupported)
    }
}
