//! What lies in each page of memory, for people who look at physical addresses.

use crate::check::{Domain, Entry, walk};
use crate::memory::{EXECUTE, Memory, WRITE};
use crate::sharing::Reason;
use cairn_abi::address::*;
use cairn_abi::kernel_area::KernelArea;
use cairn_abi::page_table::{ROOT_LEVEL, span};
use std::collections::{BTreeMap, BTreeSet};

/// What lies in each page of memory, by its physical address.
#[derive(Clone, Debug, Default)]
pub struct Places(BTreeMap<u64, Place>);

/// One mapping of a page. If a page has several, the first kind in this order names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// A page table: whose, its level, and the first address that it maps.
    Table(String, u32, u64),
    /// A page of the kernel domain.
    Kernel(u64),
    /// A page of these instances or domains, at this address, with these rights.
    Region(Vec<String>, u64, &'static str),
    /// A second mapping of a page, for a role or for privileged code.
    Beside(u64),
}

impl Places {
    /// Reads the page tables of all `domains` in the content of an image, which is loaded at `load_address`. `owner` names the
    /// instance in whose region an address is.
    pub fn read(
        load_address: u64,
        image: Vec<u8>,
        domains: &[Domain],
        owner: &dyn Fn(u64) -> Option<String>,
    ) -> Places {
        let memory = &mut Memory::of_image(load_address, image);
        let mut places = Places::default();
        for domain in domains {
            let table = |address| if address >= KERNEL { "the kernel" } else { &domain.name };
            places.add(domain.root, Place::Table(domain.name.clone(), 2, 0));
            walk(memory, domain.root, ROOT_LEVEL, 0, &mut |entry| match entry {
                Entry::Table { address, physical, level } => {
                    places.add(physical, Place::Table(table(address).to_owned(), level, address));
                }
                Entry::Page { address, physical, flags, .. } => {
                    let place = match owner(address) {
                        Some(instance) => Place::Region(vec![instance], address, rights(flags)),
                        None => place(&domain.name, address, flags),
                    };
                    places.add(physical, place);
                }
            });
        }
        places
    }

    fn add(&mut self, physical: u64, place: Place) {
        let known = self.0.entry(physical).or_insert_with(|| place.clone());
        match (known, place) {
            (Place::Region(names, known, _), Place::Region(more, address, _))
                if *known == address =>
            {
                names.extend(
                    more.into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>(),
                );
            }
            (known, place) => {
                // A large page is mapped at several addresses; the highest area that covers the page is its own.
                let is_later = matches!((&*known, &place), (Place::Kernel(one), Place::Kernel(other)) if other > one);
                if place < *known || is_later {
                    *known = place;
                }
            }
        }
    }

    /// What lies at a physical address, with its own one; `None` if it has none.
    pub fn name(&self, physical: u64) -> Option<String> {
        let offset = physical % PAGE_SIZE;
        Some(match self.0.get(&(physical - offset))? {
            Place::Table(owner, level, first) => {
                let address = first + offset / 8 * span(*level);
                let address =
                    if address >> USER_ADDRESS_BITS != 0 { address | KERNEL } else { address };
                format!("page table of {owner}, level {level}, for {address:#x}")
            }
            Place::Kernel(address) => kernel(address + offset),
            Place::Region(names, address, rights) => {
                let names = match &names[..] {
                    [name] => name.clone(),
                    [name, others @ ..] => format!("{name} and {} more", others.len()),
                    [] => String::new(),
                };
                format!("{names}, {:#x} ({rights})", address + offset)
            }
            Place::Beside(address) => format!("{:#x}", address + offset),
        })
    }
}

fn place(domain: &str, address: u64, flags: u64) -> Place {
    if (STACK_ALIASES..SEMAPHORES).contains(&address)
        || Reason::of(address) == Some(Reason::Role) && address < KERNEL
    {
        return Place::Beside(address);
    }
    if address >= KERNEL {
        // A large page also has what lies before its area.
        return match KernelArea::of(address) {
            Some(area) if address - area.start >= WITHIN => Place::Beside(address),
            _ => Place::Kernel(address),
        };
    }
    Place::Region(vec![domain.to_owned()], address, rights(flags))
}

fn rights(flags: u64) -> &'static str {
    match flags & (WRITE | EXECUTE) {
        WRITE => "rw",
        EXECUTE => "rx",
        _ => "r",
    }
}

/// Every area of the kernel domain is smaller than this, and begins further behind the one before.
const WITHIN: u64 = 32 * LEAF_SPAN;

/// The addresses of all pages that `domains` map, by the page tables in the content of memory from `base` on.
pub fn mapped(base: u64, content: Vec<u8>, domains: &[Domain]) -> BTreeSet<u64> {
    let memory = &mut Memory::of_image(base, content);
    let mut pages = BTreeSet::new();
    for domain in domains {
        walk(memory, domain.root, ROOT_LEVEL, 0, &mut |entry| {
            if let Entry::Page { address, .. } = entry {
                pages.insert(address);
            }
        });
    }
    pages
}

/// What lies at an address of the kernel domain.
pub fn kernel(address: u64) -> String {
    match KernelArea::of(address) {
        Some(area) if area.start == THREADS => {
            format!("thread {}, {address:#x}", (address - THREADS) / PAGE_SIZE)
        }
        Some(area) => format!("{}, {address:#x}", area.name),
        None => format!("{address:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{PageTables, READ, USER};
    use cairn_abi::RegionId;

    #[test]
    fn a_page_has_the_name_that_tells_most() {
        const LOAD: u64 = 0x8020_0000;
        let mut memory = Memory::new(LOAD);
        let mut tables = PageTables::new(&mut memory, 64);
        let roots = [(); 2].map(|()| tables.take(1).unwrap());
        let [own, shared, thread, inside] = [(); 4].map(|()| memory.pages(1));
        let mut map = |root: usize, address, page, flags| {
            tables
                .map(&mut memory, crate::memory::Root(roots[root]), address, page, flags)
                .unwrap();
        };
        map(0, region(RegionId(1)), own, USER | READ | EXECUTE);
        map(0, STACK_ALIASES, own, READ | WRITE);
        map(1, ROLE_MEMORY, own, USER | READ | WRITE);
        map(0, SECTIONS, shared, USER | READ | WRITE);
        map(1, SECTIONS, shared, USER | READ);
        map(0, THREADS + 3 * PAGE_SIZE, thread, READ | WRITE);
        map(1, ROLE_THREADS + 3 * PAGE_SIZE, thread, USER | READ);
        let domain = |index: usize| Domain {
            name: ["one", "two"][index].into(),
            root: roots[index],
            start_address: region(RegionId(index as u16 + 1)),
            roles: Vec::new(),
            other_place: None,
            passes: Vec::new(),
            processes: None,
        };
        map(1, kernel_region(RegionId(2)), inside, READ);
        // The instances of the first region, and of one in the kernel domain.
        let owner = |address| match address & !(REGION_SIZE - 1) {
            start if start == region(RegionId(1)) => Some("one".to_owned()),
            start if start == kernel_region(RegionId(2)) => Some("inside".to_owned()),
            _ => None,
        };
        let places = Places::read(LOAD, memory.into_bytes(), &[domain(0), domain(1)], &owner);
        let name = |physical| places.name(physical).unwrap();
        assert_eq!(name(own + 8), format!("one, {:#x} (rx)", region(RegionId(1)) + 8));
        assert_eq!(name(shared), format!("one and 1 more, {SECTIONS:#x} (rw)"));
        assert_eq!(name(thread + 64), format!("thread 3, {:#x}", THREADS + 3 * PAGE_SIZE + 64));
        assert_eq!(name(inside), format!("inside, {:#x} (r)", kernel_region(RegionId(2))));
        let root = |index: u64| name(roots[1] + index * 8);
        assert_eq!(root(1), "page table of two, level 2, for 0x40000000");
        assert_eq!(root(256), format!("page table of two, level 2, for {KERNEL:#x}"));
        let tables: Vec<String> = places.0.keys().filter_map(|page| places.name(*page)).collect();
        let leaf = format!(
            "page table of one, level 0, for {:#x}",
            region(RegionId(1)) & !(LEAF_SPAN - 1)
        );
        assert!(tables.contains(&leaf), "{tables:?}");
        assert_eq!(places.name(LOAD + 0x10_0000), None);
    }
}
