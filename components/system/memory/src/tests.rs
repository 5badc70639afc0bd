//! A machine of two or more instances in arrays: page tables as the layout makes them, memory as words.

use crate::live::Record;
use crate::manager::{Manager, State};
use crate::tables::{self, OWN, READ, Tables, USER, WRITE};
use cairn_abi::address::*;
use cairn_abi::descriptor::name;
use cairn_abi::domain::{CLIENT_ROW_WORDS, client_row};
use cairn_abi::memory::{SECTIONS_AT_RUN_TIME, SECTIONS_EACH};
use cairn_abi::record::{
    Activation, CONTENT_CLIENT_STACK, CONTENT_DATA, Header, Instance, Range, Segment, Table,
};
use cairn_abi::startup::Startup;
use cairn_abi::{DomainId, Error, InstanceId, RegionId, Space};
use std::cell::Cell;
use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering::Relaxed};
use zerocopy::{FromZeros, IntoBytes};

const TABLES_PHYSICAL: u64 = 0x8000_0000;
/// Of each instance from the layout: a root, a directory, a leaf, the directory of sections made at run time.
const LAID_OUT: usize = 4;
/// Of each instance: data, its initial content, the stack, the startup page; then free memory.
const PAGES_OF_INSTANCE: u64 = 4;
pub(crate) const QUOTA: u64 = 20;
pub(crate) const ONE: InstanceId = InstanceId(1);
pub(crate) const TWO: InstanceId = InstanceId(2);
/// Of a machine of two.
pub(crate) const FREE_PAGES: u64 = 2 * QUOTA;

/// Pages for page tables of a machine.
fn table_pages(instances: u16) -> usize {
    10 + 27 * usize::from(instances)
}

/// Behind all page tables.
const MEMORY_PHYSICAL: u64 = TABLES_PHYSICAL + (64 << 20);

pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) header: Header,
    pub(crate) instances: Vec<Instance>,
    pub(crate) segments: Vec<Segment>,
    activations: Vec<Activation>,
    /// What the manager writes into the record stays; else it is as the above say.
    pub(crate) is_live: bool,
    pub(crate) tables: Vec<AtomicI64>,
    pub(crate) memory: Vec<AtomicI64>,
}

/// Repeats what is done in steps.
pub(crate) fn steps(step: impl Fn(u64) -> Result<u64, Error>) {
    let mut cursor = step(0).unwrap();
    while cursor != 0 {
        cursor = step(cursor).unwrap();
    }
}

fn words(pages: usize) -> Vec<AtomicI64> {
    (0..pages * 512).map(|_| AtomicI64::new(0)).collect()
}

/// Physical address of a page of instance `number` that the layout gave it.
fn laid_out(number: u16, page: u64) -> u64 {
    MEMORY_PHYSICAL + (u64::from(number - 1) * PAGES_OF_INSTANCE + page) * PAGE_SIZE
}

/// The numbers of an instance's domain and region are other ones than its own.
fn domain(instance: InstanceId) -> DomainId {
    DomainId(1000 - instance.0)
}

pub(crate) fn region_of(instance: InstanceId) -> u64 {
    region(RegionId(instance.0 + 50))
}

pub(crate) fn data(instance: InstanceId) -> u64 {
    region_of(instance) + IMAGE_OFFSET
}

pub(crate) fn stack_top(instance: InstanceId) -> u64 {
    activation(instance) + ACTIVATION_STACK_TOP
}

fn activation(instance: InstanceId) -> u64 {
    region_of(instance) + activation_from(ACTIVATION_STRIDE, RegionId(instance.0 + 50))
}

/// The first address that it may get at run time.
pub(crate) fn behind(instance: InstanceId) -> u64 {
    activation(instance) + ACTIVATION_STRIDE
}

/// The first page of the first window slot.
fn window_slots(instance: InstanceId) -> u64 {
    stack_top(instance) - ACTIVATION_STACK_TOP + ACTIVATION_WINDOWS
}

/// The last page of the last window slot.
pub(crate) fn window_slot(instance: InstanceId) -> u64 {
    window_slots(instance) + 2 * WINDOW_SLOT_STRIDE + 3 * PAGE_SIZE
}

fn instance(number: InstanceId) -> Instance {
    let root = TABLES_PHYSICAL + u64::from(number.0 - 1) * LAID_OUT as u64 * PAGE_SIZE;
    Instance {
        name: name("one"),
        number,
        domain: domain(number),
        priority: 10,
        threads: 1,
        per_client: 1,
        stack_group: u32::MAX,
        recovery_priority: 10,
        region: RegionId(number.0 + 50),
        leader: number,
        start_address: region_of(number),
        memory: QUOTA * PAGE_SIZE,
        memory_used: 3 * PAGE_SIZE,
        space: Space::new(root, number.into()),
        entries: PAGE_TABLES + (number.index() * LAID_OUT - 2) as u64 * PAGE_SIZE,
        entries_span: LEAF_SPAN,
        page_tables: LAID_OUT as u64,
        sections: SECTIONS_EACH as u64,
        ..Instance::new_zeroed()
    }
}

impl World {
    pub(crate) fn new() -> World {
        World::of(2)
    }

    /// A machine of so many instances.
    pub(crate) fn of(count: u16) -> World {
        let world = World::laid_out(count, &[]);
        world.manager().begin();
        world
    }

    /// A machine of two, of whose instances the record says more.
    pub(crate) fn with_segments(more: &[Segment]) -> World {
        let world = World::laid_out(2, more);
        world.manager().begin();
        world
    }

    /// The same before its manager begins.
    fn laid_out(count: u16, more: &[Segment]) -> World {
        let mut segments = more.to_vec();
        let mut segment = |instance, address, physical, initial, content| {
            let flags = (USER | READ | WRITE) as u32;
            let size = PAGE_SIZE;
            segments.push(Segment { instance, content, flags, address, size, physical, initial });
        };
        for number in 1..=count {
            let instance = InstanceId(number);
            segment(
                instance,
                data(instance),
                laid_out(number, 0),
                laid_out(number, 1),
                CONTENT_DATA,
            );
            segment(
                instance,
                stack_top(instance) - PAGE_SIZE,
                laid_out(number, 2),
                0,
                CONTENT_CLIENT_STACK,
            );
        }
        let page_table = |index: usize| PAGE_TABLES + index as u64 * PAGE_SIZE;
        let free = laid_out(count + 1, 0);
        let clients = free + u64::from(count) * QUOTA * PAGE_SIZE;
        let record = clients + client_row(u64::from(count) + 1).next_multiple_of(PAGE_SIZE);
        let mut size = 0;
        let mut table = |count: usize, entry: usize| {
            let offset = size as u32;
            size += count * entry;
            Table { offset, count: count as u32 }
        };
        let header = Header {
            clients,
            record,
            instances: table(count.into(), size_of::<Instance>()),
            segments: table(segments.len(), size_of::<Segment>()),
            activations: table(count.into(), size_of::<Activation>()),
            size: size as u64,
            free_memory: Range { start: free, end: free + u64::from(count) * QUOTA * PAGE_SIZE },
            free_page_tables: Range {
                start: page_table(count as usize * LAID_OUT),
                end: page_table(table_pages(count)),
            },
            page_tables_physical: TABLES_PHYSICAL,
            ..Header::default()
        };
        let pages = (record - MEMORY_PHYSICAL) / PAGE_SIZE;
        let memory = words(pages as usize + size.div_ceil(PAGE_SIZE as usize));
        // What was there before is another instance's secret.
        memory.iter().for_each(|word| word.store(0x5ec2e7, Relaxed));
        let instances = (1..=count).map(InstanceId).map(instance).collect();
        // Of each instance, the one before it is the client.
        let activation = |number: u16| Activation {
            index: u32::from(number) - 1,
            instance: InstanceId(number),
            queue: u32::from(number) - 1,
            client: InstanceId(if number > 1 { number - 1 } else { count }),
            reserved: 0,
            windows: page_table(number as usize * LAID_OUT - 2)
                + (window_slots(InstanceId(number)) >> 12 & 511) * 8,
        };
        let activations: Vec<Activation> = (1..=count).map(activation).collect();
        let world = World {
            state: State::empty(),
            header,
            instances,
            segments,
            activations,
            is_live: false,
            tables: words(table_pages(count)),
            memory,
        };
        for place in 0..(u64::from(count) + 1) * CLIENT_ROW_WORDS as u64 {
            world.word(world.header.clients + place * 8).store(0, Relaxed);
        }
        for activation in &world.activations {
            world.take_activation(activation.client, activation.index);
        }
        for number in 1..=count {
            let first = (number as usize - 1) * LAID_OUT;
            let pointer = |table: usize| (TABLES_PHYSICAL as i64 >> 12) + table as i64;
            let instance = InstanceId(number);
            let in_root = (region_of(instance) >> 30 & 511) as usize;
            world.tables[first * 512 + in_root].store(pointer(first + 1) << 10 | 1, Relaxed);
            let in_root = (SECTIONS_AT_RUN_TIME >> 30 & 511) as usize;
            world.tables[first * 512 + in_root].store(pointer(first + 3) << 10 | 1, Relaxed);
            let in_directory = (region_of(instance) >> 21 & 511) as usize;
            world.tables[(first + 1) * 512 + in_directory]
                .store(pointer(first + 2) << 10 | 1, Relaxed);
            let startup = (region_of(instance) + STARTUP_OFFSET, laid_out(number, 3));
            let segments = world.segments.iter();
            let segments = segments.filter(|one| one.instance == instance && one.physical != 0);
            for (address, physical) in
                segments.map(|segment| (segment.address, segment.physical)).chain([startup])
            {
                let entry = &world.tables[(first + 2) * 512 + (address >> 12 & 511) as usize];
                tables::map_over(entry, physical, OWN | USER | READ | WRITE);
            }
        }
        world
    }

    /// Physical address of the first page that is free at first.
    pub(crate) fn free_memory(&self) -> u64 {
        self.header.free_memory.start
    }

    pub(crate) fn manager(&self) -> Manager<'_> {
        let from = ((self.header.record - MEMORY_PHYSICAL) / 8) as usize;
        let record = &self.memory[from..from + (self.header.size / 8) as usize];
        if !self.is_live {
            let tables =
                [self.instances.as_bytes(), self.segments.as_bytes(), self.activations.as_bytes()];
            let words = tables.iter().flat_map(|table| table.as_chunks::<8>().0);
            for (word, bytes) in record.iter().zip(words) {
                word.store(i64::from_le_bytes(*bytes), Relaxed);
            }
        }
        Manager {
            state: &self.state,
            header: &self.header,
            record: Record::new(&self.header, record),
            tables: Tables {
                words: &self.tables,
                physical: TABLES_PHYSICAL,
                free: &self.state.tables,
                first_free: ((self.header.free_page_tables.start - PAGE_TABLES) / PAGE_SIZE)
                    as usize,
            },
            memory: &self.memory,
            memory_physical: MEMORY_PHYSICAL,
            fence: || {},
        }
    }

    /// The page that an instance finds at an address, by the machine's own rules.
    pub(crate) fn page(&self, instance: InstanceId, address: u64) -> Option<(u64, u64)> {
        let mut table = self.instances[instance.index() - 1].space.root();
        for level in [2, 1, 0] {
            let index = address >> (12 + 9 * level) & 511;
            let word =
                self.tables[((table - TABLES_PHYSICAL) / 8 + index) as usize].load(Relaxed) as u64;
            if word & 1 == 0 {
                return None;
            }
            table = word >> 10 << 12;
            if level == 0 {
                return Some((table, word & 0x1e));
            }
        }
        None
    }

    /// An activation is in a queue of this client from now on.
    fn take_activation(&self, client: InstanceId, place: u32) {
        let word = self.header.clients + client_row(client.into()) + u64::from(place / 64 * 8);
        self.word(word).fetch_or(1 << (place % 64), Relaxed);
    }

    pub(crate) fn word(&self, physical: u64) -> &AtomicI64 {
        &self.memory[((physical - MEMORY_PHYSICAL) / 8) as usize]
    }

    pub(crate) fn free(&self) -> u64 {
        self.manager().usage().0
    }

    pub(crate) fn used(&self, instance: InstanceId) -> u64 {
        self.manager().usage_of(instance).unwrap().0
    }
}

pub(crate) mod loadable;
mod windows;

#[test]
fn allocated_pages_are_zero_and_the_callers_alone() {
    let world = World::new();
    let address = world.manager().allocate(ONE, 3).unwrap();
    assert_eq!(address, behind(ONE), "behind the activations");
    for page in 0..3 {
        let (physical, rights) = world.page(ONE, address + page * PAGE_SIZE).unwrap();
        assert_eq!(rights, USER | READ | WRITE);
        assert!(physical >= laid_out(3, 0));
        assert!((0..512).all(|word| world.word(physical + word * 8).load(Relaxed) == 0));
        assert_eq!(world.page(TWO, address + page * PAGE_SIZE), None);
    }
    let other = world.manager().allocate(ONE, 1).unwrap();
    assert_eq!(other, address + 3 * PAGE_SIZE);
    assert_eq!(world.used(ONE), 3 + 4);
}

#[test]
fn user_mode_does_not_reach_pages_in_the_kernel_domain() {
    let mut world = World::new();
    world.instances[ONE.index() - 1].in_kernel = 1;
    let address = world.manager().allocate(ONE, 1).unwrap();
    assert_eq!(world.page(ONE, address).unwrap().1, READ | WRITE);
}

#[test]
fn freed_pages_come_back() {
    let world = World::new();
    let (free, used) = (world.free(), world.used(ONE));
    let address = world.manager().allocate(ONE, 5).unwrap();
    for (from, pages) in [
        (address, 6),
        (address - PAGE_SIZE, 1),
        (data(ONE), 1),
        (address + 8, 1),
        (address, 0),
        (address, u64::MAX),
    ] {
        assert!(world.manager().free(ONE, from, pages).is_err(), "{from:#x} {pages}");
    }
    assert!(world.manager().free(TWO, address, 5).is_err(), "not the caller's");
    assert_eq!(world.free(), free - 5);
    world.manager().free(ONE, address + PAGE_SIZE, 2).unwrap();
    assert_eq!(world.page(ONE, address + PAGE_SIZE), None);
    assert_eq!(world.manager().allocate(ONE, 2), Ok(address + PAGE_SIZE), "the gap is filled");
    world.manager().free(ONE, address, 5).unwrap();
    assert_eq!((world.free(), world.used(ONE)), (free, used));
}

#[test]
fn quotas_and_the_machines_memory_end() {
    let world = World::new();
    let free = world.free();
    assert_eq!(world.manager().allocate(ONE, QUOTA - 2), Err(Error::Exhausted));
    assert_eq!(world.manager().allocate(ONE, 0), Err(Error::BadArgument));
    assert_eq!(world.manager().allocate(ONE, u64::MAX), Err(Error::BadArgument));
    assert_eq!(
        world.manager().allocate(InstanceId(9), 1),
        Err(Error::NotFound),
        "nobody has a quota"
    );
    assert!(world.manager().allocate(ONE, QUOTA - 3).is_ok());
    assert_eq!(world.manager().allocate(ONE, 1), Err(Error::Exhausted));
    assert!(world.manager().allocate(TWO, QUOTA - 3).is_ok(), "the other one has its own");
    assert_eq!(world.free(), free - 2 * (QUOTA - 3));
    // All frames gone, a call that fails in the middle takes nothing.
    let world = World::new();
    while world.state.frames.available() > 2 {
        world.state.frames.take();
    }
    let before = (world.free(), world.used(ONE));
    assert_eq!(world.manager().allocate(ONE, 3), Err(Error::Exhausted));
    assert_eq!((world.free(), world.used(ONE)), before);
}

#[test]
fn the_dead_reach_nothing_and_begin_anew() {
    let world = World::new();
    let manager = world.manager();
    let before = (world.free(), world.used(ONE));
    for word in 0..512 {
        world.word(laid_out(1, 1) + word * 8).store(word as i64, Relaxed);
    }
    let generation = laid_out(1, 3) + offset_of!(Startup, generation) as u64;
    world.word(generation).store(4, Relaxed);
    let address = manager.allocate(ONE, 4).unwrap();
    manager.make_section(ONE, 2).unwrap();

    manager.kill(ONE).unwrap();
    for reached in [address, data(ONE), stack_top(ONE) - 8, region_of(ONE) + STARTUP_OFFSET] {
        assert_eq!(world.page(ONE, reached), None, "{reached:#x}");
    }
    let mut words = [[0; 8]; 2];
    manager
        .peek(ONE, region_of(ONE) + STARTUP_OFFSET + generation % PAGE_SIZE, &mut words[..1])
        .unwrap();
    assert_eq!(words[0], 4u64.to_le_bytes(), "the supervisor looks at what it was");
    for other in [data(TWO), data(ONE) + 4, data(ONE) + PAGE_SIZE - 8] {
        assert_eq!(manager.peek(ONE, other, &mut words), Err(Error::BadArgument), "{other:#x}");
    }
    assert_eq!(manager.peek(ONE, region_of(ONE), &mut words), Err(Error::NotFound));
    assert_eq!(manager.allocate(ONE, 1), Err(Error::Dead));
    assert!(world.page(TWO, data(TWO)).is_some());

    steps(|cursor| manager.release(ONE, cursor));
    assert_eq!((world.free(), world.used(ONE)), before);
    steps(|cursor| manager.renew(ONE, cursor, false));
    // What a thread brings that comes before its next life.
    let brought = world.word(laid_out(1, 2) + 8);
    brought.store(7, Relaxed);
    world.word(laid_out(1, 0)).store(7, Relaxed);
    steps(|cursor| manager.renew(ONE, cursor, true));
    assert_eq!((brought.swap(0, Relaxed), world.word(laid_out(1, 0)).load(Relaxed)), (7, 0));
    manager.revive(ONE).unwrap();
    assert_eq!(world.page(ONE, address), None);
    assert_eq!(world.page(ONE, data(ONE)).unwrap().0, laid_out(1, 0));
    for word in 0..512 {
        assert_eq!(
            world.word(laid_out(1, 0) + word * 8).load(Relaxed),
            word as i64,
            "as in the image"
        );
        assert_eq!(world.word(laid_out(1, 2) + word * 8).load(Relaxed), 0, "the stack is empty");
    }
    assert_eq!(world.word(generation).load(Relaxed), 5);
    assert_eq!(world.word(laid_out(2, 0)).load(Relaxed), 0x5ec2e7, "the neighbour's is untouched");
    assert_eq!(manager.allocate(ONE, 4), Ok(address));
}

/// When the pages for a whole request are not there, another thread must not have seen any of them: it
/// could have put it into a window before it went to another domain.
#[test]
fn no_page_is_reachable_before_all_are_there() {
    let world = World::new();
    while world.state.frames.available() > 2 {
        world.state.frames.take();
    }
    let address = behind(ONE);
    let (attempts, done) = (AtomicU32::new(0), AtomicBool::new(false));
    let seen = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                assert_eq!(world.manager().allocate(ONE, 3), Err(Error::Exhausted));
                attempts.fetch_add(1, Relaxed);
            }
        });
        let mut seen = false;
        while !seen && attempts.load(Relaxed) < 20_000 {
            seen = world.page(ONE, address).is_some();
        }
        done.store(true, Relaxed);
        seen
    });
    assert!(!seen);
    assert_eq!((world.state.frames.available(), world.used(ONE)), (2, 3));
    assert_eq!(world.manager().allocate(ONE, 2), Ok(address));
}
