//! Stand-ins for what a component imports, in its tests on the host.
//!
//! `#[cairn::interface]` makes a `NAMEMock` of each interface: what a test does not say answers [`Error::NotSupported`]. A proxy's
//! `answered_by` has it, or anything else that implements the interface, answer the calls of this thread:
//!
//! ```
//! use cairn::Error;
//!
//! #[cairn::interface]
//! trait Sensor {
//!     fn read(&self, channel: u8) -> Result<u32, Error>;
//!     fn name(&self, text: &mut [u8]) -> Result<usize, Error>;
//! }
//!
//! let sensor = SensorProxy::at(16);
//! sensor.answered_by(SensorMock::default().read(|channel| Ok(20 + u32::from(channel))));
//! assert_eq!(sensor.read(3), Ok(23));
//! assert_eq!(sensor.name(&mut []), Err(Error::NotSupported));
//! ```

extern crate std;

use crate::Error;
use crate::call::{Portals, host};
use crate::component::Provider;
use cairn_abi::descriptor::{EntryPoint, METHODS_MAXIMUM, Reply};
use core::any::Any;
use core::cell::RefCell;
use core::marker::PhantomData;
use std::rc::Rc;
use std::vec::Vec;

pub use std::boxed::Box;

/// What answers a block of portals.
struct Server {
    first: u32,
    entries: [Option<EntryPoint>; METHODS_MAXIMUM],
    /// `Box<dyn Interface>`.
    server: Rc<dyn Any>,
}

std::thread_local! {
    /// The last one for the same portals counts.
    static SERVERS: RefCell<Vec<Server>> = const { RefCell::new(Vec::new()) };
}

/// Finds the server of a call by its place among all.
pub struct Mocked<I: ?Sized>(PhantomData<I>);

impl<I: ?Sized + 'static> Provider for Mocked<I> {
    type Interface = I;

    fn with<R>(control: u64, body: impl FnOnce(&I) -> R) -> Result<R, Error> {
        let server = SERVERS.with_borrow(|servers| {
            let found = servers.get(control as usize);
            found.map(|found| Rc::clone(&found.server))
        });
        let server = server.ok_or(Error::NotFound)?;
        Ok(body(server.downcast_ref::<Box<I>>().ok_or(Error::NotFound)?))
    }
}

/// For expansions: `server` answers these portals, on this thread.
pub fn answer<I: ?Sized + 'static>(
    portals: Portals,
    entries: [Option<EntryPoint>; METHODS_MAXIMUM],
    server: Box<I>,
) {
    let server = Server { first: portals.first(), entries, server: Rc::new(server) };
    SERVERS.with_borrow_mut(|servers| servers.push(server));
    host::answer_with(|index, words| match found(index) {
        Some((control, entry)) => {
            let [_, a1, a2, a3, a4, a5, a6, a7] = words;
            entry(control, a1, a2, a3, a4, a5, a6, a7)
        }
        None => Reply { status: Error::NoPortal.status(), value: 0 },
    });
}

/// The control word and the entry point behind a portal.
fn found(index: u64) -> Option<(u64, EntryPoint)> {
    SERVERS.with_borrow(|servers| {
        servers.iter().enumerate().rev().find_map(|(control, server)| {
            let method = index.checked_sub(server.first.into())?;
            let entry = *server.entries.get(method as usize)?;
            entry.map(|entry| (control as u64, entry))
        })
    })
}
