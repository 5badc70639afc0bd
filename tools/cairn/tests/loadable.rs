//! What the layout leaves for components that are loaded while the system runs.
#![forbid(unsafe_code)]

use cairn_abi::address::*;
use cairn_abi::loadable::*;
use cairn_abi::memory::SECTIONS_AT_RUN_TIME;
use cairn_abi::page_table::{ENTRIES, VALID, index, target};
use cairn_abi::record::{self, Activation, Export, Header, Instance, Method, Segment};
use cairn_image::Image;
use cairn_tool::build::{Parts, lay_out_with, nucleus};
use zerocopy::{FromBytes, Immutable};

const SYSTEM: &str = "demo";

fn laid_out(children: u32) -> Image {
    let mut parts = Parts::new(SYSTEM, None).unwrap();
    let shell = parts.system.instances.iter().position(|one| *one.name == "shell").unwrap();
    parts.system.instances[shell].children.value = children;
    lay_out_with(&parts, &nucleus().unwrap().0).unwrap()
}

fn bytes(image: &Image, physical: u64) -> &[u8] {
    &image.bytes[(physical - image.report.load_address) as usize..]
}

fn header(image: &Image) -> Header {
    Header::read_from_prefix(bytes(image, image.report.record)).unwrap().0
}

fn table<T: FromBytes + Immutable>(image: &Image, table: record::Table) -> Vec<T> {
    let from = bytes(image, image.report.record + u64::from(table.offset));
    let entries = from.chunks_exact(size_of::<T>()).take(table.count as usize);
    entries.map(|entry| T::read_from_bytes(entry).unwrap()).collect()
}

fn word(image: &Image, physical: u64) -> u64 {
    u64::from_le_bytes(*bytes(image, physical).first_chunk().unwrap())
}

#[test]
fn without_children_nothing_is_left() {
    let image = laid_out(0);
    let header = header(&image);
    assert_eq!(header.record, image.report.record);
    assert_eq!(header.slots.count, 0);
    assert_eq!(header.loadable.start, header.loadable.end);
    assert!(table::<Instance>(&image, header.instances).iter().all(Instance::is_there));
    let segments: Vec<Segment> = table(&image, header.segments);
    assert!(segments.iter().all(|segment| segment.physical != 0));
}

#[test]
fn every_loadable_number_has_its_places_and_page_tables() {
    const CHILDREN: u32 = 3;
    let (before, image) = (header(&laid_out(0)), laid_out(CHILDREN));
    let header = header(&image);
    let instances: Vec<Instance> = table(&image, header.instances);
    let slots: Vec<Slot> = table(&image, header.slots);
    let activations: Vec<Activation> = table(&image, header.activations);
    let (segments, exports): (Vec<Segment>, Vec<Export>) =
        (table(&image, header.segments), table(&image, header.exports));
    let methods: Vec<Method> = table(&image, header.methods);
    let described = before.instances.count;
    assert_eq!(header.loadable.start, u64::from(described) + 1);
    assert_eq!(header.loadable.end, u64::from(described + CHILDREN) + 1);
    assert_eq!((instances.len(), slots.len()), (header.loadable.end as usize - 1, instances.len()));

    // No place is of two numbers, and each place of the description is its own's.
    for (number, (instance, slot)) in (1..).zip(instances.iter().zip(&slots)) {
        let owner = if number <= described { number as u16 } else { 0 };
        assert_eq!(instance.number.0, owner);
        assert_eq!(u32::from(instance.domain.0), number);
        // Those of the description's have room for a successor's content.
        let mut own = segments[slot.segments.range()].iter();
        assert!(own.all(|one| one.instance.0 == owner || one.instance.0 == 0 && one.size == 0));
        assert!(exports[slot.exports.range()].iter().all(|one| one.instance.0 == owner));
        assert!(activations[slot.activations.range()].iter().all(|one| one.instance.0 == owner));
        assert!(slot.methods.range().end <= methods.len());
    }
    let sum =
        |entries: fn(&Slot) -> Entries| slots.iter().map(|one| entries(one).count).sum::<u32>();
    assert_eq!(sum(|slot| slot.segments) + sum(|slot| slot.stacks), header.segments.count);
    assert_eq!(sum(|slot| slot.exports), header.exports.count);
    assert_eq!(sum(|slot| slot.methods), header.methods.count);
    assert_eq!(sum(|slot| slot.activations), header.activations.count);
    assert!(activations.iter().enumerate().all(|(place, one)| one.index as usize == place));
    for (instance, activation) in activations.iter().filter_map(|activation| {
        Some((instances.get(activation.instance.index().checked_sub(1)?)?, activation))
    }) {
        let [(_, stack), _, (_, entry), (_, window)] = descriptor(instance, activation);
        assert!(instance.in_kernel != 0 || (stack ^ instance.start_address) < REGION_SIZE);
        assert_eq!((window - stack, entry), (PAGE_SIZE, activation.windows));
    }

    // Page tables lead to the leaf tables of the region, and nowhere else, and not yet.
    let boot = instances[0].space.root();
    let kernel_half = |root: u64| bytes(&image, root + 2048)[..2048].to_vec();
    for instance in &instances[described as usize..] {
        let root = instance.space.root();
        assert_eq!(kernel_half(root), kernel_half(boot));
        let entry = |address| word(&image, root + index(address, 2) as u64 * 8);
        for entry in 0..ENTRIES as u64 / 2 {
            assert_eq!(word(&image, root + entry * 8) & VALID, 0);
        }
        let directory = target(entry(instance.start_address));
        assert_ne!(target(entry(SECTIONS_AT_RUN_TIME)), 0);
        for leaf in 0..LEAVES_EACH {
            let address = instance.start_address + leaf * LEAF_SPAN;
            let table = target(word(&image, directory + index(address, 1) as u64 * 8));
            let kernel = PAGE_TABLES + (table - header.page_tables_physical);
            assert_eq!(kernel, instance.entries + leaf * PAGE_SIZE);
            assert!(bytes(&image, table)[..PAGE_SIZE as usize].iter().all(|byte| *byte == 0));
        }
        assert_eq!(instance.entries_span, LEAVES_EACH * LEAF_SPAN);
    }
    // Each stack's alias has a leaf table in the kernel's half.
    for activation in &activations {
        let mut table = boot;
        for level in [2, 1] {
            let alias = stack_alias(activation.index);
            let entry = word(&image, table + index(alias, level) as u64 * 8);
            assert_eq!(entry & VALID, VALID);
            table = target(entry);
        }
        let alias = word(&image, table + index(stack_alias(activation.index), 0) as u64 * 8);
        assert_eq!(alias != 0, activation.instance.0 != 0);
    }
    let spare =
        |header: &Header| (header.free_page_tables.end - header.free_page_tables.start) / PAGE_SIZE;
    assert!(spare(&header) >= spare(&before) - 4 + u64::from(CHILDREN) * SECTIONS_EACH);
    let code = |header: &Header| header.free_portal_code.end - header.free_portal_code.start;
    assert!(code(&header) >= code(&before) - PAGE_SIZE + u64::from(CHILDREN) * PORTAL_CODE_EACH);
}
