//! The layout report: what `./cairn build` prints, and what other tools read as JSON.

use crate::Component;
use crate::sharing::{RoleViews, Sharing};
use crate::translations::{Capacity, Entries};
use cairn_abi::address;
use cairn_description::copies;
use cairn_description::model::{Instance, Profile};
use cairn_loader::Rights;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What an instance takes, in bytes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InstanceReport {
    /// Name in the description.
    pub name: String,
    /// Name of its component.
    pub component: String,
    /// Its number.
    pub number: u16,
    /// Where it is, in words ([`cairn_description::System::placement`]).
    pub placement: String,
    /// The role that it holds.
    pub role: Option<String>,
    /// First address of its region.
    pub region: u64,
    /// Address of what the component's file has at 0; a debugger loads its symbols there.
    pub image: u64,
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
    /// Portals of its imports, and those that its role and devices need.
    pub portal_code: u64,
    /// All memory but page tables, with what is kept for restarting.
    pub memory: u64,
    /// The most memory that it may have.
    pub quota: u64,
    /// Bytes of its region that are left for what it asks for at run time.
    pub reachable: u64,
    /// Entries of the TLB that all translations of its domain take, where the board says what an entry is.
    pub translations: Option<Entries>,
    /// Calls in machine code of its own, or data there that looks like one, which no layout can write anew.
    pub own_calls: usize,
    /// The portals of its imports.
    pub portals: Vec<PortalReport>,
}

/// The portal of one method of an import.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PortalReport {
    /// Its index in the portal table.
    pub index: usize,
    /// Its specification.
    pub specification: String,
    /// The import, by the client's name for it.
    pub import: String,
    /// The instance and the export that it leads to, as `INSTANCE.EXPORT`.
    pub server: String,
    /// The method.
    pub method: String,
    /// Instructions from the call to the method and back, without those of the method and what opens windows.
    pub instructions: u64,
    /// Counting build: physical address of its counter.
    pub counter: Option<u64>,
}

impl InstanceReport {
    pub(crate) fn new(instance: &Instance, component: &Component) -> InstanceReport {
        InstanceReport {
            name: instance.name.to_string(),
            component: component.descriptor.name.clone(),
            own_calls: component.foreign_calls().len(),
            number: instance.number.0,
            role: instance.role.map(|role| role.key().to_owned()),
            region: instance.start_address(),
            image: instance.start_address() + address::image_spread(instance.region),
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

/// A device with DMA that reaches only what is meant for it, whatever its driver does.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Confined {
    /// What descriptions call it.
    pub device: String,
    /// Its kind of virtio device.
    pub kind: String,
    /// Whose it is.
    pub instance: String,
    /// Bytes of that instance's memory that it reaches.
    pub dma: u64,
}

/// The whole system.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// How its components are compiled ([`cairn_description::model::Profile`]).
    pub profile: String,
    /// Physical address of the image.
    pub load_address: u64,
    /// Physical address of its record.
    pub record: u64,
    /// Bytes of the image.
    pub image_size: u64,
    /// Bytes from the load address on that are taken when every instance has its whole quota.
    pub memory_needed: u64,
    /// Bytes of the nucleus' machine code.
    pub nucleus_code: u64,
    /// Bytes of portal code.
    pub portal_code: u64,
    /// Bytes of all page tables in use.
    pub page_tables: u64,
    /// Bytes of the shelf.
    pub shelf: u64,
    /// Sections with a content: their names, where that is from, and its bytes.
    pub contents: Vec<(String, String, u64)>,
    /// Entries of the board's TLB, if it says so.
    pub tlb: Option<Capacity>,
    /// The instances.
    pub instances: Vec<InstanceReport>,
    /// Pages of sections and stack groups.
    pub shared: Vec<Sharing>,
    /// What instances map for their roles.
    pub roles: Vec<RoleViews>,
    /// Instances that the description trusts with everything, each with its devices that reach all memory.
    pub trusted: Vec<(String, Vec<String>)>,
    /// Devices with DMA whose drivers are confined.
    pub confined: Vec<Confined>,
    /// Instances in the kernel domain, each with whether it has unsafe code that the description accepts.
    pub in_kernel: Vec<(String, bool)>,
    /// Instances with devices that they were not given, but that lie in the pages of those that they were.
    pub beside: Vec<(String, Vec<String>)>,
}

fn kibibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1024.0)
}

/// `1 page`, `2 pages`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Instances in a row that are copies of one are one line of the table.
fn are_copies(before: &InstanceReport, next: &InstanceReport) -> bool {
    (&before.component, &before.placement) == (&next.component, &next.placement)
        && copies::are_next(&before.name, &next.name)
}

impl InstanceReport {
    /// The line of instances that are one, or copies of one.
    fn row_of(instances: &[InstanceReport]) -> InstanceReport {
        let [first, .., last] = instances else { return instances[0].clone() };
        InstanceReport {
            name: format!("{} to {}", first.name, last.name),
            region: first.region,
            placement: format!("{}, {} in all", first.placement, instances.len()),
            ..InstanceReport::total(instances)
        }
    }

    /// A line of the table: a name, a region, and the sizes.
    fn row(&self, region: &str, name_width: usize) -> String {
        let sizes = [self.text, self.constants, self.data, self.heap, self.stacks, self.memory];
        let [text, constants, data, heap, stacks, memory] = sizes.map(kibibytes);
        let role = self.role.as_ref().map(|role| format!(", role {role}")).unwrap_or_default();
        let row = format!(
            "{:<name_width$} {region:>18} {text:>8} {constants:>9} {data:>8} {heap:>8} {stacks:>8} \
             {memory:>9} {:>9} {:>11}  {}{role}",
            self.name,
            kibibytes(self.quota),
            kibibytes(self.page_tables),
            self.placement,
        );
        row.trim_end().to_owned()
    }

    /// The sums of all.
    fn total(instances: &[InstanceReport]) -> InstanceReport {
        let sum = |size: fn(&InstanceReport) -> u64| instances.iter().map(size).sum();
        InstanceReport {
            name: "total".into(),
            text: sum(|one| one.text),
            constants: sum(|one| one.constants),
            data: sum(|one| one.data),
            heap: sum(|one| one.heap),
            stacks: sum(|one| one.stacks),
            memory: sum(|one| one.memory),
            quota: sum(|one| one.quota),
            page_tables: sum(|one| one.page_tables),
            ..InstanceReport::default()
        }
    }
}

/// Lines, of which those that say the same of copies are one.
fn lines(formatter: &mut fmt::Formatter<'_>, lines: impl Iterator<Item = String>) -> fmt::Result {
    copies::merged(lines).iter().try_for_each(|line| writeln!(formatter, "{line}"))
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.instances.chunk_by(are_copies).map(InstanceReport::row_of);
        let rows: Vec<InstanceReport> = rows.collect();
        let width = rows.iter().map(|row| row.name.len()).max().unwrap_or_default().max(14);
        writeln!(
            formatter,
            "{:<width$} {:>18} {:>8} {:>9} {:>8} {:>8} {:>8} {:>9} {:>9} {:>11}  placement   (sizes in KiB)",
            "instance",
            "region",
            "text",
            "constants",
            "data",
            "heap",
            "stacks",
            "used",
            "of quota",
            "page tables"
        )?;
        for row in rows {
            writeln!(formatter, "{}", row.row(&format!("{:#x}", row.region), width))?;
        }
        writeln!(formatter, "{}", InstanceReport::total(&self.instances).row("", width))?;
        for shared in &self.shared {
            writeln!(formatter, "shared {shared}")?;
        }
        for (section, from, bytes) in &self.contents {
            writeln!(
                formatter,
                "the section {section} begins with {} KiB of {from}",
                kibibytes(*bytes)
            )?;
        }
        let calling = self.instances.iter().filter(|instance| instance.own_calls > 0);
        lines(formatter, calling.map(|instance| {
            format!(
                "{}: {} calls in machine code of its own, or data there that looks like one, so it can only have a \
                 domain of its own",
                instance.name, instance.own_calls
            )
        }))?;
        if let Some(tlb) = &self.tlb {
            let beyond = self.instances.iter().filter_map(|instance| {
                let entries = instance.translations.filter(|entries| !entries.fit(tlb))?;
                Some(format!("{} {}", instance.name, entries.text(tlb)))
            });
            let beyond = copies::merged(beyond);
            if !beyond.is_empty() {
                writeln!(
                    formatter,
                    "more translations, if all of their pages are used, than the TLB's entries, {}: {}",
                    tlb,
                    beyond.join("; ")
                )?;
            }
        }
        for views in &self.roles {
            writeln!(formatter, "for its role, {views}")?;
        }
        lines(
            formatter,
            self.trusted.iter().map(|(instance, devices)| {
                let reach = match devices.as_slice() {
                    [] => String::new(),
                    devices => format!("; all memory is in reach of its {}", devices.join(", ")),
                };
                format!("trusted with everything: {instance}{reach}")
            }),
        )?;
        for Confined { device, kind, instance, dma } in &self.confined {
            writeln!(
                formatter,
                "confined: {device}, a virtio-{kind}, reaches {} KiB of {instance} and its queues",
                kibibytes(*dma)
            )?;
        }
        lines(
            formatter,
            self.in_kernel.iter().map(|(instance, unsafe_code)| {
                let accepted = if *unsafe_code { ", unsafe code accepted" } else { "" };
                format!("in the kernel domain: {instance}{accepted}")
            }),
        )?;
        for (instance, devices) in &self.beside {
            writeln!(
                formatter,
                "in the pages of its devices, {instance} reaches {}",
                devices.join(", ")
            )?;
        }
        let overflow = if self.profile == Profile::Release.name() { "wraps" } else { "is a panic" };
        writeln!(
            formatter,
            "profile {}: arithmetic in Rust that overflows {overflow}",
            self.profile
        )?;
        writeln!(
            formatter,
            "nucleus {} bytes of code, portals {} KiB, page tables {} KiB, {}image {} KiB at {:#x}",
            self.nucleus_code,
            kibibytes(self.portal_code),
            kibibytes(self.page_tables),
            match self.shelf {
                0 => String::new(),
                size => format!("shelf {} KiB, ", kibibytes(size)),
            },
            kibibytes(self.image_size),
            self.load_address
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cairn_abi::RegionId;

    #[test]
    fn the_last_line_of_the_table_is_the_sum() {
        let instance = |name: &str, memory, quota| InstanceReport {
            memory,
            quota,
            text: 4096,
            name: name.to_owned(),
            component: name
                .trim_end_matches(|one: char| one == '-' || one.is_ascii_digit())
                .to_owned(),
            placement: "domain".to_owned(),
            number: 1,
            region: address::region(RegionId(1)),
            ..InstanceReport::default()
        };
        let report = Report {
            profile: "release".into(),
            record: 0,
            load_address: 0x8020_0000,
            image_size: 0,
            memory_needed: 0,
            nucleus_code: 0,
            portal_code: 0,
            tlb: None,
            page_tables: 0,
            shelf: 0,
            contents: vec![("root".into(), "tests/one/root".into(), 10240)],
            instances: [instance("one", 8192, 65536), instance("two", 4096, 4096)]
                .into_iter()
                .chain((1..=60).map(|copy| instance(&format!("copy-{copy}"), 4096, 8192)))
                .collect(),
            shared: Vec::new(),
            roles: Vec::new(),
            in_kernel: ["inside", "wild", "copy-1", "copy-2", "copy-3"]
                .map(|name| (name.to_owned(), name == "wild"))
                .to_vec(),
            trusted: vec![
                ("one".into(), vec!["net0".into(), "net1".into()]),
                ("two".into(), Vec::new()),
            ],
            confined: vec![Confined {
                device: "virtio0".into(),
                kind: "rng".into(),
                instance: "two".into(),
                dma: 65536,
            }],
            beside: vec![("two".into(), vec!["timer0".into()])],
        };
        let text = report.to_string();
        let words = |start: &str| -> Vec<&str> {
            let line = text.lines().find(|line| line.starts_with(start)).expect(start);
            line.split_whitespace().collect()
        };
        let one = [
            "one",
            "0x404000000",
            "4.0",
            "0.0",
            "0.0",
            "0.0",
            "0.0",
            "8.0",
            "64.0",
            "0.0",
            "domain",
        ];
        assert_eq!(words("one"), one);
        let copies =
            "copy-1 to copy-60 0x404000000 240.0 0.0 0.0 0.0 0.0 240.0 480.0 0.0 domain, 60 in all";
        assert_eq!(words("copy-").join(" "), copies);
        let total = ["total", "248.0", "0.0", "0.0", "0.0", "0.0", "252.0", "548.0", "0.0"];
        assert_eq!(words("total"), total);
        let trusted = text.lines().filter(|line| line.starts_with("trusted")).collect::<Vec<_>>();
        let expected = "trusted with everything: one; all memory is in reach of its net0, net1";
        assert_eq!(trusted, [expected, "trusted with everything: two"]);
        let confined =
            "\nconfined: virtio0, a virtio-rng, reaches 64.0 KiB of two and its queues\n";
        assert!(text.contains(confined), "{text}");
        assert!(text.contains("\nin the kernel domain: inside\n"), "{text}");
        assert!(text.contains("\nin the kernel domain: wild, unsafe code accepted\n"), "{text}");
        assert!(
            text.contains("\nthe section root begins with 10.0 KiB of tests/one/root\n"),
            "{text}"
        );
        let copies = "\nin the kernel domain: copy-1; likewise copy-2, copy-3\n";
        assert!(text.contains(copies), "{text}");
        assert!(text.contains("\nin the pages of its devices, two reaches timer0\n"), "{text}");
    }

    #[test]
    fn one_page_has_no_plural() {
        assert_eq!([counted(1, "page"), counted(2, "page")], ["1 page", "2 pages"]);
    }
}
