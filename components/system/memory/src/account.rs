//! What one instance has, and may have.

use cairn_abi::Error;
use cairn_abi::address::REGION_SIZE;
use core::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

/// What one instance has.
pub(crate) struct Account {
    /// What is said of the instance that there is, or [`UNUSED`] or [`RETIRED`].
    said: AtomicI64,
    /// How many have retired under this number.
    pub(crate) life: AtomicU32,
    /// Pages that it has beside those of the layout.
    used: AtomicU32,
    /// Sections that it maps; changed by the thread that is at work on them alone.
    pub(crate) sections: AtomicU32,
    /// One of its threads is at work on sections.
    pub(crate) in_sections: AtomicBool,
    /// How many of its threads give pages away that it allocated, or [`COPIED`].
    leaving: AtomicU32,
    /// It died, has no pages of a pager any more, and does not live again yet.
    pub(crate) is_released: AtomicBool,
    /// How often that was so.
    pub(crate) ended: AtomicU32,
    /// Its content was exchanged while it died, so its next life is to be made once more.
    pub(crate) exchanged: AtomicBool,
    /// It ended so that its next life has what it provides others with as a pager.
    pub(crate) is_succeeded: AtomicBool,
}

/// Its memory is being copied: no page of it may become another's meanwhile.
const COPIED: u32 = 1 << 31;

/// Nobody has had the number.
const UNUSED: i64 = 0;
/// Nobody has it any more.
const RETIRED: i64 = -1;

impl Account {
    pub(crate) const fn new() -> Account {
        Account {
            said: AtomicI64::new(UNUSED),
            life: AtomicU32::new(0),
            used: AtomicU32::new(0),
            sections: AtomicU32::new(0),
            in_sections: AtomicBool::new(false),
            leaving: AtomicU32::new(0),
            is_released: AtomicBool::new(false),
            ended: AtomicU32::new(0),
            exchanged: AtomicBool::new(false),
            is_succeeded: AtomicBool::new(false),
        }
    }

    /// The number is that of an instance of the description. One that has had it keeps it: a thread that takes over from the
    /// layout late changes nothing.
    pub(crate) fn describe(&self, said: Said) {
        let _ = self.said.compare_exchange(UNUSED, said.word(), Relaxed, Relaxed);
    }

    /// The number is that of a new instance, unless another has it.
    pub(crate) fn add(&self, said: Said) -> Result<(), Error> {
        if self.is_present() {
            return Err(Error::Busy);
        }
        self.said.store(said.word(), Relaxed);
        Ok(())
    }

    /// Something else is said of it from now on, while it is dead or nobody is in it.
    pub(crate) fn renew(&self, said: Said) {
        self.said.store(said.word(), Relaxed);
    }

    /// The number is nobody's, and what its pages were is not for the next one.
    pub(crate) fn retire(&self) {
        self.said.store(RETIRED, Relaxed);
        self.life.fetch_add(1, Relaxed);
        self.used.store(0, Relaxed);
        self.is_released.store(false, Relaxed);
        self.exchanged.store(false, Relaxed);
        self.is_succeeded.store(false, Relaxed);
    }

    /// Pages that it has beside those of the layout.
    pub(crate) fn used(&self) -> u32 {
        self.used.load(Relaxed)
    }

    /// Whether there is such an instance.
    pub(crate) fn is_present(&self) -> bool {
        self.said.load(Relaxed) > UNUSED
    }

    /// What is said of it, if it is there.
    pub(crate) fn said(&self) -> Said {
        Said::of(self.said.load(Relaxed))
    }

    /// Pages more, if it may have them.
    pub(crate) fn charge(&self, pages: u32) -> Result<(), Error> {
        let before = self.used.fetch_add(pages, Relaxed);
        if before.saturating_add(pages) > self.said().limit {
            self.used.fetch_sub(pages, Relaxed);
            return Err(Error::Exhausted);
        }
        Ok(())
    }

    /// Gives pages away. `Busy`: its memory is being copied.
    pub(crate) fn while_not_copied<T>(
        &self,
        body: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let result = match self.leaving.fetch_add(1, Acquire) & COPIED {
            0 => body(),
            _ => Err(Error::Busy),
        };
        self.leaving.fetch_sub(1, Release);
        result
    }

    /// Copies its memory. `Busy`: it gives pages away, or is being copied.
    pub(crate) fn while_copied<T>(
        &self,
        body: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.leaving.compare_exchange(0, COPIED, Acquire, Relaxed).map_err(|_| Error::Busy)?;
        let result = body();
        self.leaving.fetch_sub(COPIED, Release);
        result
    }

    /// Pages less.
    pub(crate) fn refund(&self, pages: u32) {
        self.used.fetch_sub(pages, Relaxed);
    }
}

/// What is said of an instance, in a word that is more than zero: whoever sees it sees all of it.
pub(crate) struct Said {
    /// Pages that it may have beside those of the layout.
    pub(crate) limit: u32,
    /// First address behind its activations, as an offset in its region.
    pub(crate) base: u32,
}

impl Said {
    fn word(&self) -> i64 {
        // Behind an activation is not the region's beginning: a word is never [`UNUSED`].
        (u64::from(self.base) << 32 | u64::from(self.limit)) as i64
    }

    fn of(word: i64) -> Said {
        Said { limit: word as u32, base: (word >> 32) as u32 }
    }
}

// A word with the last address of a region is more than zero.
const _: () = assert!(REGION_SIZE <= 1 << 31);
