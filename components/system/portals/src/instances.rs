//! The instances that the manager knows: those of the layout, which come in through the same door as any that is added
//! later.

use crate::machine::Layout;
use cairn_abi::descriptor::is_name;
use cairn_abi::domain::DOMAINS_MAXIMUM;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::record::Instance;
use cairn_abi::{DomainId, Error, InstanceId};

/// Records of instances, by their numbers.
pub struct Instances([Option<&'static Instance>; INSTANCES_MAXIMUM]);

impl Instances {
    /// None.
    pub const EMPTY: Instances = Instances([None; INSTANCES_MAXIMUM]);

    /// Adds one whose number no other has.
    pub fn add(&mut self, record: &'static Instance) -> Result<(), Error> {
        if record.domain.index() >= DOMAINS_MAXIMUM {
            return Err(Error::BadArgument);
        }
        match self.0.get_mut(record.number.index()) {
            Some(place @ None) if record.number.index() != 0 => *place = Some(record),
            _ => return Err(Error::BadArgument),
        }
        Ok(())
    }

    /// The record is elsewhere.
    #[cfg(test)]
    pub(crate) fn renew(&mut self, layout: &Layout) {
        for record in self.0.iter_mut().flatten() {
            *record = &layout.instances[record.number.index() - 1];
        }
    }

    /// Forgets one: its number can be another's.
    pub fn remove(&mut self, number: InstanceId) {
        if let Some(place) = self.0.get_mut(number.index()) {
            *place = None;
        }
    }

    /// The instance with this number.
    pub fn get(&self, number: InstanceId) -> Result<&'static Instance, Error> {
        self.0.get(number.index()).copied().flatten().ok_or(Error::BadArgument)
    }

    /// The number of the instance of this name.
    pub fn named(&self, name: &[u8]) -> Option<InstanceId> {
        let mut all = self.0.iter().flatten();
        all.find(|record| is_name(&record.name, name)).map(|record| record.number)
    }

    /// Whether the instance with this number is the description's, and none that came under it since.
    pub fn is_described(&self, layout: &Layout, number: InstanceId) -> bool {
        let described = layout.instances.as_ptr_range();
        self.get(number).is_ok_and(|record| described.contains(&core::ptr::from_ref(record)))
    }

    /// All that are in one domain.
    pub fn in_domain(&self, domain: DomainId) -> impl Iterator<Item = &'static Instance> {
        self.0.iter().flatten().copied().filter(move |one| one.domain == domain)
    }

    /// Whether no other is in the domain of this one.
    pub fn is_alone(&self, record: &Instance) -> bool {
        self.in_domain(record.domain).all(|one| one.number == record.number)
    }

    /// Whether an instance is in a domain.
    #[inline(always)]
    pub fn is_in(&self, number: InstanceId, domain: DomainId) -> bool {
        self.get(number).is_ok_and(|one| one.domain == domain)
    }
}
