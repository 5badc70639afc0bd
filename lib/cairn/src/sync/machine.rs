//! Locks and semaphores as the scheduler has them, made by the portal manager when they are first used.

use super::methods::*;
use crate::Error;
use crate::arch::needs;
use crate::call::{Arguments, Portals};
use crate::environment::startup;
use crate::wire::MethodError;
use cairn_abi::interface_text::TypeText;
use core::marker::PhantomData;
// Relaxed: a label is only compared; an exchange that fails uses what it read for the same.
use core::sync::atomic::{AtomicU32, Ordering, Ordering::Relaxed};

/// A lock or semaphore, from its first use on.
///
/// Threads may come first at the same time, and none can wait for another before there is anything to wait for. So each asks
/// the portal manager for the object with this one's *label*, and that makes it once.
struct Made {
    /// Zero; [`LABEL`] and a label; or the first portal.
    word: AtomicU32,
}

/// Not made yet. No index of a portal has this bit.
const LABEL: u32 = 1 << 31;
/// The label that was given last.
static LABELS: AtomicU32 = AtomicU32::new(0);

impl Made {
    const fn new() -> Made {
        Made { word: AtomicU32::new(0) }
    }

    /// Its portals. As a signed word all that is not the index of a portal is below 1.
    #[inline(always)]
    fn portals(&self, initial: impl FnOnce() -> u64) -> Result<Portals, Error> {
        self.portals_by(manager, initial)
    }

    #[inline(always)]
    fn portals_by(
        &self,
        manager: impl FnOnce() -> Option<Portals>,
        initial: impl FnOnce() -> u64,
    ) -> Result<Portals, Error> {
        match self.word.load(Ordering::Acquire) {
            first if first as i32 > 0 => Ok(Portals::at(first)),
            _ => self.make(manager, initial()),
        }
    }

    #[cold]
    fn make(
        &self,
        manager: impl FnOnce() -> Option<Portals>,
        initial: u64,
    ) -> Result<Portals, Error> {
        let manager = manager().ok_or(Error::NotSupported)?;
        let mut word = self.word.load(Ordering::Acquire);
        if word == 0 {
            let label = LABEL | (LABELS.fetch_add(1, Relaxed) + 1);
            let given = self.word.compare_exchange(0, label, Relaxed, Ordering::Acquire);
            word = given.map_or_else(|other| other, |_| label);
        }
        if word & LABEL != 0 {
            let mut arguments = Arguments::new();
            arguments.skip();
            arguments.word((word & !LABEL).into());
            arguments.word(initial);
            let first: u64 = manager.call::<4, u64, Error>(MAKE_ONCE, arguments)?;
            word = u32::try_from(first).map_err(|_| Error::Malformed)?;
            // All who come here store the same.
            self.word.store(word, Ordering::Release);
        }
        Ok(Portals::at(word))
    }
}

impl Drop for Made {
    /// Only what is no static ends: its object is given back.
    fn drop(&mut self) {
        let first = *self.word.get_mut();
        if let (1.., Some(manager)) = (first as i32, import()) {
            let mut arguments = Arguments::new();
            arguments.skip();
            arguments.word(first.into());
            // Else it is the quota's until the component ends.
            let _ = manager.call::<3, (), Error>(CLOSE, arguments);
        }
    }
}

/// The import `Portals`, which the component needs: the host tool refuses one without, but for one that its description leaves out.
fn manager() -> Option<Portals> {
    needs::portals();
    import()
}

/// The import `Portals`.
fn import() -> Option<Portals> {
    match startup().portal_manager {
        0 => None,
        first => Some(Portals::at(first as u32)),
    }
}

/// What `lock` of the interface `Lock` answers beside zero.
struct Status(i64);

/// The lock is taken, but its last owner ended while it held it.
const OWNER_ENDED: i64 = 1;

impl From<Error> for Status {
    fn from(error: Error) -> Status {
        Status(error.status())
    }
}

impl core::fmt::Debug for Status {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(out)
    }
}

impl MethodError for Status {
    const SHAPE: u64 = 0;
    const TEXT: TypeText = TypeText::Plain("Status");
    fn into_status(self) -> i64 {
        self.0
    }
    fn from_status(status: i64) -> Status {
        Status(status)
    }
}

/// A lock.
pub struct RawLock(Made);

/// What a thread gives a lock back by: that one alone, as the scheduler wants it.
#[derive(Clone, Copy)]
pub struct Held(Portals, PhantomData<*const ()>);

impl Held {
    fn by(portals: Portals) -> Held {
        Held(portals, PhantomData)
    }
}

impl RawLock {
    pub const fn new() -> RawLock {
        RawLock(Made::new())
    }

    /// Takes it; whether its last owner ended while it held it.
    #[inline(always)]
    pub fn lock(&self) -> Result<(Held, bool), Error> {
        Self::take(self.0.portals(|| A_LOCK)?)
    }

    /// The same for who does without where the component has no import of `Portals`.
    #[cfg(feature = "alloc")]
    pub fn lock_if_imported(&self) -> Result<(Held, bool), Error> {
        Self::take(self.0.portals_by(import, || A_LOCK)?)
    }

    #[inline(always)]
    fn take(portals: Portals) -> Result<(Held, bool), Error> {
        let mut arguments = Arguments::new();
        arguments.skip();
        arguments.skip();
        match portals.call::<3, (), Status>(LOCK, arguments) {
            Ok(()) => Ok((Held::by(portals), false)),
            Err(Status(OWNER_ENDED)) => Ok((Held::by(portals), true)),
            Err(Status(status)) => Err(Error::from_status(status)),
        }
    }

    #[inline(always)]
    pub fn unlock(&self, held: Held) -> Result<(), Error> {
        let mut arguments = Arguments::new();
        arguments.skip();
        held.0.call::<2, (), Error>(UNLOCK, arguments)
    }
}

/// A semaphore.
pub struct RawSemaphore {
    made: Made,
    initial: u32,
}

impl RawSemaphore {
    pub const fn new(initial: u32) -> RawSemaphore {
        RawSemaphore { made: Made::new(), initial }
    }

    #[inline(always)]
    fn portals(&self) -> Result<Portals, Error> {
        self.made.portals(|| self.initial.into())
    }

    pub fn make(&self) -> Result<(), Error> {
        self.portals().map(drop)
    }

    #[inline(always)]
    pub fn p(&self) -> Result<(), Error> {
        let mut arguments = Arguments::new();
        arguments.skip();
        arguments.skip();
        self.portals()?.call::<3, (), Error>(P, arguments)
    }

    #[inline(always)]
    pub fn v(&self) -> Result<(), Error> {
        let mut arguments = Arguments::new();
        arguments.skip();
        self.portals()?.call::<2, (), Error>(V, arguments)
    }

    pub fn try_p(&self) -> Result<(), Error> {
        let mut arguments = Arguments::new();
        arguments.skip();
        self.portals()?.call::<2, (), Error>(TRY_P, arguments)
    }

    pub fn p_until(&self, ticks: u64) -> Result<(), Error> {
        let mut arguments = Arguments::new();
        arguments.skip();
        arguments.skip();
        arguments.word(ticks);
        self.portals()?.call::<4, (), Error>(P_UNTIL, arguments)
    }
}
