//! Sections whose pages a pager provides: their page tables are made, with nothing in them, and the portals by which faults there
//! call the pager.

use super::{Error, Layout};
use cairn_abi::address::{LEAF_SPAN, PAGE_SIZE, SECTION_STRIDE, sections_span};
use cairn_abi::arch::trap::PAGE_FAULTS;
use cairn_abi::domain::upcall_entry;
use cairn_abi::record::{FLOAT_OFF, PagedRange, RANGES_DESCRIBED};
use cairn_description::model::{Access, Pager};
use cairn_portal::{Crossing, Source, Trust, generate};
use std::collections::HashSet;

impl Layout<'_> {
    /// Makes what sections with a pager need in each domain that maps them.
    pub(super) fn connect_pagers(&mut self) -> Result<(), Error> {
        let system = self.system;
        let mut connected = HashSet::new();
        for index in self.instances() {
            for (used, pager) in system.paged(index) {
                self.check_float(index, pager)?;
                if connected.insert((self.placed[index].domain, used.section)) {
                    let is_writable = system.fellows(index).any(|fellow| {
                        let mut uses = system.instances[fellow].sections.iter();
                        uses.any(|other| {
                            other.section == used.section && *other.access == Access::ReadWrite
                        })
                    });
                    self.connect_pager(index, used.section, pager, is_writable)?;
                }
            }
        }
        Ok(())
    }

    /// A fault is no call: nobody would keep what the unit holds.
    fn check_float(&self, client: usize, pager: &Pager) -> Result<(), Error> {
        for index in [client, *pager.instance] {
            if self.float(index) != FLOAT_OFF {
                let name = &self.system.instances[index].name;
                return Err(cairn_description::Error::new(
                    &pager.instance.place,
                    format!("`{name}` may use the floating-point unit"),
                    "expected a section with a pager between components without floating point",
                    "map a section without `pager`, or build the component for soft float",
                )
                .into());
            }
        }
        Ok(())
    }

    fn connect_pager(
        &mut self,
        client: usize,
        section: usize,
        pager: &Pager,
        is_writable: bool,
    ) -> Result<(), Error> {
        let server = *pager.instance;
        let address = self.section_address(section)?;
        let size = super::pages(*self.system.sections[section].size) * PAGE_SIZE;
        let begin = address / SECTION_STRIDE * SECTION_STRIDE;
        let leaves = sections_span([size]) / LEAF_SPAN;
        let root = self.placed[client].root;
        let first = self.tables.leaves(&mut self.memory, root, begin, leaves)?;
        let entries = self.tables.kernel_address(first + (address - begin) / PAGE_SIZE * 8);
        let number = self.record.ranges.len();
        if number == RANGES_DESCRIBED {
            return Err(
                format!("sections with a pager are mapped in more than {number} domains").into()
            );
        }
        let number = number as u64;
        self.record.ranges.push(PagedRange {
            client: self.system.instances[client].number,
            pager: self.system.instances[server].number,
            section: section as u16,
            writable: is_writable.into(),
            address,
            size,
            entries,
        });
        let method = self.served(server, "Pager")?.methods[0].clone();
        let plan = self.plan((client, server), Trust::default(), &method, 0)?;
        let placed = &self.placed[server];
        let export = self.connected.exports[server][*pager.export];
        let crossing = Crossing {
            constant: number,
            source: Source::Memory { first: placed.region, size: placed.entries_span },
            source_entry: placed.entries,
            limits: self.limits(server, export),
            ..plan.crossing
        };
        let table = self.placed[client].table_physical;
        let entry = |cause: u8| table.wrapping_add_signed(upcall_entry(cause));
        let elsewhere = self.memory.load(entry(PAGE_FAULTS[0]));
        let range = generate::PagedRange { first: address, size, entries, is_writable, elsewhere };
        let made = self.code.add(&mut self.memory, |words, address| {
            generate::fault(&range, &crossing, words, address)
        })?;
        for cause in PAGE_FAULTS {
            self.memory.store(entry(cause), made.call);
        }
        Ok(())
    }
}
