//! A queue between threads.

use super::{Mutex, Semaphore};
use crate::Error;
use crate::time::Instant;

/// A queue of at most `ROOM` values: who sends waits for room, who receives for a value. Any number of threads do, in the order
/// of their priorities.
///
/// ```
/// use cairn::sync::Channel;
///
/// static SAMPLES: Channel<u32, 2> = Channel::new();
///
/// SAMPLES.send(1)?;
/// SAMPLES.send(2)?;
/// assert_eq!(SAMPLES.try_send(3)?, Some(3));
/// assert_eq!(SAMPLES.receive()?, 1);
/// assert_eq!(SAMPLES.try_receive()?, Some(2));
/// assert_eq!(SAMPLES.try_receive()?, None);
/// # Ok::<(), cairn::Error>(())
/// ```
pub struct Channel<T, const ROOM: usize> {
    room: Semaphore,
    values: Semaphore,
    ring: Mutex<Ring<T, ROOM>>,
}

struct Ring<T, const ROOM: usize> {
    values: [Option<T>; ROOM],
    first: usize,
    count: usize,
}

impl<T, const ROOM: usize> Channel<T, ROOM> {
    /// An empty queue.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        assert!(ROOM > 0 && ROOM <= u32::MAX as usize, "a channel has room for a value");
        Channel {
            room: Semaphore::new(ROOM as u32),
            values: Semaphore::new(0),
            ring: Mutex::new(Ring { values: [const { None }; ROOM], first: 0, count: 0 }),
        }
    }

    /// Sends a value; waits for room.
    pub fn send(&self, value: T) -> Result<(), Error> {
        self.room.acquire()?;
        self.put(value)
    }

    /// Sends a value, if there is room; else that is what it answers.
    pub fn try_send(&self, value: T) -> Result<Option<T>, Error> {
        if !self.room.try_acquire()? {
            return Ok(Some(value));
        }
        self.put(value).map(|()| None)
    }

    /// Receives the oldest value; waits for one.
    pub fn receive(&self) -> Result<T, Error> {
        self.values.acquire()?;
        self.take()
    }

    /// The same until `end`: [`Error::TimedOut`].
    pub fn receive_before(&self, end: Instant) -> Result<T, Error> {
        self.values.acquire_before(end)?;
        self.take()
    }

    /// Receives the oldest value, if there is one.
    pub fn try_receive(&self) -> Result<Option<T>, Error> {
        if self.values.try_acquire()? { self.take().map(Some) } else { Ok(None) }
    }

    /// With a permit for room.
    fn put(&self, value: T) -> Result<(), Error> {
        let put = self.ring.lock().and_then(|mut ring| ring.put(value));
        let _ = if put.is_ok() { self.values.release() } else { self.room.release() };
        put
    }

    /// With a permit for a value.
    fn take(&self) -> Result<T, Error> {
        let taken = self.ring.lock().and_then(|mut ring| ring.take().ok_or(Error::Malformed));
        let _ = if taken.is_ok() { self.room.release() } else { self.values.release() };
        taken
    }
}

impl<T, const ROOM: usize> Ring<T, ROOM> {
    fn put(&mut self, value: T) -> Result<(), Error> {
        match self.values.get_mut((self.first + self.count) % ROOM) {
            Some(place @ None) => {
                *place = Some(value);
                self.count += 1;
                Ok(())
            }
            // The semaphores do not let anybody come here.
            _ => Err(Error::Exhausted),
        }
    }

    fn take(&mut self) -> Option<T> {
        let value = self.values.get_mut(self.first)?.take()?;
        self.first = (self.first + 1) % ROOM;
        self.count -= 1;
        Some(value)
    }
}
