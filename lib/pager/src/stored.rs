//! Sections whose pages are stored somewhere else, as many at a time in memory as there are frames. All clients of a section have the same
//! pages. The sections are stored one behind the other.

use crate::cache::{Cache, Page};
use crate::handover::{bytes, words};
use crate::{PAGE, ranges_in};
use cairn::section::Section;
use cairn::successor::Writer;
use cairn::{Error, PortalIndex};
use cairn_interfaces::{PAGE_READ, PAGE_WRITE, PageFault, PagingProxy, ServedRange};

/// The kind of a record for a successor: a frame, with a page.
const FRAME: u8 = 1;

/// Most pages in memory.
pub const FRAMES: usize = 256;
/// Most ranges.
const RANGES: usize = 32;

/// What a page is stored from.
#[repr(align(4096))]
pub struct Buffer(pub [u8; PAGE]);

impl Buffer {
    /// It has what a page of memory has; a sum of that.
    pub fn load(&mut self, memory: &Section) -> u64 {
        let (words, _) = self.0.as_chunks_mut::<8>();
        let mut sum = 0_u64;
        for (at, bytes) in words.iter_mut().enumerate() {
            let word = memory.load(at * 8);
            *bytes = word.to_le_bytes();
            sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
        sum
    }

    /// A page of memory has what it has.
    pub fn store(&self, memory: &Section) {
        let (words, _) = self.0.as_chunks::<8>();
        for (at, word) in words.iter().enumerate() {
            memory.store(at * 8, u64::from_le_bytes(*word));
        }
    }
}

/// Where pages are stored, by their number among those of all sections.
pub trait Backing {
    /// Reads a page.
    fn read(&mut self, page: u64, buffer: &mut Buffer) -> Result<(), Error>;
    /// Writes it.
    fn write(&mut self, page: u64, buffer: &Buffer) -> Result<(), Error>;
}

/// The pages, of which some are in memory.
pub struct Stored {
    cache: Cache<FRAMES>,
    memory: Option<Section>,
    paging: PagingProxy,
    ranges: [Option<ServedRange>; RANGES],
    buffer: Buffer,
    /// Of what each frame had when it was written last.
    sums: [u64; FRAMES],
}

impl Stored {
    /// No pages.
    pub const fn new(paging: PagingProxy) -> Stored {
        Stored {
            cache: Cache::new(),
            memory: None,
            paging,
            ranges: [None; RANGES],
            buffer: Buffer([0; PAGE]),
            sums: [0; FRAMES],
        }
    }

    /// Learns what is to be served; the pages of each section.
    pub fn learn(&mut self) -> Result<impl Iterator<Item = u64>, Error> {
        self.ranges = ranges_in(self.paging)?;
        Ok(self.sections().map(|range| range.pages))
    }

    /// From here on it serves, with these frames.
    pub fn begin(&mut self, frames: Section) {
        self.cache.begin(frames.size() / PAGE);
        self.memory = Some(frames);
    }

    /// The frames.
    pub fn memory(&self) -> Result<Section, Error> {
        self.memory.ok_or(Error::NotReady)
    }

    /// Writes for a successor which page each frame has.
    pub fn hand_over(&self, writer: &mut Writer) -> Result<(), Error> {
        for frame in 0..FRAMES {
            if let Some((page, is_changed)) = self.cache.content(frame) {
                let record = [frame as u64, page.section, page.number, is_changed.into()];
                writer.record(FRAME, &[bytes(record).as_flattened()])?;
            }
        }
        Ok(())
    }

    /// Takes over such a record.
    pub fn take_over(&mut self, kind: u8, record: &[u8]) -> Result<(), Error> {
        if kind != FRAME {
            return Err(Error::VersionMismatch);
        }
        let [frame, section, number, is_changed] = words(record)?;
        let is_there = |range: &ServedRange| range.section == section && number < range.pages;
        if !self.sections().any(is_there) {
            return Err(Error::Malformed);
        }
        self.cache.restore(frame as usize, Page { section, number }, is_changed != 0)
    }

    /// A range of each section.
    fn sections(&self) -> impl Iterator<Item = &ServedRange> {
        let ranges = self.ranges.iter().flatten();
        ranges.enumerate().filter_map(|(at, range)| {
            let mut before = self.ranges.iter().flatten().take(at);
            (!before.any(|other| other.section == range.section)).then_some(range)
        })
    }

    /// A page's number among those of all sections.
    fn number(&self, page: Page) -> u64 {
        let before = self.sections().take_while(|range| range.section != page.section);
        before.map(|range| range.pages).sum::<u64>() + page.number
    }

    fn frame(&self, frame: usize) -> Result<Section, Error> {
        Ok(self.memory.ok_or(Error::NotReady)?.part(frame * PAGE, PAGE))
    }

    /// Nobody has a page in its page table any more.
    fn unmap(&self, page: Page) -> Result<(), Error> {
        let ranges = self.ranges.iter().flatten();
        ranges
            .filter(|range| range.section == page.section)
            .try_for_each(|range| self.paging.unmap(range.number, page.number, 1))
    }

    fn read(&mut self, frame: usize, page: Page, backing: &mut impl Backing) -> Result<(), Error> {
        backing.read(self.number(page), &mut self.buffer)?;
        self.buffer.store(&self.frame(frame)?);
        Ok(())
    }

    /// The buffer has what a frame has; the sum of it.
    fn copy(&mut self, frame: usize) -> Result<u64, Error> {
        let memory = self.frame(frame)?;
        Ok(self.buffer.load(&memory))
    }

    fn write(&mut self, frame: usize, page: Page, backing: &mut impl Backing) -> Result<(), Error> {
        self.sums[frame] = self.copy(frame)?;
        backing.write(self.number(page), &self.buffer)
    }

    /// The frame with a page, which is read if it is not there.
    fn frame_of(&mut self, page: Page, backing: &mut impl Backing) -> Result<usize, Error> {
        if let Some(frame) = self.cache.find(page) {
            return Ok(frame);
        }
        let frame = self.cache.victim()?;
        if let Some((other, is_changed)) = self.cache.content(frame) {
            self.unmap(other)?;
            if is_changed {
                self.write(frame, other, backing)?;
            }
        }
        // If it cannot be read, the frame is empty.
        self.cache.take(frame, None);
        self.read(frame, page, backing)?;
        self.cache.take(frame, Some(page));
        Ok(frame)
    }

    /// What a [`Pager`](cairn_interfaces::Pager) answers.
    pub fn fault(
        &mut self,
        portal: PortalIndex,
        thread: usize,
        fault: PageFault,
        backing: &mut impl Backing,
    ) -> Result<u64, Error> {
        let mut ranges = self.ranges.iter().flatten();
        let range = ranges.find(|range| range.number == fault.range).filter(|_| portal.0 == 0);
        let page = Page {
            section: range.ok_or(Error::NotAllowed)?.section,
            number: fault.offset / PAGE as u64,
        };
        self.cache.unpin(thread);
        let frame = self.frame_of(page, backing)?;
        let rights = match self.cache.answer(thread, frame, fault.rights == PAGE_WRITE) {
            true => PAGE_WRITE,
            false => PAGE_READ,
        };
        Ok(self.frame(frame)?.address() as u64 | rights)
    }

    /// Writes what was changed, as it is at one time; how many pages. `last` makes it last.
    pub fn write_back<B: Backing>(
        &mut self,
        backing: &mut B,
        last: impl FnOnce(&mut B) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let mut count = 0;
        // Whoever misses one of these pages waits for this call. So what is written is never older than what was done by then on a page
        // that is written later: what is on the disk was so at one time, as far as anybody can tell.
        for frame in self.cache.changed() {
            if let Some((page, _)) = self.cache.content(frame) {
                self.unmap(page)?;
                self.write(frame, page, backing)?;
                count += 1;
            }
        }
        while self.was_changed_late(backing)? {}
        last(backing)?;
        self.cache.changed().for_each(|frame| self.cache.written(frame));
        Ok(count)
    }

    /// Writes once more what threads changed that had mapped their answers late, each of them one page; whether there was any. Then what was
    /// found the same before may be another one by now.
    fn was_changed_late(&mut self, backing: &mut impl Backing) -> Result<bool, Error> {
        let mut was_changed = false;
        for frame in self.cache.changed() {
            let Some((page, _)) = self.cache.content(frame) else { continue };
            if !self.cache.is_pinned(frame) {
                continue;
            }
            self.unmap(page)?;
            if self.copy(frame)? != self.sums[frame] {
                self.write(frame, page, backing)?;
                was_changed = true;
            }
        }
        Ok(was_changed)
    }
}
