//! Takes all memory that its quota allows, page by page or in sections, writes to all that it can and keeps it. The last to
//! run, by its argument, looks whether the memory that others have not taken is still there.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

use cairn::InstanceId;
use cairn::abi::address::PAGE_SIZE;
use cairn::environment::{argument, startup};
use cairn::section::Section;
use cairn_interfaces as interfaces;

cairn::component! {
    name: "eater",
    imports: {
        console: interfaces::Console,
        supervisor: interfaces::Supervisor,
        memory: interfaces::Memory,
        usage: interfaces::MemoryStatistics,
    },
    main: main,
}

fn say(text: core::fmt::Arguments) {
    imports::CONSOLE.print(text).expect("console");
}

/// Pages that a domain has, and may have.
fn usage(domain: u64) -> Option<(u64, u64)> {
    imports::USAGE.usage_of(InstanceId(domain as u16)).ok()
}

fn own_usage() -> (u64, u64) {
    usage(startup().instance.into()).expect("its own usage")
}

/// Every page is its own, and no other's.
fn fill(address: u64, pages: u64) {
    let section = Section::of_pages(address, pages).expect("pages");
    for page in 0..pages {
        let at = (page * PAGE_SIZE) as usize;
        assert_eq!(section.load(at), 0, "a page is somebody's");
        section.store(at, address + at as u64);
    }
}

fn take_pages() {
    while let Ok(address) = imports::MEMORY.allocate(1) {
        fill(address, 1);
    }
}

/// A section takes one page more, which lists its own.
fn take_sections() {
    for _ in 0..8 {
        let (used, quota) = own_usage();
        if quota < used + 2 {
            break;
        }
        let pages = (quota - used - 1).min(300);
        imports::MEMORY.make_section(pages).expect("a section within the quota");
    }
    take_pages();
}

fn main() {
    match argument() {
        "sections" => take_sections(),
        _ => take_pages(),
    }
    let (used, quota) = own_usage();
    let name = cairn::abi::descriptor::name_text(&startup().name);
    let verdict = if used == quota { "ok" } else { "FAILED" };
    say(format_args!("{verdict}: {name} has {used} of {quota} pages\n"));
    if argument() == "last" {
        // Free pages for page tables are among the free ones, so this is the least that can be said here.
        let (free, _) = imports::USAGE.usage().expect("usage");
        let unspent: u64 = (1..).map_while(usage).map(|(used, quota)| quota - used).sum();
        let verdict = if free >= unspent { "ok" } else { "FAILED" };
        say(format_args!("{verdict}: {free} pages for {unspent} that others may take\n"));
        let _ = imports::SUPERVISOR.halt(0);
    }
}
