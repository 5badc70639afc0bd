//! What the layout makes of instances that move.
#![forbid(unsafe_code)]

use cairn_abi::InstanceId;
use cairn_abi::descriptor::name_text;
use cairn_abi::record::{Export, Header, Instance, Interrupt, Portal, Segment, Table};
use cairn_image::Image;
use cairn_tool::build::{Parts, lay_out_with, nucleus};
use cairn_tool::placements::Placements;
use cairn_tool::{check, graph};
use zerocopy::{FromBytes, Immutable, KnownLayout};

const SYSTEM: &str = "tests/moves-demo/moves-demo";

fn entries<T: FromBytes + Immutable + KnownLayout>(record: &[u8], table: Table) -> Vec<T> {
    let bytes = record[table.offset as usize..].chunks(size_of::<T>());
    bytes.take(table.count as usize).map(|bytes| T::read_from_bytes(bytes).unwrap()).collect()
}

fn record(image: &Image) -> (&[u8], Header) {
    let record = &image.bytes[(image.report.record - image.report.load_address) as usize..];
    (record, Header::read_from_prefix(record).unwrap().0)
}

#[test]
fn the_other_place_has_what_a_place_has_and_nothing_that_is_an_instances() {
    let parts = Parts::new(SYSTEM, None).unwrap();
    let image = lay_out_with(&parts, &nucleus().unwrap().0).unwrap();
    let (record, header) = record(&image);
    let instances: Vec<Instance> = entries(record, header.instances);
    let exports: Vec<Export> = entries(record, header.exports);
    let portals: Vec<Portal> = entries(record, header.portals);
    let interrupts: Vec<Interrupt> = entries(record, header.interrupts);
    let named = |name: &str| {
        let is = |one: &&Instance| one.is_there() && name_text(&one.name) == name;
        *instances.iter().find(is).unwrap()
    };
    let moving = ["console", "clock", "greeter"].map(named);
    for own in moving {
        let other = named(&format!("{}@kernel", name_text(&own.name)));
        assert_eq!((own.other_place, other.other_place), (other.number, own.number));
        assert_eq!((other.successor_of, own.successor_of), (own.number, InstanceId(0)));
        assert_eq!((own.in_kernel, other.in_kernel), (0, 1));
        assert!(other.number.0 < header.loadable.start as u16 && other.domain != own.domain);
        let promised = (other.memory, other.threads, other.semaphores, other.locks, other.children);
        assert_eq!(promised, (0, 0, 0, 0, 0));
        assert_eq!((other.blocks, other.portals, other.sections, other.log_size), (0, 0, 0, 0));
        assert_eq!(other.names.start, other.names.end);
        assert_eq!(other.first_thread, u32::MAX);
        // Exports in the same order, which nobody opens; their entries are in the other image.
        let of = |one: &Instance| {
            exports[one.first_export as usize..][..one.export_count as usize].to_vec()
        };
        for (one, same) in of(&own).iter().zip(of(&other)) {
            assert_eq!((one.name, one.version), (same.name, same.version));
            assert_eq!((same.instance, same.open), (other.number, [0; 4]));
        }
        // Imports at the same indexes, with the same stacks.
        let of = |client: InstanceId| portals.iter().filter(move |one| one.client == client);
        assert_eq!(of(own.number).count(), of(other.number).count());
        for (one, same) in of(own.number).zip(of(other.number)) {
            let shape = |one: &Portal| (one.index, one.export, one.method, one.queue);
            assert_eq!(shape(one), shape(same));
            assert_ne!(one.code, same.code);
        }
        assert!(interrupts.iter().all(|one| one.instance != other.number));
    }
    // What leads to who moves leads to both places, and nothing else does.
    for portal in &portals {
        let server = exports[portal.export as usize].instance;
        let moves = moving.iter().any(|own| own.number == server);
        assert_eq!(portal.code_elsewhere != 0, moves);
        assert!(!moves || portal.code_elsewhere != portal.code);
    }
    // Their domains' numbers are each one's own.
    let mut domains: Vec<u16> = instances.iter().map(|one| one.domain.0).collect();
    domains.sort_unstable();
    domains.dedup();
    assert_eq!(domains.len(), instances.len());
}

/// In the page table of another it is the same memory: what is there twice is what a domain has.
#[test]
fn a_guest_has_nothing_twice_but_a_domain() {
    const GUEST: &str = "tests/hostile-moves-with/hostile-moves-with";
    let parts = Parts::new(GUEST, None).unwrap();
    let image = lay_out_with(&parts, &nucleus().unwrap().0).unwrap();
    let (record, header) = record(&image);
    let instances: Vec<Instance> = entries(record, header.instances);
    let named = |name: &str| {
        let is = |one: &&Instance| one.is_there() && name_text(&one.name) == name;
        *instances.iter().find(is).unwrap()
    };
    let [own, other, host] = ["guest", "guest@host", "host"].map(named);
    assert_eq!((own.other_place, other.other_place), (other.number, own.number));
    assert_eq!((own.host, other.host, host.host), (host.number, host.number, InstanceId(0)));
    assert_eq!([own, other, host].map(|one| one.is_away), [0, 1, 0]);
    assert_eq!([own, other, host].map(|one| one.has_guests), [0, 0, 1]);
    let place = |one: &Instance| {
        let memory = (one.region, one.start_address, one.entries, one.entries_span);
        (memory, one.main, one.stub, one.stack, one.in_kernel)
    };
    assert_eq!(place(&own), place(&other));
    assert_eq!(
        (other.space.root(), own.space.root() == host.space.root()),
        (host.space.root(), false)
    );
    assert!(other.domain != own.domain && other.table != own.table && other.domain != host.domain);
    let segments: Vec<Segment> = entries(record, header.segments);
    assert!(segments.iter().all(|one| one.instance != other.number || one.size == 0));
    // Calls from both places and to both take the same stacks.
    let portals: Vec<Portal> = entries(record, header.portals);
    let exports: Vec<Export> = entries(record, header.exports);
    let leads = portals.iter().filter(|one| exports[one.export as usize].instance == own.number);
    assert!(leads.clone().count() > 0);
    let elsewhere = leads.map(|one| one.code_elsewhere);
    assert!(elsewhere.clone().all(|code| code != 0));
    // Before it moves the host reaches nothing of its region.
    let domain = image.domains.iter().find(|one| one.name == "host").unwrap();
    let pages = cairn_image::places::mapped(
        image.report.load_address,
        image.bytes.clone(),
        std::slice::from_ref(domain),
    );
    let region = own.start_address..own.start_address + cairn_abi::address::REGION_SIZE;
    assert!(pages.range(region).next().is_none());
    assert!(image.domains.iter().all(|one| one.name != "guest@host"));
    let shown = image.report.to_string();
    for expected in ["guest@host", "with host, asleep", "domain, moves"] {
        assert!(shown.contains(expected), "{shown}");
    }
    let said = check::check(GUEST, None, Placements::Domain, &[]).unwrap();
    let said = check::summary(GUEST, &said);
    assert!(said.contains("moves into the domain of host and back"), "{said}");
    // Whoever is placed elsewhere for a try, the two stay.
    let parts = Parts::placed(GUEST, None, Placements::Kernel).unwrap();
    for name in ["guest", "host"] {
        let index = parts.system.instance(name).unwrap();
        assert!(!parts.system.instances[index].is_in_kernel());
    }
}

#[test]
fn the_board_has_the_memory_of_both_places() {
    let needed = |system| {
        let parts = Parts::new(system, None).unwrap();
        lay_out_with(&parts, &nucleus().unwrap().0).unwrap().report
    };
    let (with, without) = (needed(SYSTEM), needed("tests/replaced-demo/replaced-demo"));
    let others = with.instances.iter().filter(|one| one.name.ends_with("@kernel"));
    let others: u64 = others.map(|one| one.memory).sum();
    assert!(with.memory_needed >= without.memory_needed + others);
    let shown = with.to_string();
    for expected in ["console@kernel", "kernel, asleep", "domain, moves"] {
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn a_placement_of_all_leaves_who_moves_where_it_begins() {
    let parts = Parts::placed(SYSTEM, None, Placements::Kernel).unwrap();
    let console = parts.system.instance("console").unwrap();
    assert!(!parts.system.instances[console].is_in_kernel());
    lay_out_with(&parts, &nucleus().unwrap().0).unwrap();
}

#[test]
fn it_is_told_and_drawn_once() {
    let said = check::check(SYSTEM, None, Placements::Domain, &[]).unwrap();
    let said = check::summary(SYSTEM, &said);
    assert!(
        said.contains("\nconsole begins in a protection domain of its own, and moves"),
        "{said}"
    );
    assert!(!said.contains("console@kernel"), "{said}");
    let drawn = graph::draw(&Parts::new(SYSTEM, None).unwrap());
    assert!(drawn.contains(">moves<") && !drawn.contains("@kernel"));
}
