//! What was missing when something was refused, for people: an error says only that there is no more of it. What is missing
//! to an instance is told once, whatever lives it has, so nobody writes over what this component's log says of others.

use crate::instances::Instances;
use cairn_abi::descriptor::name_text;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::record::Instance;
use cairn_abi::{Error, InstanceId};
use core::fmt::{self, Display, Formatter};

/// What there is no more of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Of its quota.
    Semaphores,
    /// Of its quota.
    Locks,
    /// Its part of portal code, blocks, or queues.
    Portals,
    /// Entries of its portal table.
    Entries,
    /// Stacks of a server.
    Stacks(InstanceId),
    /// Names that it may register.
    Names,
    /// Grants that it may bear.
    Grants,
}

impl Missing {
    /// Its bit among those that were told.
    fn bit(self) -> u8 {
        1 << match self {
            Missing::Semaphores => 0,
            Missing::Locks => 1,
            Missing::Portals => 2,
            Missing::Entries => 3,
            Missing::Stacks(_) => 4,
            Missing::Names => 5,
            Missing::Grants => 6,
        }
    }
}

/// What each instance was refused last, and what of all that was told.
pub struct Refusals {
    told: [u8; INSTANCES_MAXIMUM],
    last: [Option<Missing>; INSTANCES_MAXIMUM],
    new: Option<(InstanceId, Missing)>,
}

impl Refusals {
    /// Nothing was refused.
    pub const NONE: Refusals =
        Refusals { told: [0; INSTANCES_MAXIMUM], last: [None; INSTANCES_MAXIMUM], new: None };

    /// Notes why an instance gets an error, if it is that there is no more.
    #[cold]
    pub fn note(&mut self, who: InstanceId, missing: Missing, error: Error) -> Error {
        if error == Error::Exhausted {
            self.new = Some((who, missing));
            if let Some(last) = self.last.get_mut(who.index()) {
                *last = Some(missing);
            }
        }
        error
    }

    /// What is to be told now.
    pub fn take(&mut self, instances: &Instances) -> Option<Refusal> {
        let (who, missing) = self.new.take()?;
        let told = self.told.get_mut(who.index())?;
        let is_told = *told & missing.bit() != 0;
        *told |= missing.bit();
        self.last(who, instances).filter(|_| !is_told)
    }

    /// Of what there was no more when an instance last got an error for that.
    pub fn last(&self, who: InstanceId, instances: &Instances) -> Option<Refusal> {
        let missing = (*self.last.get(who.index())?)?;
        let server = match missing {
            Missing::Stacks(server) => instances.get(server).ok(),
            _ => None,
        };
        Some(Refusal { who: instances.get(who).ok()?, missing, server })
    }

    /// The number is another instance's.
    pub fn forget(&mut self, who: InstanceId) {
        self.told[who.index()] = 0;
        self.last[who.index()] = None;
    }
}

/// A refusal, as text.
pub struct Refusal {
    who: &'static Instance,
    missing: Missing,
    server: Option<&'static Instance>,
}

impl Display for Refusal {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        let (who, name) = (self.who, name_text(&self.who.name));
        match self.missing {
            Missing::Semaphores => write!(
                out,
                "{name} gets no semaphore: it has all {} of `semaphores` in its description",
                who.semaphores
            ),
            Missing::Locks => {
                write!(
                    out,
                    "{name} gets no lock: it has all {} of `locks` in its description",
                    who.locks
                )
            }
            Missing::Portals => {
                write!(
                    out,
                    "{name} gets no portal: its part is used up; `portals` in its description keeps more"
                )
            }
            Missing::Entries => {
                write!(
                    out,
                    "{name} gets no portal: its table is full; `portals` in its description makes it larger"
                )
            }
            Missing::Stacks(_) => {
                let server = self.server.map_or("the server", |server| name_text(&server.name));
                write!(
                    out,
                    "{name} cannot open {server}: others have all that `stacks` in the description of {server} gives"
                )
            }
            Missing::Names => write!(
                out,
                "{name} may register no more names than it has; `names` in its description keeps more"
            ),
            Missing::Grants => write!(
                out,
                "{name} may pass nothing more on: what it passed on, and what may come of that, is its whole part"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_once() {
        let mut instances = Instances::EMPTY;
        let mut record: Instance = zerocopy::FromZeros::new_zeroed();
        record.number = InstanceId(3);
        record.name[..5].copy_from_slice(b"meter");
        record.semaphores = 2;
        instances.add(Box::leak(Box::new(record))).unwrap();
        let mut refusals = Refusals::NONE;
        let who = InstanceId(3);
        let mut told = |missing, error| {
            refusals.note(who, missing, error);
            refusals.take(&instances).map(|refusal| refusal.to_string())
        };
        let text = "meter gets no semaphore: it has all 2 of `semaphores` in its description";
        assert_eq!(told(Missing::Semaphores, Error::Dead), None);
        assert_eq!(told(Missing::Semaphores, Error::Exhausted).as_deref(), Some(text));
        assert_eq!(told(Missing::Semaphores, Error::Exhausted), None);
        assert!(told(Missing::Names, Error::Exhausted).is_some());
        let last = |refusals: &Refusals| Some(refusals.last(who, &instances)?.to_string());
        assert_eq!(
            last(&refusals).as_deref(),
            Some(
                "meter may register no more names than it has; `names` in its description keeps more"
            )
        );
        refusals.forget(who);
        assert_eq!(last(&refusals), None);
        refusals.note(who, Missing::Semaphores, Error::Exhausted);
        assert!(refusals.take(&instances).is_some());
    }
}
