//! The content of a package becomes memory of an instance. What is the same for all instances of it is shared from the shelf; the rest is
//! copied into pages of the loader's own, which leave it.

use super::component::{DOMAIN_MEMORY, MEMORY};
use super::load::{Place, Source};
use cairn::Error;
use cairn_abi::address::PAGE_SIZE;
use cairn_loader::package::Segment;
use core::iter::Peekable;

/// Pages that are copied at once: so many of its quota the loader needs for it.
const PAGES_AT_ONCE: u64 = 16;

/// Gives an instance all content of its image.
pub fn give_segments(source: &Source, place: &Place) -> Result<(), Error> {
    let words = source.head.relocation_bytes().step_by(4);
    let words = words.map(|at| source.bytes.load_u32(at as usize));
    let mut relocations = source.head.relocations(words).peekable();
    for segment in source.head.segments() {
        let pages = segment.file_size.div_ceil(PAGE_SIZE);
        let offset = place.placement.image().start + segment.offset;
        let end = segment.image().end;
        let is_relocated = match relocations.peek() {
            Some(Ok(offset)) => *offset < end,
            Some(Err(_)) => return Err(Error::Malformed),
            None => false,
        };
        if pages == 0 {
            continue;
        }
        if !source.is_shelved || segment.is_writable() || is_relocated {
            copy(source, place, &segment, &mut relocations)?;
            continue;
        }
        let address = source.bytes.address() as u64 + segment.file_offset;
        DOMAIN_MEMORY.give(place.number, offset, address, pages, segment.content)?;
    }
    Ok(())
}

/// Copies a segment, and adds the image's begin to the words that hold addresses.
fn copy<F>(
    source: &Source,
    place: &Place,
    segment: &Segment,
    relocations: &mut Peekable<impl Iterator<Item = Result<u64, F>>>,
) -> Result<(), Error> {
    let image = place.placement.image().start;
    let begin = place.region + image;
    let mut done = 0;
    while done < segment.file_size {
        let bytes = (segment.file_size - done).min(PAGES_AT_ONCE * PAGE_SIZE);
        let count = bytes.div_ceil(PAGE_SIZE);
        let pages = MEMORY.pages(count)?;
        let from = (segment.file_offset + done) as usize;
        pages.copy_from(0, &source.bytes, from, bytes as usize);
        let offset = segment.offset + done;
        let is_here = |next: &Result<u64, F>| {
            next.as_ref().is_ok_and(|word| *word < offset + count * PAGE_SIZE)
        };
        while let Some(word) = relocations.next_if(is_here) {
            // The reader has seen to it that they ascend, and that each is in content.
            let at = word.map_or(0, |word| word - offset) as usize;
            pages.store(at, pages.load(at).wrapping_add(begin));
        }
        let (at, address) = (image + offset, pages.address() as u64);
        DOMAIN_MEMORY.give(place.number, at, address, count, segment.content)?;
        // They are another's.
        core::mem::forget(pages);
        done += bytes;
    }
    Ok(())
}
