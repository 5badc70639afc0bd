//! The hart: privileged portals, and the words that portal code shares.

use super::layout;
use crate::{Machine, Start, ThreadIndex};
use cairn::section::ConstantWord;
use cairn::{Error, environment, privileged};
use cairn_abi::domain::QUEUES_MAXIMUM;
use cairn_abi::record::Instance;
use cairn_abi::semaphore::{FIRST_WORD, SEMAPHORE_WINDOW_WORDS, SEMAPHORES_MAXIMUM};
use core::convert::Infallible;
use core::sync::atomic::AtomicI64;

const WORDS: usize = SEMAPHORES_MAXIMUM + QUEUES_MAXIMUM;

/// The machine of a scheduler component.
#[repr(C)]
pub struct Hart {
    /// Of semaphores, then of stack queues.
    words: Option<&'static [AtomicI64; WORDS]>,
    /// The first free activation of each stack queue, or zero.
    queues: Option<&'static [ConstantWord; QUEUES_MAXIMUM]>,
    /// By number, from 1 on.
    instances: Option<&'static [Instance]>,
}

impl Hart {
    /// Before [`Hart::begin`].
    pub const ZERO: Hart = Hart { words: None, queues: None, instances: None };

    #[inline(always)]
    fn words(&self) -> &'static [AtomicI64; WORDS] {
        // Nothing comes before the boot event, which begins with `begin`.
        self.words.expect("`begin` comes first")
    }

    /// Takes over from the layout. Panics if the role's sections are not there.
    pub fn begin(&mut self) {
        let words = environment::section("semaphores").expect("section `semaphores` of the role");
        self.words = words.words(SEMAPHORE_WINDOW_WORDS)[FIRST_WORD..].first_chunk();
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
    fn word(&self, semaphore: u16) -> &AtomicI64 {
        &self.words()[semaphore as usize % SEMAPHORES_MAXIMUM]
    }

    #[inline(always)]
    fn waiters_word(&self, queue: u16) -> &AtomicI64 {
        &self.words()[SEMAPHORES_MAXIMUM + queue as usize % QUEUES_MAXIMUM]
    }

    fn has_activation(&self, queue: u16) -> bool {
        self.queues.is_some_and(|queues| queues[queue as usize % QUEUES_MAXIMUM].load() != 0)
    }

    fn set_up_thread(
        &mut self,
        thread: ThreadIndex,
        domain: u8,
        begin: &Start,
    ) -> Result<(), Error> {
        let instance =
            self.instances.and_then(|instances| instances.get(usize::from(domain).checked_sub(1)?));
        let link = instance.ok_or(Error::NotFound)?.stub;
        privileged::set_up_thread(
            thread.into(),
            domain.into(),
            begin.entry,
            begin.stack,
            begin.argument,
            link,
        )
    }

    #[inline(never)]
    fn set_timer(&mut self, ticks: u64) {
        // The portal takes any time.
        let _ = privileged::set_timer(ticks);
    }
}
