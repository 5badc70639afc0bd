//! The pieces of work: one is done by an interrupt of the timer, light ones by some operations ([`crate::work`] says why).

use crate::classes;
use crate::machine::Machine;
use crate::ready::ReadyQueue;
use crate::scheduler::Scheduler;

/// Most pieces that one operation does.
pub const PIECES_MAXIMUM: usize = 3;

impl<Q: ReadyQueue, M: Machine> Scheduler<Q, M> {
    /// Does a piece of work: of the most urgent class, and in turn with it a look at stack queues, of which it is not
    /// known which threads wait for them. The caller sees to the timer.
    #[inline(always)]
    pub(crate) fn do_work(&mut self, now: u64) {
        let classes = self.classes();
        let class = classes & classes.wrapping_neg();
        let looks = !self.stacks.are_seen() && (class == 0 || self.looks_next);
        self.looks_next = !looks;
        if looks {
            self.look_on(now);
        } else if self.urgency_classes() & class != 0 {
            self.pass_urgencies(class, true);
        } else if class != 0 {
            self.long_piece(class, now);
        }
        self.see_what_is_left(class);
    }

    /// Passes urgencies on, as far as that is light; for all other work that was left, the timer comes.
    #[inline(always)]
    pub(crate) fn work_lightly(&mut self, now: u64) {
        if self.left {
            self.pass_urgencies(self.urgency_classes(), false);
            self.see_what_is_left(0);
        }
        self.leave_work(now);
    }

    /// After work of this class, which was the most urgent.
    #[inline(always)]
    fn see_what_is_left(&mut self, class: u64) {
        let classes = self.classes();
        self.left = classes != 0 || !self.stacks.are_seen();
        if !self.left {
            self.work_class = u8::MAX;
        } else if self.stacks.are_seen() && classes & class == 0 {
            self.work_class = self.work_class.max(classes::least(classes));
        }
    }

    /// Brings urgencies of these classes up to date: up to three light pieces, of which the first may be heavy if `heavy`.
    #[inline(never)]
    fn pass_urgencies(&mut self, classes: u64, heavy: bool) {
        let (mut classes, mut heavy) = (classes, heavy);
        for _ in 0..PIECES_MAXIMUM {
            let class = classes & classes.wrapping_neg();
            let light;
            if let Some(lock) = self.stale.first_of(class) {
                light = !self.is_among_several(lock);
                if light || heavy {
                    self.renew_donation(lock);
                }
            } else if let Some(thread) = self.unsettled.first_of(class) {
                light = !self.waits_with_others(thread);
                if light || heavy {
                    self.settle(thread);
                    self.make_key(thread);
                }
            } else {
                return;
            }
            if !light {
                return;
            }
            (classes, heavy) = (self.urgency_classes(), false);
        }
    }

    /// The rough classes of urgencies that are not up to date.
    #[inline(always)]
    fn urgency_classes(&self) -> u64 {
        self.stale.classes() | self.unsettled.classes()
    }

    #[inline(never)]
    fn long_piece(&mut self, class: u64, now: u64) {
        if let Some(thread) = self.ending.first_of(class) {
            self.end_further(thread, now);
        } else if self.look_classes & class != 0 {
            self.look_classes = 0;
            self.stacks.look_again();
            self.look_on(now);
        } else {
            self.alarm_class = 0;
            let urgency = core::mem::replace(&mut self.alarm, u64::MAX);
            self.call_supervisor(urgency, now);
        }
    }

    /// The rough classes of all work but looks at stack queues, a bit for each: the lowest is the most urgent.
    #[inline(always)]
    fn classes(&self) -> u64 {
        self.urgency_classes() | self.ending.classes() | self.alarm_class | self.look_classes
    }
}
