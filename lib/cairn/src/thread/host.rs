//! The same of `std`, for tests on the host: a thread has a stack of the host's, and its priority means nothing.

extern crate std;

use crate::Error;
use crate::time::{Duration, Instant};
// Relaxed: a name is only compared, and of a stack that is in use nothing is read.
use core::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// Stands for a thread's stack.
pub struct Stack<const BYTES: usize> {
    users: AtomicU32,
}

impl<const BYTES: usize> Stack<BYTES> {
    /// A stack that is not in use.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        assert!(
            BYTES > 0 && BYTES.is_multiple_of(4096),
            "a stack has whole pages: a multiple of 4096 bytes"
        );
        Stack { users: AtomicU32::new(0) }
    }
}

/// One of the two users of a stack: the thread, however it ends, or its handle.
struct User(&'static AtomicU32);

impl Drop for User {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// A thread that [`spawn`] started. Dropped, it leaves the thread to itself.
pub struct JoinHandle<T> {
    thread: thread::JoinHandle<T>,
    name: u64,
    _user: User,
}

/// Starts a thread that runs `body`. [`Error::Busy`]: a thread uses that stack, or a handle the result on it.
pub fn spawn<const BYTES: usize, T: Send + 'static>(
    stack: &'static Stack<BYTES>,
    _priority: u8,
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Error> {
    static NAMES: AtomicU32 = AtomicU32::new(0);
    let users = &stack.users;
    users.compare_exchange(0, 2, Ordering::Acquire, Ordering::Relaxed).map_err(|_| Error::Busy)?;
    let user = User(users);
    let thread = thread::spawn(move || {
        let _user = user;
        body()
    });
    let name = NAMES.fetch_add(1, Ordering::Relaxed).into();
    Ok(JoinHandle { thread, name, _user: User(users) })
}

impl<T> JoinHandle<T> {
    /// A number of its own.
    pub fn name(&self) -> u64 {
        self.name
    }

    /// Does nothing.
    pub fn set_priority(&self, _priority: u8) -> Result<(), Error> {
        Ok(())
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits until it has ended; what its closure returned. [`Error::Dead`]: it has panicked.
    pub fn join(self) -> Result<T, Error> {
        self.thread.join().map_err(|_| Error::Dead)
    }
}

/// The calling thread sleeps for at least so long.
pub fn sleep(span: Duration) -> Result<(), Error> {
    thread::sleep(span);
    Ok(())
}

/// The calling thread sleeps until then.
pub fn sleep_until(end: Instant) -> Result<(), Error> {
    sleep(end.duration_since(Instant::now()))
}

/// Another thread runs.
pub fn yield_now() -> Result<(), Error> {
    thread::yield_now();
    Ok(())
}
