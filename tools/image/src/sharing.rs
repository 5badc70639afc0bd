//! Which pages are in several domains, according to the page tables.

use crate::report::counted;
use cairn_abi::address::*;
use cairn_description::copies::ranges;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why pages may be in several domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Reason {
    /// A section of the description.
    Section,
    /// The stacks of a stack group.
    StackGroup,
    /// A role: the scheduler's semaphore words, the memory manager's view, and so on.
    Role,
}

impl Reason {
    /// Why the page at an address is not its domain's own; `None` if it is.
    pub fn of(address: u64) -> Option<Reason> {
        if (ROLE_MEMORY..STACK_GROUPS).contains(&address) || address >= ROLE_RECORD {
            Some(Reason::Role)
        } else if (STACK_GROUPS..SECTIONS).contains(&address) {
            Some(Reason::StackGroup)
        } else if (SECTIONS..ROLE_RECORD).contains(&address) {
            Some(Reason::Section)
        } else {
            None
        }
    }
}

fn rights(writable: bool) -> &'static str {
    if writable { "rw" } else { "r" }
}

/// Pages of a section or a stack group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sharing {
    /// First address, the same in all of the domains.
    pub address: u64,
    /// Pages.
    pub pages: u64,
    /// Why.
    pub reason: Reason,
    /// The domains, each with `r` or `rw`.
    pub domains: Vec<(String, String)>,
}

impl fmt::Display for Sharing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self.reason {
            Reason::Section => "section",
            Reason::StackGroup => "stack group",
            Reason::Role => "role",
        };
        write!(formatter, "{:#x} {}, {reason}:", self.address, counted(self.pages, "page"))?;
        let domains = self.domains.iter().map(|(domain, rights)| format!("{domain} ({rights})"));
        let domains: Vec<String> = domains.collect();
        let shown = ranges(domains.iter().map(String::as_str), str::to_owned);
        write!(formatter, " {}", shown.join(" "))
    }
}

/// What a domain maps for its role.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RoleViews {
    /// The domain.
    pub domain: String,
    /// What it sees: name, pages, `r` or `rw`.
    pub views: Vec<(String, u64, String)>,
}

impl RoleViews {
    /// No view yet.
    pub fn new(domain: &str) -> RoleViews {
        RoleViews { domain: domain.to_owned(), views: Vec::new() }
    }

    /// One more page.
    pub fn page(&mut self, address: u64, writable: bool) {
        let view = view(address);
        match self.views.iter_mut().find(|(name, _, has)| name == view && has == rights(writable)) {
            Some((_, pages, _)) => *pages += 1,
            None => self.views.push((view.to_owned(), 1, rights(writable).to_owned())),
        }
    }
}

impl fmt::Display for RoleViews {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:", self.domain)?;
        for (position, (view, pages, rights)) in self.views.iter().enumerate() {
            let comma = if position > 0 { "," } else { "" };
            write!(formatter, "{comma} {view} {} ({rights})", counted(*pages, "page"))?;
        }
        Ok(())
    }
}

/// What lies at an address of `abi::address::ROLE_*`.
fn view(address: u64) -> &'static str {
    if address < STACK_GROUPS {
        return "memory";
    }
    let views = [
        (ROLE_SHELF, "shelf"),
        (ROLE_KEPT, "kept memory"),
        (ROLE_LOGS, "logs"),
        (ROLE_DEVICES, "registers of devices"),
        (ROLE_COUNTERS, "counters"),
        (ROLE_PAGE_TABLES, "page tables"),
        (ROLE_ACTIVATIONS, "activations"),
        (ROLE_DOMAINS, "domains"),
        (ROLE_PORTAL_CODE, "portal code"),
        (ROLE_THREADS, "threads"),
        (ROLE_SEMAPHORES, "semaphores"),
        (ROLE_RECORD, "record"),
    ];
    views.iter().find(|(base, _)| address >= *base).map_or("clients", |(_, name)| name)
}

/// The pages that several domains map, and what roles see, collected page by page.
#[derive(Debug, Default)]
pub struct Shared {
    /// Sections and stack groups.
    pub sharings: Vec<Sharing>,
    /// Roles' views.
    pub roles: Vec<RoleViews>,
}

/// A page in a domain.
pub struct Mapped<'a> {
    /// The domain's name.
    pub domain: &'a str,
    /// Its address there.
    pub address: u64,
    /// Whether the domain may write it.
    pub writable: bool,
}

impl Shared {
    /// One more physical page, with all that map it.
    pub fn page(&mut self, uses: &[Mapped<'_>]) {
        let (roles, plain): (Vec<&Mapped<'_>>, Vec<_>) =
            uses.iter().partition(|used| Reason::of(used.address) == Some(Reason::Role));
        for used in roles {
            let position = self.roles.iter().position(|views| views.domain == used.domain);
            let position = position.unwrap_or_else(|| {
                self.roles.push(RoleViews::new(used.domain));
                self.roles.len() - 1
            });
            self.roles[position].page(used.address, used.writable);
        }
        let [first, _, ..] = plain[..] else { return };
        let Some(reason) = Reason::of(first.address) else { return };
        let domains: Vec<(String, String)> = plain
            .iter()
            .map(|used| (used.domain.to_owned(), rights(used.writable).to_owned()))
            .collect();
        match self.sharings.last_mut() {
            Some(last)
                if last.domains == domains
                    && last.reason == reason
                    && last.address + last.pages * PAGE_SIZE == first.address =>
            {
                last.pages += 1;
            }
            _ => self.sharings.push(Sharing { address: first.address, pages: 1, reason, domains }),
        }
    }
}
