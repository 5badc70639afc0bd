use super::*;
use crate::memory::{GLOBAL, READ, slot};
use crate::memory::{PageTables, Root};
use crate::sharing::{RoleViews, Sharing};
use cairn_abi::RegionId;
use cairn_abi::domain::activation;
use cairn_abi::page_table::{page_entry, table_entry};

const CODE: u64 = 0x8020_0000;
/// Of the first.
const OTHER_PLACE: u64 = kernel_region(RegionId(3));

struct Two {
    memory: Memory,
    tables: PageTables,
    roots: [Root; 2],
    page: u64,
    /// Of the first.
    processes: Option<Processes>,
}

fn two() -> Two {
    let mut memory = Memory::new(CODE);
    let mut tables = PageTables::new(&mut memory, 64);
    let roots = [Root(tables.take(1).unwrap()), Root(tables.take(1).unwrap())];
    let page = memory.pages(1);
    Two { memory, tables, roots, page, processes: None }
}

impl Two {
    fn map(&mut self, domain: usize, address: u64, flags: u64) -> &mut Two {
        self.tables.map(&mut self.memory, self.roots[domain], address, self.page, flags).unwrap();
        self
    }

    fn check(&mut self) -> Result<Shared, String> {
        let domain = |index: usize| Domain {
            name: ["one", "two"][index].into(),
            root: self.roots[index].0,
            start_address: region(RegionId(index as u16 + 1)),
            roles: (index == 1).then_some(Role::Scheduler).into_iter().collect(),
            other_place: (index == 0).then_some(OTHER_PLACE),
            passes: (index == 1).then_some(SECTIONS / SECTION_STRIDE).into_iter().collect(),
            processes: (index == 0).then(|| self.processes.clone()).flatten(),
        };
        let domains = [domain(0), domain(1)];
        check(&mut self.memory, &domains)
    }
}

#[test]
fn pages_of_ones_own_are_fine() {
    assert!(
        two().map(0, region(RegionId(1)), USER | READ | WRITE).check().unwrap().sharings.is_empty()
    );
}

#[test]
fn a_page_in_two_regions_is_refused() {
    let error = two()
        .map(0, region(RegionId(1)), USER | READ | WRITE)
        .map(1, region(RegionId(2)), USER | READ)
        .check();
    assert!(error.unwrap_err().contains("does not say so"));
}

#[test]
fn code_that_nobody_writes_may_be_in_two_regions() {
    let mapped = |second| {
        two()
            .map(0, region(RegionId(1)), OWN | USER | READ | EXECUTE)
            .map(1, region(RegionId(2)), second)
            .check()
    };
    assert!(mapped(OWN | USER | READ | EXECUTE).unwrap().sharings.is_empty());
    for other in [READ, READ | WRITE] {
        assert!(mapped(USER | other).unwrap_err().contains("does not say so"));
    }
}

#[test]
fn a_section_is_shared_and_reported() {
    let shared =
        two().map(0, SECTIONS, USER | READ | WRITE).map(1, SECTIONS, USER | READ).check().unwrap();
    assert_eq!(shared.sharings.len(), 1);
    assert_eq!(shared.sharings[0].reason, Reason::Section);
    assert_eq!(
        shared.sharings[0].to_string(),
        format!("{SECTIONS:#x} 1 page, section: one (rw) two (r)")
    );
}

#[test]
fn a_section_that_a_role_sees_stays_a_section() {
    let mut two = two();
    two.map(0, SECTIONS, USER | READ | WRITE).map(1, SECTIONS, USER | READ);
    let shared = two.map(1, ROLE_RECORD, USER | READ).check().unwrap();
    let lines: Vec<String> = shared.sharings.iter().map(Sharing::to_string).collect();
    assert_eq!(lines, [format!("{SECTIONS:#x} 1 page, section: one (rw) two (r)")]);
    let roles: Vec<String> = shared.roles.iter().map(RoleViews::to_string).collect();
    assert_eq!(roles, ["two: record 1 page (r)"]);
}

#[test]
fn a_section_is_not_code() {
    let error =
        two().map(0, SECTIONS, USER | READ | WRITE).map(1, SECTIONS, USER | READ | EXECUTE).check();
    assert!(error.unwrap_err().contains("executable in one domain and writable in another"));
}

#[test]
fn a_roles_window_needs_the_role() {
    let error = two().map(0, ROLE_RECORD, USER | READ).check();
    assert!(error.unwrap_err().contains("not of its role"));
    assert!(two().map(1, ROLE_RECORD, USER | READ).check().is_ok());
    let error = two().map(1, ROLE_RECORD, USER | READ | WRITE).check();
    assert!(error.unwrap_err().contains("may only read"));
    let error = two().map(1, ROLE_PAGE_TABLES, USER | READ).check();
    assert!(error.unwrap_err().contains("not of its role"));
}

#[test]
fn what_is_shared_is_nobodys_own() {
    let error = two().map(0, SECTIONS, OWN | USER | READ).check();
    assert!(error.unwrap_err().contains("not its own"));
    assert!(two().map(0, region(RegionId(1)), OWN | USER | READ).check().is_ok());
    // It passes the first section in windows.
    assert!(two().map(1, SECTIONS, OWN | USER | READ).check().is_ok());
}

#[test]
fn of_the_kernels_pages_a_region_has_stacks_and_the_finisher_alone() {
    let mapped_at = |kernel: u64| {
        let mut two = two();
        two.map(0, kernel, READ | WRITE).map(0, region(RegionId(1)), USER | READ | WRITE);
        let half = two.memory.at(two.roots[0].0 + 2048, 2048).to_vec();
        two.memory.write(two.roots[1].0 + 2048, &half);
        two.check()
    };
    assert!(mapped_at(STACK_ALIASES).is_ok());
    assert!(mapped_at(FINISHER).is_ok());
    assert!(mapped_at(THREADS).unwrap_err().contains("of the kernel domain"));
}

#[test]
fn a_kernel_page_is_of_one_hart_or_shared() {
    let checked = |addresses: [u64; 2], rights: u64| {
        let mut two = two();
        two.map(0, addresses[0], rights).map(0, addresses[1], rights);
        let half = two.memory.at(two.roots[0].0 + 2048, 2048).to_vec();
        two.memory.write(two.roots[1].0 + 2048, &half);
        two.check().map(drop)
    };
    let writable = READ | WRITE;
    assert_eq!(checked([THREADS, SEMAPHORES], writable), Ok(()));
    assert_eq!(checked([DOMAINS, PAGE_TABLES], writable), Ok(()));
    assert!(checked([THREADS, DOMAINS], writable).unwrap_err().contains("not so elsewhere"));
    assert!(checked([ACTIVATIONS, activation(0)], writable).is_err());
    // The nucleus' stack is each hart's own, its code is shared.
    assert_eq!(checked([NUCLEUS, THREADS], writable), Ok(()));
    assert_eq!(checked([NUCLEUS, PORTAL_CODE], READ | EXECUTE), Ok(()));
    assert!(checked([NUCLEUS, THREADS], READ).is_err());
    assert!(checked([KERNEL, THREADS], READ).unwrap_err().contains("in no area"));
}

#[test]
fn kernel_halves_are_the_same() {
    let error = two().map(0, NUCLEUS, READ | EXECUTE).check();
    assert!(error.unwrap_err().contains("kernel half of its own"));
}

#[test]
fn writable_and_executable_is_refused() {
    let mut two = two();
    two.map(0, region(RegionId(1)), USER | READ | EXECUTE);
    // Written directly, as a broken layout would: `PageTables` refuses such a mapping.
    let root = two.roots[0].0;
    let mut entry = root;
    for level in [2, 1] {
        entry = target(two.memory.load(slot(entry, region(RegionId(1)), level)));
    }
    let slot = slot(entry, region(RegionId(1)), 0);
    let word = two.memory.load(slot);
    two.memory.store(slot, word | WRITE);
    assert!(two.check().unwrap_err().contains("write and execute"));
}

#[test]
fn log_and_devices_are_in_both_places_of_one_that_moves() {
    let mapped = |domain, offset, elsewhere: u64| {
        let start = region(RegionId(domain as u16 + 1));
        let mut two = two();
        two.map(domain, start + offset, USER | READ | WRITE);
        two.map(0, elsewhere, GLOBAL | READ | WRITE);
        let half = two.memory.at(two.roots[0].0 + 2048, 2048).to_vec();
        two.memory.write(two.roots[1].0 + 2048, &half);
        two.check()
    };
    for offset in [LOG_OFFSET, DEVICES_OFFSET] {
        assert!(mapped(0, offset, OTHER_PLACE + offset).is_ok());
        // At another place, of another one, and elsewhere in the kernel domain.
        let wrong =
            [(0, OTHER_PLACE + offset + PAGE_SIZE), (1, OTHER_PLACE + offset), (0, THREADS)];
        for (domain, elsewhere) in wrong {
            let error = mapped(domain, offset, elsewhere).unwrap_err();
            assert!(error.contains("of the kernel domain"), "{error}");
        }
    }
    let error = mapped(0, IMAGE_OFFSET, OTHER_PLACE + IMAGE_OFFSET).unwrap_err();
    assert!(error.contains("of the kernel domain"), "{error}");
}

/// The first is a server of processes, with one root and a page more in its pool. `changed`: what is wrong.
fn server(changed: impl FnOnce(&mut Two, u64)) -> Result<(), String> {
    let mut two = two();
    let pool = two.tables.take(2).unwrap();
    let memory = two.memory.pages(1);
    let status = two.memory.pages(1);
    two.processes = Some(Processes {
        status,
        roots: vec![pool],
        pool: pool..pool + 2 * PAGE_SIZE,
        memory: memory..memory + PAGE_SIZE,
    });
    two.map_at(0, PROCESSES, pool, GLOBAL | READ | WRITE);
    let half = two.memory.at(two.roots[0].0 + 2048, 2048).to_vec();
    two.memory.write(two.roots[1].0 + 2048, &half);
    two.memory.write(pool + 2048, &half);
    two.map_at(0, PROCESS_MEMORY + pool, pool, USER | READ);
    two.map_at(0, PROCESS_MEMORY + memory, memory, USER | READ | WRITE);
    two.has_status_page(0, status, READ | WRITE);
    changed(&mut two, pool);
    two.check().map(drop)
}

impl Two {
    fn map_at(&mut self, domain: usize, address: u64, page: u64, flags: u64) {
        self.tables.map(&mut self.memory, self.roots[domain], address, page, flags).unwrap();
    }

    fn has_status_page(&mut self, domain: usize, page: u64, rights: u64) {
        let mut entry = page_entry(page, rights | USER);
        for level in 0..ROOT_LEVEL {
            let table = self.tables.take(1).unwrap();
            self.memory.store(slot(table, STATUS_PAGE, level), entry);
            entry = table_entry(table);
        }
        self.memory.store(slot(self.roots[domain].0, STATUS_PAGE, ROOT_LEVEL), entry);
    }
}

#[test]
fn a_server_reaches_what_its_processes_have() {
    assert_eq!(server(|_, _| ()), Ok(()));
    type Change = fn(&mut Two, u64);
    let wrong: [(Change, &str); 9] = [
        (|two, pool| two.memory.store(pool, VALID), "has something already"),
        (|two, pool| two.memory.store(pool + 4088, VALID), "has something already"),
        (
            |two, pool| {
                two.map_at(
                    0,
                    PROCESS_MEMORY + pool + PAGE_SIZE,
                    pool + PAGE_SIZE,
                    USER | READ | WRITE,
                )
            },
            "not of its role",
        ),
        (|two, pool| two.map_at(0, region(RegionId(1)), pool, USER | READ), "and in `one`"),
        (|two, pool| two.map_at(1, PROCESS_MEMORY + pool, pool, USER | READ), "`two` at"),
        (
            |two, _| {
                let memory = two.processes.as_ref().unwrap().memory.start;
                two.map_at(1, region(RegionId(2)), memory, USER | READ);
            },
            "is of processes of",
        ),
        (|two, _| two.has_status_page(0, two.page, READ | WRITE), "not of its role"),
        (|two, _| two.has_status_page(0, two.page, READ | EXECUTE), "wrong side of the user bit"),
        (|two, _| two.has_status_page(1, two.page, READ | WRITE), "kernel half of its own"),
    ];
    for (number, (change, message)) in wrong.into_iter().enumerate() {
        let error = server(change).unwrap_err();
        assert!(error.contains(message), "{number}: {error}");
    }
}
