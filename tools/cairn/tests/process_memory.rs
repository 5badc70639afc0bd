//! What processes have of a board that has just enough memory.
#![forbid(unsafe_code)]

use cairn_abi::address::{LEAF_SPAN, PAGE_SIZE};
use cairn_abi::record::Header;
use cairn_image::Image;
use cairn_tool::build::{Parts, lay_out_with, nucleus};
use zerocopy::FromBytes;

const SYSTEM: &str = "tests/processes/processes.toml";

/// Bytes that the memory manager hands out, and those of quotas that nothing was placed in yet.
fn free_and_promised(image: &Image) -> (u64, u64) {
    let record = &image.bytes[(image.report.record - image.report.load_address) as usize..];
    let free = Header::read_from_prefix(record).unwrap().0.free_memory;
    let promised = image.report.instances.iter().map(|one| one.quota - one.memory).sum();
    (free.end - free.start, promised)
}

#[test]
fn quotas_and_memory_of_processes_are_both_there_or_the_board_is_refused() {
    let (mut parts, nucleus) = (Parts::new(SYSTEM, None).unwrap(), nucleus().unwrap().0);
    let servers = parts.system.instances.iter().filter_map(|one| one.processes.as_ref());
    let of_processes: u64 = servers.map(|processes| processes.memory).sum();
    assert!(of_processes >= 2 * LEAF_SPAN);
    let memory = &parts.system.board.memory;
    let (base, kept) = (memory.base, memory.kept);
    let mut ends_at = |end: u64| {
        parts.system.board.memory.size.value = end + kept - base;
        lay_out_with(&parts, &nucleus)
    };
    // Large pages end there.
    let mut end = (base + (64 << 20)) / LEAF_SPAN * LEAF_SPAN;
    let mut least = ends_at(end).unwrap();
    while let Ok(image) = ends_at(end - LEAF_SPAN) {
        (end, least) = (end - LEAF_SPAN, image);
    }
    let (free, promised) = free_and_promised(&least);
    assert!((promised..promised + LEAF_SPAN).contains(&free), "{free:#x} for {promised:#x}");
    let behind = least.report.load_address + least.bytes.len() as u64 + free;
    assert_eq!(end - behind, of_processes);
    let rest = LEAF_SPAN - PAGE_SIZE;
    let of_processes_with_rest = format!("memory of processes {}K", (of_processes + rest) >> 10);
    let refused = ends_at(end - PAGE_SIZE).err().expect("a page less").to_string();
    for expected in ["has not enough memory", "memory = ", &of_processes_with_rest] {
        assert!(refused.contains(expected), "expected `{expected}` in\n{refused}");
    }
}
