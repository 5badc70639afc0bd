//! What confined drivers do to their devices: nothing that a driver passes makes a descriptor name foreign memory, not even
//! one that is read while it is written.

use crate::mutation::{noticed, without};
use crate::run::Crossed;
use crate::world::*;
use cairn_abi::Error;
use cairn_abi::address::{DEVICES, PAGE_SIZE, kernel_stack};
use cairn_abi::device::*;
use cairn_emulator::encode;
use cairn_emulator::register::*;
use cairn_portal::{Crossing, DeviceOperation, DeviceQueue, generate};

/// Where the device finds the driver's memory.
const DEVICE_ADDRESS: u64 = 0x8765_4000;
/// Bytes of it.
const SIZE: u64 = 0x1_2000;
/// A page of registers, then one of descriptors, then one that belongs to others.
const REGISTERS: u64 = DEVICES;
const DESCRIPTORS: u64 = DEVICES + PAGE_SIZE;
const RINGS: u64 = DEVICES + 2 * PAGE_SIZE;
/// The queue that is offered to.
const NUMBER: u64 = 1;
const QUEUES: u64 = 2;
const QUEUE: DeviceQueue = DeviceQueue {
    descriptors: DESCRIPTORS,
    count: QUEUE_DESCRIPTORS,
    device_address: DEVICE_ADDRESS,
    size: SIZE,
};
/// Bytes of the device's configuration.
const CONFIGURATION: u64 = 0x20;

struct Driver {
    domain: usize,
    /// By the numbers of `cairn_abi::device`.
    portals: [u64; 5],
}

impl Driver {
    fn new(world: &mut World, domain: usize) -> Driver {
        let operations = [
            DeviceOperation::Notify { registers: REGISTERS, queues: QUEUES },
            DeviceOperation::Acknowledge { registers: REGISTERS },
            DeviceOperation::Configure { registers: REGISTERS, size: CONFIGURATION },
            DeviceOperation::Post(QUEUE),
            DeviceOperation::Offer {
                queue: QUEUE,
                number: NUMBER,
                rings: RINGS,
                registers: REGISTERS,
            },
        ];
        let crossing = Crossing { caller: world.end(domain), ..Crossing::NONE };
        let portals = operations.map(|operation| {
            let code = world
                .generate(|words, address| generate::device(operation, &crossing, words, address));
            if is_kernel(domain) {
                world.short_circuits.push(code.call..code.call + code.size as u64);
            }
            code.call
        });
        let first = 40;
        for (index, code) in (first..).zip(portals) {
            world.install(domain, index, code);
        }
        for number in 0..PAGE_SIZE / DESCRIPTOR_SIZE {
            let next = (number + 1) % QUEUE_DESCRIPTORS;
            world.set_word(DESCRIPTORS + number * DESCRIPTOR_SIZE + 8, next << 48);
        }
        if is_kernel(domain) {
            world.start(domain, &[]);
        }
        Driver { domain, portals: std::array::from_fn(|portal| first + portal as u64) }
    }

    /// Calls; no address of the kernel's half is in a register afterwards, and those that the caller saves nowhere are as before.
    fn call(
        &self,
        world: &mut World,
        portal: u32,
        arguments: [u64; 8],
    ) -> (Result<(), Error>, Crossed) {
        let stack = match is_kernel(self.domain) {
            true => kernel_stack(THREAD) - 64,
            false => at(self.domain, STACK - 64),
        };
        let crossed = world.call(self.portals[portal as usize], stack, arguments);
        world.assert_at(self.domain, RESUME);
        for register in [T1, T2] {
            assert_eq!(world.machine.get(register), 0, "{}", name(register));
        }
        for register in [T0, T3, T4, T5, T6] {
            let (before, after) =
                (crossed.before[usize::from(register)], world.machine.get(register));
            assert!(after == before || after as i64 >= 0, "{} is the kernel's", name(register));
        }
        for register in SAVED_OF_DRIVER {
            let before = crossed.before[usize::from(register)];
            assert_eq!(world.machine.get(register), before, "{}", name(register));
        }
        let frames = (crossed.frame_before, crossed.frame_before);
        crossed.assert_writes(
            frames,
            &[(REGISTERS, PAGE_SIZE), (DESCRIPTORS, PAGE_SIZE), (RINGS, PAGE_SIZE)],
        );
        assert_eq!(world.machine.csr.sscratch, crossed.frame_before);
        match world.machine.get(A0) as i64 {
            0 => (Ok(()), crossed),
            status => (Err(Error::from_status(status)), crossed),
        }
    }
}

const SAVED_OF_DRIVER: [u8; 15] = [S0, S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, GP, SP, RA];

fn read(bytes: &[u8], number: usize) -> Found {
    let word = |at: usize| {
        u64::from_le_bytes(*bytes[number * 16 + at * 8..].first_chunk().expect("in the table"))
    };
    Found::of([word(0), word(1)])
}

/// Whatever a device combines of what it read before and after any store ends in the driver's memory or its margin.
fn assert_confined(crossed: &Crossed, before: &[u8]) {
    let mut table = before.to_vec();
    let from = physical(DESCRIPTORS);
    let writes = crossed
        .journal
        .writes
        .iter()
        .filter(|write| (from..from + PAGE_SIZE).contains(&write.address));
    let mut states = vec![table.clone()];
    for write in writes {
        let at = (write.address - from) as usize;
        let bytes = write.new.to_le_bytes();
        table[at..at + write.size].copy_from_slice(&bytes[..write.size]);
        states.push(table.clone());
    }
    for number in 0..before.len() / 16 {
        let mut found: Vec<Found> = states.iter().map(|state| read(state, number)).collect();
        found.dedup();
        for (one, other) in found.iter().flat_map(|one| found.iter().map(move |other| (one, other)))
        {
            let mixed = Found { address: one.address, ..*other };
            let number = number as u64;
            assert!(
                mixed.is_confined(number, QUEUE_DESCRIPTORS, DEVICE_ADDRESS, SIZE),
                "{number}: {mixed:x?}"
            );
        }
    }
}

/// Posts by one of the two portals, and compares the table with what it should be.
fn post(world: &mut World, driver: &Driver, portal: u32, first: u64, words: [u64; 6]) {
    let index = RINGS + AVAILABLE_INDEX;
    let rings = world.bytes(RINGS, PAGE_SIZE);
    world.write_bytes(REGISTERS + register::QUEUE_NOTIFY, &[0xff; 4]);
    let before = world.bytes(DESCRIPTORS, PAGE_SIZE);
    let mut arguments = [first; 8];
    arguments[2..].copy_from_slice(&words);
    let (result, crossed) = driver.call(world, portal, arguments);
    assert_confined(&crossed, &before);
    let after = world.bytes(DESCRIPTORS, PAGE_SIZE);
    let mut expected = Ok(());
    let mut written = 0;
    if first >= QUEUE_DESCRIPTORS {
        expected = Err(Error::BadArgument);
    } else {
        for (number, &word) in (first as usize..).zip(posted(&words)) {
            if !is_lawful(word, SIZE) {
                expected = Err(Error::BadArgument);
                break;
            }
            let (offset, length) = (word >> 40, word & 0xffff);
            let found = read(&after, number);
            assert_eq!(found.address, DEVICE_ADDRESS + offset);
            assert_eq!((found.length, found.flags), (length, word >> 16 & 3));
            written += 1;
        }
    }
    assert_eq!(result, expected);
    // What is refused is not offered.
    let mut expected_rings = rings.clone();
    let mut notified = [0xff; 4];
    if portal == DEVICE_OFFER && result.is_ok() {
        let half = |at: u64| u16::from_le_bytes([rings[at as usize], rings[at as usize + 1]]);
        let offered = half(AVAILABLE_INDEX);
        let entry =
            AVAILABLE_ENTRIES as usize + 2 * (offered as usize % QUEUE_DESCRIPTORS as usize);
        expected_rings[entry..entry + 2].copy_from_slice(&(first as u16).to_le_bytes());
        let next = offered.wrapping_add(1).to_le_bytes();
        expected_rings[AVAILABLE_INDEX as usize..][..2].copy_from_slice(&next);
        notified = (NUMBER as u32).to_le_bytes();
        // The index comes last, behind all descriptors; then the device is told.
        let last: Vec<u64> =
            crossed.journal.writes.iter().rev().map(|write| write.address).collect();
        let expected = [REGISTERS + register::QUEUE_NOTIFY, index].map(physical);
        assert!(last.starts_with(&expected));
    }
    assert!(world.bytes(RINGS, PAGE_SIZE) == expected_rings, "the rings");
    assert_eq!(world.bytes(REGISTERS + register::QUEUE_NOTIFY, 4), notified);
    let others = (0..after.len() / 16)
        .filter(|number| !(first..first.saturating_add(written)).contains(&(*number as u64)));
    for number in others {
        assert_eq!(read(&after, number), read(&before, number), "not named");
    }
}

fn both(check: impl Fn(&mut World, &Driver)) {
    for domain in [CLIENT, KERNEL_SERVER] {
        let mut world = World::new(110);
        let driver = Driver::new(&mut world, domain);
        check(&mut world, &driver);
    }
}

fn descriptors(world: &mut World, driver: &Driver, portal: u32) {
    // Bits 18 to 39 mean nothing.
    let good = |offset, length| {
        0xff_fffc_0000
            | Descriptor {
                offset,
                length,
                device_writes: length & 2 == 0,
                has_next: length & 1 == 0,
            }
            .word()
            .expect("it fits")
    };
    let all: [[u64; 6]; 2] = [1, 2].map(|length| {
        std::array::from_fn(|number| good(0x1000 + number as u32 * 64, length + number as u16))
    });
    for first in [0, 1, 7, QUEUE_DESCRIPTORS - 1] {
        for (count, mut words) in (0..=6).flat_map(|count| all.map(|words| (count, words))) {
            words[count..].fill(0);
            post(world, driver, portal, first, words);
        }
    }
    // To the last byte, and one further.
    let end = SIZE as u32;
    post(
        world,
        driver,
        portal,
        3,
        [(end - 1, 1), (1, 0xffff), (end - 16, 16), (1, 0xffff), (end - 1, 1), (end - 2, 2)]
            .map(|(offset, length)| good(offset, length)),
    );
    for bad in [good(end - 1, 2), good(end, 1), good(0xff_ffff, 0xffff), good(end - 15, 16)] {
        for place in 0..6 {
            let mut words = all[0];
            words[place] = bad;
            post(world, driver, portal, 9, words);
        }
    }
    // Whatever index the driver left in its ring.
    for offered in [0xffff, 0x7f80, 127, 128] {
        world.write_bytes(RINGS + AVAILABLE_INDEX, &u16::to_le_bytes(offered));
        for time in 0..3 {
            post(world, driver, portal, time, [good(64, 1), 0, 0, 0, 0, 0]);
        }
    }
    // Numbers of descriptors that are none.
    for first in [QUEUE_DESCRIPTORS, QUEUE_DESCRIPTORS + 1, 1 << 60, u64::MAX, u64::MAX << 4] {
        post(world, driver, portal, first, all[0]);
    }
}

fn registers(world: &mut World, driver: &Driver) {
    let mut model = world.bytes(REGISTERS, PAGE_SIZE);
    let mut expect = |world: &World, at: u64, value: u64| {
        model[at as usize..at as usize + 4].copy_from_slice(&(value as u32).to_le_bytes());
        assert_eq!(world.bytes(REGISTERS, PAGE_SIZE), model);
    };
    for queue in [1, 0] {
        assert_eq!(driver.call(world, DEVICE_NOTIFY, [queue; 8]).0, Ok(()));
        expect(world, register::QUEUE_NOTIFY, queue);
    }
    for queue in [QUEUES, u64::MAX, 1 << 32] {
        assert_eq!(driver.call(world, DEVICE_NOTIFY, [queue; 8]).0, Err(Error::BadArgument));
        expect(world, register::QUEUE_NOTIFY, 0);
    }
    for bits in [1, 3, u64::MAX] {
        assert_eq!(driver.call(world, DEVICE_ACKNOWLEDGE, [bits; 8]).0, Ok(()));
        expect(world, register::INTERRUPT_ACKNOWLEDGE, bits);
    }
    for offset in [0, 4, CONFIGURATION - 4] {
        let result = driver.call(world, DEVICE_CONFIGURE, [7, offset, !offset, 0, 0, 0, 0, 0]).0;
        assert_eq!(result, Ok(()));
        expect(world, register::CONFIGURATION + offset, !offset);
    }
    for offset in [1, 2, 3, 6, CONFIGURATION, u64::MAX, 0u64.wrapping_sub(register::CONFIGURATION)]
    {
        let result = driver.call(world, DEVICE_CONFIGURE, [offset; 8]).0;
        assert_eq!(result, Err(Error::BadArgument));
        expect(world, register::CONFIGURATION, !0);
    }
}

#[test]
fn descriptors_name_the_drivers_memory_alone() {
    both(|world, driver| {
        descriptors(world, driver, DEVICE_POST);
        descriptors(world, driver, DEVICE_OFFER);
    });
}

#[test]
fn registers_are_written_as_they_are() {
    both(registers);
}

/// Random words, and words of which a part is random.
#[test]
fn whatever_a_driver_passes() {
    both(|world, driver| {
        for time in 0..1500 {
            let mut word = || {
                let random = world.random.u64(..);
                match world.random.u8(0..4) {
                    0 => random,
                    1 => random & 0xff_ffff_ffff | world.random.u64(..SIZE) << 40,
                    2 => (random % 0x2000) | (world.random.u64(..SIZE) << 40),
                    _ => 0,
                }
            };
            let words = std::array::from_fn(|_| word());
            let first = if time % 8 == 0 { world.random.u64(..) } else { time % 130 };
            let portal = [DEVICE_POST, DEVICE_OFFER][time as usize / 2 % 2];
            post(world, driver, portal, first, words);
        }
    });
}

#[test]
fn every_instruction_matters() {
    both(|world, driver| {
        let scenario = |world: &mut World| {
            for portal in [DEVICE_POST, DEVICE_OFFER] {
                descriptors(&mut world.clone(), driver, portal);
            }
            registers(world, driver);
        };
        scenario(&mut world.clone());
        for portal in driver.portals {
            let code = world.word(world.table(driver.domain) + portal * 8);
            for address in (code..).step_by(4) {
                let word = world.word(address & !7) >> (8 * (address & 7));
                match word as u32 {
                    // Behind the last end: nothing, or what stands before the next portal.
                    0 => break,
                    // The order of memory and device, which the emulator has anyway; what is fetched, never executed.
                    0x0140_000f | 0x0420_000f | 0x0110_000f | 0x0000_006f | encode::NOP => continue,
                    // `li t4, 0` where an offset was a multiple of 4, which left zero there.
                    0x0000_0e93 if portal == driver.portals[DEVICE_CONFIGURE as usize] => continue,
                    word => assert!(
                        noticed(&without(world, address), scenario),
                        "nobody notices the absence of {word:#010x} at {:#x} of portal {portal} of {}",
                        address - code,
                        driver.domain
                    ),
                }
            }
        }
    });
}
