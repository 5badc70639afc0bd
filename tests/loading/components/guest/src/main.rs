//! Is loaded, in several packages.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::window::ReadWindow;
use cairn::{Caller, Error, environment};
use cairn_interfaces as interfaces;
use cairn_test_loading_contract::Guest;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Server;
static SERVER: Server = Server;
static COUNT: AtomicU64 = AtomicU64::new(100);
/// Words that hold addresses, which the loader has to put right.
static PLACES: [&AtomicU64; 2] = [&COUNT, &COUNT];

cairn::component! {
    name: "guest",
    imports: {
        threads: Option<interfaces::Threads>,
        memory: Option<interfaces::Memory>,
        loader: Option<interfaces::Loader>,
        other: Option<Guest>,
    },
    exports: { guest: Guest = SERVER },
    arguments: {
        number: u64 = 7,
        text: &str = "",
        next: &str = "",
    },
    main: main,
}

use imports::{LOADER, MEMORY, THREADS};

fn main() {
    if !arguments::next().is_empty() {
        // Who asks for it finds out.
        let _ = load(arguments::next(), arguments::next());
    }
    // A thread that waits.
    if let Some(threads) = THREADS.get() {
        while threads.sleep_until(u64::MAX).is_ok() {}
    }
}

fn load(package: &str, name: &str) -> i64 {
    let loader = LOADER.get().ok_or(Error::NotSupported);
    loader.and_then(|loader| loader.load(package, name)).map_or_else(Error::status, |_| 0)
}

impl Guest for Server {
    fn number(&self) -> Result<u64, Error> {
        Ok(arguments::number())
    }

    fn count(&self) -> Result<u64, Error> {
        Ok(COUNT.fetch_add(1, Relaxed) + 1)
    }

    fn who(&self, caller: Caller) -> Result<u64, Error> {
        Ok(caller.0.into())
    }

    fn sum(&self, bytes: ReadWindow<'_>) -> Result<u64, Error> {
        let mut buffer = [0; 4096];
        Ok(bytes.copy(&mut buffer)?.iter().map(|byte| u64::from(*byte)).sum())
    }

    fn itself(&self) -> Result<(u64, bool), Error> {
        let before = COUNT.load(Relaxed);
        let is_whole = environment::name().len() > 3
            && (arguments::number() == 11) == (arguments::text() == "guest of the judge")
            && PLACES.iter().all(|place| place.load(Relaxed) == before);
        Ok((environment::startup().generation, is_whole))
    }

    fn fault(&self) -> Result<(), Error> {
        panic!("as was asked");
    }

    fn load(&self, package: ReadWindow<'_>, name: ReadWindow<'_>) -> Result<i64, Error> {
        let (mut package_buffer, mut name_buffer) = ([0; 32], [0; 32]);
        let package = package.text(&mut package_buffer)?;
        Ok(load(package, name.text(&mut name_buffer)?))
    }

    fn prepare(&self, package: ReadWindow<'_>, name: ReadWindow<'_>) -> Result<i64, Error> {
        let (mut package_buffer, mut name_buffer) = ([0; 32], [0; 32]);
        let package = package.text(&mut package_buffer)?;
        let name = name.text(&mut name_buffer)?;
        let loader = LOADER.get().ok_or(Error::NotSupported)?;
        Ok(loader.prepare(package, name).map_or_else(Error::status, |_| 0))
    }

    fn take_pages(&self, pages: u64) -> Result<u64, Error> {
        let memory = MEMORY.get().ok_or(Error::NotSupported)?;
        Ok((0..pages).take_while(|_| memory.allocate(1).is_ok()).count() as u64)
    }
}
