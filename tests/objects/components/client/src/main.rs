//! Takes a thousand objects, calls each, and gives all back, twice.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::Error;
use cairn_interfaces::{Console, Portals, Supervisor};
use cairn_test_objects_contract::{ItemProxy, Shelf};
use core::fmt::{self, Write};

cairn::component! {
    name: "objects-client",
    imports: { console: Console, supervisor: Supervisor, portals: Portals, server: Shelf },
    main: main,
}

const OBJECTS: usize = 1000;

struct Screen;
impl Write for Screen {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        imports::CONSOLE.write(text.as_bytes()).map(drop).map_err(|_| fmt::Error)
    }
}

/// Fills the table, calls everything in it, and empties it; else how far it got, and why not further.
fn round() -> Result<(), (usize, Error)> {
    let mut portals = [0; OBJECTS];
    for (number, portal) in portals.iter_mut().enumerate() {
        let taken = imports::SERVER.take(imports::PORTALS, number as u64);
        *portal = taken.map_err(|error| (number, error))?.first_portal();
    }
    for (number, portal) in portals.iter().enumerate() {
        match ItemProxy::at(*portal).number() {
            Ok(answer) if answer == number as u64 => {}
            other => return Err((number, other.err().unwrap_or(Error::Malformed))),
        }
    }
    // What is behind the last one, and behind every table, leads nowhere.
    let last = portals.iter().copied().max().unwrap_or(0);
    for index in [last + 1, 1983, 1984, 2047, 2048, u32::MAX] {
        match ItemProxy::at(index).number() {
            Err(Error::NoPortal) if last > 1000 => {}
            other => return Err((index as usize, other.err().unwrap_or(Error::Malformed))),
        }
    }
    imports::SERVER.clear().map_err(|error| (OBJECTS, error))?;
    portals.iter().try_for_each(|portal| {
        imports::PORTALS.close((*portal).into()).map_err(|error| (*portal as usize, error))
    })
}

fn main() {
    let result = (0..2).try_for_each(|_| round());
    let _ = match result {
        Ok(()) => writeln!(Screen, "objects: 1000 in one table, twice"),
        Err((place, error)) => writeln!(Screen, "FAILED at {place}: {error:?}"),
    };
    let _ = imports::SUPERVISOR.halt(result.is_err().into());
}
