//! Which instances there are: those of the description, which come in through the same door as any that is added later.

use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::{Error, InstanceId};
// Relaxed: a state is one byte, and nothing else is read by what it says, but for `begun`, which is Acquire.
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Who has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum State {
    /// Nobody has had it.
    Unused,
    /// An instance of the description: what that says of clients by name, it says of this one.
    Described,
    /// Nobody any more.
    Retired,
    /// One that was added later.
    Added,
}

/// The instances that there are, by number.
pub struct Domains {
    states: [AtomicU8; INSTANCES_MAXIMUM],
    begun: AtomicBool,
}

impl Domains {
    /// Without any.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Domains {
        Domains {
            states: [const { AtomicU8::new(State::Unused as u8) }; INSTANCES_MAXIMUM],
            begun: AtomicBool::new(false),
        }
    }

    /// Takes over from the layout, at the first call of all. Several threads may do it at the same time: one that comes late
    /// changes nothing, since no number becomes unused again.
    #[inline]
    pub fn begin(&self, described: impl Iterator<Item = InstanceId>) {
        if !self.begun.load(Ordering::Acquire) {
            for number in described {
                // Busy: another thread was first.
                let _ = self.change(number, &[State::Unused], State::Described);
            }
            self.begun.store(true, Ordering::Release);
        }
    }

    /// There is a new instance, which no description has named. [`Error::Busy`]: one of this number is still there.
    pub fn add_domain(&self, instance: InstanceId) -> Result<(), Error> {
        self.change(instance, &[State::Unused, State::Retired], State::Added)
    }

    pub(crate) fn retire(&self, instance: InstanceId) -> Result<(), Error> {
        self.change(instance, &[State::Described, State::Added], State::Retired)
    }

    fn change(&self, instance: InstanceId, from: &[State], to: State) -> Result<(), Error> {
        let known = self.states.get(instance.index()).filter(|_| instance.index() != 0);
        let state = known.ok_or(Error::BadArgument)?;
        let exchange = |from: &State| {
            let (from, to) = (*from as u8, to as u8);
            state.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        from.iter().any(exchange).then_some(()).ok_or(Error::Busy)
    }

    fn is(&self, instance: InstanceId, wanted: &[State]) -> bool {
        let state = self.states.get(instance.index()).map(|state| state.load(Ordering::Relaxed));
        wanted.iter().any(|wanted| state == Some(*wanted as u8))
    }

    /// Whether there is one of this number.
    #[inline]
    pub fn is_present(&self, instance: InstanceId) -> bool {
        self.is(instance, &[State::Described, State::Added])
    }

    /// Whether what the description says of a number holds for who has it.
    #[inline]
    pub fn is_described(&self, instance: InstanceId) -> bool {
        self.is(instance, &[State::Described])
    }
}
