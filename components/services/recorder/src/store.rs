//! Where recorded calls are kept: so many calls, and so many words of what was in buffers. What comes when there is no more room is
//! counted, and nothing is overwritten: a replay begins at the beginning.

use crate::call::{Bytes, CONTENT, Call, NAME, REPLY};
use cairn_interposer::portal::{BUFFERS, REGISTERS};
use cairn_interposer::words::Words;
// Relaxed: what is kept of a call is stored before its mark, with Release.
use core::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

struct Kept {
    is_whole: AtomicBool,
    /// It has been replayed.
    is_used: AtomicBool,
    name: Words<{ NAME / 8 }>,
    arguments: [AtomicU64; REGISTERS],
    status: AtomicU64,
    words: [AtomicU64; REPLY],
    buffers: [AtomicU64; BUFFERS],
}

/// At most `CALLS` calls, with `WORDS` words of memory.
pub struct Store<const CALLS: usize, const WORDS: usize> {
    calls: [Kept; CALLS],
    next: AtomicU64,
    content: [AtomicU64; WORDS],
    end: AtomicU64,
    lost: AtomicU64,
}

fn load<const N: usize>(words: &[AtomicU64; N]) -> [u64; N] {
    words.each_ref().map(|word| word.load(Relaxed))
}

fn store<const N: usize>(words: &[AtomicU64; N], values: [u64; N]) {
    for (word, value) in words.iter().zip(values) {
        word.store(value, Relaxed);
    }
}

impl<const CALLS: usize, const WORDS: usize> Store<CALLS, WORDS> {
    /// With nothing in it.
    pub const fn empty() -> Store<CALLS, WORDS> {
        Store {
            calls: [const {
                Kept {
                    is_whole: AtomicBool::new(false),
                    is_used: AtomicBool::new(false),
                    name: Words::empty(),
                    arguments: [const { AtomicU64::new(0) }; REGISTERS],
                    status: AtomicU64::new(0),
                    words: [const { AtomicU64::new(0) }; REPLY],
                    buffers: [const { AtomicU64::new(0) }; BUFFERS],
                }
            }; CALLS],
            next: AtomicU64::new(0),
            content: [const { AtomicU64::new(0) }; WORDS],
            end: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// Forgets all. Nobody records meanwhile.
    pub fn clear(&self) {
        for call in &self.calls {
            call.is_whole.store(false, Relaxed);
            call.is_used.store(false, Relaxed);
        }
        for count in [&self.next, &self.end, &self.lost] {
            count.store(0, Relaxed);
        }
    }

    /// Room for the bytes of a buffer, at most [`CONTENT`]; for none if there is no room for all of these.
    pub fn reserve(&self, length: u64) -> Bytes {
        let count = length.min(CONTENT);
        let after = |end: u64| Some(end + count.div_ceil(8)).filter(|end| *end <= WORDS as u64);
        match self.end.fetch_update(Relaxed, Relaxed, after) {
            // It is below WORDS, and CONTENT.
            Ok(place) => Bytes { place: place as u32, count: count as u32 },
            Err(_) => Bytes::default(),
        }
    }

    /// Writes the bytes from `offset` on, a multiple of eight.
    pub fn write(&self, bytes: Bytes, offset: usize, from: &[u8]) {
        let words = self.content.iter().skip(bytes.place as usize + offset / 8);
        for (word, chunk) in words.zip(from.chunks(8)) {
            let mut value = [0; 8];
            value[..chunk.len()].copy_from_slice(chunk);
            word.store(u64::from_le_bytes(value), Relaxed);
        }
    }

    /// Reads bytes from `offset` on, a multiple of eight; how many.
    pub fn read(&self, bytes: Bytes, offset: usize, into: &mut [u8]) -> usize {
        let count = (bytes.count as usize).saturating_sub(offset).min(into.len());
        let words = self.content.iter().skip(bytes.place as usize + offset / 8);
        for (word, chunk) in words.zip(into[..count].chunks_mut(8)) {
            chunk.copy_from_slice(&word.load(Relaxed).to_le_bytes()[..chunk.len()]);
        }
        count
    }

    /// Keeps a call whose bytes have been written; whether there was room.
    pub fn keep(&self, name: &str, call: &Call) -> bool {
        let after = |next: u64| (next < CALLS as u64).then_some(next + 1);
        let number = self.next.fetch_update(Relaxed, Relaxed, after);
        let Some(kept) = number.ok().and_then(|number| self.calls.get(number as usize)) else {
            self.lose();
            return false;
        };
        kept.name.store(name);
        store(&kept.arguments, call.arguments);
        kept.status.store(call.status as u64, Relaxed);
        store(&kept.words, call.words);
        let pair = |bytes: Bytes| u64::from(bytes.place) << 32 | u64::from(bytes.count);
        store(&kept.buffers, call.buffers.map(pair));
        kept.is_whole.store(true, Release);
        true
    }

    /// A call was not recorded.
    pub fn lose(&self) {
        self.lost.fetch_add(1, Relaxed);
    }

    /// Calls that were not recorded.
    pub fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// A call and its name, if there is one under this number; whose recorder died before it was whole there is none.
    pub fn get<'name>(
        &self,
        number: u64,
        name: &'name mut [u8; NAME],
    ) -> Option<(&'name str, Call)> {
        let kept = self.whole(number)?;
        let length = kept.name.load(name);
        Some((core::str::from_utf8(&name[..length]).ok()?, kept.call()))
    }

    fn whole(&self, number: u64) -> Option<&Kept> {
        self.calls.get(number as usize).filter(|kept| kept.is_whole.load(Acquire))
    }

    /// The numbers that there are.
    pub fn numbers(&self) -> core::ops::Range<u64> {
        0..self.next.load(Relaxed)
    }

    /// How many calls are whole.
    pub fn count(&self) -> u64 {
        self.numbers().filter(|number| self.whole(*number).is_some()).count() as u64
    }

    /// How many of them have been replayed.
    pub fn used(&self) -> u64 {
        self.calls.iter().filter(|kept| kept.is_used.load(Relaxed)).count() as u64
    }

    /// Takes the first call that has not been replayed yet, and is the same.
    pub fn take(&self, name: &str, is_same: impl Fn(&Call) -> bool) -> Option<Call> {
        self.numbers().find_map(|number| {
            let kept = self.whole(number)?;
            if kept.is_used.load(Relaxed) || !kept.name.is(name) {
                return None;
            }
            let call = kept.call();
            (is_same(&call) && !kept.is_used.swap(true, AcqRel)).then_some(call)
        })
    }
}

impl Kept {
    fn call(&self) -> Call {
        Call {
            arguments: load(&self.arguments),
            status: self.status.load(Relaxed) as i64,
            words: load(&self.words),
            buffers: load(&self.buffers)
                .map(|pair| Bytes { place: (pair >> 32) as u32, count: pair as u32 }),
        }
    }
}
