//! Reads the lines of a recording. They may come from anybody: each has to be the one that is due, and whole.

use crate::call::{Call, NAME, Name, Shape};
use crate::lines::BYTES;
use crate::store::Store;
use core::fmt::Write;

/// Why a line is not taken: nothing of it is kept then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// It is none of those that may stand here.
    Unexpected,
    /// No such method, number or bytes.
    Malformed,
    /// More bytes than the buffer has, or not all of them were there.
    Length,
    /// There are not so many calls.
    Count,
    /// There is no room for more.
    Full,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    /// `new`.
    New,
    /// `call` or `end`.
    Call,
    /// `with`.
    Arguments,
    /// Bytes of buffers that the callee reads, or its answer.
    Answer,
    /// Bytes of buffers that it filled, or the next call.
    Filled,
    /// Nothing: it is complete.
    Nothing,
}

/// Where one is in a recording.
pub struct Reader {
    due: Due,
    name: Name,
    shape: Shape,
    call: Call,
    /// Of each buffer, bytes that came, and that are known to be missing.
    come: [u64; cairn_interposer::portal::BUFFERS],
}

fn number(text: &str) -> Result<u64, Mistake> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    // `from_str_radix` takes a sign.
    let is_one = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u64::from_str_radix(digits, radix).ok().filter(|_| is_one).ok_or(Mistake::Malformed)
}

fn bytes(text: &str) -> Result<([u8; BYTES], usize), Mistake> {
    let (mut bytes, digits) = ([0; BYTES], text.as_bytes());
    let count = digits.len() / 2;
    if !digits.len().is_multiple_of(2) || !(1..=BYTES).contains(&count) {
        return Err(Mistake::Malformed);
    }
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|digit| digit as u8);
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        let [high, low] = [0, 1].map(|place| pair.get(place).copied().and_then(digit));
        *byte = high.zip(low).map(|(high, low)| high << 4 | low).ok_or(Mistake::Malformed)?;
    }
    Ok((bytes, count))
}

impl Reader {
    /// At the beginning.
    pub const fn begin() -> Reader {
        Reader {
            due: Due::New,
            name: Name::new(),
            shape: Shape { words: [false; 8], buffers: [None; 3], reply: 1 },
            call: Call {
                arguments: [0; 8],
                status: 0,
                words: [0; 4],
                buffers: [crate::call::Bytes { place: 0, count: 0 }; 3],
            },
            come: [0; 3],
        }
    }

    /// Whether the end has come.
    pub fn is_complete(&self) -> bool {
        self.due == Due::Nothing
    }

    /// Takes the next line, and keeps what is whole.
    pub fn take<const CALLS: usize, const WORDS: usize>(
        &mut self,
        line: &str,
        store: &Store<CALLS, WORDS>,
    ) -> Result<(), Mistake> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, self.due) {
            // Whoever does not come to the end begins again.
            ("new", _) if rest.is_empty() => {
                store.clear();
                *self = Reader { due: Due::Call, ..Reader::begin() };
                Ok(())
            }
            ("call", Due::Call) => self.name(rest),
            ("with", Due::Arguments) => self.arguments(rest, store),
            ("data", Due::Answer | Due::Filled) => self.data(rest, store),
            ("missing", Due::Answer | Due::Filled) => self.missing(rest, store),
            ("gave", Due::Answer) => self.answer(rest, store),
            ("end", Due::Call) => {
                let is_all = number(rest)? == store.count();
                self.due = if is_all { Due::Nothing } else { self.due };
                if is_all { Ok(()) } else { Err(Mistake::Count) }
            }
            _ => Err(Mistake::Unexpected),
        }
    }

    fn name(&mut self, name: &str) -> Result<(), Mistake> {
        let is_text = name.len() <= NAME && name.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let is_named = name.split(' ').all(|word| !word.is_empty());
        self.shape =
            Shape::of_name(name).filter(|_| is_text && is_named).ok_or(Mistake::Malformed)?;
        self.name.clear();
        // It fits.
        let _ = self.name.write_str(name);
        (self.call, self.come) = (Call::default(), [0; 3]);
        self.due = Due::Arguments;
        Ok(())
    }

    fn arguments<const CALLS: usize, const WORDS: usize>(
        &mut self,
        text: &str,
        store: &Store<CALLS, WORDS>,
    ) -> Result<(), Mistake> {
        let mut numbers = text.split(',').filter(|text| !text.is_empty());
        let mut arguments = [0; 8];
        for (argument, _) in
            arguments.iter_mut().zip(self.shape.words).filter(|(_, is_one)| *is_one)
        {
            *argument = number(numbers.next().ok_or(Mistake::Malformed)?)?;
        }
        if numbers.next().is_some() {
            return Err(Mistake::Malformed);
        }
        self.call.arguments = arguments;
        self.reserve(false, store)?;
        self.due = Due::Answer;
        Ok(())
    }

    /// Room for buffers, as much as is recorded of them.
    fn reserve<const CALLS: usize, const WORDS: usize>(
        &mut self,
        is_filled: bool,
        store: &Store<CALLS, WORDS>,
    ) -> Result<(), Mistake> {
        for (place, _) in self.shape.buffers(is_filled) {
            let length = self.shape.length(&self.call, place);
            let bytes = store.reserve(length);
            if length > 0 && bytes.count == 0 {
                return Err(Mistake::Full);
            }
            self.call.buffers[place] = bytes;
        }
        Ok(())
    }

    /// The buffer that is not complete yet.
    fn open(&self) -> Option<usize> {
        let mut buffers = self.shape.buffers(self.due == Due::Filled);
        buffers
            .find(|(place, _)| self.come[*place] < self.shape.length(&self.call, *place))
            .map(|(place, _)| place)
    }

    fn data<const CALLS: usize, const WORDS: usize>(
        &mut self,
        text: &str,
        store: &Store<CALLS, WORDS>,
    ) -> Result<(), Mistake> {
        let (bytes, count) = bytes(text)?;
        let place = self.open().ok_or(Mistake::Length)?;
        let (come, room) = (self.come[place], self.call.buffers[place]);
        // Each but the last of a buffer is full, so that the next begins at a word.
        if come + count as u64 > room.count.into() || !come.is_multiple_of(8) {
            return Err(Mistake::Length);
        }
        store.write(room, come as usize, &bytes[..count]);
        self.come[place] += count as u64;
        self.next(store)
    }

    fn missing<const CALLS: usize, const WORDS: usize>(
        &mut self,
        text: &str,
        store: &Store<CALLS, WORDS>,
    ) -> Result<(), Mistake> {
        let count = number(text)?;
        let place = self.open().ok_or(Mistake::Length)?;
        let length = self.shape.length(&self.call, place);
        if count == 0 || self.come[place].checked_add(count) != Some(length) {
            return Err(Mistake::Length);
        }
        // What there is of it.
        self.call.buffers[place].count = self.come[place] as u32;
        self.come[place] = length;
        self.next(store)
    }

    fn answer<const CALLS: usize, const WORDS: usize>(
        &mut self,
        text: &str,
        store: &Store<CALLS, WORDS>,
    ) -> Result<(), Mistake> {
        if self.open().is_some() {
            return Err(Mistake::Length);
        }
        let mut numbers = text.split(',');
        let status = numbers.next().and_then(|text| text.parse().ok()).ok_or(Mistake::Malformed)?;
        let mut words = [0; 4];
        let count = if status == 0 { self.shape.reply } else { 0 };
        for word in words.iter_mut().take(count) {
            *word = number(numbers.next().ok_or(Mistake::Malformed)?)?;
        }
        if numbers.next().is_some() {
            return Err(Mistake::Malformed);
        }
        (self.call.status, self.call.words) = (status, words);
        self.reserve(true, store)?;
        self.due = Due::Filled;
        self.next(store)
    }

    /// Keeps the call if nothing of it is missing any more.
    fn next<const CALLS: usize, const WORDS: usize>(
        &mut self,
        store: &Store<CALLS, WORDS>,
    ) -> Result<(), Mistake> {
        if self.due == Due::Filled && self.open().is_none() {
            self.due = Due::Call;
            if !store.keep(self.name.text(), &self.call) {
                return Err(Mistake::Full);
            }
        }
        Ok(())
    }
}
