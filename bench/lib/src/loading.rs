//! Components that are loaded to be measured.

use crate::{Loaded, LoadedProxy};
use cairn::Error;
use cairn::measure::Stamp;
use cairn_interfaces::{LoaderProxy, PortalsProxy, ThreadsProxy};

/// The package that is loaded, and its instance.
pub const LOADED_NAME: &str = "loaded";

/// What a loader answers.
///
/// # Panics
/// With the loader's own words, if it refuses.
pub fn explained<T>(loader: LoaderProxy, done: Result<T, Error>) -> T {
    done.unwrap_or_else(|error| {
        let mut text = [0; 192];
        let length = loader.explain(&mut text).unwrap_or(0);
        panic!("{error:?}: {:?}", core::str::from_utf8(&text[..length]));
    })
}

/// Loads it; the counters at its first instruction.
///
/// # Panics
/// If it does not begin.
pub fn load(loader: LoaderProxy, portals: PortalsProxy, threads: ThreadsProxy) -> Stamp {
    explained(loader, loader.load(LOADED_NAME, LOADED_NAME));
    let opened = portals.open_object::<dyn Loaded>("loaded.loaded").expect("it is open");
    let loaded: LoadedProxy = opened.proxy();
    let begun = loop {
        match loaded.begun() {
            Ok((cycles, instructions)) if instructions != 0 => {
                break Stamp { cycles, instructions };
            }
            // Its first thread is as urgent as this one.
            _ => threads.yield_now().expect("this one waits"),
        }
    };
    portals.close(opened.first_portal().into()).expect("it was open");
    begun
}
