//! Budgets that another scheduler has kept account of until now.

use super::{NEVER, Throttle};
use crate::classes::ByClass;
use crate::machine::Machine;
use crate::quota::Tenant;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;
use crate::thread::ThreadIndex;
use cairn_abi::InstanceId;

impl Throttle {
    /// Whether some instance has a budget.
    pub(crate) fn is_in_use(&self) -> bool {
        self.looks.iter().any(|at| *at != NEVER)
    }
}

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// The same budgets as of another scheduler, whose classes may be others.
    pub(crate) fn inherit_budgets(&mut self, from: &Throttle) {
        self.throttle = *from;
        (self.throttle.behind, self.throttle.is_put_off) = (ByClass::EMPTY, false);
        for thread in (0..=ThreadIndex::MAX).filter(|thread| from.behind.contains(*thread)) {
            let class = self.ready.class(self.ready.urgency(&self.threads, thread));
            self.throttle.behind.set(thread, class);
        }
        for number in self.present.iter() {
            let tenant = Tenant::calling(InstanceId(number as u16));
            if let Some(place) = self.place_of(tenant) {
                let priority = self.accounts[tenant].quota.priority;
                let class = self.ready.class_of_priority(priority);
                self.throttle.ranks[place] = u16::from(class) << 8 | place as u16;
            }
        }
        self.come_for_budgets(0);
    }
}
