//! Lines that were half typed when their readers were called home: these go on with them in the successor.

/// Longest line that is collected.
pub const LINE: usize = 256;
/// Readers whose lines are kept; of more, those that came last.
const KEPT: usize = 8;

/// The lines.
pub struct Halves {
    all: [Half; KEPT],
    next: usize,
}

#[derive(Clone, Copy)]
struct Half {
    reader: u64,
    length: u16,
    bytes: [u8; LINE],
}

impl Halves {
    /// None.
    pub const fn new() -> Halves {
        Halves { all: [Half { reader: 0, length: 0, bytes: [0; LINE] }; KEPT], next: 0 }
    }

    /// Keeps what a reader has typed.
    pub fn keep(&mut self, reader: u64, typed: &[u8]) {
        let typed = &typed[..typed.len().min(LINE)];
        let free = self.all.iter().position(|half| half.length == 0);
        let half = &mut self.all[free.unwrap_or(self.next)];
        if free.is_none() {
            self.next = (self.next + 1) % KEPT;
        }
        (half.reader, half.length) = (reader, typed.len() as u16);
        half.bytes[..typed.len()].copy_from_slice(typed);
    }

    /// Hands a reader's over, once.
    pub fn take(&mut self, reader: u64, mut each: impl FnMut(u8)) {
        let all = self.all.iter_mut().filter(|half| half.reader == reader);
        for half in all {
            half.bytes[..usize::from(half.length)].iter().for_each(|byte| each(*byte));
            half.length = 0;
        }
    }

    /// Shows all of them, until one is not wanted.
    pub fn each<E>(&self, mut body: impl FnMut(u64, &[u8]) -> Result<(), E>) -> Result<(), E> {
        let kept = self.all.iter().filter(|half| half.length > 0);
        kept.map(|half| (half.reader, &half.bytes[..usize::from(half.length)]))
            .try_for_each(|(reader, typed)| body(reader, typed))
    }
}

impl Default for Halves {
    fn default() -> Halves {
        Halves::new()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::{Halves, KEPT};
    use std::vec::Vec;

    fn taken(halves: &mut Halves, reader: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        halves.take(reader, |byte| bytes.push(byte));
        bytes
    }

    #[test]
    fn a_line_goes_to_its_reader_once() {
        let mut halves = Halves::new();
        halves.keep(3, b"abc");
        halves.keep(4, b"de");
        assert_eq!(taken(&mut halves, 4), b"de");
        assert_eq!(taken(&mut halves, 4), b"");
        let mut rest = Vec::new();
        let each = |reader, typed: &[u8]| {
            rest.push((reader, typed.to_vec()));
            Ok::<(), ()>(())
        };
        halves.each(each).unwrap();
        assert_eq!(rest, [(3, b"abc".to_vec())]);
    }

    #[test]
    fn of_too_many_the_last_stay() {
        let mut halves = Halves::new();
        (0..KEPT as u64 + 3).for_each(|reader| halves.keep(reader, b"x"));
        assert_eq!(taken(&mut halves, 0), b"");
        assert_eq!(taken(&mut halves, KEPT as u64 + 2), b"x");
    }
}
