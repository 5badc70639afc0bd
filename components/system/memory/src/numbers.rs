//! The numbers of instances, as far as they come and go while the system runs.

use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::{Error, InstanceId};
// Relaxed: the record's entries are read by who was told of the number, by a call.
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

/// What becomes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stage {
    /// Nobody has it, or an instance of the description.
    Unused,
    /// Its instance gets its content.
    Made,
    /// It has all of it.
    Whole,
    /// Its content, a successor's, is mapped beside that of the instance.
    Beside,
    /// Its content is the former one of the instance, which is mapped beside that still.
    Former,
    /// A thread is at work on it.
    Changing,
}

/// All of them, by number.
pub(crate) struct Numbers([Number; INSTANCES_MAXIMUM]);

/// One of them.
pub(crate) struct Number {
    stage: AtomicU8,
    /// Pages of an instance that is not whole yet.
    pub(crate) pages: AtomicU32,
    /// Of what it may have loaded, as many are there.
    children: AtomicU32,
}

impl Numbers {
    pub(crate) const fn new() -> Numbers {
        Numbers([const { Number::unused() }; INSTANCES_MAXIMUM])
    }

    /// Those whose content is beside an instance's, or may be.
    pub(crate) fn beside(&self) -> impl Iterator<Item = InstanceId> {
        let all = (0..).zip(&self.0);
        all.filter(|(_, number)| number.stage.load(Relaxed) >= Stage::Beside as u8)
            .map(|(number, _)| InstanceId(number))
    }

    /// Those at which a thread is at work.
    pub(crate) fn changing(&self) -> impl Iterator<Item = InstanceId> {
        let all = (0..).zip(&self.0);
        all.filter(|(_, number)| number.is(Stage::Changing)).map(|(number, _)| InstanceId(number))
    }

    pub(crate) fn get(&self, number: InstanceId) -> Result<&Number, Error> {
        self.0.get(number.index()).ok_or(Error::NotFound)
    }
}

impl Number {
    const fn unused() -> Number {
        Number {
            stage: AtomicU8::new(Stage::Unused as u8),
            pages: AtomicU32::new(0),
            children: AtomicU32::new(0),
        }
    }

    pub(crate) fn is(&self, stage: Stage) -> bool {
        self.stage.load(Relaxed) == stage as u8
    }

    /// The calling thread alone is at work on it, if it is at this stage, until it [says](Number::set) the next.
    pub(crate) fn take(&self, stage: Stage) -> Result<(), Error> {
        let (from, to) = (stage as u8, Stage::Changing as u8);
        match self.stage.compare_exchange(from, to, Relaxed, Relaxed) {
            Ok(_) => Ok(()),
            Err(other) if other == Stage::Changing as u8 => Err(Error::Busy),
            Err(_) => Err(Error::NotFound),
        }
    }

    pub(crate) fn set(&self, stage: Stage) {
        self.stage.store(stage as u8, Relaxed);
    }

    /// So many components more are loaded by it, of at most `limit`.
    pub(crate) fn add_children(&self, count: u32, limit: u32) -> Result<(), Error> {
        let before = self.children.fetch_add(count, Relaxed);
        if before.saturating_add(count) > limit {
            self.children.fetch_sub(count, Relaxed);
            return Err(if limit == 0 { Error::NotAllowed } else { Error::Exhausted });
        }
        Ok(())
    }

    /// So many less.
    pub(crate) fn remove_children(&self, count: u32) {
        self.children.fetch_sub(count, Relaxed);
    }

    pub(crate) fn children(&self) -> u32 {
        self.children.load(Relaxed)
    }
}
