//! Checks the finished image by reading its page tables as the hardware will, independently of the layout's own data.
//!
//! - no page is writable and executable, in any domain and between domains;
//! - no page is in two domains unless the description shares it (a section, a stack group), or all execute it and
//!   only the memory manager can write it, or all read it where a log would be;
//! - no page of user mode is the kernel domain's as well, but the log and the devices of an instance that moves there, at the same
//!   place of its other region;
//! - views of a role (`abi::address::ROLE_*`) are mapped in that role's domain alone;
//! - no user page lies in the kernel domain's half, no kernel page in the user half;
//! - what portals write of a confined driver's device, no driver writes;
//! - the kernel domain's half is the same in every domain and in every process, but for the status page of a server of processes;
//! - such a server alone reaches its processes' memory, and its pool of their page tables, which it cannot write; the processes have nothing
//!   of user mode yet;
//! - every kernel page is in an area that says whether each hart has its own (`abi::kernel_area`), and no frame is both in
//!   one that harts share and in one that they do not. Large pages, which hold areas of both kinds, are left out.

use crate::memory::{EXECUTE, Memory, OWN, READ, USER, VALID, WRITE};
use crate::sharing::{Mapped, Reason, Shared};
use cairn_abi::address::*;
use cairn_abi::kernel_area::KernelArea;
use cairn_abi::page_table::{ENTRIES, ROOT_LEVEL, is_table, span, target};
use cairn_abi::process::STATUS_PAGE;
use cairn_description::model::Role;
use std::collections::BTreeMap;
use std::ops::Range;

/// A domain, for readers of the finished page tables.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// Physical address of its root page table.
    pub root: u64,
    /// First address of its first instance's region.
    pub start_address: u64,
    /// The roles of its instances, whose views it may map.
    pub roles: Vec<Role>,
    /// If its instance moves: the first address of its region in the kernel domain.
    pub other_place: Option<u64>,
    /// The sections that its instances pass in windows, by their addresses, counted in [`SECTION_STRIDE`].
    pub passes: Vec<u64>,
    /// What it has for processes.
    pub processes: Option<Processes>,
}

/// What a server of processes has, by physical addresses.
#[derive(Clone, Debug)]
pub struct Processes {
    /// The status page.
    pub status: u64,
    /// The root page tables.
    pub roots: Vec<u64>,
    /// All page tables.
    pub pool: Range<u64>,
    /// The processes' memory.
    pub memory: Range<u64>,
}

/// One page in one domain.
#[derive(Clone, Copy)]
struct Use {
    domain: usize,
    address: u64,
    flags: u64,
}

/// One page in the kernel domain.
#[derive(Clone, Copy)]
struct Kernel {
    flags: u64,
    /// It is mapped only as the top page of an activation's stack, as the emulator's finisher or as a confined driver's device,
    /// whose content the nucleus does not trust, so that user mode may have it too.
    not_trusted: bool,
    /// The portals of a confined driver write it: the driver itself may only read it.
    of_device: bool,
    /// Its address there; 0, if it has several.
    address: u64,
    /// Whether each hart has its own, by the area that maps it; `None` for a page of a large one.
    of_hart: Option<bool>,
}

impl Default for Kernel {
    fn default() -> Kernel {
        Kernel { flags: 0, not_trusted: true, of_device: false, address: 0, of_hart: None }
    }
}

/// Whether a role may read an address of `abi::address::ROLE_*` (`Some`), and write it (`true`). This repeats what the
/// layout grants, so that an error there is found.
fn role_access(role: Role, address: u64) -> Option<bool> {
    // The clients end where the record begins.
    const SIZE: u64 = ROLE_SEMAPHORES - ROLE_RECORD;
    let end = |base: u64| if base == ROLE_CLIENTS { ROLE_RECORD } else { base + SIZE };
    let within = |base: u64| (base..end(base)).contains(&address);
    let views: &[(u64, bool)] = match role {
        Role::Scheduler => &[(ROLE_SEMAPHORES, true), (ROLE_ACTIVATIONS, false)],
        Role::Supervisor => &[(ROLE_THREADS, false), (ROLE_PORTAL_CODE, false), (ROLE_KEPT, true)],
        Role::Portals => &[
            (ROLE_PORTAL_CODE, true),
            (ROLE_DOMAINS, true),
            (ROLE_ACTIVATIONS, true),
            (ROLE_CLIENTS, true),
            (ROLE_COUNTERS, false),
        ],
        Role::Memory if (ROLE_MEMORY..STACK_GROUPS).contains(&address) => return Some(true),
        Role::Memory => &[(ROLE_PAGE_TABLES, true)],
        Role::Devices => &[(ROLE_DEVICES, true)],
        Role::Logs => &[(ROLE_LOGS, true)],
        Role::ShelfKeeper | Role::Loader => &[(ROLE_SHELF, false)],
        Role::Interrupts | Role::Names => &[],
        Role::Idle => return None,
    };
    let record = [(ROLE_RECORD, false)];
    record.iter().chain(views).find(|(base, _)| within(*base)).map(|(_, writable)| *writable)
}

/// Where a page table leads.
pub(crate) enum Entry {
    /// To a table of this level, which maps addresses from this one on.
    Table { address: u64, physical: u64, level: u32 },
    /// To a page, or to one of those of which a large page consists.
    Page { address: u64, physical: u64, flags: u64, is_large: bool },
}

/// Calls `found` for every table below a table, and for every page.
pub(crate) fn walk(
    memory: &mut Memory,
    table: u64,
    level: u32,
    base: u64,
    found: &mut impl FnMut(Entry),
) {
    for index in 0..ENTRIES as u64 {
        let entry = memory.load(table + index * 8);
        if entry & VALID == 0 {
            continue;
        }
        let mut address = base | (index * span(level));
        if level == ROOT_LEVEL && index >= ENTRIES as u64 / 2 {
            address |= KERNEL;
        }
        let physical = target(entry);
        if is_table(entry) {
            found(Entry::Table { address, physical, level: level - 1 });
            walk(memory, physical, level - 1, address, found);
            continue;
        }
        let flags = entry & 0x3ff;
        for offset in (0..span(level)).step_by(PAGE_SIZE as usize) {
            let (address, physical) = (address + offset, physical + offset);
            found(Entry::Page { address, physical, flags, is_large: level > 0 });
        }
    }
}

/// Checks the domains; what they share.
pub fn check(memory: &mut Memory, domains: &[Domain]) -> Result<Shared, String> {
    let mut users: BTreeMap<u64, Vec<Use>> = BTreeMap::new();
    let mut kernel: BTreeMap<u64, Kernel> = BTreeMap::new();
    let mut first_half = None;
    for (number, domain) in domains.iter().enumerate() {
        let mut half = memory.at(domain.root + 2048, 2048).to_vec();
        if let Some(processes) = &domain.processes {
            // Nothing but the status page is there.
            half[2040..].fill(0);
            for root in &processes.roots {
                if memory.at(*root, 2048).iter().any(|byte| *byte != 0)
                    || memory.at(root + 2048, 2048) != half
                {
                    return Err(format!("a process of `{}` has something already", domain.name));
                }
            }
        }
        if *first_half.get_or_insert_with(|| half.clone()) != half {
            return Err(format!("domain `{}` has a kernel half of its own", domain.name));
        }
        let mut error = None;
        walk(memory, domain.root, ROOT_LEVEL, 0, &mut |entry| {
            let Entry::Page { address, physical, flags, is_large } = entry else { return };
            if flags & WRITE != 0 && flags & EXECUTE != 0 {
                error = Some(format!("`{}` can write and execute {address:#x}", domain.name));
            }
            let of_processes = domain.processes.as_ref();
            if address >= STATUS_PAGE && of_processes.is_some() && flags & EXECUTE == 0 {
                users.entry(physical).or_default().push(Use { domain: number, address, flags });
                return;
            }
            if (address >= KERNEL) == (flags & USER != 0) {
                error = Some(format!(
                    "`{}` has {address:#x} on the wrong side of the user bit",
                    domain.name
                ));
            }
            if (KERNEL_VIEWS..KERNEL_REGIONS).contains(&address) {
                // Whose component is there is trusted with it, as in a domain of its own.
                if flags & EXECUTE != 0 {
                    error = Some(format!("a view of a role at {address:#x} can be executed"));
                }
            } else if address >= KERNEL {
                let page =
                    kernel.entry(physical).or_insert(Kernel { address, ..Kernel::default() });
                page.flags |= flags;
                let of_device = (DEVICES..DEVICE_RINGS).contains(&address);
                page.of_device |= of_device;
                let is_not_trusted = (STACK_ALIASES..SEMAPHORES).contains(&address)
                    || address == FINISHER
                    || (DEVICES..KERNEL_VIEWS).contains(&address);
                page.not_trusted = page.not_trusted && is_not_trusted;
                if page.address != address {
                    page.address = 0;
                }
                if is_large {
                    return;
                }
                let Some(area) = KernelArea::of(address) else {
                    error = Some(format!("{address:#x} is in no area of the kernel domain"));
                    return;
                };
                let of_hart = area.is_of_hart(flags & WRITE != 0);
                if page.of_hart.replace(of_hart).is_some_and(|before| before != of_hart) {
                    error = Some(format!(
                        "{physical:#x} is each hart's own or shared at {address:#x} ({}), and not so elsewhere",
                        area.name
                    ));
                }
            } else {
                users.entry(physical).or_default().push(Use { domain: number, address, flags });
            }
        });
        if let Some(error) = error {
            return Err(error);
        }
    }
    for (physical, Kernel { flags, .. }) in &kernel {
        if flags & WRITE != 0 && flags & EXECUTE != 0 {
            return Err(format!("the kernel domain can write and execute {physical:#x}"));
        }
    }

    let mut shared = Shared::default();
    for (physical, uses) in &users {
        check_page(*physical, uses, kernel.get(physical).copied(), domains)?;
        let mapped = uses.iter().map(|used| Mapped {
            domain: &domains[used.domain].name,
            address: used.address,
            writable: used.flags & WRITE != 0,
        });
        shared.page(&mapped.collect::<Vec<_>>());
    }
    Ok(shared)
}

fn check_page(
    physical: u64,
    uses: &[Use],
    kernel: Option<Kernel>,
    domains: &[Domain],
) -> Result<(), String> {
    let name = |used: &Use| &domains[used.domain].name;
    let plain: Vec<&Use> =
        uses.iter().filter(|used| Reason::of(used.address) != Some(Reason::Role)).collect();
    for used in uses {
        if let Some(processes) = &domains[used.domain].processes
            && is_of_processes(processes, used, physical)
        {
            // It is nobody else's.
            return match uses.len() {
                1 => Ok(()),
                _ => {
                    let places: Vec<String> = uses
                        .iter()
                        .map(|one| format!("`{}` at {:#x}", name(one), one.address))
                        .collect();
                    Err(format!(
                        "{physical:#x} is of processes of `{}`, and in {}",
                        name(used),
                        places.join(", ")
                    ))
                }
            };
        }
        if Reason::of(used.address) == Some(Reason::Role) {
            let roles = domains[used.domain].roles.iter();
            let access = roles.filter_map(|role| role_access(*role, used.address)).max();
            match access {
                None => {
                    return Err(format!(
                        "`{}` maps {:#x}, not of its role",
                        name(used),
                        used.address
                    ));
                }
                Some(false) if used.flags & WRITE != 0 => {
                    return Err(format!("`{}` may only read {:#x}", name(used), used.address));
                }
                Some(_) => {}
            }
        }
        let is_passed = domains[used.domain].passes.contains(&(used.address / SECTION_STRIDE));
        if used.flags & OWN != 0 && Reason::of(used.address).is_some() && !is_passed {
            let address = used.address;
            return Err(format!(
                "`{}` could pass on {address:#x}, which is not its own",
                name(used)
            ));
        }
        // User mode reaches the nucleus' memory only by views of roles.
        if let Some(kernel) = kernel {
            let in_other_place = has_in_other_place(&domains[used.domain], used.address);
            let moves_there = in_other_place == Some(kernel.address);
            let own = Reason::of(used.address).is_none() && (kernel.not_trusted || moves_there);
            let role = Reason::of(used.address) == Some(Reason::Role);
            if !own && !role {
                return Err(format!(
                    "`{}` maps {physical:#x} of the kernel domain at {:#x}",
                    name(used),
                    used.address
                ));
            }
            if kernel.of_device && own && used.flags & WRITE != 0 {
                return Err(format!(
                    "`{}` writes {physical:#x} of a device at {:#x}, past the portals that confine it",
                    name(used),
                    used.address
                ));
            }
        }
    }
    const RIGHTS: u64 = READ | WRITE | EXECUTE;
    if plain.iter().all(|used| used.flags & RIGHTS == READ | EXECUTE) {
        return Ok(());
    }
    // The page of zeros that those have who have no log.
    let is_no_log =
        |used: &&Use| used.flags & RIGHTS == READ && used.address % REGION_SIZE == LOG_OFFSET;
    if plain.iter().all(is_no_log) {
        return Ok(());
    }
    for (index, first) in plain.iter().enumerate() {
        for second in &plain[index + 1..] {
            if first.domain == second.domain && (first.flags | second.flags) & RIGHTS == READ {
                // Who can only read it learns nothing at a second address.
                continue;
            }
            let shared = Reason::of(first.address);
            if shared.is_none()
                || shared != Reason::of(second.address)
                || first.address != second.address
            {
                return Err(format!(
                    "{physical:#x} is in `{}` at {:#x} and in `{}` at {:#x}, and the description does not say so",
                    name(first),
                    first.address,
                    name(second),
                    second.address
                ));
            }
            if (first.flags | second.flags) & EXECUTE != 0
                && (first.flags | second.flags) & WRITE != 0
            {
                return Err(format!(
                    "{physical:#x} is executable in one domain and writable in another"
                ));
            }
        }
    }
    Ok(())
}

/// Whether a server has a page for its processes where and as it should.
fn is_of_processes(processes: &Processes, used: &Use, physical: u64) -> bool {
    let writes = used.flags & WRITE != 0;
    match used.address {
        STATUS_PAGE => processes.status == physical,
        address if address != PROCESS_MEMORY + physical || used.flags & (EXECUTE | OWN) != 0 => {
            false
        }
        _ => processes.memory.contains(&physical) || processes.pool.contains(&physical) && !writes,
    }
}

/// Where an instance that moves has the same page in its other place: only its log, which nobody trusts, and the registers of its devices.
fn has_in_other_place(domain: &Domain, address: u64) -> Option<u64> {
    let offset = address % REGION_SIZE;
    let is_the_same = (LOG_OFFSET..LOG_OFFSET + LOG_MAXIMUM).contains(&offset)
        || (DEVICES_OFFSET..REGION_SIZE).contains(&offset);
    let is_own = address - offset == domain.start_address;
    domain.other_place.filter(|_| is_the_same && is_own).map(|region| region + offset)
}

#[cfg(test)]
mod tests;
