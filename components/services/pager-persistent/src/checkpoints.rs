//! Pages on a disk, of which a checkpoint is whole or not there.
//!
//! Each page has two *slots*. The *map* says which of them the last checkpoint has, or neither; what was changed since goes into the other one. A
//! checkpoint writes the map into one of two *heads*, by turns, and, when all that is on the disk, the head's first block, with a number
//! that goes up and a sum over the map. So the disk is to write a block whole or not at all, and to have, after a flush, all that came before; in which order
//! blocks go to it between two flushes does not matter.
//!
//! ```text
//! block 0         the first head's numbers          block 16 + 16 p    the first slot of page p
//!       1..8      its map, two bits a page                24 + 16 p    the second
//!       8..16     the other head
//! ```

use cairn::Error;
use cairn::successor::{self, Writer};

/// Kinds of records for a successor: whether the next head may be there already, and a part of the map as it is now.
const UNSURE: u8 = 2;
const PART: u8 = 3;
/// Bytes of such a part.
const PART_SIZE: usize = 256;
const _: () = assert!(MAP.is_multiple_of(PART_SIZE));

/// A disk.
pub trait Disk {
    /// Reads whole blocks.
    fn read(&mut self, first: u64, buffer: &mut [u8]) -> Result<(), Error>;
    /// Writes them.
    fn write(&mut self, first: u64, buffer: &[u8]) -> Result<(), Error>;
    /// All that was written before lasts.
    fn flush(&mut self) -> Result<(), Error>;
}

/// Bytes of a block, and of a page.
pub const BLOCK: usize = 512;
const PAGE: usize = 4096;
const BLOCKS_OF_PAGE: u64 = (PAGE / BLOCK) as u64;
/// Bytes of the map, and pages that it has.
const MAP: usize = PAGE - BLOCK;
/// Most pages.
pub const PAGES: usize = MAP * 4;
/// Where the slots begin.
const SLOTS: u64 = 2 * BLOCKS_OF_PAGE;

/// In the first block of a head: what it is, for which sections, its number, and the sum.
const MAGIC: u64 = u64::from_le_bytes(*b"cairnCP1");

/// Of a page, in the map: neither slot, so zeros; the first, or the second.
const NEITHER: u8 = 0;

type Map = [u8; MAP];

fn slot(map: &Map, page: usize) -> u8 {
    map[page / 4] >> (page % 4 * 2) & 3
}

/// How many blocks so many pages take.
pub fn blocks(pages: u64) -> u64 {
    SLOTS + pages * 2 * BLOCKS_OF_PAGE
}

fn place(page: usize, slot: u8) -> u64 {
    SLOTS + (page as u64 * 2 + u64::from(slot) - 1) * BLOCKS_OF_PAGE
}

fn sum(numbers: &[u64], map: &Map) -> u64 {
    let (words, _) = map.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    numbers.iter().copied().chain(words).fold(1, |sum, word| {
        // FNV-1a over words, with a rotation, so that high bits reach low ones.
        ((sum ^ word).wrapping_mul(0x0000_0100_0000_01b3)).rotate_left(23)
    })
}

/// What a disk has.
pub struct Checkpoints {
    /// The number of the last checkpoint.
    number: u64,
    /// What the sections are.
    shape: u64,
    /// As the last checkpoint has it, and as it is now.
    committed: Map,
    now: Map,
    /// Whether the next head may be on the disk already: a call has failed. No slot is written before that is known.
    is_unsure: bool,
}

impl Checkpoints {
    /// Nothing.
    pub const fn new() -> Checkpoints {
        Checkpoints { number: 0, shape: 0, committed: [0; MAP], now: [0; MAP], is_unsure: false }
    }

    /// Finds the last checkpoint; its number, 0 if there is none yet. `shape` is what the sections are: `NotSupported`, if the checkpoint is of
    /// others. `Malformed`: the disk has something else, or both heads are damaged. The disk is not changed.
    pub fn open(&mut self, shape: u64, disk: &mut impl Disk) -> Result<u64, Error> {
        *self = Checkpoints { shape, ..Checkpoints::new() };
        let mut is_blank = true;
        let mut found = None;
        for head in 0..2 {
            let mut numbers = [0; BLOCK];
            disk.read(head * BLOCKS_OF_PAGE, &mut numbers)?;
            is_blank &= numbers.iter().all(|byte| *byte == 0);
            disk.read(head * BLOCKS_OF_PAGE + 1, &mut self.now)?;
            let (words, _) = numbers.as_chunks::<8>();
            let [magic, of, number, expected] =
                core::array::from_fn(|at| u64::from_le_bytes(words[at]));
            let is_whole = magic == MAGIC && expected == sum(&[magic, of, number], &self.now);
            if is_whole && number % 2 == head && number > self.number {
                (found, self.number, self.committed) = (Some(of), number, self.now);
            }
        }
        self.now = self.committed;
        match found {
            Some(of) if of != shape => Err(Error::NotSupported),
            None if !is_blank => Err(Error::Malformed),
            _ => Ok(self.number),
        }
    }

    /// Reads a page.
    pub fn read(
        &self,
        page: usize,
        buffer: &mut [u8; PAGE],
        disk: &mut impl Disk,
    ) -> Result<(), Error> {
        match slot(&self.now, page) {
            NEITHER => {
                buffer.fill(0);
                Ok(())
            }
            slot => disk.read(place(page, slot), buffer),
        }
    }

    /// Writes a page, which the last checkpoint goes on to have as it was.
    pub fn write(
        &mut self,
        page: usize,
        buffer: &[u8; PAGE],
        disk: &mut impl Disk,
    ) -> Result<(), Error> {
        if self.is_unsure {
            self.write_head(disk)?;
        }
        let slot = if slot(&self.committed, page) == 1 { 2 } else { 1 };
        disk.write(place(page, slot), buffer)?;
        let byte = &mut self.now[page / 4];
        *byte = *byte & !(3 << (page % 4 * 2)) | slot << (page % 4 * 2);
        Ok(())
    }

    /// Writes for a successor what is not on the disk.
    pub fn hand_over(&self, writer: &mut Writer) -> Result<(), Error> {
        writer.record(UNSURE, &[&[self.is_unsure.into()]])?;
        let mut parts = (0_u16..).zip(self.now.chunks(PART_SIZE));
        parts.try_for_each(|(at, part)| writer.record(PART, &[&at.to_le_bytes(), part]))
    }

    /// Takes such a record over, behind [`Checkpoints::open`]. `Malformed`: it is none.
    pub fn take_over(&mut self, kind: u8, record: &[u8]) -> Result<(), Error> {
        match kind {
            UNSURE => {
                self.is_unsure = successor::split::<1>(record)?.0 != [0];
                Ok(())
            }
            PART => {
                let (at, part) = successor::split(record)?;
                let at = usize::from(u16::from_le_bytes(at)) * PART_SIZE;
                let place = self.now.get_mut(at..at + PART_SIZE).ok_or(Error::Malformed)?;
                // There are two slots.
                let is_map = part.iter().all(|byte| byte & byte >> 1 & 0x55 == 0);
                if part.len() != PART_SIZE || !is_map {
                    return Err(Error::Malformed);
                }
                place.copy_from_slice(part);
                Ok(())
            }
            _ => Err(Error::VersionMismatch),
        }
    }

    /// All that was written is a checkpoint, which lasts.
    pub fn commit(&mut self, disk: &mut impl Disk) -> Result<(), Error> {
        if !self.is_unsure && self.now == self.committed && self.number > 0 {
            return Ok(());
        }
        self.write_head(disk)
    }

    fn write_head(&mut self, disk: &mut impl Disk) -> Result<(), Error> {
        let number = self.number + 1;
        let first = number % 2 * BLOCKS_OF_PAGE;
        let mut block = [0; BLOCK];
        let numbers = [MAGIC, self.shape, number];
        let words = numbers.into_iter().chain([sum(&numbers, &self.now)]);
        let (places, _) = block.as_chunks_mut::<8>();
        places.iter_mut().zip(words).for_each(|(place, word)| *place = word.to_le_bytes());
        disk.write(first + 1, &self.now)?;
        disk.flush()?;
        self.is_unsure = true;
        disk.write(first, &block)?;
        disk.flush()?;
        (self.number, self.committed, self.is_unsure) = (number, self.now, false);
        Ok(())
    }
}

impl Default for Checkpoints {
    fn default() -> Self {
        Self::new()
    }
}
