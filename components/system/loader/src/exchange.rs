//! The exchange itself, on the thread that [`super::asked`] has for it.

use super::asked::{How, Job};
use super::component::{DOMAIN_PORTALS, INSTANCES, PORTALS, THREADS};
use super::failure::Text;
use super::load::give_back;
use cairn::exclusive::Exclusive;
use cairn::text::Line;
use cairn::time::{now, ticks};
use cairn::{Error, Object};
use cairn_abi::address::PAGE_SIZE;
use cairn_interfaces::{Exchange, Location, Successor, SuccessorProxy};

/// Most bytes of state.
const STATE_MAXIMUM: usize = 128 << 10;
/// Bytes that are passed at once, in a window.
const PART: usize = cairn_abi::address::WINDOW_MAXIMUM as usize;
/// Between two looks whether the last caller has left.
const LOOK_MICROSECONDS: u64 = 20;

/// Of the one that is under way: beside it others may load.
pub(super) static WHY: Exclusive<Text> = Exclusive::new(Text::new());

/// State on its way, in whole pages.
#[repr(C, align(4096))]
struct State([u8; STATE_MAXIMUM]);
static STATE: Exclusive<State> = Exclusive::new(State([0; STATE_MAXIMUM]));
const _: () = assert!(PART.is_multiple_of(PAGE_SIZE as usize));

impl Job {
    pub(super) fn name(&self) -> &str {
        self.name.text()
    }

    pub(super) fn is_in_place(&self) -> bool {
        self.how == How::Content(Exchange::InPlace)
    }

    /// Takes back what is not in use. Both places are the instance's.
    pub(super) fn give_back(&self) {
        if let How::Content(_) = self.how {
            give_back(self.successor, self.name());
        }
    }

    /// Words for a replacement, or for a move.
    fn words(&self, of_content: &'static str, of_place: &'static str) -> &'static str {
        if let How::Content(_) = self.how { of_content } else { of_place }
    }

    /// Why it failed.
    pub(super) fn failed(&self, error: Error, why: &str) -> Error {
        WHY.with(|text| {
            *text = Text::of(format_args!("`{}` goes on as it was: {why}", self.name()))
        });
        error
    }

    /// Gives others the time to leave.
    pub(super) fn pause(&self) -> Result<(), Error> {
        THREADS.sleep_until(now() + ticks(LOOK_MICROSECONDS))
    }

    /// When it has to be done that begins now.
    pub(super) fn until(&self) -> u64 {
        now() + ticks(self.milliseconds * 1000)
    }

    /// Does it.
    pub(super) fn exchange(&self) -> Result<u64, Error> {
        let path = Line::<64>::of(format_args!("{}.successor", self.name()));
        // Who has none has no state.
        let successor = match PORTALS.open_object::<dyn Successor>(path.text()) {
            Ok(successor) => Some(successor),
            Err(Error::NotFound) => None,
            Err(error) => return Err(self.failed(error, "its state cannot be taken over")),
        };
        let done = self.exchange_by(successor.as_ref());
        if let Some(successor) = successor {
            let _ = PORTALS.close(successor.first_portal().into());
        }
        done
    }

    /// Lets another scheduler take over, or the former go on.
    pub(super) fn succeed(&self) -> Result<u64, Error> {
        let taken = INSTANCES.exchange(self.instance, self.successor, true, self.until());
        // Nothing is on trial: it has taken over or not.
        INSTANCES.settle(self.instance)?;
        taken.map_err(|error| {
            let why = match error {
                Error::VersionMismatch => "the other does not understand its state",
                error => error.text(),
            };
            self.failed(error, why)
        })
    }

    /// The same, with what takes its state over.
    fn exchange_by(&self, successor: Option<&Object<dyn Successor>>) -> Result<u64, Error> {
        let until = self.until();
        self.hold(until)?;
        let began = now();
        let done = self.drain(successor, until).and_then(|()| self.exchange_held(successor, until));
        let waited = DOMAIN_PORTALS.release(self.instance);
        let waited = waited.map(|()| now() - began);
        // Nobody waits for that; behind an error it is settled.
        done.and_then(|()| INSTANCES.settle(self.instance)).and(waited)
    }

    /// Lets those between whom it stands enter the content that it has now, as soon as that has said where.
    fn enter_between(&self, until: u64) -> Result<(), Error> {
        loop {
            match DOMAIN_PORTALS.enter_between(self.instance) {
                Err(Error::NotReady) if now() < until => {}
                entered => return entered,
            }
            THREADS.sleep_until(now() + ticks(LOOK_MICROSECONDS))?;
        }
    }

    /// Lets callers wait.
    pub(super) fn hold(&self, until: u64) -> Result<(), Error> {
        loop {
            let held = match self.how {
                How::Content(_) => DOMAIN_PORTALS.hold(self.instance, self.is_in_place()),
                How::Place(_) => DOMAIN_PORTALS.hold_to_move(self.instance),
            };
            match held {
                // Who waited for the last one has not gone on yet.
                Err(Error::Busy) if now() < until => {
                    self.pause()?;
                }
                held => {
                    return held.map_err(|error| {
                        let why = match error {
                            Error::Busy => "others wait already",
                            Error::NotAllowed => {
                                "a component stands between it and others: `unwrap` it first"
                            }
                            Error::VersionMismatch => {
                                "an import of a loaded component leads to what its successor does not serve"
                            }
                            _ => "some call to it cannot be made to wait",
                        };
                        self.failed(error, why)
                    });
                }
            }
        }
    }

    /// Whether the last caller has left. Who calls from one component in the kernel domain to another needs nothing of the portal manager's.
    fn is_quiet(&self) -> Result<bool, Error> {
        let is_quiet = DOMAIN_PORTALS.is_quiet(self.instance)?;
        match self.how {
            How::Place(Location::Domain) if is_quiet => Ok(!INSTANCES.is_inside(self.instance)?),
            _ => Ok(is_quiet),
        }
    }

    /// Waits until the last caller has left.
    pub(super) fn drain(
        &self,
        successor: Option<&Object<dyn Successor>>,
        until: u64,
    ) -> Result<(), Error> {
        let mut called = false;
        while !self.is_quiet()? {
            if now() > until {
                if let Some(successor) = successor.filter(|_| called) {
                    let _ = successor.proxy().call_home(false);
                }
                let why = "a call to it did not come back in time";
                return Err(self.failed(Error::TimedOut, why));
            }
            if let Some(successor) = successor.filter(|_| !called) {
                let home = successor.proxy().call_home(true);
                home.map_err(|error| self.failed(error, "it does not call its callers home"))?;
                called = true;
            }
            self.pause()?;
        }
        Ok(())
    }

    /// Takes its state over to the other content, and back if that does not serve.
    fn exchange_held(
        &self,
        successor: Option<&Object<dyn Successor>>,
        until: u64,
    ) -> Result<(), Error> {
        let successor = successor.map(Object::proxy);
        STATE.with(|State(state)| {
            let size = match successor {
                Some(successor) => export(successor, state).map_err(|error| {
                    // It goes on.
                    let _ = successor.call_home(false);
                    self.failed(error, "it did not give its state away")
                })?,
                None => 0,
            };
            let import = |until, comes_back| match successor {
                Some(successor) => import_until(successor, &state[..size], until, comes_back),
                None => Ok(()),
            };
            let (instance, other) = (self.instance, self.successor);
            let exchanged = INSTANCES.exchange(instance, other, true, until);
            let served = exchanged.map(drop).map_err(|error| {
                let why = match error {
                    Error::Dead => self.words("its successor died", "it died there"),
                    Error::TimedOut => self.words(
                        "its successor did not serve in time",
                        "it did not serve there in time",
                    ),
                    error => error.text(),
                };
                self.failed(error, why)
            });
            let replaced = served.and_then(|()| {
                let why = self.words(
                    "its successor does not take its state",
                    "it does not take its state there",
                );
                import(until, false).map_err(|error| self.failed(error, why))?;
                let why = "its successor does not say where calls go through it";
                self.enter_between(until).map_err(|error| self.failed(error, why))
            });
            if replaced.is_ok() {
                return Ok(());
            }
            // As long again, for what has served already.
            let until = self.until();
            let is_back = match exchanged {
                Ok(_) | Err(Error::Dead | Error::TimedOut) => {
                    INSTANCES.exchange(instance, other, false, until).map(drop)
                }
                // It has the content that it had, perhaps in another life.
                Err(_) => INSTANCES.settle(instance),
            };
            let is_back = is_back.and_then(|()| import(until, true));
            let is_back = is_back.and_then(|()| self.enter_between(until));
            if let Err(error) = is_back {
                cairn::log::error!("{} did not come back: {}", self.name(), error.text());
            }
            // Whatever it is now, it stays; nobody is on trial where nothing was exchanged.
            let _ = INSTANCES.settle(instance);
            replaced
        })
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
