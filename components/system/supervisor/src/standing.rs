//! Threads that stand still at an instruction in an instance until something about that changes. Then they may go on, and are let go one
//! by one, the most urgent first: however many there are, each is a step of its own.

use crate::instances::Threads;
use cairn_abi::InstanceId;
use cairn_abi::thread::THREADS_MAXIMUM;
use core::sync::atomic::{AtomicU8, AtomicU16, Ordering::Relaxed};

/// What a thread stands still for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Its callee serves.
    Serves,
    /// The next life of an instance that ends because nobody needed it.
    Lives,
}

/// The threads, and for which instance each of them stands still. The supervisor's worker alone changes it.
pub struct Standing {
    serves: Threads,
    lives: Threads,
    /// Those that may go on.
    going: Threads,
    instances: [AtomicU16; THREADS_MAXIMUM],
    priorities: [AtomicU8; THREADS_MAXIMUM],
}

impl Standing {
    /// Without any.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Standing {
        Standing {
            serves: Threads::new(),
            lives: Threads::new(),
            going: Threads::new(),
            instances: [const { AtomicU16::new(0) }; THREADS_MAXIMUM],
            priorities: [const { AtomicU8::new(0) }; THREADS_MAXIMUM],
        }
    }

    fn set(&self, until: Until) -> &Threads {
        match until {
            Until::Serves => &self.serves,
            Until::Lives => &self.lives,
        }
    }

    /// A thread of this priority stands still.
    pub fn insert(&self, until: Until, index: u64, instance: InstanceId, priority: u8) {
        self.instances[index as usize % THREADS_MAXIMUM].store(instance.0, Relaxed);
        self.priorities[index as usize % THREADS_MAXIMUM].store(priority, Relaxed);
        self.set(until).insert(index);
    }

    /// The instance for which a thread stands still, or stood.
    fn instance(&self, index: u64) -> InstanceId {
        InstanceId(self.instances[index as usize % THREADS_MAXIMUM].load(Relaxed))
    }

    /// The instance until whose service a thread waits, if it does.
    pub fn waits_for(&self, index: u64) -> Option<InstanceId> {
        self.serves.contains(index).then(|| self.instance(index))
    }

    /// Those that stand still for an instance.
    pub fn of(&self, until: Until, instance: InstanceId) -> impl Iterator<Item = u64> {
        self.set(until).iter().filter(move |index| self.instance(*index) == instance)
    }

    /// They may go on.
    pub fn let_go(&self, until: Until, instance: InstanceId) {
        self.of(until, instance).for_each(|index| self.let_one_go(index));
    }

    /// One may, whatever it stands still for.
    pub fn let_one_go(&self, index: u64) {
        self.serves.remove(index);
        self.lives.remove(index);
        self.going.insert(index);
    }

    fn first(&self) -> Option<(u64, u8)> {
        let priority = |index: u64| self.priorities[index as usize % THREADS_MAXIMUM].load(Relaxed);
        let going = self.going.iter().map(|index| (index, priority(index)));
        going.max_by_key(|(_, priority)| *priority)
    }

    /// The priority of the most urgent one that may go on.
    pub fn priority(&self) -> Option<u8> {
        self.first().map(|(_, priority)| priority)
    }

    /// That one, and for which instance it stood still.
    pub fn take(&self) -> Option<(u64, InstanceId)> {
        let (index, _) = self.first()?;
        self.going.remove(index);
        Some((index, self.instance(index)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: InstanceId = InstanceId(1);
    const TWO: InstanceId = InstanceId(2);

    #[test]
    fn they_go_on_one_by_one_the_most_urgent_first() {
        let standing = Standing::new();
        for index in 0..THREADS_MAXIMUM as u64 {
            let instance = if index % 2 == 0 { ONE } else { TWO };
            standing.insert(Until::Serves, index, instance, index as u8 ^ 0x55);
        }
        standing.insert(Until::Lives, 0, ONE, 200);
        assert_eq!((standing.priority(), standing.take()), (None, None));
        standing.let_go(Until::Serves, ONE);
        assert_eq!(standing.of(Until::Serves, ONE).next(), None);
        assert_eq!(standing.of(Until::Serves, TWO).count(), THREADS_MAXIMUM / 2);
        let mut last = u8::MAX;
        for _ in 0..THREADS_MAXIMUM / 2 {
            let priority = standing.priority().unwrap();
            let (index, instance) = standing.take().unwrap();
            assert!(priority <= last && index % 2 == 0 && instance == ONE);
            last = priority;
        }
        assert_eq!(standing.take(), None);
    }

    #[test]
    fn who_goes_on_stands_for_nothing() {
        let standing = Standing::new();
        standing.insert(Until::Serves, 7, TWO, 10);
        assert_eq!(standing.waits_for(7), Some(TWO));
        standing.let_one_go(7);
        assert_eq!(standing.waits_for(7), None);
        assert_eq!(standing.take(), Some((7, TWO)));
    }
}
