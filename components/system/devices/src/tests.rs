//! A device that does what its test says, and remembers what was written.

use super::*;
use std::cell::RefCell;
use std::collections::HashMap;

const QUEUES: u64 = 0x8_8765_4000;

#[derive(Default)]
struct State {
    registers: HashMap<u64, u32>,
    queues: HashMap<(u32, u64), u32>,
    writes: Vec<(u64, u32)>,
    /// How many reads of the status it takes to confirm a reset.
    resets_after: u32,
    asked: u32,
}

struct Fake(RefCell<State>, Kind);

struct Kind {
    number: u32,
    version: u32,
    offered: u64,
    /// Most descriptors of its queues.
    sizes: Vec<u32>,
    refuses_features: bool,
}

impl Fake {
    fn new(kind: Kind) -> Fake {
        Fake(RefCell::default(), kind)
    }

    fn good() -> Fake {
        Fake::new(Kind::good())
    }

    fn queue(&self, queue: u32, register: u64) -> u64 {
        let state = self.0.borrow();
        let word = |register| u64::from(*state.queues.get(&(queue, register)).unwrap_or(&0));
        word(register) | word(register + 4) << 32
    }
}

impl Kind {
    fn good() -> Kind {
        Kind {
            number: 2,
            version: 2,
            offered: u64::MAX,
            sizes: vec![1024],
            refuses_features: false,
        }
    }
}

impl Registers for Fake {
    fn read(&self, offset: u64) -> u32 {
        let mut state = self.0.borrow_mut();
        let written = |state: &State, register| *state.registers.get(&register).unwrap_or(&0);
        let selected = written(&state, register::QUEUE_SELECT);
        match offset {
            register::MAGIC => register::MAGIC_VALUE,
            register::DEVICE => self.1.number,
            register::VERSION => self.1.version,
            register::DEVICE_FEATURES => {
                (self.1.offered >> (32 * written(&state, register::DEVICE_FEATURES_SELECT))) as u32
            }
            register::QUEUE_MAXIMUM => *self.1.sizes.get(selected as usize).unwrap_or(&0),
            register::QUEUE_READY => *state.queues.get(&(selected, offset)).unwrap_or(&0),
            register::STATUS => {
                let status = written(&state, offset);
                state.asked += 1;
                match status {
                    0 if state.asked <= state.resets_after => 0x40,
                    0 => 0,
                    _ if self.1.refuses_features => status & !FEATURES_OK,
                    _ => status,
                }
            }
            _ => panic!("reads {offset:#x}"),
        }
    }

    fn write(&self, offset: u64, value: u32) {
        let mut state = self.0.borrow_mut();
        state.writes.push((offset, value));
        let selected = *state.registers.get(&register::QUEUE_SELECT).unwrap_or(&0);
        if (register::QUEUE_SIZE..=register::QUEUE_READY).contains(&offset)
            || (register::QUEUE_DESCRIPTORS..register::CONFIGURATION).contains(&offset)
        {
            state.queues.insert((selected, offset), value);
        } else {
            state.registers.insert(offset, value);
        }
        if (offset, value) == (register::STATUS, 0) {
            state.queues.clear();
        }
    }
}

fn device(kind: VirtioKind) -> Device {
    Device {
        instance: cairn_abi::InstanceId(1),
        position: 0,
        kind: kind.number(),
        registers: 0,
        queues: QUEUES,
        queue_count: kind.queues() as u64,
    }
}

#[test]
fn a_device_begins() {
    let fake = Fake::good();
    let begun = begin(&fake, &device(VirtioKind::Block), 1 << 9 | 1 << 28 | 1 << 34).unwrap();
    assert_eq!(begun, 1 << 9 | VERSION_1);
    assert_eq!(fake.0.borrow().queues[&(0, register::QUEUE_SIZE)], 128);
    assert_eq!(fake.queue(0, register::QUEUE_DESCRIPTORS), QUEUES);
    assert_eq!(fake.queue(0, register::QUEUE_AVAILABLE), QUEUES + PAGE_SIZE + AVAILABLE_RING);
    assert_eq!(fake.queue(0, register::QUEUE_USED), QUEUES + PAGE_SIZE + USED_RING);
    let state = fake.0.borrow();
    let statuses: Vec<u32> = state
        .writes
        .iter()
        .filter(|write| write.0 == register::STATUS)
        .map(|write| write.1)
        .collect();
    assert_eq!(statuses, [0, 3, 11, 15], "reset first, begun last");
    assert_eq!(state.writes.last(), Some(&(register::STATUS, 15)));
}

#[test]
fn each_queue_has_its_own_pages() {
    let kind = Kind { number: 1, sizes: vec![256, 128], ..Kind::good() };
    let fake = Fake::new(kind);
    begin(&fake, &device(VirtioKind::Network), 0).unwrap();
    for queue in 0..2 {
        let pages = QUEUES + u64::from(queue) * QUEUE_PAGES * PAGE_SIZE;
        assert_eq!(fake.queue(queue, register::QUEUE_DESCRIPTORS), pages);
    }
}

/// Whatever a driver wants, and the device offers.
#[test]
fn no_feature_brings_addresses_of_the_driver() {
    // Descriptors in buffers of the driver's, rings of another form, addresses that an IOMMU translates, a queue reset alone.
    let unlawful = [28, 33, 34, 35, 37, 38, 40, 41];
    for kind in VirtioKind::ALL {
        let fake = Fake::new(Kind { number: kind.number(), sizes: vec![128; 2], ..Kind::good() });
        let features = begin(&fake, &device(kind), u64::MAX).unwrap();
        assert!(unlawful.iter().all(|bit| features & 1 << bit == 0), "{kind:?}: {features:#x}");
        assert_eq!(features & !lawful_features(kind), 0);
    }
    // Network cards have a queue for control, which no driver has here, nor what depends on it.
    assert_eq!(lawful_features(VirtioKind::Network) >> 17 & 0x7f, 0);
}

#[test]
fn what_is_not_the_device_does_not_begin() {
    let refused = |kind: Kind| {
        let fake = Fake::new(kind);
        let refusal = begin(&fake, &device(VirtioKind::Block), 0).unwrap_err();
        // It was left alone, or is reset.
        let state = fake.0.borrow();
        assert!(state.writes.last().is_none_or(|write| *write == (register::STATUS, 0)));
        refusal
    };
    assert_eq!(refused(Kind { number: 4, ..Kind::good() }), Error::NotFound);
    assert_eq!(refused(Kind { number: 0, ..Kind::good() }), Error::NotFound);
    assert_eq!(refused(Kind { version: 1, ..Kind::good() }), Error::NotSupported);
    assert_eq!(refused(Kind { offered: 0xffff_ffff, ..Kind::good() }), Error::NotSupported);
    assert_eq!(refused(Kind { sizes: vec![], ..Kind::good() }), Error::NotSupported);
    assert_eq!(refused(Kind { sizes: vec![127], ..Kind::good() }), Error::NotSupported);
    assert_eq!(refused(Kind { refuses_features: true, ..Kind::good() }), Error::NotSupported);
}

#[test]
fn a_reset_is_confirmed_or_not() {
    let fake = Fake::good();
    fake.0.borrow_mut().resets_after = RESET_READS - 1;
    assert_eq!(reset(&fake), Ok(()));
    let fake = Fake::good();
    fake.0.borrow_mut().resets_after = RESET_READS + 1;
    assert_eq!(reset(&fake), Err(Error::Busy));
    assert!(begin(&fake, &device(VirtioKind::Block), 0).is_ok(), "later it is");
    let fake = Fake::good();
    fake.0.borrow_mut().resets_after = u32::MAX;
    assert_eq!(begin(&fake, &device(VirtioKind::Block), 0), Err(Error::Busy));
    assert!(fake.0.borrow().writes.iter().all(|write| *write == (register::STATUS, 0)));
}
