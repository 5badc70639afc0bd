//! The exchange itself, on the thread that [`super::asked`] has for it.

use super::asked::{How, Job};
use super::component::{DOMAIN_PORTALS, INSTANCES, THREADS};
use super::failure::Text;
use super::fellows::{Failure, Fellows};
use super::load::give_back;
use cairn::Error;
use cairn::exclusive::Exclusive;
use cairn::text::Line;
use cairn::time::{now, ticks};
use cairn_abi::address::PAGE_SIZE;
use cairn_interfaces::{Exchange, Location};
use core::fmt::Write;

/// Most bytes of state.
const STATE_MAXIMUM: usize = 128 << 10;
/// Between two looks whether the last caller has left.
pub(super) const LOOK_MICROSECONDS: u64 = 20;

/// Of the one that is under way: beside it others may load.
pub(super) static WHY: Exclusive<Text> = Exclusive::new(Text::new());

/// State on its way, in whole pages.
#[repr(C, align(4096))]
struct State([u8; STATE_MAXIMUM]);
static STATE: Exclusive<State> = Exclusive::new(State([0; STATE_MAXIMUM]));
const _: () = assert!(STATE_MAXIMUM.is_multiple_of(PAGE_SIZE as usize));

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

    /// The same of one of those that end together, and of what it answered. `own`: who that is in words, if it is the instance itself.
    fn failed_of(&self, (of, error): Failure, own: &str, why: &str) -> Error {
        let mut text = Line::<112>::new();
        let _ = match of.text() {
            of if of == self.name() || of.is_empty() => write!(text, "{own} {why}: {error}"),
            of => write!(text, "`{of}` {why}: {error}"),
        };
        self.failed(error, text.text())
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
        let opened = Fellows::open(self.instance);
        let mut fellows = opened.map_err(|failure| {
            self.failed_of(failure, "it", "does not let its state be taken over")
        })?;
        let done = self.exchange_by(&mut fellows);
        fellows.close();
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

    /// The same, with those that end with it.
    fn exchange_by(&self, fellows: &mut Fellows) -> Result<u64, Error> {
        let until = self.until();
        self.hold(until)?;
        let began = now();
        let drained = self.drain(Some(fellows), until);
        let done = drained.and_then(|()| self.exchange_held(fellows, until));
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
    fn is_quiet(&self, fellows: Option<&Fellows>) -> Result<bool, Error> {
        let own = || DOMAIN_PORTALS.is_quiet(self.instance);
        let is_quiet = fellows.map_or_else(own, Fellows::are_quiet)?;
        match self.how {
            How::Place(Location::Domain) if is_quiet => Ok(!INSTANCES.is_inside(self.instance)?),
            _ => Ok(is_quiet),
        }
    }

    /// Waits until the last caller has left, of those that end with it too.
    pub(super) fn drain(&self, fellows: Option<&Fellows>, until: u64) -> Result<(), Error> {
        let mut called = false;
        let drained = self.drain_until(fellows, until, &mut called);
        if let Some(fellows) = fellows.filter(|_| called && drained.is_err()) {
            fellows.let_wait();
        }
        drained
    }

    /// The same; whether callers were called home.
    fn drain_until(
        &self,
        fellows: Option<&Fellows>,
        until: u64,
        called: &mut bool,
    ) -> Result<(), Error> {
        while !self.is_quiet(fellows)? {
            if now() > until {
                let why = "a call to it did not come back in time";
                return Err(self.failed(Error::TimedOut, why));
            }
            if let Some(fellows) = fellows.filter(|_| !*called) {
                let home = fellows.call_home();
                home.map_err(|error| {
                    self.failed_of(error, "it", "does not call its callers home")
                })?;
                *called = true;
            }
            self.pause()?;
        }
        Ok(())
    }

    /// Takes the state of all over to the other content, and back if that does not serve.
    fn exchange_held(&self, fellows: &mut Fellows, until: u64) -> Result<(), Error> {
        STATE.with(|State(state)| {
            fellows.export(state).map_err(|error| {
                // They go on.
                fellows.let_wait();
                self.failed_of(error, "it", "did not give its state away")
            })?;
            let import = |until, comes_back| fellows.import(state, until, comes_back);
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
                let own = self.words("its successor", "there it");
                let taken = import(until, false);
                taken.map_err(|error| self.failed_of(error, own, "does not take its state"))?;
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
            // Who serves late has its state still to get, and so have those that wait for it.
            let is_back = match is_back {
                Err(Error::TimedOut) => import(self.until(), true),
                Err(error) => Err((Line::new(), error)),
                Ok(()) => import(until, true),
            };
            let is_back = is_back.map_err(|(_, error)| error);
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
