//! Which semaphore an interrupt source signals.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use cairn_abi::{Error, InstanceId};

/// All sources that a PLIC can have, from 1 (PLIC specification 1.0.0, section 1.1); source 0 is none.
pub const SOURCES: usize = 1024;

/// The semaphore of each source that a driver wants, and whose source it is.
pub struct Sources {
    semaphores: [u16; SOURCES],
    owners: [InstanceId; SOURCES],
}

/// The interrupt controller, as far as the end of an owner needs it.
pub trait Controller {
    /// Nothing comes of a source until it is opened again.
    fn mask(&self, source: u32);
    /// A source that was claimed, if it was, can be claimed again.
    fn complete(&self, source: u32);
}

/// No driver wants the source.
const NOBODY: u16 = u16::MAX;

impl Sources {
    /// No request is pending.
    pub const fn new() -> Sources {
        Sources { semaphores: [NOBODY; SOURCES], owners: [InstanceId(0); SOURCES] }
    }

    /// There is a new instance, with this source, which signals `semaphore` from now on. [`Error::BadArgument`]: no
    /// controller has such a source, or no scheduler such a semaphore; [`Error::Busy`]: it is another's.
    pub fn add_domain(
        &mut self,
        instance: InstanceId,
        source: u32,
        semaphore: u32,
    ) -> Result<(), Error> {
        let semaphore = u16::try_from(semaphore).ok().filter(|semaphore| *semaphore != NOBODY);
        let semaphore = semaphore.ok_or(Error::BadArgument)?;
        let entry = self.semaphores.get_mut(source as usize).filter(|_| source != 0);
        let entry = entry.ok_or(Error::BadArgument)?;
        if *entry != NOBODY {
            return Err(Error::Busy);
        }
        (*entry, self.owners[source as usize]) = (semaphore, instance);
        Ok(())
    }

    /// An instance is no more: the next of its sources from `from` on, which is masked and signals nobody from now on.
    /// Whoever asks does so again from the one behind; `None`: that was all.
    pub fn retire_domain(
        &mut self,
        controller: &impl Controller,
        instance: InstanceId,
        from: u32,
    ) -> Option<u32> {
        let mut sources = self.owners.iter().zip(&self.semaphores).enumerate().skip(from as usize);
        let is_its =
            |(owner, semaphore): (&InstanceId, &u16)| *owner == instance && *semaphore != NOBODY;
        let source = sources.find(|(_, entry)| is_its(*entry))?.0;
        (self.semaphores[source], self.owners[source]) = (NOBODY, InstanceId(0));
        controller.mask(source as u32);
        // It may have been claimed, and never acknowledged: its next owner's interrupts shall come.
        controller.complete(source as u32);
        Some(source as u32)
    }

    /// The semaphore that `source` signals.
    #[inline(always)]
    pub fn semaphore(&self, source: u32) -> Option<u16> {
        self.semaphores.get(source as usize).copied().filter(|semaphore| *semaphore != NOBODY)
    }
}

impl Default for Sources {
    fn default() -> Sources {
        Sources::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn the_highest_source_is_itself_and_no_other() {
        let mut sources = Sources::new();
        assert_eq!(sources.add_domain(InstanceId(1), 1023, 7), Ok(()));
        assert_eq!(sources.semaphore(1023), Some(7));
        let others = (0..1023).chain([1024, u32::MAX]);
        assert_eq!(others.filter(|other| sources.semaphore(*other).is_some()).count(), 0);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let mut sources = Sources::new();
        for (source, semaphore) in [(0, 1), (1024, 1), (1151, 1), (1, 0xffff), (1, 0x1_0001)] {
            let added = sources.add_domain(InstanceId(1), source, semaphore);
            assert_eq!(added, Err(Error::BadArgument), "{source} {semaphore}");
        }
        assert_eq!((0..1025).filter(|source| sources.semaphore(*source).is_some()).count(), 0);
    }

    /// Which sources are masked, and which are claimed.
    #[derive(Default)]
    struct Lines {
        masked: RefCell<Vec<u32>>,
        claimed: RefCell<Vec<u32>>,
    }

    impl Controller for Lines {
        fn mask(&self, source: u32) {
            self.masked.borrow_mut().push(source);
        }

        fn complete(&self, source: u32) {
            self.claimed.borrow_mut().retain(|claimed| *claimed != source);
        }
    }

    #[test]
    fn a_retired_instances_sources_are_quiet_and_its_claims_do_not_stay() {
        let lines = Lines { claimed: RefCell::new(vec![5, 6]), ..Lines::default() };
        let mut sources = Sources::new();
        for (instance, source) in [(3, 5), (4, 6), (3, 7)] {
            sources.add_domain(InstanceId(instance), source, 9).unwrap();
        }
        let mut from = 0;
        while let Some(source) = sources.retire_domain(&lines, InstanceId(3), from) {
            from = source + 1;
        }
        assert_eq!((lines.masked.take(), lines.claimed.take()), (vec![5, 7], vec![6]));
    }

    #[test]
    fn nothing_of_a_retired_instance_remains() {
        let (first, second) = (InstanceId(3), InstanceId(4));
        let lines = Lines::default();
        let mut sources = Sources::new();
        for (instance, source) in [(first, 5), (second, 6), (first, 1023)] {
            assert_eq!(sources.add_domain(instance, source, source + 100), Ok(()));
        }
        assert_eq!(sources.add_domain(second, 5, 9), Err(Error::Busy), "another's device");
        assert_eq!(sources.retire_domain(&lines, first, 0), Some(5));
        assert_eq!(sources.retire_domain(&lines, first, 6), Some(1023));
        assert_eq!(sources.retire_domain(&lines, first, 1024), None);
        assert_eq!(sources.retire_domain(&lines, first, 0), None);
        assert_eq!([5, 6, 1023].map(|source| sources.semaphore(source)), [None, Some(106), None]);
        // Another owner of the number has none of it, and a device goes to whoever comes next.
        assert_eq!(sources.add_domain(second, 5, 9), Ok(()));
        assert_eq!(sources.add_domain(first, 7, 8), Ok(()));
        assert_eq!(sources.retire_domain(&lines, first, 0), Some(7));
        assert_eq!(sources.semaphore(5), Some(9));
        // Nobody is not an owner.
        assert_eq!(sources.retire_domain(&lines, InstanceId(0), 0), None);
    }
}
