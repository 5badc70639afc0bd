//! Which semaphore an interrupt source signals.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use cairn_abi::Error;

/// All sources that a PLIC can have, from 1 (PLIC specification 1.0.0, section 1.1); source 0 is none.
pub const SOURCES: usize = 1024;

/// The semaphore of each source that a driver wants.
pub struct Sources {
    semaphores: [u16; SOURCES],
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
    /// No driver wants any.
    pub const fn new() -> Sources {
        Sources { semaphores: [NOBODY; SOURCES] }
    }

    /// A source signals `semaphore` from now on. [`Error::BadArgument`]: no controller has such a source, or no scheduler such a semaphore;
    /// [`Error::Busy`]: it is another's.
    pub fn add(&mut self, source: u32, semaphore: u32) -> Result<(), Error> {
        let semaphore = u16::try_from(semaphore).ok().filter(|semaphore| *semaphore != NOBODY);
        let semaphore = semaphore.ok_or(Error::BadArgument)?;
        let entry = self.semaphores.get_mut(source as usize).filter(|_| source != 0);
        let entry = entry.ok_or(Error::BadArgument)?;
        if *entry != NOBODY {
            return Err(Error::Busy);
        }
        *entry = semaphore;
        Ok(())
    }

    /// A source's driver is no more: it is masked and signals nobody from now on. One that no driver has is left alone.
    pub fn retire(&mut self, controller: &impl Controller, source: u32) {
        let Some(entry) = self.semaphores.get_mut(source as usize).filter(|one| **one != NOBODY)
        else {
            return;
        };
        *entry = NOBODY;
        controller.mask(source);
        // It may have been claimed, and never acknowledged: its next owner's interrupts shall come.
        controller.complete(source);
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
        assert_eq!(sources.add(1023, 7), Ok(()));
        assert_eq!(sources.semaphore(1023), Some(7));
        let others = (0..1023).chain([1024, u32::MAX]);
        assert_eq!(others.filter(|other| sources.semaphore(*other).is_some()).count(), 0);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let mut sources = Sources::new();
        for (source, semaphore) in [(0, 1), (1024, 1), (1151, 1), (1, 0xffff), (1, 0x1_0001)] {
            let added = sources.add(source, semaphore);
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
    fn a_retired_drivers_sources_are_quiet_and_its_claims_do_not_stay() {
        let lines = Lines { claimed: RefCell::new(vec![5, 6]), ..Lines::default() };
        let mut sources = Sources::new();
        (5..8).for_each(|source| sources.add(source, 9).unwrap());
        [5, 7].into_iter().for_each(|source| sources.retire(&lines, source));
        assert_eq!((lines.masked.take(), lines.claimed.take()), (vec![5, 7], vec![6]));
    }

    #[test]
    fn a_retired_source_signals_nobody_and_goes_to_whoever_comes_next() {
        let lines = Lines::default();
        let mut sources = Sources::new();
        for source in [5, 6, 1023] {
            assert_eq!(sources.add(source, source + 100), Ok(()));
        }
        assert_eq!(sources.add(5, 9), Err(Error::Busy), "another's device");
        [5, 1023, 5].into_iter().for_each(|source| sources.retire(&lines, source));
        assert_eq!([5, 6, 1023].map(|source| sources.semaphore(source)), [None, Some(106), None]);
        assert_eq!(lines.masked.take(), [5, 1023], "once each");
        assert_eq!(sources.add(5, 9), Ok(()));
        assert_eq!(sources.semaphore(5), Some(9));
    }

    #[test]
    fn a_source_without_a_driver_is_left_alone() {
        let lines = Lines { claimed: RefCell::new(vec![6]), ..Lines::default() };
        let mut sources = Sources::new();
        [0, 6, 1024, u32::MAX].into_iter().for_each(|source| sources.retire(&lines, source));
        assert_eq!((lines.masked.take(), lines.claimed.take()), (vec![], vec![6]));
    }
}
