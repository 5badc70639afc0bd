//! State on its way to a successor, as records: a kind, and up to [`RECORD_MAXIMUM`] bytes of which both contents know the meaning.
//!
//! It is written anew for each part that is asked for, and read record by record, so neither side has a buffer for all of it.

use crate::Error;
use crate::window::ReadWindow;

/// Most bytes of a record.
pub const RECORD_MAXIMUM: usize = 512;
/// Kind and length.
const HEADER: usize = 3;

/// Takes bytes, and their place in the part; how many it took.
type Put<'part> = dyn FnMut(usize, &[u8]) -> Result<usize, Error> + 'part;

/// Writes records, of which one part is kept.
pub struct Writer<'part> {
    /// Where the part begins.
    from: u64,
    /// How much was written before.
    at: u64,
    /// How much fits into the part, and how much is there.
    room: usize,
    length: usize,
    put: &'part mut Put<'part>,
}

/// Writes the part of a state that begins at its byte `from` and has `room`, of records that `write` writes, the same each time; the value is how many bytes it
/// has. `put` takes bytes, and their place in the part.
pub fn export(
    from: u64,
    room: usize,
    mut put: impl FnMut(usize, &[u8]) -> Result<usize, Error>,
    write: impl FnOnce(&mut Writer) -> Result<(), Error>,
) -> Result<usize, Error> {
    let mut writer = Writer { from, at: 0, room, length: 0, put: &mut put };
    write(&mut writer)?;
    Ok(writer.length)
}

impl Writer<'_> {
    /// A record, of several pieces.
    pub fn record(&mut self, kind: u8, pieces: &[&[u8]]) -> Result<(), Error> {
        let length: usize = pieces.iter().map(|piece| piece.len()).sum();
        if length > RECORD_MAXIMUM {
            return Err(Error::TooLarge);
        }
        let [low, high] = (length as u16).to_le_bytes();
        self.bytes(&[kind, low, high])?;
        pieces.iter().try_for_each(|piece| self.bytes(piece))
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let before = self.from.saturating_sub(self.at).min(bytes.len() as u64) as usize;
        self.at += bytes.len() as u64;
        let kept = &bytes[before..];
        let kept = &kept[..kept.len().min(self.room - self.length)];
        if !kept.is_empty() && (self.put)(self.length, kept)? != kept.len() {
            return Err(Error::BadArgument);
        }
        self.length += kept.len();
        Ok(())
    }
}

/// Reads records whose bytes come in parts.
pub struct Reader {
    bytes: [u8; HEADER + RECORD_MAXIMUM],
    length: usize,
}

impl Reader {
    /// One that has read nothing.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Reader {
        Reader { bytes: [0; HEADER + RECORD_MAXIMUM], length: 0 }
    }

    /// Takes bytes, and has `each` take the kind and the content of each record that they end.
    pub fn take(
        &mut self,
        mut part: &[u8],
        mut each: impl FnMut(u8, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        loop {
            let content = usize::from(u16::from_le_bytes([self.bytes[1], self.bytes[2]]));
            let wanted = if self.length < HEADER { HEADER } else { HEADER + content };
            if wanted > self.bytes.len() {
                return Err(Error::Malformed);
            }
            let count = (wanted - self.length).min(part.len());
            let (taken, rest) = part.split_at(count);
            self.bytes[self.length..][..count].copy_from_slice(taken);
            (self.length, part) = (self.length + count, rest);
            if self.length < wanted {
                return Ok(());
            }
            // A header alone is whole if nothing follows it.
            if wanted > HEADER || self.bytes[1..HEADER] == [0, 0] {
                self.length = 0;
                each(self.bytes[0], &self.bytes[HEADER..wanted])?;
            }
        }
    }

    /// Takes the part of a state of `size` bytes that begins at its byte `from`, as `import_state` finds it; whether it was the last, with which
    /// the last record is whole.
    pub fn import(
        &mut self,
        (size, from): (u64, u64),
        part: ReadWindow<'_>,
        mut each: impl FnMut(u8, &[u8]) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        part.pieces::<256>(|piece| self.take(piece, &mut each))?;
        let is_last = from + part.len() as u64 >= size;
        if is_last && !self.is_whole() { Err(Error::Malformed) } else { Ok(is_last) }
    }

    /// Whether all that came was whole records.
    pub fn is_whole(&self) -> bool {
        self.length == 0
    }
}

/// Takes the first `N` bytes of a record's content.
pub fn split<const N: usize>(content: &[u8]) -> Result<([u8; N], &[u8]), Error> {
    content.split_first_chunk().map(|(first, rest)| (*first, rest)).ok_or(Error::Malformed)
}

/// Takes a word.
pub fn word(content: &[u8]) -> Result<(u64, &[u8]), Error> {
    split(content).map(|(word, rest)| (u64::from_le_bytes(word), rest))
}

/// Takes so many words.
pub fn words<const N: usize>(mut content: &[u8]) -> Result<([u64; N], &[u8]), Error> {
    let mut words = [0; N];
    for place in &mut words {
        (*place, content) = word(content)?;
    }
    Ok((words, content))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn state() -> Vec<(u8, Vec<u8>)> {
        (0..40).map(|kind| (kind, (0..kind as usize * 6).map(|at| at as u8).collect())).collect()
    }

    fn part(from: usize, room: usize) -> Vec<u8> {
        let mut part = Vec::new();
        let put = |at: usize, bytes: &[u8]| {
            assert_eq!(at, part.len());
            part.extend_from_slice(bytes);
            Ok(bytes.len())
        };
        let write = |writer: &mut Writer| {
            state().iter().try_for_each(|(kind, bytes)| {
                let (first, second) = bytes.split_at(bytes.len() / 2);
                writer.record(*kind, &[first, second])
            })
        };
        let length = export(from as u64, room, put, write).unwrap();
        assert_eq!(length, part.len());
        part
    }

    #[test]
    fn records_come_over_in_parts_of_any_size() {
        let whole = part(0, 100_000);
        for room in [1, 2, 3, 7, 64, 255, 4096] {
            let (mut reader, mut found, mut from) = (Reader::new(), Vec::new(), 0);
            loop {
                let bytes = part(from, room);
                assert_eq!(bytes, whole[from..(from + room).min(whole.len())]);
                let each = |kind, content: &[u8]| {
                    found.push((kind, content.to_vec()));
                    Ok(())
                };
                reader.take(&bytes, each).unwrap();
                from += bytes.len();
                if bytes.len() < room {
                    break;
                }
            }
            assert!(reader.is_whole() && found == state(), "in parts of {room}");
        }
    }

    #[test]
    fn what_is_no_record_is_refused() {
        let nothing = |_, _: &[u8]| Ok(());
        assert_eq!(Reader::new().take(&[1, 1, 2], nothing), Err(Error::Malformed));
        assert_eq!(Reader::new().take(&[1, 255, 255, 0], nothing), Err(Error::Malformed));
        let mut reader = Reader::new();
        assert_eq!(reader.take(&[1, 2, 0, 9], nothing), Ok(()));
        assert!(!reader.is_whole());
        let too_long = |writer: &mut Writer| writer.record(0, &[&[0; RECORD_MAXIMUM], &[0]]);
        assert_eq!(export(0, 9, |_, _| Ok(0), too_long), Err(Error::TooLarge));
        assert_eq!(word(&[0; 7]), Err(Error::Malformed));
    }
}
