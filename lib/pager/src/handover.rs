//! What a pager hands over to its successor (`docs/pagers.md`). Its pages stay where they are, its clients have them, and so does the successor what is
//! noted in them. The rest goes as records, of which the first says which pages these are, and the last that it was all.

use cairn::Error;
use cairn::exclusive::Exclusive;
use cairn::section::Section;
use cairn::successor::{self, Reader, Writer, export};
use cairn::window::{ReadWindow, WriteWindow};
use cairn_interfaces::{MemoryProxy, MemoryStatisticsProxy, PagingProxy};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Kinds of records; those between are the pager's.
const BEGIN: u8 = 0;
const END: u8 = u8::MAX;

/// Words of a record as bytes.
pub fn bytes<const WORDS: usize>(words: [u64; WORDS]) -> [[u8; 8]; WORDS] {
    words.map(u64::to_le_bytes)
}

/// The words that a record is.
pub fn words<const WORDS: usize>(content: &[u8]) -> Result<[u64; WORDS], Error> {
    match successor::words(content)? {
        (words, []) => Ok(words),
        _ => Err(Error::Malformed),
    }
}

/// How a life of a pager begins, and ends.
pub struct Handover {
    /// Which meaning the records have.
    version: u64,
    /// The pages are those of the content before, and nobody has said yet what is on them.
    waits: AtomicBool,
    reader: Exclusive<Reader>,
}

// Relaxed: it is stored while no client is inside.
impl Handover {
    /// Nothing has begun.
    pub const fn new(version: u64) -> Handover {
        Handover { version, waits: AtomicBool::new(false), reader: Exclusive::new(Reader::new()) }
    }

    /// The pages of this life: new ones, as [`crate::memory`] takes them, or those of the content before; whether they are new.
    pub fn memory(
        &self,
        (memory, statistics): (&MemoryProxy, &MemoryStatisticsProxy),
        paging: PagingProxy,
        most: u64,
    ) -> Result<(Section, bool), Error> {
        match paging.kept(0) {
            Ok((address, pages)) => {
                self.waits.store(true, Relaxed);
                Ok((Section::of_pages(address, pages).ok_or(Error::Malformed)?, false))
            }
            Err(Error::NotFound) => Ok((crate::memory(memory, statistics, most)?, true)),
            Err(error) => Err(error),
        }
    }

    /// Whether what is on the pages is still to be said, or never will be.
    pub fn waits(&self) -> bool {
        self.waits.load(Relaxed)
    }

    /// A client comes. Of pages that were left, and of which nobody has said whose they are, it could get another's: this life ends
    /// before, and all clients lose what they have of it.
    pub fn check(&self) {
        if self.waits() {
            panic!("the content before has left pages, and nobody has said what is on them");
        }
    }

    /// Writes a part of the state as `export_state` is to: `write` writes the pager's records.
    pub fn export(
        &self,
        from: u64,
        part: WriteWindow<'_>,
        memory: &Section,
        write: impl FnOnce(&mut Writer) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        let begin = self.begin(memory);
        export(
            from,
            part.len(),
            |at, bytes| part.write(at, bytes),
            |writer| {
                writer.record(BEGIN, &[bytes(begin).as_flattened()])?;
                write(writer)?;
                writer.record(END, &[])
            },
        )
    }

    /// Takes over a part of the state as `import_state` is to: `take` has each of the pager's records, behind the first.
    pub fn import(
        &self,
        (size, from): (u64, u64),
        part: ReadWindow<'_>,
        memory: &Section,
        mut take: impl FnMut(u8, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // Who has new pages begins anew, as behind one that had none.
        if !self.waits() {
            return if size == 0 { Ok(()) } else { Err(Error::VersionMismatch) };
        }
        let mut is_whole = false;
        self.reader.with(|reader| {
            reader.import((size, from), part, |kind, content| match kind {
                BEGIN if words(content)? == self.begin(memory) => Ok(()),
                BEGIN => Err(Error::VersionMismatch),
                _ if is_whole => Err(Error::Malformed),
                END => {
                    is_whole = true;
                    Ok(())
                }
                kind => take(kind, content),
            })
        })?;
        if is_whole {
            self.waits.store(false, Relaxed);
        }
        match from + part.len() as u64 >= size && !is_whole {
            true => Err(Error::Malformed),
            false => Ok(()),
        }
    }

    fn begin(&self, memory: &Section) -> [u64; 3] {
        [self.version, memory.address() as u64, memory.size() as u64]
    }
}
