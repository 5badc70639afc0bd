//! What servers registered or published at run time.

use crate::blocks::{Kind, NO_INSTANCE};
use cairn_abi::descriptor::{LETTERS_SIZE, METHODS_MAXIMUM};
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::record::{Instance, NAMES_MAXIMUM};
use cairn_abi::{Error, InstanceId};
use core::ops::Range;

/// Most bytes of a name `instance.export`.
pub const NAME_MAXIMUM: usize = 63;

/// A registration.
#[derive(Clone, Copy)]
pub struct Registration {
    /// The name server's number for it; zero: unused.
    pub number: u64,
    /// The instance that serves it.
    pub server: InstanceId,
    /// A semaphore or lock that is published; else entry points of the server's own.
    pub published: Option<Kind>,
    /// Version of the interface.
    pub version: u64,
    /// Its methods.
    pub count: usize,
    /// Letters and entry point of each.
    pub methods: [([u8; LETTERS_SIZE], u64); METHODS_MAXIMUM],
    name: [u8; NAME_MAXIMUM],
    name_length: usize,
}

impl Registration {
    /// Unused.
    pub const FREE: Registration = Registration {
        number: 0,
        server: NO_INSTANCE,
        published: None,
        version: 0,
        count: 0,
        methods: [([0; LETTERS_SIZE], 0); METHODS_MAXIMUM],
        name: [0; NAME_MAXIMUM],
        name_length: 0,
    };

    /// An empty one of a server.
    pub fn of(server: InstanceId) -> Registration {
        Registration { server, ..Registration::FREE }
    }

    /// Whether this is its name `instance.name`, or `name`.
    pub fn is_called(&self, name: &str) -> bool {
        let own = &self.name[..self.name_length];
        own == name.as_bytes()
            || own
                .iter()
                .position(|byte| *byte == b'.')
                .is_some_and(|dot| &own[dot + 1..] == name.as_bytes())
    }

    /// The name.
    pub fn name(&self) -> &str {
        core::str::from_utf8(&self.name[..self.name_length]).unwrap_or("?")
    }
}

/// All registrations: a part of the table for each server.
pub struct Registrations {
    slots: [Registration; NAMES_MAXIMUM],
    /// The numbers of the same, which lie together, since opening looks through all of them.
    numbers: [u64; NAMES_MAXIMUM],
    /// The places of each server, by its number.
    parts: [(u16, u16); INSTANCES_MAXIMUM],
}

impl Registrations {
    /// None, and no server may have any.
    pub const EMPTY: Registrations = Registrations {
        slots: [Registration::FREE; NAMES_MAXIMUM],
        numbers: [0; NAMES_MAXIMUM],
        parts: [(0, 0); INSTANCES_MAXIMUM],
    };

    /// Takes over how the layout divides the table.
    pub fn begin(&mut self, instances: &[Instance]) {
        instances.iter().for_each(|instance| self.add(instance));
    }

    /// A server has the part that its record says.
    pub fn add(&mut self, server: &Instance) {
        let limited = |place: u64| place.min(NAMES_MAXIMUM as u64) as u16;
        let part = &mut self.parts[server.number.index()];
        *part = (limited(server.names.start), limited(server.names.end));
    }

    /// The places of a server.
    fn of(&self, server: InstanceId) -> Range<usize> {
        let (start, end) = self.parts.get(server.index()).copied().unwrap_or((0, 0));
        start.into()..end.into()
    }

    /// The registration with this number.
    pub fn find(&self, number: u64) -> Option<&Registration> {
        let place = self.numbers.iter().position(|other| *other == number && number != 0)?;
        Some(&self.slots[place])
    }

    /// A registration of a server's that `which` accepts.
    pub fn find_of(
        &self,
        server: InstanceId,
        which: impl Fn(&Registration) -> bool,
    ) -> Option<&Registration> {
        let own = &self.slots[self.of(server)];
        own.iter().find(|registration| registration.number != 0 && which(registration))
    }

    /// A free place in the server's part.
    pub fn free(&self, server: InstanceId) -> Result<usize, Error> {
        self.of(server).find(|place| self.numbers[*place] == 0).ok_or(Error::Exhausted)
    }

    /// Puts one into a free place.
    pub fn put(&mut self, place: usize, name: &str, registration: &Registration) {
        let slot = &mut self.slots[place];
        *slot = *registration;
        slot.name_length = name.len().min(NAME_MAXIMUM);
        slot.name[..slot.name_length].copy_from_slice(&name.as_bytes()[..slot.name_length]);
        self.numbers[place] = registration.number;
    }

    /// Forgets those of a server's that `which` accepts.
    pub fn forget_of(&mut self, server: InstanceId, which: impl Fn(&Registration) -> bool) {
        for place in self.of(server) {
            if self.numbers[place] != 0 && which(&self.slots[place]) {
                (self.numbers[place], self.slots[place].number) = (0, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    #[test]
    fn whatever_others_register_a_server_has_its_part() {
        for instances in [1, 12, 64, 65, 200, INSTANCES_MAXIMUM - 1] {
            let mut all = Registrations::EMPTY;
            // Each has a place more than the one before it, as far as there are enough.
            let mut end = 0;
            let records: Vec<Instance> = (1..=instances)
                .map(|number| {
                    let mut record: Instance = zerocopy::FromZeros::new_zeroed();
                    let start = end;
                    end += if instances > 20 { 1 } else { number as u64 };
                    record.number = InstanceId(number as u16);
                    record.names = cairn_abi::record::Range { start, end };
                    record
                })
                .collect();
            all.begin(&records);
            let part = |server: InstanceId| {
                let names = records[server.index() - 1].names;
                (names.end - names.start) as usize
            };
            let (one, last) = (InstanceId(1), Cell::new(0));
            let fill = |all: &mut Registrations, server| {
                let mut count = 0;
                while let Ok(place) = all.free(server) {
                    let number = last.get() + 1;
                    last.set(number);
                    all.put(place, "a.b", &Registration { number, ..Registration::of(server) });
                    count += 1;
                }
                count
            };
            for other in (2..=instances as u16).map(InstanceId) {
                assert_eq!(fill(&mut all, other), part(other), "{instances}");
            }
            assert_eq!(fill(&mut all, one), part(one), "{instances}");
            assert_eq!(all.find(last.get()).map(|found| found.server), Some(one));
            all.forget_of(one, |_| true);
            assert!(all.find(last.get()).is_none() && all.find(0).is_none());
            assert_eq!(all.find_of(one, |_| true).map(|found| found.server), None);
            assert_eq!(fill(&mut all, one), part(one), "{instances}");
            assert!((1..=instances as u16).map(InstanceId).all(|server| {
                all.find_of(server, |_| true).is_some_and(|found| found.server == server)
            }));
        }
    }
}
