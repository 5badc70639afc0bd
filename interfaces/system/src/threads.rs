//! Threads as a component uses them: a function on a stack, until its end.

pub use cairn::thread::Start;
#[cfg(not(target_os = "none"))]
pub use host::*;
#[cfg(target_os = "none")]
pub use machine::*;

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
                claim.refused(error, priority);
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

/// The same of `std`, for tests on the host.
#[cfg(not(target_os = "none"))]
mod host {
    extern crate std;

    use crate::ThreadsProxy;
    use cairn::Error;
    use cairn::thread::{JoinHandle, Stack};
    use std::boxed::Box;
    use std::sync::Mutex;

    /// A thread that [`spawn`] started.
    #[derive(Clone, Copy)]
    pub struct Thread {
        name: u64,
        handle: &'static Mutex<Option<JoinHandle<()>>>,
    }

    /// Starts a thread that calls `function` with `argument`; no proxy is called. [`Error::Busy`]: a thread uses that stack.
    pub fn spawn<const BYTES: usize>(
        _threads: ThreadsProxy,
        stack: &'static Stack<BYTES>,
        function: fn(u64),
        argument: u64,
        priority: u8,
    ) -> Result<Thread, Error> {
        let handle = cairn::thread::spawn(stack, priority, move || function(argument))?;
        let name = handle.name();
        Ok(Thread { name, handle: Box::leak(Box::new(Mutex::new(Some(handle)))) })
    }

    impl Thread {
        /// A number of its own.
        pub fn name(&self) -> u64 {
            self.name
        }

        /// Does nothing.
        pub fn set_priority(&self, _priority: u8) -> Result<(), Error> {
            Ok(())
        }

        /// Waits until it has ended. [`Error::NotFound`]: somebody else has.
        pub fn join(self) -> Result<(), Error> {
            let handle = self.handle.lock().map_err(|_| Error::Dead)?.take();
            handle.ok_or(Error::NotFound)?.join()
        }
    }
}
