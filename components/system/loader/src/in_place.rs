//! The exchange of content whose instance lives on, with its state in place: of the managers, which do what replaces others, above all.
//!
//! The successor's content is mapped beside the other, so either can be executed whatever becomes of this, and portals are led from one to the
//! other. Who cannot wait, because the loader's death could not be served then, may be in both: they have the same state.

use super::asked::Job;
use super::component::{DOMAIN_MEMORY, DOMAIN_PORTALS, PORTALS};
use cairn::text::Line;
use cairn::time::now;
use cairn::{Error, Object};
use cairn_interfaces::{InPlace, StatePlace};

/// Of an instance of a name that keeps its state in place, what says so.
fn open(name: &str) -> Result<Option<Object<dyn InPlace>>, Error> {
    let path = Line::<64>::of(format_args!("{name}.in_place"));
    match PORTALS.open_object::<dyn InPlace>(path.text()) {
        Ok(state) => Ok(Some(state)),
        Err(Error::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

fn close(state: &Object<dyn InPlace>) {
    let _ = PORTALS.close(state.first_portal().into());
}

/// Whether an instance keeps its state in place.
pub fn is_offered(name: &str) -> Result<bool, Error> {
    let state = open(name)?;
    state.iter().for_each(close);
    Ok(state.is_some())
}

impl Job {
    /// Does it. The value is for how long callers waited; of the loader's own content since when they do.
    pub fn exchange_in_place(&self) -> Result<u64, Error> {
        let state = open(self.name()).and_then(|state| state.ok_or(Error::NotFound));
        let state = state.map_err(|error| self.failed(error, "its state cannot be kept"))?;
        let done = self.exchange_beside(&state);
        if done.is_err() {
            let _ = DOMAIN_PORTALS.lead(state.first_portal().into(), self.instance);
        }
        close(&state);
        done
    }

    /// Before anybody waits, the successor says whether it can go on with this state.
    fn exchange_beside(&self, state: &Object<dyn InPlace>) -> Result<u64, Error> {
        let former = state.proxy().state();
        let former = former.map_err(|error| self.failed(error, "it does not say its state"))?;
        let joined = DOMAIN_MEMORY.join(self.successor);
        joined.map_err(|error| {
            let why = match error {
                Error::NotSupported => "it has memory that it allocated",
                _ => "its successor has no room beside it",
            };
            self.failed(error, why)
        })?;
        let led = DOMAIN_PORTALS.lead(state.first_portal().into(), self.successor);
        let new = led.and_then(|()| state.proxy().state()).and_then(|new| {
            let is_same = (new.layout, new.pages) == (former.layout, former.pages);
            if is_same { Ok(new) } else { Err(Error::VersionMismatch) }
        });
        let new = new.map_err(|error| {
            let why = match error {
                Error::VersionMismatch => "its successor has its state in another layout",
                Error::Dead => "its successor died",
                error => error.text(),
            };
            self.failed(error, why)
        })?;
        let until = self.until();
        self.hold(until)?;
        let began = now();
        self.call_home();
        let done = self.drain(None, until).and_then(|()| self.change_places((former, new)));
        if self.is_own() && done.is_ok() {
            // This thread is in the former content: it goes on in the other, and lets callers go on there.
            return Ok(began);
        }
        let released = self.release();
        done.and(released.map(|()| now() - began))
    }

    /// Nobody is inside who could wait.
    fn change_places(&self, (former, new): (StatePlace, StatePlace)) -> Result<(), Error> {
        let kept = DOMAIN_MEMORY.keep_state(self.successor, former.at, new.at, new.pages);
        kept.map_err(|error| {
            let why = match error {
                Error::BadArgument => "its successor's state is not in its data",
                error => error.text(),
            };
            self.failed(error, why)
        })?;
        // It is the other's from now on. Who was not held may be in the former content until it has left, which is soon.
        DOMAIN_PORTALS.relink(self.instance)?;
        while !DOMAIN_PORTALS.is_quiet(self.instance)? {
            self.pause()?;
        }
        Ok(())
    }
}
