//! Which semaphore an interrupt source signals.
#![no_std]
#![forbid(unsafe_code)]

/// All sources that a PLIC can have, from 1 (PLIC specification 1.0.0, section 1.1); source 0 is none.
pub const SOURCES: usize = 1024;

/// The semaphore of each source that a driver wants.
pub struct Sources([u16; SOURCES]);

/// No driver wants the source.
const NOBODY: u16 = u16::MAX;

impl Sources {
    /// No request is pending.
    pub const fn new() -> Sources {
        Sources([NOBODY; SOURCES])
    }

    /// From now on `source` signals `semaphore`. `None` if no controller has such a source, or no
    /// scheduler such a semaphore.
    pub fn set(&mut self, source: u32, semaphore: u32) -> Option<()> {
        let semaphore = u16::try_from(semaphore).ok().filter(|semaphore| *semaphore != NOBODY)?;
        let entry = self.0.get_mut(source as usize).filter(|_| source != 0)?;
        *entry = semaphore;
        Some(())
    }

    /// The semaphore that `source` signals.
    #[inline(always)]
    pub fn semaphore(&self, source: u32) -> Option<u16> {
        self.0.get(source as usize).copied().filter(|semaphore| *semaphore != NOBODY)
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

    #[test]
    fn the_highest_source_is_itself_and_no_other() {
        let mut sources = Sources::new();
        assert_eq!(sources.set(1023, 7), Some(()));
        assert_eq!(sources.semaphore(1023), Some(7));
        let others = (0..1023).chain([1024, u32::MAX]);
        assert_eq!(others.filter(|other| sources.semaphore(*other).is_some()).count(), 0);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let mut sources = Sources::new();
        for (source, semaphore) in [(0, 1), (1024, 1), (1151, 1), (1, 0xffff), (1, 0x1_0001)] {
            assert_eq!(sources.set(source, semaphore), None, "{source} {semaphore}");
        }
        assert_eq!((0..1025).filter(|source| sources.semaphore(*source).is_some()).count(), 0);
    }
}
