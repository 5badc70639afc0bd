//! What an instance lacked that got `Exhausted`, in words.

use crate::manager::Manager;
use cairn_abi::InstanceId;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::descriptor::{Name, name_text};
use core::fmt::{Display, Formatter, Result};

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub enum Wanted {
    /// So many pages.
    Pages(u64),
    /// A section of so many, the page that lists them included.
    Section(u64),
}

/// What was lacking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Sections that the instance may map.
    Sections,
    /// Its quota of memory.
    Quota,
    /// Addresses of its region, in a row.
    Addresses,
    /// What no instance has a part of its own of: free pages, page tables.
    System,
}

impl Lack {
    /// How many there are.
    pub const COUNT: usize = Lack::System as usize + 1;
}

/// A refusal. It is shown as a sentence.
pub struct Refusal {
    /// What was lacking.
    pub lack: Lack,
    name: Name,
    sections: u64,
    wanted: u64,
    used: u64,
    limit: u64,
}

impl Manager<'_> {
    /// Why an instance got `Exhausted`, as its accounts are now. `None`: there is no such instance.
    pub fn refusal(&self, who: InstanceId, wanted: Wanted) -> Option<Refusal> {
        let (record, (used, limit)) = (self.record(who).ok()?, self.usage_of(who).ok()?);
        let (pages, is_section) = match wanted {
            Wanted::Pages(pages) => (pages, false),
            Wanted::Section(pages) => (pages, true),
        };
        let lack = match is_section {
            true if self.maps_all(who) => Lack::Sections,
            _ if used.saturating_add(pages) > limit => Lack::Quota,
            false if self.state.frames.available() as u64 >= pages => Lack::Addresses,
            _ => Lack::System,
        };
        let (name, sections) = (record.name(), record.sections());
        Some(Refusal { lack, name, sections, wanted: pages, used, limit })
    }
}

impl Display for Refusal {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let Refusal { lack, sections, .. } = self;
        let name = name_text(&self.name);
        let kib = |pages: u64| pages.saturating_mul(PAGE_SIZE >> 10);
        let (wanted, used, limit) = (kib(self.wanted), kib(self.used), kib(self.limit));
        match lack {
            Lack::Sections => write!(
                formatter,
                "{name} maps no section more: it has all {sections} that it may; `sections_at_run_time` in its description keeps more"
            ),
            Lack::Quota => write!(
                formatter,
                "{name} gets no {wanted} KiB: it has {used} of the {limit} KiB of `memory` in its description"
            ),
            Lack::Addresses => write!(
                formatter,
                "{name} gets no {wanted} KiB: its region has not so many addresses left in a row, though it has only {used} of the \
                 {limit} KiB of `memory` in its description; what it gives back makes room"
            ),
            Lack::System => write!(
                formatter,
                "{name} gets no {wanted} KiB: the system has no more pages or page tables for them, though it has only {used} of \
                 the {limit} KiB of `memory` in its description"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{ONE, QUOTA, World, behind, region_of};
    use cairn_abi::Error;
    use cairn_abi::memory::SECTIONS_EACH;

    /// What is said of a refusal.
    fn said(world: &World, wanted: Wanted) -> (Lack, String) {
        let manager = world.manager();
        let answer = match wanted {
            Wanted::Pages(pages) => manager.allocate(ONE, pages),
            Wanted::Section(pages) => manager.make_section(ONE, pages - 1),
        };
        assert_eq!(answer, Err(Error::Exhausted));
        let refusal = manager.refusal(ONE, wanted).unwrap();
        (refusal.lack, refusal.to_string())
    }

    #[test]
    fn what_was_lacking_is_named() {
        let mut world = World::new();
        let quota = "one gets no 80 KiB: it has 12 of the 80 KiB of `memory` in its description";
        for wanted in [Wanted::Pages(QUOTA), Wanted::Section(QUOTA)] {
            assert_eq!(said(&world, wanted), (Lack::Quota, quota.to_owned()));
        }
        // Two pages of addresses.
        let span = behind(ONE) - region_of(ONE) + 2 * PAGE_SIZE;
        world.instances[0].entries_span = span;
        let (lack, text) = said(&world, Wanted::Pages(3));
        assert_eq!(lack, Lack::Addresses);
        assert!(text.starts_with("one gets no 12 KiB: its region has not so many"), "{text}");
        for _ in 0..SECTIONS_EACH {
            world.manager().make_section(ONE, 1).unwrap();
        }
        assert_eq!(said(&world, Wanted::Section(2)).0, Lack::Sections);

        let world = World::new();
        while world.state.frames.available() > 2 {
            world.state.frames.take();
        }
        for wanted in [Wanted::Pages(3), Wanted::Section(3)] {
            let (lack, text) = said(&world, wanted);
            assert_eq!(lack, Lack::System);
            assert!(text.contains("only 12 of the 80 KiB"), "{text}");
        }
    }
}
