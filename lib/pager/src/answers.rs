//! What each thread was answered last.
//!
//! A page that a thread is answered is mapped behind the pager's back, when the thread returns: perhaps after the pager has taken that page
//! from everybody. So what a thread was answered is nobody else's until the thread comes again: then it is mapped, and can be taken away.

use cairn::abi::thread::THREADS_MAXIMUM;

/// What each thread was answered last, if it has not come again.
pub struct Answers<T> {
    answered: [Option<T>; THREADS_MAXIMUM],
}

impl<T: Copy + PartialEq> Answers<T> {
    /// No thread was answered anything.
    pub const fn new() -> Self {
        Answers { answered: [None; THREADS_MAXIMUM] }
    }

    /// A thread comes: what it was answered is mapped.
    pub fn take(&mut self, thread: usize) -> Option<T> {
        self.answered[thread % THREADS_MAXIMUM].take()
    }

    /// A thread is answered.
    pub fn set(&mut self, thread: usize, answer: T) {
        self.answered[thread % THREADS_MAXIMUM] = Some(answer);
    }

    /// The threads of these answers are no more.
    pub fn forget(&mut self, which: impl Fn(T) -> bool) {
        self.answered.iter_mut().for_each(|answer| *answer = answer.filter(|one| !which(*one)));
    }

    /// Those that are not known to be mapped.
    pub fn open(&self) -> impl Iterator<Item = T> {
        self.answered.iter().flatten().copied()
    }
}

impl<T: Copy + PartialEq> Default for Answers<T> {
    fn default() -> Self {
        Self::new()
    }
}
