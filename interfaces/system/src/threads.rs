//! Threads as a component uses them: a function on a stack, until its end.

pub use cairn::thread::Start;
#[cfg(target_os = "none")]
pub use machine::*;

/// On the host there are no threads of components.
#[cfg(target_os = "none")]
mod machine {
    use crate::ThreadsProxy;
    use cairn::Error;
    use cairn::thread::{Claim, Stack};

    /// A thread of this component that [`spawn`] started.
    #[derive(Clone, Copy)]
    pub struct Thread {
        threads: ThreadsProxy,
        name: u64,
        claim: Claim,
    }

    /// Starts a thread that calls `function` with `argument` on `stack`. [`Error::Busy`]: a thread uses
    /// that stack.
    pub fn spawn<const BYTES: usize>(
        threads: ThreadsProxy,
        stack: &'static Stack<BYTES>,
        function: fn(u64),
        argument: u64,
        priority: u8,
    ) -> Result<Thread, Error> {
        let claim = stack.claim(function, argument).ok_or(Error::Busy)?;
        match threads.spawn(claim.start(), priority) {
            Ok(name) => Ok(Thread { threads, name, claim }),
            Err(error) => {
                claim.refused(error);
                Err(error)
            }
        }
    }

    impl Thread {
        /// What `Threads` and `Deadlines` call it.
        pub fn name(&self) -> u64 {
            self.name
        }

        /// Changes its priority.
        pub fn set_priority(&self, priority: u8) -> Result<(), Error> {
            self.threads.set_priority(self.name, priority)
        }

        /// Waits until it has ended; then its stack is free, however it ended: a thread frees it when it
        /// returns from its function, but not when it is killed or calls `exit`.
        pub fn join(self) -> Result<(), Error> {
            self.threads.join(self.name)?;
            self.claim.ended();
            Ok(())
        }
    }
}
