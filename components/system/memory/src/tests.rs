//! A machine of two or more instances in arrays: page tables as the layout makes them, memory as words.

use crate::frames::{Frames, LOOKS};
use crate::manager::{self, Manager, State};
use crate::tables::{self, READ, Tables, USER, WRITE};
use cairn_abi::Error;
use cairn_abi::address::*;
use cairn_abi::descriptor::name;
use cairn_abi::domain::{CLIENT_ROW_WORDS, client_row};
use cairn_abi::record::{Activation, Header, Instance, Range, Segment};
use cairn_abi::startup::Startup;
use std::cell::Cell;
use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering::Relaxed};

const TABLES_PHYSICAL: u64 = 0x8000_0000;
/// Of each instance from the layout: a root, a directory, a leaf.
const LAID_OUT: usize = 3;
/// Of each instance: data, its initial content, the stack, the startup page; then free memory.
const PAGES_OF_INSTANCE: u64 = 4;
pub(crate) const QUOTA: u64 = 20;
/// Of a machine of two.
pub(crate) const FREE_PAGES: u64 = 2 * QUOTA;

/// Pages for page tables of a machine.
fn table_pages(instances: u32) -> usize {
    10 + 27 * instances as usize
}

fn memory_physical(instances: u32) -> u64 {
    TABLES_PHYSICAL + table_pages(instances) as u64 * PAGE_SIZE
}

pub(crate) struct World {
    pub(crate) state: State,
    header: Header,
    pub(crate) instances: Vec<Instance>,
    segments: Vec<Segment>,
    activations: Vec<Activation>,
    tables: Vec<AtomicI64>,
    memory: Vec<AtomicI64>,
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
fn laid_out_of(instances: u32, number: u32, page: u64) -> u64 {
    memory_physical(instances) + (u64::from(number - 1) * PAGES_OF_INSTANCE + page) * PAGE_SIZE
}

/// In a machine of two.
fn laid_out(number: u32, page: u64) -> u64 {
    laid_out_of(2, number, page)
}

pub(crate) fn data(number: u32) -> u64 {
    region(number) + IMAGE_OFFSET
}

pub(crate) fn stack_top(number: u32) -> u64 {
    region(number) + ACTIVATION_STRIDE + ACTIVATION_STACK_TOP
}

/// The first page of the first window slot.
fn window_slots(number: u32) -> u64 {
    stack_top(number) - ACTIVATION_STACK_TOP + ACTIVATION_WINDOWS
}

/// The last page of the last window slot.
pub(crate) fn window_slot(number: u32) -> u64 {
    window_slots(number) + 2 * WINDOW_SLOT_STRIDE + 3 * PAGE_SIZE
}

fn instance(number: u32) -> Instance {
    let root = TABLES_PHYSICAL + u64::from(number - 1) * 3 * PAGE_SIZE;
    Instance {
        name: name("one"),
        number,
        priority: 10,
        restart: 0,
        essential: 0,
        first_thread: 0,
        threads: 1,
        semaphores: 0,
        locks: 0,
        per_client: 1,
        stack_group: u32::MAX,
        recovery_priority: 10,
        run_to_completion: 0,
        memory: QUOTA * PAGE_SIZE,
        memory_used: 3 * PAGE_SIZE,
        satp: 8 << 60 | u64::from(number) << 44 | root >> 12,
        entries: 0,
        entries_span: LEAF_SPAN,
        page_tables: 3,
        main: 0,
        stub: 0,
        stack: 0,
    }
}

impl World {
    pub(crate) fn new() -> World {
        World::of(2)
    }

    /// A machine of so many instances.
    pub(crate) fn of(count: u32) -> World {
        let laid_out = |number, page| laid_out_of(count, number, page);
        let mut segments = Vec::new();
        let mut segment = |instance, address, physical, initial| {
            let flags = (USER | READ | WRITE) as u32;
            segments.push(Segment { instance, flags, address, size: PAGE_SIZE, physical, initial });
        };
        for number in 1..=count {
            segment(number, data(number), laid_out(number, 0), laid_out(number, 1));
            segment(number, stack_top(number) - PAGE_SIZE, laid_out(number, 2), 0);
        }
        let page_table = |index: usize| PAGE_TABLES + index as u64 * PAGE_SIZE;
        let free = laid_out(count + 1, 0);
        let header = Header {
            clients: free + u64::from(count) * QUOTA * PAGE_SIZE,
            free_memory: Range { start: free, end: free + u64::from(count) * QUOTA * PAGE_SIZE },
            free_page_tables: Range {
                start: page_table(count as usize * LAID_OUT),
                end: page_table(table_pages(count)),
            },
            page_tables_physical: TABLES_PHYSICAL,
            ..Header::default()
        };
        let clients = client_row(u64::from(count) + 1).div_ceil(PAGE_SIZE);
        let pages = u64::from(count) * (PAGES_OF_INSTANCE + QUOTA);
        let memory = words((pages + clients) as usize);
        // What was there before is another domain's secret.
        memory.iter().for_each(|word| word.store(0x5ec2e7, Relaxed));
        let instances = (1..=count).map(instance).collect();
        // Of each instance, the one before it is the client.
        let activation = |number: u32| Activation {
            index: number - 1,
            domain: number,
            queue: number - 1,
            client: if number > 1 { number - 1 } else { count },
            windows: page_table(number as usize * LAID_OUT - 1)
                + (window_slots(number) >> 12 & 511) * 8,
        };
        let activations: Vec<Activation> = (1..=count).map(activation).collect();
        let world = World {
            state: State::empty(),
            header,
            instances,
            segments,
            activations,
            tables: words(table_pages(count)),
            memory,
        };
        for place in 0..(u64::from(count) + 1) * CLIENT_ROW_WORDS as u64 {
            world.word(world.header.clients + place * 8).store(0, Relaxed);
        }
        for activation in &world.activations {
            world.take_activation(activation.client.into(), activation.index);
        }
        for number in 1..=count {
            let first = (number as usize - 1) * 3;
            let pointer = |table: usize| (TABLES_PHYSICAL as i64 >> 12) + table as i64;
            let in_root = (region(number) >> 30 & 511) as usize;
            world.tables[first * 512 + in_root].store(pointer(first + 1) << 10 | 1, Relaxed);
            let in_directory = (region(number) >> 21 & 511) as usize;
            world.tables[(first + 1) * 512 + in_directory]
                .store(pointer(first + 2) << 10 | 1, Relaxed);
            let startup = (region(number) + STARTUP_OFFSET, laid_out(number, 3));
            let segments = world.segments.iter().filter(|segment| segment.instance == number);
            for (address, physical) in
                segments.map(|segment| (segment.address, segment.physical)).chain([startup])
            {
                let entry = &world.tables[(first + 2) * 512 + (address >> 12 & 511) as usize];
                tables::map_over(entry, physical, USER | READ | WRITE);
            }
        }
        world.manager().begin();
        world
    }

    pub(crate) fn manager(&self) -> Manager<'_> {
        Manager {
            state: &self.state,
            header: &self.header,
            instances: &self.instances,
            segments: &self.segments,
            activations: &self.activations,
            tables: Tables {
                words: &self.tables,
                physical: TABLES_PHYSICAL,
                free: &self.state.tables,
                first_free: self.instances.len() * LAID_OUT,
            },
            memory: &self.memory,
            memory_physical: memory_physical(self.instances.len() as u32),
            fence: || {},
        }
    }

    /// The page that a domain finds at an address, by the machine's own rules.
    pub(crate) fn page(&self, domain: u32, address: u64) -> Option<(u64, u64)> {
        let mut table = (self.instances[domain as usize - 1].satp & ((1 << 44) - 1)) << 12;
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
    fn take_activation(&self, client: u64, place: u32) {
        let word = self.header.clients + client_row(client) + u64::from(place / 64 * 8);
        self.word(word).fetch_or(1 << (place % 64), Relaxed);
    }

    fn word(&self, physical: u64) -> &AtomicI64 {
        &self.memory[((physical - self.manager().memory_physical) / 8) as usize]
    }

    pub(crate) fn free(&self) -> u64 {
        self.manager().usage() & 0xffff_ffff
    }

    pub(crate) fn used(&self, domain: u64) -> u64 {
        self.manager().usage_of(domain).unwrap() & 0xffff_ffff
    }
}

#[test]
fn frames_are_handed_out_once() {
    let frames = Frames::<2>::new();
    assert_eq!(frames.take(), None);
    frames.fill(100);
    let mut taken: Vec<usize> = std::iter::from_fn(|| frames.take()).collect();
    taken.sort();
    assert_eq!(taken, (0..100).collect::<Vec<_>>());
    frames.give(100);
    frames.give(7);
    frames.give(7);
    assert_eq!((frames.available(), frames.take(), frames.take()), (1, Some(7), None));
}

/// Others have taken all but one number in every second word.
#[test]
fn a_free_number_is_found_wherever_it_is() {
    let frames = Frames::<1024>::new();
    frames.fill(1024 * 64);
    while frames.take().is_some() {}
    for word in (1..1024).step_by(2) {
        frames.give(word * 64 + 5);
    }
    LOOKS.with(|looks| looks.set(0));
    for word in (1..1024).step_by(2) {
        assert_eq!(frames.take(), Some(word * 64 + 5));
    }
    assert_eq!(frames.take(), None);
    assert_eq!(LOOKS.with(Cell::get), 512, "one look for each");
}

/// A thread that took a word's last number was stopped before it said that the word is zero; meanwhile another gave
/// one back.
#[test]
fn a_number_that_came_back_meanwhile_is_not_forgotten() {
    let frames = Frames::<1>::new();
    frames.fill(2);
    assert_eq!((frames.take(), frames.take()), (Some(0), Some(1)));
    frames.give(0);
    frames.forget(0);
    assert_eq!((frames.take(), frames.take()), (Some(0), None));
}

/// However many threads take and give the few that are left: nothing is handed out twice, and nothing is lost.
#[test]
fn frames_are_neither_lost_nor_doubled_by_threads() {
    const LEFT: usize = 4;
    let frames = Frames::<4>::new();
    frames.fill(256);
    while frames.take().is_some() {}
    // Two in a word, so that words become zero and other than zero all the time.
    let index = |number: usize| number / 64 * 2 + number % 2;
    (0..LEFT).for_each(|place| frames.give(place / 2 * 64 + place % 2));
    let taken: Vec<AtomicBool> = (0..LEFT).map(|_| AtomicBool::new(false)).collect();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let (frames, taken) = (&frames, &taken);
            scope.spawn(move || {
                for _ in 0..300_000 {
                    let Some(number) = frames.take() else { continue };
                    assert!(!taken[index(number)].swap(true, Relaxed), "{number} twice");
                    taken[index(number)].store(false, Relaxed);
                    frames.give(number);
                }
            });
        }
    });
    assert_eq!(frames.available(), LEFT);
    assert_eq!(std::iter::from_fn(|| frames.take()).count(), LEFT);
}

#[test]
fn allocated_pages_are_zero_and_the_callers_alone() {
    let world = World::new();
    let address = world.manager().allocate(1, 3).unwrap();
    assert_eq!(address, region(1) + 2 * ACTIVATION_STRIDE, "behind the activations");
    for page in 0..3 {
        let (physical, rights) = world.page(1, address + page * PAGE_SIZE).unwrap();
        assert_eq!(rights, USER | READ | WRITE);
        assert!(physical >= laid_out(3, 0));
        assert!((0..512).all(|word| world.word(physical + word * 8).load(Relaxed) == 0));
        assert_eq!(world.page(2, address + page * PAGE_SIZE), None);
    }
    let other = world.manager().allocate(1, 1).unwrap();
    assert_eq!(other, address + 3 * PAGE_SIZE);
    assert_eq!(world.used(1), 3 + 4);
}

#[test]
fn freed_pages_come_back() {
    let world = World::new();
    let (free, used) = (world.free(), world.used(1));
    let address = world.manager().allocate(1, 5).unwrap();
    for (from, pages) in [
        (address, 6),
        (address - PAGE_SIZE, 1),
        (data(1), 1),
        (address + 8, 1),
        (address, 0),
        (address, u64::MAX),
    ] {
        assert!(world.manager().free(1, from, pages).is_err(), "{from:#x} {pages}");
    }
    assert!(world.manager().free(2, address, 5).is_err(), "not the caller's");
    assert_eq!(world.free(), free - 5);
    world.manager().free(1, address + PAGE_SIZE, 2).unwrap();
    assert_eq!(world.page(1, address + PAGE_SIZE), None);
    assert_eq!(world.manager().allocate(1, 2), Ok(address + PAGE_SIZE), "the gap is filled");
    world.manager().free(1, address, 5).unwrap();
    assert_eq!((world.free(), world.used(1)), (free, used));
}

#[test]
fn quotas_and_the_machines_memory_end() {
    let world = World::new();
    let free = world.free();
    assert_eq!(world.manager().allocate(1, QUOTA - 2), Err(Error::Exhausted));
    assert_eq!(world.manager().allocate(1, 0), Err(Error::BadArgument));
    assert_eq!(world.manager().allocate(1, u64::MAX), Err(Error::BadArgument));
    assert_eq!(world.manager().allocate(9, 1), Err(Error::Exhausted), "nobody has no quota");
    assert!(world.manager().allocate(1, QUOTA - 3).is_ok());
    assert_eq!(world.manager().allocate(1, 1), Err(Error::Exhausted));
    assert!(world.manager().allocate(2, QUOTA - 3).is_ok(), "the other one has its own");
    assert_eq!(world.free(), free - 2 * (QUOTA - 3));
    // All frames gone, a call that fails in the middle takes nothing.
    let world = World::new();
    while world.state.frames.available() > 2 {
        world.state.frames.take();
    }
    let before = (world.free(), world.used(1));
    assert_eq!(world.manager().allocate(1, 3), Err(Error::Exhausted));
    assert_eq!((world.free(), world.used(1)), before);
}

#[test]
fn pages_in_an_open_window_stay() {
    let world = World::new();
    let address = world.manager().allocate(1, 2).unwrap();
    let (physical, _) = world.page(1, address + PAGE_SIZE).unwrap();
    let slot = window_slot(2);
    let manager = world.manager();
    let root = manager.tables.root(world.instances[1].satp).unwrap();
    let entry = manager.tables.find(root, slot).unwrap();
    tables::map_over(entry, physical, USER | READ);
    assert_eq!(manager.free(1, address, 2), Err(Error::Busy));
    assert_eq!(world.page(1, address + PAGE_SIZE).unwrap().0, physical, "mapped as before");
    entry.store(0, Relaxed);
    assert_eq!(manager.free(1, address, 2), Ok(()));
}

/// However many activations there are, and whatever is in their windows: who gives pages back has one that counts.
#[test]
fn windows_of_others_are_not_looked_at() {
    let world = World::of(200);
    let manager = world.manager();
    for number in 1..=200 {
        let root = manager.tables.root(world.instances[number as usize - 1].satp).unwrap();
        for page in 0..4 {
            let entry = manager.tables.find(root, window_slot(number) - page * PAGE_SIZE).unwrap();
            tables::map_over(entry, laid_out_of(200, number, 0), USER | READ);
        }
    }
    for domain in [1, 77, 200] {
        let address = manager.allocate(domain, 2).unwrap();
        manager::LOOKS.with(|looks| looks.set(0));
        assert_eq!(manager.free(domain, address, 2), Ok(()));
        assert_eq!(manager::LOOKS.with(Cell::get), 1);
    }
    // An activation that it got at run time counts from then on.
    let address = manager.allocate(1, 1).unwrap();
    let (physical, _) = world.page(1, address).unwrap();
    let root = manager.tables.root(world.instances[148].satp).unwrap();
    tables::map_over(manager.tables.find(root, window_slot(149)).unwrap(), physical, USER | READ);
    world.take_activation(1, 148);
    assert_eq!(manager.free(1, address, 1), Err(Error::Busy));
}

#[test]
fn the_dead_reach_nothing_and_begin_anew() {
    let world = World::new();
    let manager = world.manager();
    let before = (world.free(), world.used(1));
    for word in 0..512 {
        world.word(laid_out(1, 1) + word * 8).store(word as i64, Relaxed);
    }
    let generation = laid_out(1, 3) + offset_of!(Startup, generation) as u64;
    world.word(generation).store(4, Relaxed);
    let address = manager.allocate(1, 4).unwrap();
    manager.make_section(1, 2).unwrap();

    manager.kill(1).unwrap();
    for reached in [address, data(1), stack_top(1) - 8, region(1) + STARTUP_OFFSET] {
        assert_eq!(world.page(1, reached), None, "{reached:#x}");
    }
    assert_eq!(manager.allocate(1, 1), Err(Error::Dead));
    assert!(world.page(2, data(2)).is_some());

    steps(|cursor| manager.release(1, cursor));
    assert_eq!((world.free(), world.used(1)), before);
    steps(|cursor| manager.renew(1, cursor));
    manager.revive(1).unwrap();
    assert_eq!(world.page(1, address), None);
    assert_eq!(world.page(1, data(1)).unwrap().0, laid_out(1, 0));
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
    assert_eq!(manager.allocate(1, 4), Ok(address));
}

/// When the pages for a whole request are not there, another thread must not have seen any of them: it
/// could have put it into a window before it went to another domain.
#[test]
fn no_page_is_reachable_before_all_are_there() {
    let world = World::new();
    while world.state.frames.available() > 2 {
        world.state.frames.take();
    }
    let address = region(1) + 2 * ACTIVATION_STRIDE;
    let (attempts, done) = (AtomicU32::new(0), AtomicBool::new(false));
    let seen = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                assert_eq!(world.manager().allocate(1, 3), Err(Error::Exhausted));
                attempts.fetch_add(1, Relaxed);
            }
        });
        let mut seen = false;
        while !seen && attempts.load(Relaxed) < 20_000 {
            seen = world.page(1, address).is_some();
        }
        done.store(true, Relaxed);
        seen
    });
    assert!(!seen);
    assert_eq!((world.state.frames.available(), world.used(1)), (2, 3));
    assert_eq!(world.manager().allocate(1, 2), Ok(address));
}
