//! The instances that the manager knows: those of the layout, which come in through the same door as any that is added
//! later.

use cairn_abi::domain::DOMAINS_MAXIMUM;
use cairn_abi::record::Instance;
use cairn_abi::{DomainId, Error, InstanceId};

/// Records of instances, by their numbers.
pub struct Instances([Option<&'static Instance>; DOMAINS_MAXIMUM]);

impl Instances {
    /// None.
    pub const EMPTY: Instances = Instances([None; DOMAINS_MAXIMUM]);

    /// Adds one whose number and domain no other has.
    pub fn add(&mut self, record: &'static Instance) -> Result<(), Error> {
        if record.domain.index() >= DOMAINS_MAXIMUM || self.in_domain(record.domain).is_ok() {
            return Err(Error::BadArgument);
        }
        match self.0.get_mut(record.number.index()) {
            Some(place @ None) if record.number.index() != 0 => *place = Some(record),
            _ => return Err(Error::BadArgument),
        }
        Ok(())
    }

    /// Forgets one: its number and its domain can be another's.
    pub fn remove(&mut self, number: InstanceId) {
        if let Some(place) = self.0.get_mut(number.index()) {
            *place = None;
        }
    }

    /// The instance with this number.
    pub fn get(&self, number: InstanceId) -> Result<&'static Instance, Error> {
        self.0.get(number.index()).copied().flatten().ok_or(Error::BadArgument)
    }

    /// All, in the order of their numbers.
    pub fn all(&self) -> impl Iterator<Item = &'static Instance> {
        self.0.iter().copied().flatten()
    }

    /// The instance whose domain this is.
    pub fn in_domain(&self, domain: DomainId) -> Result<&'static Instance, Error> {
        let is_it = |instance: &&Instance| instance.domain == domain;
        // Mostly they have the same number.
        let guess = self.0.get(domain.index()).copied().flatten().filter(is_it);
        guess.or_else(|| self.all().find(is_it)).ok_or(Error::BadArgument)
    }
}
