//! A machine in which components can be loaded.

use super::*;
use cairn_abi::descriptor::name;
use cairn_abi::loadable::{
    ACTIVATIONS_EACH, CLIENT_STACKS_EACH, EXPORTS_EACH, LEAVES_EACH, METHODS_EACH, SEGMENTS_EACH,
};
use cairn_abi::loadable::{Entries, Slot, TEXT_EACH, stack_alias};
use cairn_abi::page_table::{index, table_entry};
use cairn_abi::record::{Export, Method, PagedRange, Portal};

/// Pages of the shelf.
pub(crate) const SHELF_PAGES: u64 = 4;
/// Where the first instance sees them.
pub(crate) const SHELF: u64 = 0x8000;

/// Entries that nobody has, at the end of a table.
fn add<T: FromZeros>(table: &mut Vec<T>, count: u32) -> Entries {
    let first = table.len() as u32;
    table.resize_with((first + count) as usize, T::new_zeroed);
    Entries { first, count }
}

impl World {
    /// A machine of two instances, of which the first may load so many.
    pub(crate) fn loading(children: u16) -> World {
        World::loading_in(children, QUOTA)
    }

    /// The first has a quota of so many pages.
    pub(crate) fn loading_in(children: u16, pages: u64) -> World {
        let mut world = World::laid_out(2, &[]);
        (world.instances[0].children, world.instances[0].memory) =
            (children.into(), pages * PAGE_SIZE);
        extend(&mut world, children);
        world.manager().begin();
        world
    }

    /// The same, if the second is in the domain of the first.
    pub(crate) fn loading_beside(children: u16) -> World {
        let mut world = World::laid_out(2, &[]);
        world.instances[0].next_fellow = TWO;
        (world.instances[0].children, world.instances[1].leader) = (children.into(), ONE);
        (world.instances[1].space, world.instances[1].domain) =
            (world.instances[0].space, world.instances[0].domain);
        let entry = index(region_of(TWO), 2);
        let directory = table_entry(TABLES_PHYSICAL + (LAID_OUT as u64 + 1) * PAGE_SIZE);
        world.tables[entry].store(directory as i64, Relaxed);
        extend(&mut world, children);
        world.manager().begin();
        world
    }

    /// A machine of one instance, whose other place is the second row.
    pub(crate) fn moving() -> World {
        let mut world = World::laid_out(2, &[]);
        world.instances[0].other_place = TWO;
        let other = &mut world.instances[1];
        (other.other_place, other.successor_of, other.memory) = (ONE, ONE, 0);
        other.is_away = 1;
        (other.in_kernel, other.main, other.stub, other.memory_used) = (1, 64, 8, 2 * PAGE_SIZE);
        (world.instances[0].children, world.instances[0].main) = (1, 32);
        for (place, instance) in world.instances.iter_mut().enumerate() {
            (instance.first_export, instance.export_count) = (place as u32, 1);
        }
        extend(&mut world, 1);
        tables::set_reachable(
            world.manager().reach_of(world.manager().place(TWO).unwrap()).unwrap(),
            false,
        );
        world.manager().begin();
        world
    }
}

impl World {
    /// A machine of two instances, of which the first moves into the page table of the other: the third row. Its other place is the second.
    pub(crate) fn hosting() -> World {
        let mut world = World::laid_out(3, &[]);
        for instance in &mut world.instances {
            instance.children = (instance.number == ONE).into();
        }
        world.segments.iter_mut().filter(|one| one.instance == TWO).for_each(|one| {
            one.instance = InstanceId(0);
        });
        let [own, other, host] = world.instances.first_chunk_mut().unwrap();
        (own.other_place, own.host, host.has_guests) = (TWO, host.number, 1);
        let (domain, table) = (other.domain, 0x7000);
        *other = Instance { number: TWO, domain, table, leader: TWO, space: host.space, ..*own };
        (other.other_place, other.successor_of, other.is_away, other.memory) = (ONE, ONE, 1, 0);
        for (place, instance) in world.instances.iter_mut().enumerate() {
            (instance.first_export, instance.export_count) = (place as u32, 1);
        }
        // The host's page table has a directory for that region.
        let directory = world.tables.len() / 512;
        world.tables.extend(words(1));
        let table = table_entry(TABLES_PHYSICAL + directory as u64 * PAGE_SIZE) as i64;
        let root = (world.instances[2].space.root() - TABLES_PHYSICAL) as usize / 8;
        let entry = &world.tables[root + index(region_of(ONE), 2)];
        assert_eq!(entry.swap(table, Relaxed), 0, "apart from its own");
        extend(&mut world, 1);
        world.manager().begin();
        world
    }
}

fn extend(world: &mut World, children: u16) {
    let described = world.instances.len() as u16;
    let table = |number: usize| TABLES_PHYSICAL + number as u64 * PAGE_SIZE;
    let mut slots = Vec::new();
    for number in 0..u32::from(described) {
        let one = Entries { first: number, count: 1 };
        let segments = Entries { first: 2 * number, count: 2 };
        let (exports, none) = (Entries { first: number, count: 1 }, Entries::default());
        slots.push(Slot {
            exports,
            methods: one,
            segments,
            stacks: none,
            activations: one,
            text: none,
        });
    }
    let mut exports: Vec<Export> = Vec::new();
    add(&mut exports, described.into());
    let (mut methods, mut text) = (Vec::<Method>::new(), Vec::<u8>::new());
    add(&mut methods, described.into());
    for (place, (export, method)) in exports.iter_mut().zip(&mut methods).enumerate() {
        (export.first_method, export.method_count) = (place as u32, 1);
        method.entry = data(InstanceId(place as u16 + 1)) + 16;
        (export.name, export.interface) = (name("door"), name("Door"));
        export.instance = InstanceId(place as u16 + 1);
        // The first is for both, the second for anyone.
        export.open = if place == 0 { [1 << ONE.0 | 1 << TWO.0, 0, 0, 0] } else { [u64::MAX; 4] };
    }
    let portal =
        |client, index, code| Portal { client, index, code, export: 0, ..Portal::new_zeroed() };
    // One has an import that the other has not.
    let portals = [portal(ONE, 20, 0x1111), portal(ONE, 21, 0x2222), portal(TWO, 21, 0x1234)];

    // The kernel's aliases of stacks, which all have.
    let mut tables = world.tables.len() / 512;
    let kernel = tables;
    tables += 2;
    for number in described + 1..=described + children {
        let region = region(RegionId(number));
        let (root, leaves) = (tables, tables + 3);
        tables += 3 + LEAVES_EACH as usize;
        let activations = add(&mut world.activations, ACTIVATIONS_EACH);
        for place in activations.range() {
            let activation = &mut world.activations[place];
            (activation.index, activation.queue) = (place as u32, u32::MAX);
        }
        slots.push(Slot {
            exports: add(&mut exports, EXPORTS_EACH),
            methods: add(&mut methods, METHODS_EACH),
            segments: add(&mut world.segments, SEGMENTS_EACH),
            stacks: add(&mut world.segments, CLIENT_STACKS_EACH),
            activations,
            text: add(&mut text, TEXT_EACH),
        });
        world.instances.push(Instance {
            domain: DomainId(number),
            region: RegionId(number),
            start_address: region,
            space: Space::new(table(root), number.into()),
            entries: PAGE_TABLES + leaves as u64 * PAGE_SIZE,
            entries_span: LEAVES_EACH * LEAF_SPAN,
            first_thread: u32::MAX,
            stack_group: u32::MAX,
            sections: 1,
            page_tables: 3 + LEAVES_EACH,
            log: u64::from(number) * PAGE_SIZE,
            ..Instance::new_zeroed()
        });
        world.tables.extend(words(tables - world.tables.len() / 512));
        let enter = |at: usize, index: usize, to: usize, valid: bool| {
            let entry = table_entry(table(to)) & if valid { !0 } else { !1 };
            world.tables[at * 512 + index].store(entry as i64, Relaxed);
        };
        enter(root, index(region, 2), root + 1, false);
        enter(root, index(SECTIONS_AT_RUN_TIME, 2), root + 2, false);
        for leaf in 0..LEAVES_EACH as usize {
            enter(root + 1, index(region, 1) + leaf, leaves + leaf, true);
        }
    }
    for instance in &world.instances {
        let root = ((instance.space.root() - TABLES_PHYSICAL) / PAGE_SIZE) as usize;
        let enter = |at: usize, index: usize, to: usize| {
            world.tables[at * 512 + index].store(table_entry(table(to)) as i64, Relaxed);
        };
        enter(root, index(stack_alias(0), 2), kernel);
        enter(kernel, index(stack_alias(0), 1), kernel + 1);
    }

    // The record, a page for those without log, the shelf, the rows of clients.
    let record = MEMORY_PHYSICAL + world.memory.len() as u64 * 8;
    let mut size = 0;
    let mut place = |count: usize, entry: usize| {
        let offset = size as u32;
        size = (size + count * entry).next_multiple_of(8);
        Table { offset, count: count as u32 }
    };
    let (no_log, shelf);
    {
        let header = &mut world.header;
        header.record = record;
        header.instances = place(world.instances.len(), size_of::<Instance>());
        header.segments = place(world.segments.len(), size_of::<Segment>());
        header.activations = place(world.activations.len(), size_of::<Activation>());
        header.exports = place(exports.len(), size_of::<Export>());
        header.methods = place(methods.len(), size_of::<Method>());
        header.portals = place(portals.len(), size_of::<Portal>());
        header.slots = place(slots.len(), size_of::<Slot>());
        header.ranges = place(children.into(), size_of::<PagedRange>());
        header.symbol_names = place(text.len(), 1);
        header.size = size as u64;
        no_log = record + header.size.next_multiple_of(PAGE_SIZE);
        shelf = no_log + PAGE_SIZE;
        header.no_log = no_log;
        header.shelf = Range { start: shelf, end: shelf + SHELF_PAGES * PAGE_SIZE };
        header.loadable =
            Range { start: u64::from(described) + 1, end: u64::from(described + children) + 1 };
    }
    let clients = shelf + SHELF_PAGES * PAGE_SIZE;
    let rows = client_row(u64::from(described + children) + 1).div_ceil(PAGE_SIZE);
    let pages = (clients - record) / PAGE_SIZE + rows;
    world.memory.extend(words(pages as usize));
    world.header.clients = clients;
    for activation in world.activations.iter().take(described.into()) {
        world.take_activation(activation.client, activation.index);
    }
    let manager = world.manager();
    let write = |table: Table, bytes: &[u8]| {
        let words = bytes.as_chunks::<8>().0.iter().enumerate();
        for (place, bytes) in words {
            let at = world.header.record + u64::from(table.offset) + place as u64 * 8;
            world.word(at).store(i64::from_le_bytes(*bytes), Relaxed);
        }
    };
    write(world.header.exports, exports.as_bytes());
    write(world.header.methods, methods.as_bytes());
    write(world.header.portals, portals.as_bytes());
    write(world.header.slots, slots.as_bytes());
    for page in 0..SHELF_PAGES {
        world.word(shelf + page * PAGE_SIZE).store(0x5e1f + page as i64, Relaxed);
        let address = region_of(ONE) + SHELF + page * PAGE_SIZE;
        let root = manager.tables.root(world.instances[0].space).unwrap();
        let entry = manager.tables.find(root, address).unwrap();
        tables::map_over(entry, shelf + page * PAGE_SIZE, USER | READ);
    }
    world.is_live = true;
}
