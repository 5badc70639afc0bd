//! Copies of up to 64 bytes: every length at every place, exact bytes, and a fault at every position.

use crate::world::*;
use cairn_abi::Error;
use cairn_abi::address::*;
use cairn_abi::page_table::WRITE;
use cairn_abi::thread::FRAME_SCRATCH;
use cairn_emulator::register::*;
use std::collections::HashSet;

/// A world with a portal of this specification whose first parameter is memory.
fn world(specification: &str) -> (World, Connection) {
    let mut world = World::new(100);
    let connection = world.connect(specification, CLIENT, SERVER);
    let noise: Vec<u8> = (0..DATA_PAGES * PAGE_SIZE).map(|_| world.random.u8(..)).collect();
    world.write_bytes(at(CLIENT, DATA), &noise);
    (world, connection)
}

/// Calls with `length` bytes at `pointer`; the status, if the callee was not reached.
fn call(
    world: &mut World,
    connection: &Connection,
    pointer: u64,
    length: u64,
) -> (crate::run::Crossed, Option<i64>) {
    let stack = world.usual_stack(connection);
    let crossed = world.call(connection.index, stack, [pointer, length, 0, 0, 0, 0, 0, 0]);
    let refused = world.running() == CLIENT;
    (crossed, refused.then(|| world.machine.get(A0) as i64))
}

/// Places around a page's end, and at each distance from a word's beginning.
fn places() -> Vec<u64> {
    let page = at(CLIENT, DATA + PAGE_SIZE);
    (page - 72..=page + 8).collect()
}

#[test]
fn every_length_at_every_place() {
    let (mut world, connection) = world("npw");
    let activation = connection.activations[0];
    let (slot, area) = (activation.stack - COPY_STRIDE, at(CLIENT, DATA));
    for pointer in places() {
        for length in 0..=COPY_MAXIMUM {
            let noise: Vec<u8> = (0..COPY_STRIDE).map(|_| world.random.u8(..)).collect();
            world.write_bytes(slot, &noise);
            let (crossed, refused) = call(&mut world, &connection, pointer, length);
            assert_eq!(refused, None, "{length} bytes at {pointer:#x}");
            let place = world.machine.get(A0);
            assert_eq!(place, slot + pointer % 8);
            assert_eq!(world.machine.get(A1), length);
            assert_eq!(world.bytes(place, length), world.bytes(pointer, length));
            // All of it was read, each byte once, and nothing else; around the copy all is as it was.
            let read: HashSet<u64> = crossed
                .journal
                .user_reads
                .iter()
                .flat_map(|read| read.address..read.address + read.size as u64)
                .collect();
            assert_eq!(read, (physical(pointer)..physical(pointer) + length).collect());
            let sizes = crossed.journal.user_reads.iter().map(|read| read.size as u64);
            assert_eq!(sizes.sum::<u64>(), length);
            let mut expected = noise;
            let start = (place - slot) as usize;
            expected[start..start + length as usize].copy_from_slice(&world.bytes(place, length));
            assert_eq!(world.bytes(slot, COPY_STRIDE), expected);

            let answer: Vec<u8> = (0..COPY_STRIDE).map(|_| world.random.u8(..)).collect();
            world.write_bytes(slot, &answer);
            let mut memory = world.bytes(area, 2 * PAGE_SIZE);
            let frame = world.machine.csr.sscratch;
            let back = world.reply(0, 0);
            world.assert_at(CLIENT, RESUME);
            let from = (pointer - area) as usize;
            memory[from..from + length as usize]
                .copy_from_slice(&answer[start..start + length as usize]);
            assert_eq!(world.bytes(area, 2 * PAGE_SIZE), memory);
            assert_eq!(back.journal.user_reads, []);
            let scratch = (frame + FRAME_SCRATCH as u64, 24);
            let queue = [(connection.crossing.queue, 8), (activation.descriptor, 8), scratch];
            let kernel = queue.map(|(address, size)| (physical(address), size));
            let allowed = [&kernel[..], &[(physical(pointer), length)]].concat();
            assert_eq!(back.journal.writes_outside(&allowed), []);
        }
    }
}

/// The memory ends, or begins, at any of the bytes.
#[test]
fn a_fault_at_every_position_is_refused() {
    let (mut world, connection) = world("npr");
    let end = at(CLIENT, DATA + DATA_PAGES * PAGE_SIZE);
    let start = at(CLIENT, READ_ONLY);
    for inside in 0..COPY_MAXIMUM {
        for length in inside + 1..=COPY_MAXIMUM {
            for pointer in [end - inside, start - length + inside] {
                let (crossed, refused) = call(&mut world, &connection, pointer, length);
                let expected = Some(Error::BadPointer.status());
                assert_eq!(refused, expected, "{length} bytes at {pointer:#x}");
                let range = (pointer, length);
                assert_eq!(crossed.journal.user_reads_outside(&[range]), []);
                assert_eq!(world.machine.csr.sscratch, base_header());
            }
        }
    }
}

/// What the callee wrote cannot be copied back from any byte on: the caller learns it, and nothing but the buffer has
/// changed.
#[test]
fn a_fault_at_every_position_on_the_way_back() {
    let (mut world, connection) = world("npw");
    let (area, boundary) = (at(CLIENT, DATA), at(CLIENT, DATA + PAGE_SIZE));
    let entry = connection.crossing.source_entry + (DATA + PAGE_SIZE) / PAGE_SIZE * 8;
    let writable = world.word(entry);
    for inside in 0..COPY_MAXIMUM {
        for length in inside + 1..=COPY_MAXIMUM {
            let pointer = boundary - inside;
            assert_eq!(call(&mut world, &connection, pointer, length).1, None);
            let place = world.machine.get(A0);
            let answer: Vec<u8> = (0..length).map(|_| world.random.u8(..)).collect();
            world.write_bytes(place, &answer);
            world.set_word(entry, writable & !WRITE);
            world.machine.fence_translations();
            let before = world.bytes(area, 2 * PAGE_SIZE);
            world.reply(0, 7);
            world.assert_at(CLIENT, RESUME);
            let reply = (world.machine.get(A0) as i64, world.machine.get(A1));
            assert_eq!(reply, (Error::BadPointer.status(), 0));
            let after = world.bytes(area, 2 * PAGE_SIZE);
            let from = (pointer - area) as usize;
            for (at, (old, new)) in before.iter().zip(&after).enumerate() {
                let copied =
                    (from..from + inside as usize).contains(&at) && answer[at - from] == *new;
                assert!(old == new || copied, "{length} bytes at {pointer:#x}: byte {at:#x}");
            }
            world.set_word(entry, writable);
            world.machine.fence_translations();
        }
    }
}
