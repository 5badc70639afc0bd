//! Lays a system out: decides all addresses, and fills memory.
//!
//! Read [`layout`] first: it names the steps in their order. Each kind of step is a module,
//! in the same order: `kernel` (what only privileged code reaches), `instance` (an instance's
//! region), `guests` (where an instance goes on in the page table of another), `loadable` (what is left for components that are loaded while it runs), `devices` (what devices reach, and portals for them), `tables` (what every portal table begins with), `connections` (portals from one
//! instance to another), `upcalls` (portals of exceptions and interrupts), `pagers` (sections whose pages are provided), `processes` (what servers of processes have), `start` (first threads,
//! startup pages), `record` (the record for the components that take over), `roles`
//! (what those components map) and `report` (what the host is told). They all work on [`Layout`].

mod calls;
mod connections;
mod devices;
mod guests;
mod initial;
mod instance;
mod kernel;
mod loadable;
mod logs;
mod pagers;
mod processes;
mod record;
mod report;
mod roles;
mod start;
mod symbols;
mod tables;
mod upcalls;

use crate::Component;
use crate::check;
use crate::memory::*;
use crate::nucleus::Nucleus;
use crate::portals::PortalCode;
use crate::quota;
use crate::report::Report;
use crate::room;
use crate::translations::{Capacity, Entries};
use cairn_abi::Space;
use cairn_abi::address::*;
use cairn_abi::record::{FLOAT_FIRST_USE, FLOAT_OFF, FLOAT_PROCESSES, FLOAT_START, Header};
use cairn_description::board::FenceByAddress;
use cairn_description::{Connected, System};
use cairn_portal::Fences;
use instance::Placed;
use kernel::Areas;
use loadable::Loadable;
use record::RecordParts;
use std::collections::HashMap;
use std::mem::offset_of;
use std::ops::Range;

/// A bootable system.
pub struct Image {
    /// Content from the load address on.
    pub bytes: Vec<u8>,
    /// What it is called, which its record says too: a hash of the content.
    pub identifier: u64,
    /// Addresses and sizes.
    pub report: Report,
    /// All domains but the kernel's.
    pub domains: Vec<check::Domain>,
    /// Where in `bytes` translation fences are that tests leave out, to show that they notice: all but those of a
    /// switch of domains. Of these only calls into components have theirs here: a core may keep, of a page that it
    /// looked ahead at, that the domain before does not have it, and then whoever comes back to that page faults
    /// before anything is shown.
    pub fences: Vec<usize>,
}

/// Why there is no image.
#[derive(Debug)]
pub enum Error {
    /// An error in the description.
    Description(cairn_description::Report),
    /// An error that no line of the description causes alone.
    System(String),
}

impl From<cairn_description::Error> for Error {
    fn from(error: cairn_description::Error) -> Error {
        Error::Description(error.into())
    }
}

impl From<String> for Error {
    fn from(message: String) -> Error {
        Error::System(message)
    }
}

/// The state of the layout.
struct Layout<'a> {
    system: &'a System,
    connected: &'a Connected,
    components: &'a [&'a Component],
    nucleus: &'a Nucleus,
    memory: Memory,
    tables: PageTables,
    kernel_root: Root,
    areas: Areas,
    code: PortalCode,
    /// The instances, in the system's order.
    placed: Vec<Placed>,
    /// The numbers behind theirs.
    loadable: Vec<Loadable>,
    next: Numbers,
    /// Physical addresses of code that is placed already. Only the memory manager can write code, so instances with equal
    /// code share its pages: in a chain of such instances it is in the cache once. Beside the code who reaches it.
    texts: HashMap<(Vec<u8>, u64), u64>,
    /// The stack queue of a client and a server.
    queues: HashMap<(usize, usize), u64>,
    /// Of sections that windows show, by the root page table of who passes them: the kernel address of the first entry.
    passed: HashMap<(u64, usize), u64>,
    /// The portal that an unused entry of a table leads to.
    no_portal: u64,
    record: RecordParts,
    logs: logs::Logs,
    /// What servers of processes have.
    process_servers: Vec<processes::Server>,
    /// Physical address of the record, once it is written.
    record_physical: u64,
    /// The same of the shelf, and its bytes.
    shelf: (u64, u64),
    shelf_content: &'a [u8],
    /// What each section begins with.
    contents: &'a [Vec<u8>],
}

/// The first numbers that are not given out.
#[derive(Default)]
struct Numbers {
    thread: u64,
    activation: u64,
    queue: u64,
    semaphore: u64,
    /// Words of a counting build.
    counter: u64,
    /// Pages of devices for portals.
    device_page: u64,
}

/// Takes the next number.
fn take(next: &mut u64) -> u64 {
    *next += 1;
    *next - 1
}

/// FNV-1a, 64 bits.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

fn pages(bytes: u64) -> u64 {
    bytes.div_ceil(PAGE_SIZE)
}

/// Lays a system out. `components` are the files of its instances' components, in order, and `shelf` has its packages
/// ([`crate::shelf()`]), `contents` what the system's sections begin with, in order.
pub fn layout(
    system: &System,
    connected: &Connected,
    components: &[&Component],
    nucleus: &Nucleus,
    (shelf, contents): (&[u8], &[Vec<u8>]),
) -> Result<Image, Error> {
    for (section, content) in system.sections.iter().zip(contents) {
        if let Some(error) = section.too_small(content.len() as u64) {
            return Err(error.into());
        }
    }
    // Portal code, and page tables in one pool, lie before the rest: how much they are is known when all is
    // connected and mapped.
    let spare = kernel::spare_page_tables(system);
    let mut count = spare + PAGE_TABLES_FIRST;
    let mut code_pages = kernel::PORTAL_CODE_FIRST;
    let spare_code = room::spare_portal_code(system).div_ceil(PAGE_SIZE);
    loop {
        let mut layout = Layout::new(system, connected, components, nucleus, (count, code_pages))?;
        layout.shelf_content = shelf;
        layout.contents = contents;
        let laid_out = layout.lay_out();
        let left = count - layout.tables.used;
        let wanted = (layout.code.pages() + spare_code).min(kernel::PORTAL_CODE_MOST);
        if layout.tables.is_short && count < PAGE_TABLES_MAXIMUM {
            count *= 2;
        } else if layout.code.is_short && code_pages < kernel::PORTAL_CODE_MOST {
            code_pages = (code_pages * 2).min(kernel::PORTAL_CODE_MOST);
        } else if laid_out.is_ok() && code_pages != wanted {
            code_pages = wanted;
        } else if laid_out.is_ok() && !(spare..=spare + PAGE_TABLES_BESIDE).contains(&left) {
            // The pool is mapped, too, so another size of it can need one more or less.
            count = layout.tables.used + spare + PAGE_TABLES_BESIDE / 2;
        } else {
            let counted = layout.next.counter * 8 > layout.areas.counters.size;
            let limit = match (system.counting && counted, layout.code.is_short) {
                (true, _) => Some(("2048 portals that can be counted", "leave out `counting`")),
                (false, true) => Some(("64M of portal code", "connect fewer instances")),
                (false, false) => None,
            };
            return match limit {
                Some(limit) => Err(room::too_many_connections(system, limit).into()),
                None => laid_out.and_then(|()| layout.finish()),
            };
        }
    }
}

/// Page tables beside the spare ones with which the layout begins to look for their number.
const PAGE_TABLES_FIRST: u64 = 64;
/// Most page tables that stay beside the spare ones.
const PAGE_TABLES_BESIDE: u64 = 4;
/// More page tables than any system has.
const PAGE_TABLES_MAXIMUM: u64 = 1 << 16;

impl<'a> Layout<'a> {
    /// Nothing but the nucleus, and room for what the kernel's half will hold.
    fn new(
        system: &'a System,
        connected: &'a Connected,
        components: &'a [&'a Component],
        nucleus: &'a Nucleus,
        (page_tables, code_pages): (u64, u64),
    ) -> Result<Layout<'a>, String> {
        let mut memory = Memory::new(*system.board.load_address);
        let (areas, code) =
            Areas::new(&mut memory, system, nucleus, connected.tables(), code_pages);
        let mut tables = PageTables::new(&mut memory, page_tables);
        let kernel_root = Root(tables.take(1)?);
        Ok(Layout {
            system,
            connected,
            components,
            nucleus,
            memory,
            tables,
            kernel_root,
            areas,
            code,
            placed: Vec::new(),
            loadable: Vec::new(),
            next: Numbers::default(),
            texts: HashMap::new(),
            queues: HashMap::new(),
            passed: HashMap::new(),
            no_portal: 0,
            record: RecordParts::default(),
            logs: logs::Logs::default(),
            process_servers: Vec::new(),
            record_physical: 0,
            shelf: (0, 0),
            shelf_content: &[],
            contents: &[],
        })
    }

    /// Runs all steps, with the present size of the pool of page tables.
    fn lay_out(&mut self) -> Result<(), Error> {
        self.check_needs().map_err(Error::Description)?;
        self.map_kernel()?;
        for index in self.instances() {
            self.place(index)?;
            if self.memory.end() > self.managed_end() {
                // A program far above its quota is not worth the host's memory.
                self.check_quotas()?;
            }
        }
        self.place_loadable()?;
        self.link_inside();
        self.place_stack_groups()?;
        self.check_quotas()?;
        self.fill_tables()?;
        for index in self.instances() {
            let before = self.code.next();
            self.connect_imports(index)?;
            self.connect_devices(index)?;
            self.connect_virtio(index)?;
            self.grant(index)?;
            self.placed[index].report.portal_code = self.code.next() - before;
        }
        let upcalls = self.connect_upcalls()?;
        self.connect_pagers()?;
        self.connect_processes(upcalls.exit)?;
        self.set_up_threads(upcalls.exit)?;
        let startup_pages = self.map_startup_pages()?;
        self.map_logs()?;
        let mut sections = Vec::new();
        for index in self.instances() {
            sections.push(self.map_sections(index)?);
        }
        self.write_record(&mut sections)?;
        self.write_startup_pages(startup_pages, &sections)?;
        self.refresh_kernel_half();
        self.write_parameters(&upcalls)?;
        self.close_semaphores();
        Ok(())
    }

    /// The image, checked.
    fn finish(mut self) -> Result<Image, Error> {
        room::check(self.system, &self.room()).map_err(Error::Description)?;
        room::check_portal_code(self.system, self.code.end() - self.code.next())
            .map_err(Error::Description)?;
        let domains = self.domains();
        let nucleus = self.nucleus.fences()?;
        let fences = nucleus.into_iter().map(|address| self.areas.nucleus.at(address));
        let fences = fences.chain(self.code.fences.iter().copied());
        let base = *self.system.board.load_address;
        let fences = fences.map(|physical| (physical - base) as usize).collect();
        self.merge_pages();
        let shared = check::check(&mut self.memory, &domains)?;
        self.count_translations().map_err(Error::Description)?;
        self.put_to_sleep();
        self.put_loadable_to_sleep();
        let report = self.report(shared);
        let identifier = self.identify();
        Ok(Image { bytes: self.memory.into_bytes(), identifier, report, domains, fences })
    }

    /// Writes into the record what the image is called; nothing is written after this.
    fn identify(&mut self) -> u64 {
        let identifier = hash(self.memory.bytes());
        let place = self.record_physical + offset_of!(Header, identifier) as u64;
        self.memory.store(place, identifier);
        identifier
    }

    /// How many translations each domain needs; an error where they have to fit into the TLB, and do not.
    fn count_translations(&mut self) -> Result<(), cairn_description::Report> {
        let Some(tlb) = self.system.board.tlb else { return Ok(()) };
        let capacity = Capacity::from(tlb);
        let mut report = cairn_description::Report::new();
        let indexes: Vec<usize> = self.with_pages().collect();
        for index in indexes {
            let instance = &self.system.instances[index];
            let (root, region) = (self.placed[index].root.0, self.placed[index].region);
            let is_chosen = |address: u64| match instance.is_in_kernel() {
                true => (region..region + REGION_SIZE).contains(&address),
                false => address < KERNEL,
            };
            let entries = Entries::count(&mut self.memory, root, tlb.sector, is_chosen);
            self.placed[index].report.translations = Some(entries);
            if *instance.locked && !entries.fit(&capacity) {
                report.push(cairn_description::Error::new(
                    &instance.locked.place,
                    format!("the translations of `{}` do not fit into the TLB", instance.name),
                    format!(
                        "expected at most these entries: {}; found {}",
                        capacity,
                        entries.text(&capacity)
                    ),
                    "give it less heap, fewer stacks and smaller ones, or remove `locked`",
                ));
            }
        }
        report.into_result(())
    }

    fn image_size(&self) -> u64 {
        self.memory.end() - self.areas.nucleus.physical
    }

    /// Indexes of the first instances of all domains, which stand for the others.
    fn firsts(&self) -> impl Iterator<Item = usize> + use<'a> {
        let system = self.system;
        self.instances().filter(move |index| system.leader(*index) == *index)
    }

    /// Whether an instance may use the floating-point unit, as the record has it: its domain may if one of its instances is built
    /// for it, or a successor of one.
    fn float(&self, index: usize) -> u16 {
        let instance = &self.system.instances[index];
        if instance.processes.is_some() {
            return FLOAT_PROCESSES;
        }
        let mut fellows = self.system.fellows(index);
        let has_float =
            |at: usize| self.components[at].float || self.system.instances[at].has_float;
        if instance.is_in_kernel() || !fellows.any(has_float) {
            return FLOAT_OFF;
        }
        let at_start = instance.float_at_start.as_ref().is_some_and(|at_start| **at_start);
        if at_start { FLOAT_START } else { FLOAT_FIRST_USE }
    }

    /// Indexes of the instances.
    fn instances(&self) -> Range<usize> {
        0..self.system.instances.len()
    }

    /// How domains' translations are told apart: by ASIDs if the machine has one for every domain, beside 0, which no
    /// domain has then (the nucleus fences under it).
    fn fences(&self) -> Fences {
        let board = &self.system.board;
        if 1u64 << board.asid_bits <= self.system.numbers() {
            return Fences::WithoutAsids;
        }
        match board.fence_by_address {
            FenceByAddress::Asid => Fences::ByAsid,
            FenceByAddress::SatpAsid => Fences::BySatp,
        }
    }

    /// Whether they are told apart by ASIDs.
    fn asids(&self) -> bool {
        self.fences().asids()
    }

    /// The space that the hart boots in: the kernel domain's half alone.
    fn boot_space(&self) -> Space {
        Space::new(self.kernel_root.0, self.last_asid())
    }

    /// The ASID with all bits that the board has, by which the nucleus finds out whether the hart has them.
    fn last_asid(&self) -> u64 {
        (1 << self.system.board.asid_bits) - 1
    }

    /// All domains but the kernel's.
    fn domains(&self) -> Vec<check::Domain> {
        let domain = |index: usize| check::Domain {
            name: self.system.instances[index].name.to_string(),
            root: self.placed[index].root.0,
            start_address: self.placed[index].region,
            other_place: self.system.instances[index]
                .other_place
                .filter(|other| *other > index && self.guest(*other).is_none())
                .map(|other| self.placed[other].region),
            roles: self
                .system
                .fellows(index)
                .filter_map(|at| self.system.instances[at].role)
                .collect(),
            passes: self
                .system
                .fellows(index)
                .flat_map(|at| &self.system.instances[at].imports)
                .filter_map(|import| self.section_address(**import.windows.as_ref()?).ok())
                .map(|address| address / SECTION_STRIDE)
                .collect(),
            processes: self.processes_checked(index),
        };
        self.firsts().filter(|index| self.guest(*index).is_none()).map(domain).collect()
    }

    fn check_quotas(&self) -> Result<(), Error> {
        let reports: Vec<_> = self
            .with_pages()
            .filter(|at| *at < self.placed.len())
            .map(|at| (&self.system.instances[at], self.instance_report(at)))
            .collect();
        quota::check(reports.iter().map(|(one, report)| (*one, report))).map_err(Error::Description)
    }
}
