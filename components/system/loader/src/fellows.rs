//! Those whose lives end together in an exchange: the instance whose content, or place, is exchanged, and all in its domain. Each that has state keeps it.

use super::asked::note_replaced;
use super::component::{DOMAIN_PORTALS, INSTANCES, PORTALS, THREADS};
use super::exchange::LOOK_MICROSECONDS;
use cairn::text::Line;
use cairn::time::{now, ticks};
use cairn::{Error, InstanceId, Object};
use cairn_abi::address::{PAGE_SIZE, WINDOW_MAXIMUM};
use cairn_abi::descriptor::NAME_SIZE;
use cairn_abi::domain::FELLOWS_MAXIMUM;
use cairn_interfaces::{Successor, SuccessorProxy};
use core::ops::Range;

/// Bytes that are passed at once, in a window.
const PART: usize = WINDOW_MAXIMUM as usize;
const _: () = assert!(WINDOW_MAXIMUM.is_multiple_of(PAGE_SIZE));

/// One of them.
pub struct Fellow {
    instance: InstanceId,
    name: Line<NAME_SIZE>,
    /// Who has none has no state.
    successor: Option<Object<dyn Successor>>,
    /// Where its state is in the room for all.
    state: Range<usize>,
}

/// All of them.
pub struct Fellows([Option<Fellow>; FELLOWS_MAXIMUM]);

/// Why something failed, and of whom.
pub type Failure = (Line<NAME_SIZE>, Error);

impl Fellow {
    /// The one of this number and name.
    fn open(instance: InstanceId, name: &str) -> Result<Fellow, Failure> {
        let path = Line::<64>::of(format_args!("{name}.successor"));
        let name = Line::of(format_args!("{name}"));
        let successor = match PORTALS.open_object::<dyn Successor>(path.text()) {
            Ok(successor) => Some(successor),
            Err(Error::NotFound) => None,
            Err(error) => return Err((name, error)),
        };
        Ok(Fellow { instance, name, successor, state: 0..0 })
    }

    fn proxy(&self) -> Option<SuccessorProxy> {
        self.successor.as_ref().map(Object::proxy)
    }

    fn call_home(&self, called: bool) -> Result<(), Error> {
        self.proxy().map_or(Ok(()), |successor| successor.call_home(called))
    }

    fn failed(&self, error: Error) -> Failure {
        (Line::of(format_args!("{}", self.name.text())), error)
    }
}

impl Fellows {
    /// Those that end with an instance, itself among them.
    pub fn open(of: InstanceId) -> Result<Fellows, Failure> {
        let mut fellows = Fellows([const { None }; FELLOWS_MAXIMUM]);
        let filled = fellows.fill(of);
        if filled.is_err() {
            fellows.close();
        }
        filled.map(|()| fellows)
    }

    fn fill(&mut self, of: InstanceId) -> Result<(), Failure> {
        for (place, fellow) in self.0.iter_mut().enumerate() {
            let mut name = [0; NAME_SIZE];
            let (instance, length) = match INSTANCES.fellow(of, place as u64, &mut name) {
                Ok(found) => found,
                Err(Error::NotFound) if place > 0 => break,
                Err(error) => return Err((Line::new(), error)),
            };
            note_replaced(1 + place, instance);
            let name = core::str::from_utf8(name.get(..length).unwrap_or_default());
            *fellow = Some(Fellow::open(instance, name.unwrap_or_default())?);
        }
        Ok(())
    }

    fn all(&self) -> impl Iterator<Item = &Fellow> {
        self.0.iter().flatten()
    }

    /// Gives back what it had opened.
    pub fn close(&self) {
        for successor in self.all().filter_map(|fellow| fellow.successor.as_ref()) {
            let _ = PORTALS.close(successor.first_portal().into());
        }
    }

    /// Whether the last caller of all of them has left, as far as the portal manager knows.
    pub fn are_quiet(&self) -> Result<bool, Error> {
        for fellow in self.all() {
            if !DOMAIN_PORTALS.is_quiet(fellow.instance)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Calls those home that wait inside. Who called one of them may wait in another that this one calls. If one fails those before it let theirs wait again.
    pub fn call_home(&self) -> Result<(), Failure> {
        self.all().enumerate().try_for_each(|(place, fellow)| {
            fellow.call_home(true).map_err(|error| {
                let_wait(self.all().take(place));
                fellow.failed(error)
            })
        })
    }

    /// Has all of them let those wait again that come back.
    pub fn let_wait(&self) {
        let_wait(self.all());
    }

    /// Has each write its state, one behind the other.
    pub fn export(&mut self, state: &mut [u8]) -> Result<(), Failure> {
        let mut from = 0;
        for fellow in self.0.iter_mut().flatten() {
            let Some(successor) = fellow.proxy() else { continue };
            let size = export(successor, state.get_mut(from..).unwrap_or_default());
            let size = size.map_err(|error| fellow.failed(error))?;
            fellow.state = from..from + size;
            from = fellow.state.end.next_multiple_of(PAGE_SIZE as usize);
        }
        Ok(())
    }

    /// Has each take its state. On the way back each gets what is its own, if another does not take that; if it dies of it, it ends with the others.
    pub fn import(&self, state: &[u8], until: u64, comes_back: bool) -> Result<(), Failure> {
        let mut imported = Ok(());
        for fellow in self.all() {
            let state = state.get(fellow.state.clone()).unwrap_or_default();
            let import = |successor| import_until(successor, state, until, comes_back);
            let own = fellow.proxy().map_or(Ok(()), import).map_err(|error| fellow.failed(error));
            imported = imported.and(own);
            if imported.is_err() && !comes_back {
                break;
            }
        }
        imported
    }
}

/// One that fails is not in the way of the others.
fn let_wait<'a>(fellows: impl Iterator<Item = &'a Fellow>) {
    for fellow in fellows {
        let _ = fellow.call_home(false);
    }
}

/// Has an instance write its state; how many bytes.
fn export(successor: SuccessorProxy, state: &mut [u8]) -> Result<usize, Error> {
    let mut size = 0;
    for part in state.chunks_mut(PART) {
        let written = successor.export_state(size as u64, part)?;
        if written > part.len() {
            return Err(Error::Malformed);
        }
        size += written;
        if written < part.len() {
            return Ok(size);
        }
    }
    Err(Error::TooLarge)
}

/// Has a content take the state, as soon as it can: one that has not begun yet says so, and one that comes back may be about to live.
fn import_until(
    successor: SuccessorProxy,
    state: &[u8],
    until: u64,
    comes_back: bool,
) -> Result<(), Error> {
    loop {
        match import(successor, state) {
            Err(Error::NotReady) if now() < until => {}
            Err(Error::Dead) if comes_back && now() < until => {}
            imported => return imported,
        }
        THREADS.sleep_until(now() + ticks(LOOK_MICROSECONDS))?;
    }
}

fn import(successor: SuccessorProxy, state: &[u8]) -> Result<(), Error> {
    let size = state.len() as u64;
    if state.is_empty() {
        return successor.import_state(0, 0, state);
    }
    let mut parts = (0..).step_by(PART).zip(state.chunks(PART));
    parts.try_for_each(|(from, part)| successor.import_state(size, from, part))
}
