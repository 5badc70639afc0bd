//! The layout report: what `./cairn build` prints, and what other tools read as JSON.

use crate::check::Sharing;
use crate::component::Rights;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What an instance takes, in bytes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InstanceReport {
    /// Name in the description.
    pub name: String,
    /// Name of its component.
    pub component: String,
    /// Number of instance and domain.
    pub number: u32,
    /// First address of its region; a debugger loads its symbols there.
    pub region: u64,
    /// Machine code.
    pub text: u64,
    /// Constants.
    pub constants: u64,
    /// Data, initial content included.
    pub data: u64,
    /// Heap.
    pub heap: u64,
    /// Stacks.
    pub stacks: u64,
    /// Page tables.
    pub page_tables: u64,
    /// All memory but page tables, with what is kept for restarting.
    pub memory: u64,
    /// Its portals, a line each.
    pub portals: Vec<String>,
}

impl InstanceReport {
    pub(crate) fn new(name: &str, component: &str, number: u32, region: u64) -> InstanceReport {
        InstanceReport {
            name: name.to_string(),
            component: component.to_string(),
            number,
            region,
            ..InstanceReport::default()
        }
    }

    pub(crate) fn segment(&mut self, rights: Rights, size: u64) {
        match rights {
            Rights::Code => self.text += size,
            Rights::Constants => self.constants += size,
            Rights::Data => self.data += size,
        }
    }
}

/// The whole system.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Physical address of the image.
    pub load_address: u64,
    /// Bytes of the image.
    pub image_size: u64,
    /// Bytes of the nucleus' machine code.
    pub nucleus_code: u64,
    /// Bytes of portal code.
    pub portal_code: u64,
    /// Bytes of all page tables in use.
    pub page_tables: u64,
    /// The instances.
    pub instances: Vec<InstanceReport>,
    /// Pages that several domains map.
    pub shared: Vec<Sharing>,
}

fn kibibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1024.0)
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{:<14} {:>12} {:>8} {:>9} {:>8} {:>8} {:>8} {:>11}   (KiB)",
            "instance", "region", "text", "constants", "data", "heap", "stacks", "page tables"
        )?;
        for instance in &self.instances {
            writeln!(
                formatter,
                "{:<14} {:>#12x} {:>8} {:>9} {:>8} {:>8} {:>8} {:>11}",
                instance.name,
                instance.region,
                kibibytes(instance.text),
                kibibytes(instance.constants),
                kibibytes(instance.data),
                kibibytes(instance.heap),
                kibibytes(instance.stacks),
                kibibytes(instance.page_tables)
            )?;
        }
        for shared in &self.shared {
            writeln!(formatter, "shared {shared}")?;
        }
        writeln!(
            formatter,
            "nucleus {} bytes of code, portals {} KiB, page tables {} KiB, image {} KiB at {:#x}",
            self.nucleus_code,
            kibibytes(self.portal_code),
            kibibytes(self.page_tables),
            kibibytes(self.image_size),
            self.load_address
        )
    }
}
