//! Lets its heap and its stack grow, and watches those that do so without end.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use cairn::environment::{self, startup};
use cairn::time::{counter, ticks};
use cairn::{Error, InstanceId};
use cairn_interfaces as interfaces;
use cairn_test_growing_contract::{Deep, DeepProxy};
use core::hint::black_box;

cairn::component! {
    name: "growing-grower",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        portals: interfaces::Portals,
        supervisor: interfaces::Supervisor,
        memory: interfaces::Memory,
        usage: interfaces::MemoryStatistics,
        well: Deep,
        pit: Deep,
        shallow: Deep,
    },
    main: main,
}

const PAGE: u64 = 4096;

fn say(text: String) {
    imports::CONSOLE.write(text.as_bytes()).expect("console");
}

/// Pages that this instance has.
fn used() -> u64 {
    used_by(environment::startup().instance)
}

fn used_by(instance: InstanceId) -> u64 {
    imports::USAGE.usage_of(instance).expect("usage").0
}

fn main() {
    heap();
    stack();
    refused();
    calls();
    hostile();
    others();
    let _ = imports::SUPERVISOR.halt(0);
}

/// Blocks of a size, each with its own pattern, until there are no more; how many.
fn blocks(size: usize) -> usize {
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    loop {
        let mut block = Vec::new();
        if blocks.try_reserve(1).is_err() || block.try_reserve_exact(size).is_err() {
            break;
        }
        block.resize(size, blocks.len() as u8);
        blocks.push(block);
    }
    for (number, block) in blocks.iter().enumerate() {
        assert!(block.iter().all(|byte| *byte == number as u8), "block {number}");
    }
    blocks.len()
}

/// From 16 KiB to 256, and no further; what it has then, it keeps.
fn heap() {
    let (before, first) = (used(), cairn::heap::size());
    assert_eq!((first, cairn::heap::limit()), (16 << 10, 256 << 10));
    let small = blocks(1 << 10);
    let size = cairn::heap::size();
    assert!(small >= 230 && size == 256 << 10, "{small} blocks, {size} bytes");
    assert_eq!(used(), before + (size - first) as u64 / PAGE);
    // It is one heap, of which a block may be nearly all.
    let mut block: Vec<u8> = Vec::new();
    block.try_reserve_exact(240 << 10).expect("all came back, in one");
    assert!(Vec::<u8>::new().try_reserve_exact(100 << 10).is_err(), "that is too much");
    drop(block);
    assert_eq!(blocks(1 << 10), small);
    assert_eq!(used(), before + (size - first) as u64 / PAGE);
    say(format!("ok: the heap grew from {first} to {size} bytes, {small} blocks\n"));
}

fn deep(levels: u64) -> u64 {
    let kept = black_box([levels; 64]);
    if levels == 0 {
        return 0;
    }
    deep(levels - 1) + black_box(kept)[63] / levels
}

/// 200 levels of half a KiB and more on a stack that begins with 16.
fn stack() {
    let before = used();
    assert_eq!(deep(200), 200);
    let pages = used() - before;
    assert!((20..=60).contains(&pages), "{pages} pages");
    assert_eq!(deep(200), 200);
    assert_eq!(used() - before, pages, "it has them");
    say(format!("ok: the stack grew by {pages} pages\n"));
}

/// Nothing is mapped where nothing grows.
fn refused() {
    let startup = startup();
    let memory = imports::MEMORY;
    for (address, pages) in [
        (startup.heap, 1),
        (startup.heap + startup.heap_limit, 1),
        (startup.heap + startup.heap_size + 1, 1),
        (startup.run_time_memory, 1),
        (startup.heap + startup.heap_size, 0),
        (startup.heap + startup.heap_size, u64::MAX / PAGE),
        (0, 1),
        (u64::MAX - 4095, 1),
    ] {
        let answer = memory.extend(address, pages);
        assert_eq!(answer, Err(Error::BadArgument), "{address:#x} {pages}");
    }
    let last = startup.heap + startup.heap_limit - PAGE;
    assert_eq!(memory.extend(last, 1), Err(Error::Busy));
    assert_eq!(memory.free(last, 1), Err(Error::BadArgument));
    say(String::from("ok: nothing is mapped elsewhere\n"));
}

/// Calls go deep on stacks of 8 KiB. What these have grown by they keep, and the next call costs no fault.
fn calls() {
    const WELL: InstanceId = InstanceId(10);
    let before = used_by(WELL);
    assert_eq!(imports::WELL.dive(4), Ok(4));
    assert_eq!(used_by(WELL), before, "that is not deep");
    assert_eq!(imports::WELL.dive(150), Ok(150));
    let pages = used_by(WELL) - before;
    assert!((18..=48).contains(&pages), "{pages} pages");
    let start = counter();
    assert_eq!(imports::WELL.dive(150), Ok(150));
    let second = counter() - start;
    assert_eq!(used_by(WELL) - before, pages, "it has them");
    let start = counter();
    assert_eq!(imports::WELL.dive(160), Ok(160));
    assert!(counter() - start > second, "a fault more takes time");
    imports::SUPERVISOR.restart("well").expect("restart");
    wait();
    assert_eq!(used_by(WELL), before, "the next life begins as the first");
    assert_eq!(imports::WELL.dive(150), Ok(150));
    say(format!("ok: stacks of calls grew by {pages} pages\n"));
}

/// Callees that call themselves without end die, at their quota or at their limit; their callers do not, and nothing is lost.
fn hostile() {
    let free = || imports::USAGE.usage().expect("usage").0;
    let before = free();
    for round in 0..3 {
        for (name, callee, most) in [("pit", imports::PIT, 80), ("shallow", imports::SHALLOW, 10)] {
            let callee: DeepProxy = callee;
            assert_eq!(callee.dive(u64::MAX), Err(Error::Dead), "{name} {round}");
            wait();
            assert_eq!(callee.dive(4), Ok(4), "{name} lives again");
            assert_eq!(free(), before, "{name} has nothing that it had");
            assert_eq!(callee.dive(most), Ok(most), "{name}");
            imports::SUPERVISOR.restart(name).expect("restart");
            wait();
        }
    }
    assert_eq!(free(), before, "pages are lost");
    say(String::from("ok: who calls itself without end takes its quota and no more\n"));
}

/// Until those that died live again.
fn wait() {
    for _ in 0..400 {
        let _ = imports::THREADS.sleep_until(counter() + ticks(1_000));
    }
}

/// Two that call themselves without end die, one at its limit, one at its quota; what they had comes back.
fn others() {
    let free = || imports::USAGE.usage().expect("usage").0;
    let before = free();
    for name in ["endless", "poor"] {
        imports::SUPERVISOR.restart(name).expect("its first life is over");
    }
    // Both have the priority of background work.
    for _ in 0..200 {
        let _ = imports::THREADS.sleep_until(counter() + ticks(1_000));
    }
    assert_eq!(free(), before, "pages are lost");
    say(String::from("ok: growing: done\n"));
}
