//! A ring of bytes between threads that share no lock.

// Relaxed: `head` and `tail` order the bytes. A position read without order is the reader's own, or is compared again
// before it moves.
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// `N` bytes (a power of two). One thread at a time pushes; any number may pop.
pub struct Ring<const N: usize> {
    bytes: [AtomicU8; N],
    /// Bytes ever popped; `head % N` is the next to pop.
    head: AtomicUsize,
    /// Bytes ever pushed.
    tail: AtomicUsize,
}

impl<const N: usize> Ring<N> {
    /// An empty ring.
    pub const fn new() -> Self {
        assert!(N.is_power_of_two(), "the counters wrap around");
        Ring {
            bytes: [const { AtomicU8::new(0) }; N],
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
        }
    }

    /// Bytes in it.
    pub fn len(&self) -> usize {
        let head = self.head.load(Ordering::Acquire);
        self.tail.load(Ordering::Acquire).wrapping_sub(head)
    }

    /// Is nothing in it?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Can a byte be added?
    pub fn has_room(&self) -> bool {
        self.len() < N
    }

    /// Adds a byte; `false` if there is no room.
    pub fn push(&self, byte: u8) -> bool {
        let tail = self.tail.load(Ordering::Relaxed);
        if tail.wrapping_sub(self.head.load(Ordering::Acquire)) == N {
            return false;
        }
        self.bytes[tail % N].store(byte, Ordering::Relaxed);
        self.tail.store(tail.wrapping_add(1), Ordering::Release);
        true
    }

    /// Takes the oldest byte.
    pub fn pop(&self) -> Option<u8> {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            if head == self.tail.load(Ordering::Acquire) {
                return None;
            }
            let byte = self.bytes[head % N].load(Ordering::Relaxed);
            // The place is not written again before `head` moves, so if it has not, this was the byte.
            match self.head.compare_exchange_weak(
                head,
                head.wrapping_add(1),
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(byte),
                Err(now) => head = now,
            }
        }
    }

    /// The byte before which so many others would be taken. For who knows that none is.
    pub fn peek(&self, before: usize) -> Option<u8> {
        let place = self.head.load(Ordering::Relaxed).wrapping_add(before) % N;
        (before < self.len()).then(|| self.bytes[place].load(Ordering::Relaxed))
    }

    /// Puts a byte before all others; if there is no room, instead of the last one. For who knows that no other thread uses the ring.
    pub fn put_back(&self, byte: u8) {
        if !self.has_room() {
            self.tail.store(self.tail.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Release);
        }
        let head = self.head.load(Ordering::Relaxed).wrapping_sub(1);
        self.bytes[head % N].store(byte, Ordering::Relaxed);
        self.head.store(head, Ordering::Release);
    }

    /// Takes bytes into `buffer` and returns how many.
    pub fn pop_into(&self, buffer: &mut [u8]) -> usize {
        for (count, place) in buffer.iter_mut().enumerate() {
            match self.pop() {
                Some(byte) => *place = byte,
                None => return count,
            }
        }
        buffer.len()
    }
}

impl<const N: usize> Default for Ring<N> {
    fn default() -> Self {
        Ring::new()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::Ring;
    use std::vec::Vec;

    #[test]
    fn bytes_come_out_in_order_over_many_turns() {
        let ring = Ring::<8>::new();
        let (mut next_in, mut next_out, mut taken) = (0u8, 0u8, 0);
        for turn in 0..100 {
            for _ in 0..turn % 9 {
                if ring.push(next_in) {
                    next_in = next_in.wrapping_add(1);
                }
            }
            let mut buffer = [0; 8];
            let count = ring.pop_into(&mut buffer[..turn % 7]);
            for byte in &buffer[..count] {
                assert_eq!(*byte, next_out);
                taken += 1;
                next_out = next_out.wrapping_add(1);
            }
        }
        assert!(taken > 20 * 8);
    }

    #[test]
    fn a_full_ring_refuses_and_keeps_what_it_has() {
        let ring = Ring::<4>::new();
        assert!((1..=4).all(|byte| ring.push(byte)));
        assert!(!ring.push(5) && !ring.has_room());
        assert_eq!(ring.len(), 4);
        let mut buffer = [0; 9];
        assert_eq!(ring.pop_into(&mut buffer), 4);
        assert_eq!(buffer[..4], [1, 2, 3, 4]);
        assert!(ring.is_empty() && ring.pop().is_none());
    }

    #[test]
    fn bytes_are_put_back_before_those_that_came_later() {
        let ring = Ring::<4>::new();
        assert!(ring.push(3) && ring.push(4));
        ring.put_back(2);
        ring.put_back(1);
        assert_eq!((0..5).filter_map(|at| ring.peek(at)).collect::<Vec<u8>>(), [1, 2, 3, 4]);
        ring.put_back(0);
        let mut buffer = [0; 9];
        assert_eq!(ring.pop_into(&mut buffer), 4);
        assert_eq!(buffer[..4], [0, 1, 2, 3]);
        assert!(ring.push(7) && ring.pop() == Some(7));
    }

    #[test]
    fn several_readers_never_get_the_same_byte() {
        let ring = Ring::<16>::new();
        let mut all: Vec<u8> = std::thread::scope(|scope| {
            let readers: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        let mut got = Vec::new();
                        loop {
                            match ring.pop() {
                                Some(255) => return got,
                                Some(byte) => got.push(byte),
                                None => std::thread::yield_now(),
                            }
                        }
                    })
                })
                .collect();
            for byte in (0..200).chain([255; 3]) {
                while !ring.push(byte) {
                    std::thread::yield_now();
                }
            }
            readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert_eq!(all, (0..200).collect::<Vec<u8>>());
    }
}
