//! Whether the board has the memory that a system promises its instances: what the layout takes for itself, and on top of
//! it every quota at once. The memory manager hands out what is left, and counts nothing but the quotas.

use cairn_abi::address::PAGE_SIZE;
use cairn_abi::domain::{GRANULE, GRANULES_MAXIMUM, PORTAL_CODE_EACH};
use cairn_abi::loadable;
use cairn_abi::memory::FREE_PAGES_MAXIMUM;
use cairn_description::model::Instance;
use cairn_description::{Error, Report, System, show_size};

/// What the layout takes, in bytes.
pub struct Room {
    /// All of it: the image.
    pub image: u64,
    /// The part of it that no instance's quota pays for.
    pub own: u64,
    /// Of the other part, what quotas pay for that is there already: code that several instances have.
    pub shared: u64,
    /// Memory of processes, which the memory manager does not hand out.
    pub processes: u64,
    /// The nucleus with the blocks of threads, domains and activations.
    pub nucleus: u64,
    /// Portal code and the words that count calls.
    pub portal_code: u64,
    /// The pool of page tables, with those that are made at run time.
    pub page_tables: u64,
    /// Sections of the description.
    pub sections: u64,
    /// The shelf.
    pub shelf: u64,
}

impl Room {
    /// Bytes from the load address on that the system can take.
    pub fn needed(&self, system: &System) -> u64 {
        self.own + quotas(system) - self.shared
    }
}

/// Least bytes of portal code that a client of the portal manager has for what it opens by name, beside what is kept for its
/// quotas.
const PORTAL_CODE_PART: u64 = 6 << 10;
/// What each has if there is enough, beside an equal part of the second.
const PORTAL_CODE_USUAL: u64 = 16 << 10;
const PORTAL_CODE_TOGETHER: u64 = 256 << 10;

/// The portal manager with its clients, among which it divides what portals are made from at run time.
fn clients(system: &System) -> Option<(&Instance, impl Iterator<Item = &Instance> + Clone)> {
    let manager = system.roles.portals?;
    let clients = system.described().iter().filter(|instance| system.gets_portals(instance));
    Some((&system.instances[manager], clients))
}

/// Bytes of portal code that are kept for what the description promises clients.
fn kept<'a>(clients: impl Iterator<Item = &'a Instance>) -> u64 {
    clients.map(|client| u64::from(client.kept().portals) * PORTAL_CODE_EACH).sum()
}

/// Bytes of portal code that are left for run time.
pub fn spare_portal_code(system: &System) -> u64 {
    let Some((_, clients)) = clients(system) else { return 0 };
    let usual = clients.clone().count() as u64 * PORTAL_CODE_USUAL + PORTAL_CODE_TOGETHER;
    let loadable = system.children() * loadable::PORTAL_CODE_EACH;
    (kept(clients) + usual + loadable).min(GRANULES_MAXIMUM as u64 * GRANULE)
}

/// Refuses a system whose clients of the portal manager have too little portal code for what they make at run time: it would
/// boot, and components that make a semaphore would fail. The portal manager divides what is not for somebody's `portals` equally.
pub fn check_portal_code(system: &System, left: u64) -> Result<(), Report> {
    let Some((manager, clients)) = clients(system) else { return Ok(()) };
    let count = clients.clone().count() as u64;
    let kept = kept(clients) + system.children() * loadable::PORTAL_CODE_EACH;
    let part = left.saturating_sub(kept) / count;
    if part >= PORTAL_CODE_PART {
        return Ok(());
    }
    Err(Error::new(
        &manager.name.place,
        "too little portal code is left for run time".to_owned(),
        format!("expected at least {PORTAL_CODE_PART} bytes for each of {count}, found {part}"),
        format!(
            "connect fewer instances to the portal manager, which has at most {} for run time, or lower their `portals`, `semaphores` and \
             `locks`, which take {} of it; those that are not connected need no part",
            show_size(GRANULES_MAXIMUM as u64 * GRANULE),
            show_size(kept)
        ),
    )
    .into())
}

/// The connections take more than there is.
pub fn too_many_connections(system: &System, (limit, help): (&str, &str)) -> Error {
    Error::new(
        &system.name.place,
        format!("the connections of `{}` have too many portals", system.name),
        format!("expected at most {limit}"),
        help,
    )
}

/// Quotas are whole pages. What other places have is the layout's.
fn quotas(system: &System) -> u64 {
    system.described().iter().map(|instance| *instance.memory).sum()
}

/// Refuses a system that promises more than its board has.
pub fn check(system: &System, room: &Room) -> Result<(), Report> {
    let memory = &system.board.memory;
    let available = system.board.room();
    let managed = room.image + room.processes + FREE_PAGES_MAXIMUM as u64 * PAGE_SIZE;
    let (limit, why) = match available <= managed {
        true => (available, format!("the memory behind {:#x}", *system.board.load_address)),
        false => (managed, "as much as the memory manager can hand out".to_owned()),
    };
    let mut sum = room.own;
    let over = system.described().iter().find(|instance| {
        sum += *instance.memory;
        sum > limit + room.shared
    });
    // Without a quota too much, the rest alone is.
    let place = match over {
        Some(instance) => &instance.memory.place,
        None if room.own > limit + room.shared => &system.name.place,
        None => return Ok(()),
    };
    let needed = room.needed(system);
    let other = room.own
        - room.nucleus
        - room.portal_code
        - room.page_tables
        - room.sections
        - room.shelf
        - room.processes;
    Err(Error::new(
        place,
        format!("the board `{}` has not enough memory", system.board.name),
        format!("expected at most {} in all, found {}", show_size(limit), show_size(needed)),
        format!(
            "lower quotas of memory by {}, or choose a larger board. The quotas take {} without shared code, the nucleus with threads and \
             domains {}, portal code {}, page tables {}, sections {}, the shelf {}, memory of processes {}, the record and startup pages {}",
            show_size(needed - limit),
            show_size(quotas(system) - room.shared),
            show_size(room.nucleus),
            show_size(room.portal_code),
            show_size(room.page_tables),
            show_size(room.sections),
            show_size(room.shelf),
            show_size(room.processes),
            show_size(other)
        ),
    )
    .note(&memory.size.place, format!("there are {}, {why}", show_size(limit)))
    .into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_description::{Disk, load_from};

    /// Of `hello` on QEMU's machine: 126M from the load address on, of which a reset keeps 16K.
    fn hello() -> System {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        load_from(&Disk::new(root), "hello", None).unwrap_or_else(|report| panic!("{report}"))
    }

    /// A layout that leaves `rest` bytes for the quotas.
    fn room(image: u64, own: u64) -> Room {
        let (nucleus, portal_code) = (256 << 10, 1 << 20);
        Room {
            image,
            own,
            shared: 0,
            processes: 0,
            nucleus,
            portal_code,
            page_tables: 512 << 10,
            sections: 0,
            shelf: 0,
        }
    }

    #[test]
    fn what_fits_exactly_is_fine_and_a_page_more_is_not() {
        let system = hello();
        let own = (126 << 20) - (16 << 10) - quotas(&system);
        assert!(check(&system, &room(own, own)).is_ok());
        let report = check(&system, &room(own, own + PAGE_SIZE)).unwrap_err().to_string();
        let last = system.instances.last().expect("an instance");
        assert_eq!(report.matches("error:").count(), 1);
        for expected in [
            "the board `qemu-virt` has not enough memory",
            &format!("--> systems/hello.toml:{}:", last.memory.place.line()),
            "expected at most 129008K in all, found 129012K",
            "lower quotas of memory by 4K, or choose a larger board",
            "the nucleus with threads and domains 256K, portal code 1M, page tables 512K, sections 0 bytes",
        ] {
            assert!(report.contains(expected), "expected `{expected}` in\n{report}");
        }
    }

    #[test]
    fn every_client_of_the_portal_manager_has_room_for_semaphores() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let load = |name| load_from(&Disk::new(root), name, None).unwrap_or_else(|_| panic!());
        // The manager, the supervisor, the console, the clock, the shell, the loader.
        let system = load("demo");
        let kept: u32 = clients(&system).unwrap().1.map(|client| client.kept().portals).sum();
        let loadable = system.children() * loadable::PORTAL_CODE_EACH;
        let least = u64::from(kept) * PORTAL_CODE_EACH + loadable + 6 * PORTAL_CODE_PART;
        assert!(kept > 0 && check_portal_code(&system, least).is_ok());
        let report = check_portal_code(&system, least - 1).unwrap_err().to_string();
        assert!(
            report.contains("expected at least 6144 bytes for each of 6, found 6143"),
            "{report}"
        );
        // Instances that make nothing at run time need no portal manager.
        assert!(check_portal_code(&load("hello"), 0).is_ok());
    }

    #[test]
    fn more_than_the_memory_manager_hands_out_is_not_there() {
        let mut system = hello();
        system.board.memory.size.value = 1 << 30;
        let managed = FREE_PAGES_MAXIMUM as u64 * PAGE_SIZE;
        let own = 4 << 20;
        let placed = own + 1024 * PAGE_SIZE;
        let others: u64 = system.instances[1..].iter().map(|instance| *instance.memory).sum();
        // Of the quotas, what the layout placed does not come out of the manager's hands.
        system.instances[0].memory.value = managed - others + 1024 * PAGE_SIZE;
        assert!(check(&system, &room(placed, own)).is_ok());
        system.instances[0].memory.value += PAGE_SIZE;
        let report = check(&system, &room(placed, own)).unwrap_err().to_string();
        assert!(report.contains("as much as the memory manager can hand out"), "{report}");
    }
}
