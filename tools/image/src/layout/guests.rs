//! Guests: the other places of instances that move into the page table of another, their *host*.
//!
//! A guest lies at the addresses at which it lies in its own page table, in the same pages: only the entries of directories that lead there go from
//! the one page table to the other. So its other place has nothing of its own but what a domain has: a block with its table, and portals.

use super::Layout;
use super::instance::Placed;
use crate::report::InstanceReport;
use cairn_abi::DomainId;
use cairn_abi::address::{LEAF_SPAN, SECTION_STRIDE, sections_span};

impl Layout<'_> {
    /// Whose other place this is in the page table of another, and of which other; `None`: it is no such place.
    pub(super) fn guest(&self, index: usize) -> Option<(usize, usize)> {
        let instance = &self.system.instances[index];
        let host = instance.host().filter(|_| instance.is_other_place())?;
        Some((self.system.identity(index), host))
    }

    /// All that have pages of their own: without guests, which are where their own instances are.
    pub(super) fn with_pages(&self) -> impl Iterator<Item = usize> + '_ {
        self.instances().filter(|index| self.guest(*index).is_none())
    }

    /// Gives a guest the region of its own instance, and its host the directories that lead there: while the system runs none is made.
    pub(super) fn place_guest(
        &mut self,
        index: usize,
        (own, host): (usize, usize),
    ) -> Result<(), String> {
        let domain = self.system.instances[index].domain;
        let table = self.connected.tables().portal_table(domain);
        let (own, host) = (&self.placed[own], &self.placed[host]);
        let roots = [own.root, host.root];
        let report = InstanceReport::new(&self.system.instances[index], self.components[index]);
        let placed = own.as_guest((domain, table, self.areas.domains.at(table)), host, report);
        let mut directories = vec![placed.region];
        for used in &self.system.instances[index].sections {
            let begin = self.section_address(used.section)? / SECTION_STRIDE * SECTION_STRIDE;
            let end = begin + sections_span([*self.system.sections[used.section].size]);
            directories.extend((begin..end).step_by(LEAF_SPAN as usize));
        }
        for address in directories {
            for root in roots {
                self.tables.directory(&mut self.memory, root, address)?;
            }
        }
        self.placed.push(placed);
        Ok(())
    }
}

impl Placed {
    /// The same as a guest in the page table of another, with a domain of its own: its number, its table and where that lies.
    fn as_guest(
        &self,
        (domain, table, table_physical): (DomainId, u64, u64),
        host: &Placed,
        report: InstanceReport,
    ) -> Placed {
        Placed {
            domain,
            table,
            table_physical,
            root: host.root,
            space: host.space,
            inside: None,
            activations: Vec::new(),
            memory_shared: 0,
            memory_left_out: 0,
            report,
            ..*self
        }
    }
}
