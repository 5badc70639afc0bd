//! What a restart begins from: of writable content those parts are kept a second time that are not zero.

use cairn_abi::address::PAGE_SIZE;
use std::cmp::Reverse;
use std::ops::Range;

/// Most runs of zero pages of a segment that are told apart. Each is an entry of the record, which no quota pays for and which
/// every step of a restart looks through: an image in which every other page is zero must not make many.
const RUNS_MAXIMUM: usize = 8;

/// A part of a segment's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its bytes; it begins with a page.
    pub bytes: Range<usize>,
    /// All of them are zero.
    pub is_zero: bool,
}

/// The parts of `content`, in order: the longest runs of zero pages, and what lies between them.
pub(super) fn parts(content: &[u8]) -> Vec<Part> {
    let mut zeros: Vec<Range<usize>> = Vec::new();
    for (number, page) in content.chunks(PAGE_SIZE as usize).enumerate() {
        let start = number * PAGE_SIZE as usize;
        if page.iter().any(|byte| *byte != 0) {
            continue;
        }
        match zeros.last_mut().filter(|run| run.end == start) {
            Some(run) => run.end += page.len(),
            None => zeros.push(start..start + page.len()),
        }
    }
    zeros.sort_by_key(|run| Reverse(run.len()));
    zeros.truncate(RUNS_MAXIMUM);
    zeros.sort_by_key(|run| run.start);
    let mut parts = Vec::new();
    let mut end = 0;
    for run in zeros {
        parts.push(Part { bytes: end..run.start, is_zero: false });
        end = run.end;
        parts.push(Part { bytes: run, is_zero: true });
    }
    parts.push(Part { bytes: end..content.len(), is_zero: false });
    parts.retain(|part| !part.bytes.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = PAGE_SIZE as usize;

    /// Content with these pages, zero or not.
    fn content(pages: &[bool]) -> Vec<u8> {
        let mut content = vec![0; pages.len() * PAGE];
        for (page, _) in pages.iter().enumerate().filter(|(_, filled)| **filled) {
            content[(page + 1) * PAGE - 1] = 1;
        }
        content
    }

    fn shown(pages: &[bool]) -> Vec<(Range<usize>, bool)> {
        let parts = parts(&content(pages)).into_iter();
        parts.map(|part| (part.bytes.start / PAGE..part.bytes.end / PAGE, part.is_zero)).collect()
    }

    #[test]
    fn zero_pages_are_told_apart_wherever_they_are() {
        assert_eq!(shown(&[]), []);
        assert_eq!(shown(&[false, false]), [(0..2, true)]);
        assert_eq!(shown(&[true, true]), [(0..2, false)]);
        let expected = [(0..1, true), (1..2, false), (2..4, true), (4..5, false)];
        assert_eq!(shown(&[false, true, false, false, true]), expected);
    }

    #[test]
    fn many_runs_are_few_parts_and_the_longest_count() {
        let mut pages: Vec<bool> = (0..1000).map(|page| page % 2 == 0).collect();
        pages.extend([false; 256]);
        pages.push(true);
        let parts = parts(&content(&pages));
        assert_eq!(parts.len(), 2 * RUNS_MAXIMUM + 1);
        assert!(parts.iter().any(|part| part.is_zero && part.bytes.len() == 257 * PAGE));
        // They follow each other, and say what is there.
        let content = content(&pages);
        let mut end = 0;
        for part in parts {
            assert_eq!(part.bytes.start, end);
            assert!(!part.is_zero || content[part.bytes.clone()].iter().all(|byte| *byte == 0));
            end = part.bytes.end;
        }
        assert_eq!(end, content.len());
    }
}
