//! Requests of several threads at one queue: each has a place with descriptors of its own, and waits for its answer. One that its thread
//! gave up, the device may do still, and in any order with others: what is asked for after that waits until it has.

use crate::{Descriptor, Done, VirtioKind};
use cairn::Error;
use cairn::dma::Device;
use cairn::environment;
use cairn::sync::Semaphore;
// Relaxed: who takes a place has it alone; what the device wrote there is ordered by the exchange of the state.
use core::sync::atomic::{
    AtomicU8, AtomicU32, AtomicUsize, Ordering, Ordering::Relaxed, Ordering::SeqCst,
};

/// A place is free...
const FREE: u8 = 0;
/// ... a thread prepares its request, or looks at the answer...
const TAKEN: u8 = 1;
/// ... the device has it, and the thread waits...
const OFFERED: u8 = 2;
/// ... the device has it, and nobody waits...
const LEFT: u8 = 3;
/// ... or the answer is there.
const ANSWERED: u8 = 4;

/// No device of an instance stands there.
const NOT_BEGUN: usize = usize::MAX;

struct Place {
    state: AtomicU8,
    answered: Semaphore,
    /// How many bytes the device says it wrote.
    length: AtomicU32,
}

impl Place {
    /// From one state to another, unless it is in a third.
    fn passes(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// Places for `PLACES` requests at a time, each a chain of at most `CHAIN` descriptors of a queue of a device.
pub struct Requests<const PLACES: usize, const CHAIN: usize> {
    queue: usize,
    /// Of the device, in the description's list.
    position: AtomicUsize,
    /// A permit for each free place, but those that are withheld.
    free: Semaphore,
    /// Requests that were left...
    left: AtomicU32,
    /// ... and permits that threads got meanwhile, and wait for others.
    withheld: AtomicU32,
    places: [Place; PLACES],
}

impl<const PLACES: usize, const CHAIN: usize> Requests<PLACES, CHAIN> {
    /// Before [`Requests::begin`].
    pub const fn new(queue: usize) -> Self {
        Requests {
            queue,
            position: AtomicUsize::new(NOT_BEGUN),
            free: Semaphore::new(0),
            left: AtomicU32::new(0),
            withheld: AtomicU32::new(0),
            places: [const {
                Place {
                    state: AtomicU8::new(FREE),
                    answered: Semaphore::new(0),
                    length: AtomicU32::new(0),
                }
            }; PLACES],
        }
    }

    /// Takes requests from now on, for a device that has begun, `most` at a time if the queue has chains for so many; the value
    /// is the end of the queue at which they are answered. It takes semaphores of the instance's quota: one, and one for each
    /// place; without these a panic says so.
    pub fn begin(&self, device: &Device, kind: VirtioKind, most: usize) -> Result<Done, Error> {
        let done = Done::of(device, kind, self.queue)?;
        let places = PLACES.min(most).min(kind.descriptors() as usize / CHAIN);
        if places == 0 {
            return Err(Error::NotSupported);
        }
        let answers = self.places[..places].iter().map(|place| &place.answered);
        for semaphore in answers.chain([&self.free]) {
            match semaphore.try_acquire() {
                Err(Error::Exhausted) => panic!(
                    "expected `semaphores` in [instance.{}] with {} for the requests at queue {}",
                    environment::name(),
                    places + 1,
                    self.queue
                ),
                made => made?,
            };
        }
        for _ in 0..places {
            self.free.release()?;
        }
        self.places[places..].iter().for_each(|place| place.state.store(TAKEN, Relaxed));
        self.position.store(device.position() as usize, Ordering::Release);
        Ok(done)
    }

    /// The device. [`Error::Busy`]: the driver has not begun.
    pub fn device(&self) -> Result<Device, Error> {
        Device::at(self.position.load(Ordering::Acquire)).ok_or(Error::Busy)
    }

    /// [`Error::NotReady`]: the driver has not begun. What a successor says until then of the state that it is to take: nobody calls it before it has.
    pub fn has_begun(&self) -> Result<(), Error> {
        self.device().map_or(Err(Error::NotReady), |_| Ok(()))
    }

    /// Makes a request and waits for its answer, as [`Requests::start`] and [`Requests::finish`] do.
    pub fn make<R>(
        &self,
        prepare: impl FnOnce(usize, &mut [Descriptor; CHAIN]) -> Result<usize, Error>,
        answered: impl FnOnce(usize, u32) -> Result<R, Error>,
    ) -> Result<R, Error> {
        match self.start(true, prepare)? {
            Some(number) => self.finish(number, answered)?,
            None => Err(Error::Busy),
        }
    }

    /// Makes a request, which [`Requests::finish`] or [`Requests::leave`] has to end: its place, which nobody else has until
    /// then; `None` if all are taken and it does not wait for one. `prepare` gets the place and a chain, of which it says how
    /// many descriptors it has filled in. [`Error::Busy`]: the driver has not begun.
    pub fn start(
        &self,
        waits: bool,
        prepare: impl FnOnce(usize, &mut [Descriptor; CHAIN]) -> Result<usize, Error>,
    ) -> Result<Option<usize>, Error> {
        let device = self.device()?;
        if !self.acquire(waits)? {
            return Ok(None);
        }
        let number = self.take().ok_or(Error::Busy)?;
        let place = &self.places[number];
        let mut chain = [Descriptor::default(); CHAIN];
        let prepared = prepare(number, &mut chain).and_then(|count| {
            let chain = chain.get(..count).ok_or(Error::BadArgument)?;
            place.state.store(OFFERED, Ordering::Release);
            device.offer(self.queue, (number * CHAIN) as u16, chain)
        });
        match prepared {
            Ok(()) => Ok(Some(number)),
            Err(error) => {
                self.give(number);
                Err(error)
            }
        }
    }

    /// Waits for the answer to a request of this place. `answered` gets the place, and how many bytes the device says it wrote. The
    /// outer error: the thread was called home, and nobody waits for that answer.
    pub fn finish<R>(
        &self,
        number: usize,
        answered: impl FnOnce(usize, u32) -> R,
    ) -> Result<R, Error> {
        let place = &self.places[number];
        let is_there = || place.state.load(Ordering::Acquire) == ANSWERED;
        if let Err(error) = place.answered.acquire_until(is_there) {
            self.leave(number);
            return Err(error);
        }
        let result = answered(number, place.length.load(Relaxed));
        self.give(number);
        Ok(result)
    }

    /// Nobody waits for the answer to a request of this place, which is free when the device has done with it, and until then no other
    /// starts.
    pub fn leave(&self, number: usize) {
        let place = &self.places[number];
        self.left.fetch_add(1, SeqCst);
        if !place.passes(OFFERED, LEFT) {
            place.answered.take_late();
            self.settle(number);
        }
    }

    /// A permit for a place, when no request is left; whether it got one. SeqCst, here and in [`Requests::settle`]: either the thread that
    /// withholds its permit sees that nothing is left any more, or who settles sees the permit.
    fn acquire(&self, waits: bool) -> Result<bool, Error> {
        loop {
            if waits {
                self.free.acquire()?;
            } else if !self.free.try_acquire()? {
                return Ok(false);
            }
            if self.left.load(SeqCst) == 0 {
                return Ok(true);
            }
            self.withheld.fetch_add(1, SeqCst);
            if self.left.load(SeqCst) == 0 {
                self.release_withheld();
            }
        }
    }

    /// The request of a place, which was left, is answered.
    fn settle(&self, number: usize) {
        self.give(number);
        if self.left.fetch_sub(1, SeqCst) == 1 {
            self.release_withheld();
        }
    }

    fn release_withheld(&self) {
        for _ in 0..self.withheld.swap(0, SeqCst) {
            let _ = self.free.release();
        }
    }

    fn take(&self) -> Option<usize> {
        self.places.iter().position(|place| place.passes(FREE, TAKEN))
    }

    fn give(&self, number: usize) {
        self.places[number].state.store(FREE, Ordering::Release);
        let _ = self.free.release();
    }

    /// Wakes those whose requests the device has done: for the thread that has the other end of the queue, after each interrupt.
    pub fn answer(&self, done: &mut Done) {
        for (first, length) in done {
            let number = first as usize / CHAIN;
            let Some(place) = self.places.get(number) else { continue };
            place.length.store(length, Relaxed);
            match place.state.load(Ordering::Acquire) {
                OFFERED if place.passes(OFFERED, ANSWERED) => {
                    let _ = place.answered.release();
                }
                // The thread left it, perhaps just now.
                OFFERED | LEFT => self.settle(number),
                // The device says twice that it has done, or what it was not asked for.
                _ => {}
            }
        }
    }
}
