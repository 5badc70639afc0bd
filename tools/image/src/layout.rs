//! Lays a system out: decides where everything lies, and fills memory with it.
//!
//! [`layout`] is where to begin: it names the steps in their order. Each kind of step is a module,
//! in the same order: `kernel` (what only privileged code reaches), `instance` (an instance's
//! region), `tables` (what every portal table begins with), `connections` (portals from one
//! instance to another), `events` (portals of exceptions and interrupts), `start` (first threads,
//! startup pages), `record` (what is written down for the components that take over) and `roles`
//! (what those components map). They all work on [`Layout`].

mod connections;
mod events;
mod instance;
mod kernel;
mod record;
mod roles;
mod start;
mod tables;

use crate::check;
use crate::component::Component;
use crate::memory::*;
use crate::nucleus::Nucleus;
use crate::portals::PortalCode;
use crate::quota;
use crate::report::{InstanceReport, Report};
use crate::sharing::Shared;
use cairn_abi::address::*;
use cairn_description::{Connected, System};
use instance::Placed;
use kernel::Areas;
use record::RecordParts;
use std::collections::HashMap;
use std::ops::Range;

/// A bootable system.
pub struct Image {
    /// Content from the load address on.
    pub bytes: Vec<u8>,
    /// What lies where, in sum.
    pub report: Report,
    /// All domains but the kernel's.
    pub domains: Vec<check::Domain>,
}

/// Why there is no image.
#[derive(Debug)]
pub enum Error {
    /// Something of the description.
    Description(cairn_description::Report),
    /// Anything else, of the whole system.
    System(String),
}

impl From<String> for Error {
    fn from(message: String) -> Error {
        Error::System(message)
    }
}

/// Everything while it is being laid out.
struct Layout<'a> {
    system: &'a System,
    connected: &'a Connected,
    components: Vec<&'a Component>,
    nucleus: &'a Nucleus,
    memory: Memory,
    tables: PageTables,
    kernel_root: Root,
    areas: Areas,
    code: PortalCode,
    /// The instances, in the system's order.
    placed: Vec<Placed>,
    next: Numbers,
    /// The stack queue of a client and a server.
    queues: HashMap<(usize, usize), u64>,
    /// The portal that an unused entry of a table leads to.
    no_portal: u64,
    record: RecordParts,
}

/// The first numbers that are not given out.
#[derive(Default)]
struct Numbers {
    thread: u64,
    activation: u64,
    queue: u64,
    semaphore: u64,
    /// Stacks' aliases in the kernel's half.
    alias: u64,
    /// Words of a counting build.
    counter: u64,
}

/// Gives a number out.
fn take(next: &mut u64) -> u64 {
    *next += 1;
    *next - 1
}

fn pages(bytes: u64) -> u64 {
    bytes.div_ceil(PAGE_SIZE)
}

/// Lays a system out. `components` are the files of its instances' components, in order.
pub fn layout(
    system: &System,
    connected: &Connected,
    components: Vec<&Component>,
    nucleus: &Nucleus,
) -> Result<Image, Error> {
    let mut layout = Layout::new(system, connected, components, nucleus)?;
    layout.map_kernel()?;
    for index in layout.instances() {
        layout.place(index)?;
    }
    layout.place_stack_groups()?;
    layout.check_quotas()?;
    layout.fill_tables()?;
    for index in layout.instances() {
        layout.connect_imports(index)?;
        layout.connect_devices(index)?;
        layout.grant(index)?;
    }
    let events = layout.connect_events()?;
    layout.set_up_threads(events.exit)?;
    let startup_pages = layout.map_startup_pages()?;
    let mut sections = Vec::new();
    for index in layout.instances() {
        sections.push(layout.map_sections(index)?);
    }
    layout.write_record(&mut sections)?;
    layout.write_startup_pages(startup_pages, &sections)?;
    layout.refresh_kernel_half();
    layout.write_parameters(&events)?;
    let domains = layout.domains();
    let shared = check::check(&mut layout.memory, &domains)?;
    let report = layout.report(shared);
    Ok(Image { bytes: layout.memory.into_bytes(), report, domains })
}

impl<'a> Layout<'a> {
    /// Nothing but the nucleus, and room for what the kernel's half will hold.
    fn new(
        system: &'a System,
        connected: &'a Connected,
        components: Vec<&'a Component>,
        nucleus: &'a Nucleus,
    ) -> Result<Layout<'a>, String> {
        let limit = system.board.memory.base + *system.board.memory.size;
        let mut memory = Memory::new(*system.board.load_address, limit);
        let (areas, code) = Areas::new(&mut memory, system, nucleus)?;
        let mut tables = PageTables::new(&mut memory, kernel::page_tables(system))?;
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
            next: Numbers::default(),
            queues: HashMap::new(),
            no_portal: 0,
            record: RecordParts::default(),
        })
    }

    /// Indexes of the instances.
    fn instances(&self) -> Range<usize> {
        0..self.system.instances.len()
    }

    /// Whether the machine has an ASID for every domain.
    fn asids(&self) -> bool {
        1u64 << self.system.board.asid_bits > self.system.instances.len() as u64
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
            role: self.system.instances[index].role,
        };
        self.instances().map(domain).collect()
    }

    fn instance_report(&self, index: usize) -> InstanceReport {
        let placed = &self.placed[index];
        InstanceReport {
            page_tables: placed.page_tables * PAGE_SIZE,
            memory: placed.memory_used,
            quota: *self.system.instances[index].memory,
            ..placed.report.clone()
        }
    }

    fn check_quotas(&self) -> Result<(), Error> {
        let reports: Vec<_> = self.instances().map(|index| self.instance_report(index)).collect();
        quota::check(self.system.instances.iter().zip(&reports)).map_err(Error::Description)
    }

    /// Who is trusted with everything, and with which devices.
    fn trusted(&self) -> Vec<(String, Vec<String>)> {
        let trusted = self.system.instances.iter().filter(|instance| *instance.trusted);
        let entry = |instance: &cairn_description::model::Instance| {
            let devices =
                instance.devices.iter().map(|device| &self.system.board.devices[**device]);
            let reaching =
                devices.filter(|device| device.dma).map(|device| device.shown().to_owned());
            (instance.name.to_string(), reaching.collect())
        };
        trusted.map(entry).collect()
    }

    fn report(&self, shared: Shared) -> Report {
        let instances = self.instances().map(|index| self.instance_report(index)).collect();
        Report {
            load_address: self.areas.nucleus.physical,
            image_size: self.memory.end() - self.areas.nucleus.physical,
            nucleus_code: self.nucleus.code_size,
            portal_code: self.code.next() - PORTAL_CODE,
            page_tables: self.tables.used * PAGE_SIZE,
            instances,
            shared: shared.sharings,
            roles: shared.roles,
            trusted: self.trusted(),
        }
    }
}
