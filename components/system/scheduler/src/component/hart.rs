//! The hart: privileged portals, and the words that portal code shares.

use super::layout;
use crate::{Machine, Start, ThreadIndex};
use cairn::section::ConstantWord;
use cairn::time::time_behind;
use cairn::{Error, InstanceId, environment, privileged};
use cairn_abi::domain::QUEUES_MAXIMUM;
use cairn_abi::record::Instance;
use cairn_abi::semaphore::*;
use core::convert::Infallible;
use core::sync::atomic::AtomicI64;

/// The machine of a scheduler component.
#[repr(C)]
pub struct Hart {
    /// The hart's, then of semaphores.
    pairs: Option<&'static [[AtomicI64; 2]; PAIRS]>,
    /// Of stack queues.
    waiters: Option<&'static [AtomicI64; QUEUES_MAXIMUM]>,
    /// The first free activation of each stack queue, or zero.
    queues: Option<&'static [ConstantWord; QUEUES_MAXIMUM]>,
    /// By number, from 1 on.
    instances: Option<&'static [Instance]>,
}

impl Hart {
    /// Before [`Hart::begin`].
    pub const ZERO: Hart = Hart { pairs: None, waiters: None, queues: None, instances: None };

    #[inline(always)]
    fn pairs(&self) -> &'static [[AtomicI64; 2]; PAIRS] {
        // Nothing comes before the boot upcall, which begins with `begin`.
        self.pairs.expect("`begin` comes first")
    }

    /// Takes over from the layout. Panics if the role's sections are not there.
    pub fn begin(&mut self) {
        let words = environment::section("semaphores").expect("section `semaphores` of the role");
        let words = &words.words(SEMAPHORE_WINDOW_WORDS)[FIRST_WORD..];
        self.pairs = words.as_chunks().0.first_chunk();
        self.waiters = words.last_chunk();
        let queues = environment::section("queues").expect("section `queues` of the role");
        self.queues = queues.constant_words(QUEUES_MAXIMUM).first_chunk();
        self.instances = Some(layout::instances());
    }
}

impl Machine for Hart {
    type Outcome = Infallible;

    #[inline(always)]
    fn reply(&mut self, status: i64, value: u64) -> Infallible {
        privileged::reply(status, value)
    }

    #[inline(always)]
    fn switch(&mut self, thread: ThreadIndex, status: i64, value: u64) -> Infallible {
        privileged::switch(thread.into(), status, value)
    }

    #[inline(always)]
    fn semaphore(&self, semaphore: u16) -> &[AtomicI64; 2] {
        &self.pairs()[1 + semaphore as usize % SEMAPHORES_MAXIMUM]
    }

    #[inline(always)]
    fn noted_word(&self) -> &AtomicI64 {
        &self.pairs()[0][0]
    }

    #[inline(always)]
    fn waiters_word(&self, queue: u16) -> &AtomicI64 {
        let words = self.waiters.expect("`begin` comes first");
        &words[queue as usize % QUEUES_MAXIMUM]
    }

    fn has_activation(&self, queue: u16) -> bool {
        self.queues.is_some_and(|queues| queues[queue as usize % QUEUES_MAXIMUM].load() != 0)
    }

    fn set_up_thread(
        &mut self,
        thread: ThreadIndex,
        instance: InstanceId,
        begin: &Start,
    ) -> Result<(), Error> {
        let record = self
            .instances
            .and_then(|instances| instances.get(instance.index().checked_sub(1)?))
            .ok_or(Error::NotFound)?;
        privileged::set_up_thread(
            thread.into(),
            record.domain,
            begin.entry,
            begin.stack,
            begin.argument,
            record.stub,
        )
    }

    #[inline(always)]
    fn time(&self, now: u64) -> u64 {
        time_behind(now)
    }

    #[inline(always)]
    fn set_timer(&mut self, ticks: u64) {
        privileged::set_timer(ticks);
    }
}
