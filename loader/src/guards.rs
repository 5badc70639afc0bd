//! Pages without access below the stacks of a component's own threads. The first word of each page leads to a symbol where nothing
//! lies; that word's relocation is the note, so a stack has its guard wherever a static has the stack.

use crate::Rights;
use crate::component::Relocation;
use crate::segment::Segment;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use cairn_abi::address::PAGE_SIZE;
use core::ops::Range;

/// Where the first words of guards lead (`lib/cairn/component.ld`).
pub(crate) const SYMBOL: &str = "cairn_stack_guard";
/// Most of a component: as many as a hart has threads. Each is an entry of the record, which no quota pays for.
const MAXIMUM: usize = 256;

/// The guards, as linked, in the order of their addresses; their relocations are taken out.
pub(crate) fn take(
    mark: Option<u64>,
    relocations: &mut Vec<Relocation>,
    segments: &[Segment],
) -> Result<Vec<u64>, String> {
    let Some(mark) = mark else { return Ok(Vec::new()) };
    let mut guards = Vec::new();
    relocations.retain(|Relocation { offset, target }| {
        if *target == mark {
            guards.push(*offset);
        }
        *target != mark
    });
    guards.sort_unstable();
    guards.dedup();
    let is_good = |guard: &u64| {
        let has = |segment: &Segment| segment.range().contains(guard);
        let is_data = |segment: &Segment| segment.rights == Rights::Data;
        guard.is_multiple_of(PAGE_SIZE) && segments.iter().any(|it| is_data(it) && has(it))
    };
    match guards.iter().find(|guard| !is_good(guard)) {
        Some(guard) => {
            Err(format!("`{SYMBOL}` is named at {guard:#x}, which is no page of a variable"))
        }
        None if guards.len() > MAXIMUM => {
            Err(format!("it has {} stacks for threads, expected at most {MAXIMUM}", guards.len()))
        }
        None => Ok(guards),
    }
}

/// What of a segment is memory: its bytes, counted from its first, between the guards.
pub(crate) fn between(guards: &[u64], segment: &Segment) -> Vec<Range<u64>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for guard in guards.iter().filter(|guard| segment.range().contains(guard)) {
        let guard = guard - segment.offset;
        parts.push(start..guard);
        start = guard + PAGE_SIZE;
    }
    parts.push(start..segment.size);
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const MARK: u64 = 0x4000_0000;

    fn segments() -> [Segment; 2] {
        [(Rights::Constants, 0x1_0000), (Rights::Data, 0x2_0000)].map(|(rights, offset)| Segment {
            offset,
            size: 6 * PAGE_SIZE,
            rights,
            content_at: 0,
            content: 0..0,
        })
    }

    fn taken(offsets: &[u64]) -> Result<Vec<u64>, String> {
        let mut relocations: Vec<Relocation> =
            offsets.iter().map(|offset| Relocation { offset: *offset, target: MARK }).collect();
        relocations.push(Relocation { offset: 0x2_0008, target: 0x1_0000 });
        let guards = take(Some(MARK), &mut relocations, &segments());
        assert_eq!(relocations.len(), 1);
        guards
    }

    #[test]
    fn what_is_between_guards_is_memory() {
        let guards = taken(&[0x2_3000, 0x2_0000, 0x2_4000, 0x2_3000]).unwrap();
        assert_eq!(guards, [0x2_0000, 0x2_3000, 0x2_4000]);
        let [constants, data] = segments();
        assert_eq!(between(&guards, &data), [0x1000..0x3000, 0x5000..0x6000]);
        assert_eq!(between(&guards, &constants), vec![0..0x6000]);
        assert_eq!(between(&[0x2_5000], &data), vec![0..0x5000]);
    }

    #[test]
    fn a_guard_is_a_page_of_a_variable() {
        assert_eq!(taken(&[]), Ok(vec![]));
        for wrong in [0x2_0008, 0x1_0000, 0x2_6000, 0x3_0000] {
            assert!(taken(&[wrong]).unwrap_err().contains("no page of a variable"), "{wrong:#x}");
        }
        assert_eq!(take(None, &mut vec![], &segments()), Ok(vec![]));
    }

    #[test]
    fn guards_are_not_without_number() {
        let size = 257 * PAGE_SIZE;
        let data = Segment { size, ..segments().into_iter().next_back().unwrap() };
        let marked = |count: u64| {
            let at = |page| Relocation { offset: data.offset + page * PAGE_SIZE, target: MARK };
            let mut relocations = (0..count).map(at).collect();
            take(Some(MARK), &mut relocations, core::slice::from_ref(&data))
        };
        assert_eq!(marked(256).unwrap().len(), 256);
        assert!(marked(257).unwrap_err().contains("257 stacks"));
    }
}
