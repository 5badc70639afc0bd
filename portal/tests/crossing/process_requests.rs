//! What a server of processes asks for: at every limit and by chance, compared with a model of its pool.

use crate::processes::prepared;
use crate::world::processes::*;
use crate::world::*;
use cairn_abi::Error;
use cairn_abi::address::*;
use cairn_abi::page_table::{ENTRIES, table_entry};
use cairn_abi::privileged::*;
use cairn_abi::process::*;
use cairn_emulator::mmu::{ACCESSED, DIRTY, EXECUTE, GLOBAL, READ, USER, VALID, WRITE};

/// Whether an entry leads to memory of the server's processes.
fn is_memory(entry: u64) -> bool {
    (MEMORY >> 2..(MEMORY + MEMORY_SIZE) >> 2).contains(&entry)
}

/// Writes an entry, by its number in the pool.
fn put(pool: &mut [u8], number: u64, entry: u64) {
    pool[number as usize * 8..][..8].copy_from_slice(&entry.to_le_bytes());
}

/// What requests may have done to the pool, which is compared as bytes, thousands of times.
fn expected(portal: usize, first: u64, second: u64, pool: &mut [u8]) -> bool {
    let (entries, tables) = (ENTRIES as u64, POOL.tables());
    match portal {
        PORTAL_PROCESS_MAP => {
            let is_for_one = second & (USER | GLOBAL) == USER;
            let is_lawful = second & VALID == 0 || is_memory(second) && is_for_one;
            let is_there = first < POOL.leaves * entries;
            if is_lawful && is_there {
                put(pool, POOL.first_leaf() * entries + first, second);
            }
            is_lawful && is_there
        }
        PORTAL_PROCESS_LINK => {
            let (table, entry) = (first / entries, first % entries);
            let lower = match table {
                table if table < POOL.spaces => POOL.first_directory()..POOL.first_leaf(),
                _ => POOL.first_leaf()..tables,
            };
            let is_there = table < POOL.first_leaf() && (table >= POOL.spaces || entry < 256);
            let is_lawful = second == 0 || lower.contains(&second);
            if is_there && is_lawful {
                let leads_to = table_entry(ROOTS_PHYSICAL + second * PAGE_SIZE);
                put(pool, first, if second == 0 { 0 } else { leads_to });
            }
            is_there && is_lawful
        }
        PORTAL_PROCESS_CLEAR => {
            let is_there = first < tables * 8 && (first >= POOL.spaces * 8 || first % 8 < 4);
            if is_there {
                pool[first as usize * 512..][..512].fill(0);
            }
            is_there
        }
        _ => first < POOL.spaces,
    }
}

fn pool(world: &World) -> Vec<u8> {
    world.bytes(ROOTS, POOL.size())
}

/// What several entries may become: from the last to the first, until one is refused.
fn expected_of_several(first: u64, count: u64, words: &[u64], pool: &mut [u8]) -> bool {
    let end = POOL.leaves * ENTRIES as u64;
    let is_there = (1..=words.len() as u64).contains(&count) && first < end && first + count <= end;
    is_there
        && (0..count).rev().all(|number| {
            let word = (words[number as usize] | USER) & !GLOBAL;
            let is_lawful = is_memory(word);
            if is_lawful {
                put(pool, POOL.first_leaf() * ENTRIES as u64 + first + number, word);
            }
            is_lawful
        })
}

fn request(world: &mut World, portal: usize, first: u64, second: u64) {
    let mut model = pool(world);
    if portal == PORTAL_PROCESS_MAP_SEVERAL {
        let words = (STATUS_ENTRIES..0).step_by(8).map(|place| world.status(place));
        let words: Vec<u64> = words.collect();
        let is_lawful = expected_of_several(first, second, &words, &mut model);
        return requested(world, portal, first, second, is_lawful, &model);
    }
    let is_lawful = expected(portal, first, second, &mut model);
    requested(world, portal, first, second, is_lawful, &model);
}

/// The request changes the pool to that of the model, and nothing else; its answer says whether it was lawful.
fn requested(
    world: &mut World,
    portal: usize,
    first: u64,
    second: u64,
    is_lawful: bool,
    model: &[u8],
) {
    let (area, size) = (PROCESSES_PHYSICAL, ROOTS_PHYSICAL - PROCESSES_PHYSICAL);
    let before = world.machine.memory.read(area, size as usize).unwrap();
    let status = world.operate(portal, first, second);
    let expected = if is_lawful { 0 } else { Error::BadArgument.status() };
    assert_eq!(status, expected, "{portal}: {first:#x} {second:#x}");
    assert!(pool(world) == model, "{portal}: {first:#x} {second:#x}");
    let mut after = world.machine.memory.read(area, size as usize).unwrap();
    if portal == PORTAL_PROCESS_SELECT && is_lawful {
        let selected = world.spaces[DOMAINS_END + first as usize].satp();
        let cell = (PAGE_SIZE as i64 + CELL_PROCESS) as usize;
        assert_eq!(after[cell..cell + 8], selected.to_le_bytes());
        after[cell..cell + 8].copy_from_slice(&before[cell..cell + 8]);
    }
    assert!(after == before, "cells and the table of processes are as they were");
}

/// Entries by chance in the status page; `None`: all are lawful.
fn set_entries(world: &mut World, wrong: Option<(usize, u64)>) {
    for (number, place) in (STATUS_ENTRIES..0).step_by(8).enumerate() {
        let page = MEMORY / PAGE_SIZE + world.random.u64(..MEMORY_SIZE / PAGE_SIZE);
        let others = world.random.u64(..1024);
        let word = wrong.filter(|(which, _)| *which == number).map(|(_, word)| word);
        world.set_status(place, word.unwrap_or(page << 10 | others));
    }
}

/// Several entries at once: as many as may be and one more, at the ends of the leaves, and each of them one that is refused.
fn several(world: &mut World) {
    let portal = PORTAL_PROCESS_MAP_SEVERAL;
    let end = POOL.leaves * ENTRIES as u64;
    let most = MAPPED_MAXIMUM as u64;
    for count in (0..=most + 1).chain([1 << 61, u64::MAX]) {
        let firsts = [0, 500, end - 1, end, end + 1, end.wrapping_sub(count), 1 << 61, u64::MAX];
        for first in firsts.into_iter().chain([end.wrapping_sub(count).wrapping_add(1)]) {
            set_entries(world, None);
            request(world, portal, first, count);
        }
    }
    let page = MEMORY >> 2 | USER | READ | VALID;
    let wrong = [
        0,
        page & !USER,
        page | GLOBAL,
        page - 0x400,
        page + (MEMORY_SIZE >> 2),
        page | 1 << 54,
        page | 1 << 63,
        page & !(USER | VALID),
        (page | GLOBAL) & !VALID,
        u64::MAX,
    ];
    for which in 0..MAPPED_MAXIMUM as usize {
        for word in wrong {
            set_entries(world, Some((which, word)));
            request(world, portal, 490, most);
            request(world, portal, 490, which as u64);
        }
    }
}

/// At all limits, and one beyond.
pub fn requests(world: &mut World) {
    let entries = ENTRIES as u64;
    let numbers =
        [0, 1, 2, 3, 4, 5, 255, 256, 257, 511, 512, 16, 72, 71, 15, 20, 1 << 60, 1 << 61, u64::MAX];
    let tables = (0..=POOL.tables() + 1).chain([1 << 54, 1 << 62, u64::MAX]);
    let edges = (0..=POOL.tables())
        .flat_map(|table| [0, 255, 256, 511].map(|entry| table * entries + entry));
    for entry in edges.clone() {
        for table in tables.clone() {
            request(world, PORTAL_PROCESS_LINK, entry, table);
        }
    }
    let page = USER | READ | VALID;
    let first = MEMORY >> 2;
    let last = (MEMORY + MEMORY_SIZE - PAGE_SIZE) >> 2;
    for entry in edges.chain(numbers) {
        for content in [
            0,
            !1,
            first | page,
            last | page | WRITE | EXECUTE | ACCESSED | DIRTY,
            (first - 0x400) | page,
            (last + 0x400) | page,
            first | page | GLOBAL,
            first | page & !USER,
            first | page | 1 << 63,
            first | page | 1 << 54,
            page,
            u64::MAX,
        ] {
            request(world, PORTAL_PROCESS_MAP, entry, content);
        }
    }
    several(world);
    let is_of_server = |number: &u64| *number >= POOL.spaces * entries || number % entries < 256;
    for number in (0..POOL.tables() * entries).filter(is_of_server) {
        world.set_word(ROOTS + number * 8, !1);
    }
    for number in (0..=POOL.tables() * 8).chain(numbers) {
        request(world, PORTAL_PROCESS_CLEAR, number, number);
    }
    for number in numbers {
        request(world, PORTAL_PROCESS_SELECT, number, 7);
        request(world, PORTAL_PROCESS_FENCE, number, 0);
        request(world, PORTAL_PROCESS_FENCE, number, number);
    }
}

#[test]
fn requests_at_every_limit() {
    let (mut world, _) = prepared(136);
    requests(&mut world);
}

/// Every valid entry of the pool leads to where its table's kind may: to the next kind, to the server's memory for user mode.
fn assert_confined(world: &World) {
    let pool = pool(world);
    let words = pool.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
    for (number, word) in words.enumerate().filter(|(_, word)| word & VALID != 0) {
        let (table, entry) = (number as u64 / ENTRIES as u64, number % ENTRIES);
        let target = (word >> 10 << 12) & ((1 << 56) - 1);
        let next = |from: u64, to: u64| {
            let place = ROOTS_PHYSICAL + from * PAGE_SIZE..ROOTS_PHYSICAL + to * PAGE_SIZE;
            assert!(place.contains(&target) && word & (READ | WRITE | EXECUTE | GLOBAL) == 0);
        };
        match table {
            root if root < POOL.spaces && entry >= 256 => {
                let kernel = world.spaces[0].root + entry as u64 * 8;
                assert_eq!(word, world.machine.memory.read_u64(kernel).unwrap());
            }
            root if root < POOL.spaces => next(POOL.first_directory(), POOL.first_leaf()),
            directory if directory < POOL.first_leaf() => next(POOL.first_leaf(), POOL.tables()),
            _ => {
                assert!((MEMORY..MEMORY + MEMORY_SIZE).contains(&target));
                assert!(word & (USER | GLOBAL) == USER && word >> 54 == 0);
            }
        }
    }
}

#[test]
fn whatever_a_server_asks_for() {
    let (mut world, _) = prepared(137);
    for time in 0..4000 {
        let portals = [
            PORTAL_PROCESS_SELECT,
            PORTAL_PROCESS_MAP,
            PORTAL_PROCESS_MAP_SEVERAL,
            PORTAL_PROCESS_LINK,
            PORTAL_PROCESS_CLEAR,
            PORTAL_PROCESS_FENCE,
        ];
        let portal = portals[world.random.usize(..portals.len())];
        let mut words = [0; 2].map(|_| world.random.u64(..) >> world.random.u32(..64));
        if time % 4 != 0 {
            words[0] %= POOL.tables() * ENTRIES as u64 + 2;
            words[1] = match portal {
                PORTAL_PROCESS_MAP => (MEMORY >> 2) | (words[1] % (MEMORY_SIZE >> 1)),
                PORTAL_PROCESS_MAP_SEVERAL => words[1] % (MAPPED_MAXIMUM as u64 + 2),
                _ => words[1] % (POOL.tables() + 2),
            };
        }
        if portal == PORTAL_PROCESS_MAP_SEVERAL {
            let wrong = (time % 3 == 0)
                .then(|| (world.random.usize(..MAPPED_MAXIMUM as usize), world.random.u64(..)));
            set_entries(&mut world, wrong);
        }
        request(&mut world, portal, words[0], words[1]);
    }
    assert_confined(&world);
}
