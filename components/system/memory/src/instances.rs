//! Sets of instances.

use cairn_abi::InstanceId;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A bit for each instance. One beyond the table is in none.
pub(crate) struct Instances([AtomicU64; INSTANCES_MAXIMUM.div_ceil(64)]);

impl Instances {
    pub(crate) const fn new() -> Instances {
        Instances([const { AtomicU64::new(0) }; INSTANCES_MAXIMUM.div_ceil(64)])
    }

    fn place(&self, instance: InstanceId) -> Option<(&AtomicU64, u64)> {
        Some((self.0.get(instance.index() / 64)?, 1 << (instance.index() % 64)))
    }

    /// What it was before.
    pub(crate) fn set(&self, instance: InstanceId, value: bool) -> bool {
        let Some((word, bit)) = self.place(instance) else { return false };
        let before = match value {
            true => word.fetch_or(bit, Relaxed),
            false => word.fetch_and(!bit, Relaxed),
        };
        before & bit != 0
    }

    pub(crate) fn contains(&self, instance: InstanceId) -> bool {
        self.place(instance).is_some_and(|(word, bit)| word.load(Relaxed) & bit != 0)
    }

    pub(crate) fn clear(&self) {
        self.0.iter().for_each(|word| word.store(0, Relaxed));
    }
}
