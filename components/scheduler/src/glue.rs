//! What makes the core a component: the machine's privileged portals, the entry points. It is the
//! same for every policy.

use crate::{Machine, Outcome, Start, ThreadIndex};
use cairn::{Error, environment, privileged};
use cairn_abi::record::{Header, Instance, Interrupt, Thread};
use cairn_abi::semaphore::SEMAPHORES_MAXIMUM;
use core::sync::atomic::AtomicI64;
use zerocopy::FromBytes;

/// The hart: privileged portals, and the words that portal code shares.
pub struct Hart {
    words: &'static [AtomicI64],
    stubs: [u64; 256],
}

static NO_WORD: AtomicI64 = AtomicI64::new(i64::MIN);

impl Hart {
    /// Before [`Hart::begin`].
    pub const NEW: Hart = Hart { words: &[], stubs: [0; 256] };

    /// Takes over from the layout.
    pub fn begin(&mut self) {
        let words = SEMAPHORES_MAXIMUM + cairn_abi::domain::QUEUES_MAXIMUM;
        self.words = environment::section("semaphores").map_or(&[], |section| section.words(words));
        for instance in table::<Instance>(|header| header.instances) {
            if let Some(stub) = self.stubs.get_mut(instance.number as usize) {
                *stub = instance.stub;
            }
        }
    }
}

impl Hart {
    /// Threads that wait for an activation of a stack queue.
    pub fn waiters(&self, queue: u16) -> i64 {
        self.waiters_word(queue).load(core::sync::atomic::Ordering::Relaxed)
    }
}

/// A table of the layout's record.
pub fn table<T: FromBytes + zerocopy::Immutable + zerocopy::KnownLayout>(
    choose: impl Fn(&Header) -> cairn_abi::record::Table,
) -> &'static [T] {
    let Some(section) = environment::section("record") else { return &[] };
    let bytes = section.constant();
    let Ok((header, _)) = Header::ref_from_prefix(bytes) else { return &[] };
    let table = choose(header);
    let Some(rest) = bytes.get(table.offset as usize..) else { return &[] };
    <[T]>::ref_from_prefix_with_elems(rest, table.count as usize).map_or(&[], |(entries, _)| entries)
}

/// The threads that exist from the start.
pub fn first_threads() -> &'static [Thread] {
    table(|header| header.threads)
}

/// The instances.
pub fn instances() -> &'static [Instance] {
    table(|header| header.instances)
}

/// The devices' semaphores.
pub fn interrupts() -> &'static [Interrupt] {
    table(|header| header.interrupts)
}

impl Machine for Hart {
    type Outcome = Outcome;

    #[inline(always)]
    fn reply(&mut self, status: i64, value: u64) -> Outcome {
        Outcome::Reply { status, value }
    }

    #[inline(always)]
    fn switch(&mut self, thread: ThreadIndex, status: i64, value: u64) -> Outcome {
        Outcome::Switch { thread, status, value }
    }

    #[inline(always)]
    fn word(&self, semaphore: u16) -> &AtomicI64 {
        self.words.get(usize::from(semaphore)).unwrap_or(&NO_WORD)
    }

    #[inline(always)]
    fn waiters_word(&self, queue: u16) -> &AtomicI64 {
        self.words.get(SEMAPHORES_MAXIMUM + usize::from(queue)).unwrap_or(&NO_WORD)
    }

    fn set_up_thread(&mut self, thread: ThreadIndex, domain: u8, begin: &Start) -> Result<(), Error> {
        let link = self.stubs[usize::from(domain)];
        privileged::set_up_thread(thread.into(), domain.into(), begin.entry, begin.stack, begin.argument, link)
    }

    fn retire_thread(&mut self, _thread: ThreadIndex) {
        // Nothing names its block until it is set up again.
    }

    fn set_timer(&mut self, ticks: u64) {
        // The portal takes any time.
        let _ = privileged::set_timer(ticks);
    }
}

/// Ends an operation: the calling thread goes on, or another one.
#[inline(always)]
pub fn finish(outcome: Outcome) -> Result<u64, Error> {
    match outcome {
        Outcome::Reply { status: 0, value } => Ok(value),
        Outcome::Reply { status, .. } => Err(Error::from_status(status)),
        Outcome::Switch { thread, status, value } => Err(privileged::switch(thread.into(), status, value)),
    }
}
