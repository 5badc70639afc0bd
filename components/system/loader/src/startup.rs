//! The startup page of an instance.

use super::component::{DOMAIN_MEMORY, MEMORY};
use super::load::Place;
use cairn::component::Interface;
use cairn::section::Section;
use cairn::{Error, environment};
use cairn_abi::address::STARTUP_OFFSET;
use cairn_abi::descriptor::name;
use cairn_abi::record::CONTENT_CONSTANTS;
use cairn_abi::startup::{ARGUMENT_SIZE, MAGIC, Mapping, Startup};
use cairn_interfaces::{Memory, Portals, Threads};
use cairn_loader::package::Head;
use core::mem::offset_of;

/// Writes it, and gives it to the instance.
pub fn give(head: &Head, place: &Place, called: &str) -> Result<(), Error> {
    let pages = MEMORY.pages(1)?;
    fill(&pages, head, place, called);
    let address = pages.address() as u64;
    DOMAIN_MEMORY.give(place.number, STARTUP_OFFSET, address, 1, CONTENT_CONSTANTS)?;
    // It is another's.
    core::mem::forget(pages);
    Ok(())
}

/// Writes what is not zero.
fn fill(page: &Section, head: &Head, place: &Place, called: &str) {
    let (own, numbers) = (environment::startup(), head.numbers());
    let Place { number: instance, region: begin, placement } = place;
    let first_portal = |of: &str, version: u64| {
        let mut imports = head.imports().filter(|import| import.server.is_some());
        let import = imports.find(|import| import.interface() == of && import.version == version);
        import.map_or(0, |import| import.first_portal as u64)
    };
    page.store_u16(offset_of!(Startup, instance), instance.0);
    page.store_u16(offset_of!(Startup, domain), instance.0);
    let left_out = head.imports().enumerate().filter(|(_, import)| import.server.is_none());
    let left_out = left_out.fold(0, |all, (place, _)| all | 1 << place);
    page.store_u16(offset_of!(Startup, imports_left_out), left_out);
    // Where nobody reads logs, none is written.
    let log_words = if own.log_words == 0 { 0 } else { numbers.log_size / 8 };
    let heap = placement.heap();
    for (field, word) in [
        (offset_of!(Startup, magic), MAGIC),
        (offset_of!(Startup, time_base), own.time_base),
        (offset_of!(Startup, run_rate), own.run_rate),
        (offset_of!(Startup, heap), begin + heap.start),
        (offset_of!(Startup, heap_size), heap.end - heap.start),
        (offset_of!(Startup, heap_limit), heap.end - heap.start),
        (
            offset_of!(Startup, memory_manager),
            first_portal(<dyn Memory>::NAME, <dyn Memory>::DESCRIPTOR.version),
        ),
        // Its first life raises it, as each does.
        (offset_of!(Startup, generation), u64::MAX),
        (offset_of!(Startup, run_time_memory), begin + placement.end()),
        (
            offset_of!(Startup, portal_manager),
            first_portal(<dyn Portals>::NAME, <dyn Portals>::DESCRIPTOR.version),
        ),
        (
            offset_of!(Startup, threads),
            first_portal(<dyn Threads>::NAME, <dyn Threads>::DESCRIPTOR.version),
        ),
        (offset_of!(Startup, thread_limit), numbers.threads.into()),
        (offset_of!(Startup, log_words), log_words),
        (offset_of!(Startup, argument_length), numbers.argument_length.into()),
    ] {
        page.store(field, word);
    }
    let put = |field: usize, bytes: &[u8]| {
        for (place, byte) in bytes.iter().enumerate() {
            page.set_byte(field + place, *byte);
        }
    };
    put(offset_of!(Startup, name), &name(called));
    if numbers.paged != 0 {
        let (range, section) = (placement.paged(), offset_of!(Startup, sections));
        page.set_byte(offset_of!(Startup, section_count), 1);
        put(section + offset_of!(Mapping, name), &numbers.paged_name);
        page.store(section + offset_of!(Mapping, address), begin + range.start);
        page.store(section + offset_of!(Mapping, size), numbers.paged);
        page.store(section + offset_of!(Mapping, writable), 1);
    }
    let argument = head.argument();
    put(offset_of!(Startup, argument), argument.get(..ARGUMENT_SIZE).unwrap_or(argument));
    for (place, value) in head.values().enumerate() {
        page.store(offset_of!(Startup, values) + place * 8, value);
    }
}
