//! What threads of a component wait for each other with: constants in statics, ready for whoever comes first.
//!
//! ```
//! use cairn::sync::{Channel, Mutex};
//!
//! static TOTAL: Mutex<u64> = Mutex::new(0);
//! static SAMPLES: Channel<u64, 8> = Channel::new();
//!
//! SAMPLES.send(3)?;
//! *TOTAL.lock()? += SAMPLES.receive()?;
//! assert_eq!(*TOTAL.lock()?, 3);
//! # Ok::<(), cairn::Error>(())
//! ```
//!
//! All of them are made of the scheduler's locks and semaphores. The first use of each has the portal manager make them, so
//! the component imports `Portals`, and the description gives it `locks` and `semaphores` for them:
//!
//! | type | locks | semaphores |
//! |---|---|---|
//! | [`Lock`], [`Mutex`], [`Once`] | 1 | |
//! | [`Semaphore`], [`Signal`] | | 1 |
//! | [`RwLock`] | 1 | 1 |
//! | [`Channel`] | 1 | 2 |
//! | all [`Condvar`]s together | | 1 for each thread that waits at a time |
//! | the heap, of a component with the feature `alloc` | 1 | |
//!
//! What any of them can answer, of [`Error`](crate::Error): `NotSupported`, the description leaves the import of `Portals` out (a component without one is refused by the build); `Exhausted`,
//! its quota has none left; `InvocationOverflow`, at the first use in the kernel domain: less than half of the thread's stack is left; `Cancelled`, the thread is called home; hand
//! that on. On the host, where tests of components run, the same types are made of those of `std`.

mod channel;
mod condvar;
#[cfg(all(target_os = "none", feature = "critical-section"))]
mod critical;
mod lock;
mod mutex;
mod once;
mod rwlock;
mod semaphore;
mod signal;

#[cfg(target_os = "none")]
#[path = "sync/machine.rs"]
mod machine;
#[cfg(not(target_os = "none"))]
#[path = "sync/host.rs"]
mod machine;

#[cfg(all(target_os = "none", feature = "alloc"))]
pub(crate) use machine::RawLock;

pub use channel::Channel;
pub use condvar::{Condvar, WAITERS_MAXIMUM};
pub use lock::Lock;
pub use mutex::{Mutex, MutexGuard};
pub use once::Once;
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use semaphore::Semaphore;
pub use signal::Signal;

/// Methods of the interfaces `Lock`, `Semaphore`, `Portals` and `Threads`, by their places there; `cairn-interfaces` compares them.
#[doc(hidden)]
pub mod methods {
    pub const LOCK: u32 = 0;
    pub const UNLOCK: u32 = 1;
    pub const P: u32 = 0;
    pub const V: u32 = 1;
    pub const TRY_P: u32 = 2;
    pub const P_UNTIL: u32 = 3;
    pub const CLOSE: u32 = 1;
    pub const MAKE_ONCE: u32 = 8;
    pub const EXTEND: u32 = 6;
    pub const YIELD_NOW: u32 = 0;
    pub const SLEEP_UNTIL: u32 = 1;
    pub const SPAWN: u32 = 2;
    pub const JOIN: u32 = 3;
    pub const SET_PRIORITY: u32 = 4;
    /// The first value with which `make_once` makes a lock.
    pub const A_LOCK: u64 = u64::MAX;
}
