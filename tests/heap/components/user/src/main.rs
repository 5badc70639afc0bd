//! Uses the heap through `alloc`, from several threads, to its end.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use cairn::Error;
use cairn::environment::startup;
use cairn::section::Section;
use cairn::thread::Stack;
use cairn::time::{counter, ticks};
use cairn_interfaces as interfaces;
use cairn_interfaces::spawn;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

cairn::component! {
    name: "heap-user",
    imports: {
        console: interfaces::Console,
        threads: interfaces::Threads,
        portals: interfaces::Portals,
        supervisor: interfaces::Supervisor,
        memory: interfaces::Memory,
        usage: interfaces::MemoryStatistics,
    },
    main: main,
}

fn say(text: String) {
    imports::CONSOLE.write(text.as_bytes()).expect("console");
}

fn main() {
    collections();
    pages();
    let most = exhaustion();
    threads();
    // Nothing was lost on the way.
    assert_eq!(exhaustion(), most);
    say(format!("ok: all came back, {most} of {} bytes at once\n", cairn::heap::size()));
    let _ = imports::SUPERVISOR.halt(0);
}

fn collections() {
    let mut map = BTreeMap::new();
    for number in 0..500u64 {
        map.insert(number.wrapping_mul(0x9e37_79b9_7f4a_7c15), Box::new(number));
    }
    let mut numbers: Vec<u64> = map.values().map(|number| **number).collect();
    numbers.sort_unstable();
    assert!(numbers.iter().copied().eq(0..500));
    let heap = startup().heap..startup().heap + startup().heap_size;
    assert!(heap.contains(&(numbers.as_ptr() as u64)), "the memory is not the heap's");
    say(format!("ok: {} entries, {} numbers\n", map.len(), numbers.len()));
}

fn free_pages() -> u64 {
    imports::USAGE.usage().expect("usage").0
}

/// Pages beside the heap: zeroed, one's own, and given back.
fn pages() {
    let before = free_pages();
    let first = imports::MEMORY.pages(3).expect("pages");
    let second = imports::MEMORY.pages(1).expect("pages");
    assert_eq!((first.size(), second.size()), (3 * 4096, 4096));
    assert!((0..first.size()).step_by(8).all(|at| first.load(at) == 0));
    first.store(3 * 4096 - 8, 7);
    second.set_byte(0, 9);
    assert_eq!((first.load(3 * 4096 - 8), second.byte(0)), (7, 9));
    assert_eq!(free_pages(), before - 4);
    drop(first);
    assert_eq!(free_pages(), before - 1);
    drop(second);
    assert_eq!(free_pages(), before);
    let again = imports::MEMORY.pages(3).expect("pages");
    assert_eq!(again.load(3 * 4096 - 8), 0);
    assert_eq!(imports::MEMORY.pages(1 << 20).err(), Some(Error::Exhausted));
    // Nothing else can be made a section: not the heap, not a stack, not devices.
    let startup = startup();
    let own = 0u64;
    for address in [startup.heap, &raw const own as u64 & !4095, startup.run_time_memory + 1, 0] {
        assert!(Section::of_pages(address, 1).is_none(), "{address:#x}");
    }
    assert!(Section::of_pages(startup.run_time_memory, u64::MAX / 4096).is_none());
    say("ok: pages come and go\n".into());
}

/// The largest block that there is; one more byte is refused, as an error.
fn exhaustion() -> usize {
    let (mut fits, mut fails) = (0, cairn::heap::size() + 1);
    while fails - fits > 1 {
        let middle = fits.midpoint(fails);
        match Vec::<u8>::new().try_reserve_exact(middle) {
            Ok(()) => fits = middle,
            Err(_) => fails = middle,
        }
    }
    assert!(fits > cairn::heap::size() / 2, "{fits} of {} bytes", cairn::heap::size());
    fits
}

static STACKS: [Stack<8192>; 3] = [const { Stack::new() }; 3];
static ROUNDS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Each has its own pattern, in blocks that grow; the clock takes turns among them.
fn churn(own: u64) {
    let end = counter() + ticks(100_000);
    while counter() < end {
        let mut blocks: Vec<Vec<u8>> = Vec::new();
        for size in 1..40 {
            blocks.push(Vec::new());
            for block in &mut blocks {
                block.resize(block.len() + size, own as u8);
            }
        }
        assert!(blocks.iter().flatten().all(|byte| *byte == own as u8), "not its own memory");
        ROUNDS[own as usize].fetch_add(1, Relaxed);
    }
}

fn threads() {
    let threads: [_; 3] = core::array::from_fn(|own| {
        spawn(imports::THREADS, &STACKS[own], churn, own as u64, 20).expect("spawn")
    });
    for thread in threads {
        thread.join().expect("join");
    }
    let rounds = ROUNDS.each_ref().map(|rounds| rounds.load(Relaxed));
    assert!(rounds.iter().all(|rounds| *rounds > 1), "{rounds:?}");
    say(format!("ok: three threads, {rounds:?} rounds\n"));
}
