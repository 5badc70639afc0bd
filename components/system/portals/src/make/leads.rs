//! Portals that lead to an instance: those of the layout's connections, of blocks, of wraps, and of ranges with pagers.

use super::Maker;
use super::places::forms;
use super::wrap::literal;
use crate::blocks::{Block, Kind};
use crate::machine::{Layout, Machine};
use crate::wraps::{WRAPS_MAXIMUM, Wrap};
use cairn_abi::domain::BLOCKS_MAXIMUM;
use cairn_abi::record::{Instance, Method, Portal};
use cairn_abi::{DomainId, InstanceId};
use cairn_portal::literal::*;

/// How many places a step of a walk along all portals to an instance looks at, and how many portals it finds before it goes no further: what
/// bounds the time for which the manager is held.
pub(super) const PLACES_OF_STEP: usize = 256;
const PORTALS_OF_STEP: usize = 64;

/// A portal that leads to an instance.
pub(super) struct Lead {
    /// Its code.
    pub code: u64,
    /// The same while the instance is in its other place, if that moves; 0: it does not.
    pub elsewhere: u64,
    /// Whose it is.
    pub client: InstanceId,
    /// To whom it leads.
    pub server: InstanceId,
    /// In which table it is, where its block or import begins, and which of its methods it is. Of one with a single code nobody asks, and the
    /// table is not looked for.
    pub at: (DomainId, usize, usize),
    /// Where it enters, as the record says.
    pub entry: Option<u64>,
}

impl Lead {
    /// Its code while the instance is where the record says.
    pub fn code_for(&self, record: &Instance) -> u64 {
        if record.is_away != 0 && self.elsewhere != 0 { self.elsewhere } else { self.code }
    }
}

impl Maker {
    /// Shows some of the portals that lead to who is held, or into its domain, from a place on; the place behind them, if there are more. The places are those of
    /// the layout's connections, of blocks, of wraps from the last one on (these move towards the first, so none of them is missed), and of ranges with pagers.
    pub(super) fn walk<M: Machine>(
        &self,
        machine: &M,
        from: usize,
        mut each: impl FnMut(&Lead),
    ) -> Option<usize> {
        let layout = machine.layout();
        let connections = layout.portals.len();
        let wraps = connections + BLOCKS_MAXIMUM;
        let (mut at, mut found) = (from, 0);
        // A method without a right is no portal to the server, nor one that all of them share to be changed.
        let no_portal = machine.layout().header.no_portal;
        let mut each = |lead: Lead| {
            if lead.code != no_portal && literal(machine, lead.code, LITERAL_MARK) == MARK_CALL {
                found += 1;
                each(&lead);
            }
            found
        };
        let end = from + PLACES_OF_STEP;
        let mut looked = from;
        let server = self.held()?;
        let is_interposer = self.is_interposer(server);
        // One comparison for each, if nobody ends with it.
        let is_shared = self.is_shared();
        let is = |one: InstanceId| one == server || is_shared && self.is_held(one);
        while looked < end {
            if at == connections + self.blocks.end_of_used() {
                at = wraps.max(at) + (WRAPS_MAXIMUM - self.wraps.wraps.all().len());
            }
            let found = match at.checked_sub(connections) {
                None => {
                    // Most lead elsewhere.
                    let ahead = &layout.portals[at..connections.min(at + (end - looked))];
                    let next = ahead.iter().position(|portal| {
                        self.can_be_held(portal.export) && leads(layout, portal).is_some_and(is)
                    });
                    let Some(next) = next else {
                        (at, looked) = (at + ahead.len(), looked + ahead.len());
                        continue;
                    };
                    (at, looked) = (at + next, looked + next);
                    self.connection(machine, at).map_or(0, &mut each)
                }
                Some(place) if place < self.blocks.end_of_used() => {
                    let block = self.blocks.get(place);
                    // What it has to itself is its own content's.
                    let is_led = is(block.server) && block.client != block.server;
                    let leads = is_led.then(|| self.leads_of_block(machine, block.server, block));
                    leads.into_iter().flatten().map(&mut each).last().unwrap_or(0)
                }
                Some(_) if at >= wraps + WRAPS_MAXIMUM => {
                    let range = layout.ranges.get(at - wraps - WRAPS_MAXIMUM)?;
                    let lead =
                        is(range.pager).then(|| self.lead_of_faults(machine, range.pager, range));
                    lead.flatten().map_or(0, &mut each)
                }
                Some(_) => {
                    let number = wraps + WRAPS_MAXIMUM - 1 - at;
                    let wrap = self.wraps.wraps.all().get(number);
                    let of = |wrap: &Wrap| if is(wrap.server) { wrap.server } else { server };
                    let leads = wrap
                        .map(|wrap| self.leads_of_wrap(machine, (of(wrap), is_interposer), wrap));
                    leads.into_iter().flatten().map(&mut each).last().unwrap_or(0)
                }
            };
            (at, looked) = (at + 1, looked + 1);
            if found >= PORTALS_OF_STEP {
                break;
            }
        }
        Some(at)
    }

    /// A connection of the layout.
    fn connection<M: Machine>(&self, machine: &M, number: usize) -> Option<Lead> {
        let layout = machine.layout();
        let portal = layout.portals.get(number)?;
        let server = leads(layout, portal)?;
        if !self.instances.is_described(layout, server) {
            return None;
        }
        let export = layout.export(portal.export as usize).ok()?;
        let method = layout.methods_of(export).get(portal.method as usize);
        let entry = method.map(|method| method.entry);
        let elsewhere = portal.code_elsewhere;
        let table = match elsewhere {
            0 => DomainId(0),
            _ => self.table_of(layout, portal.client)?,
        };
        let at = (table, portal.index as usize, 0);
        Some(Lead { code: portal.code, elsewhere, client: portal.client, server, at, entry })
    }

    /// The portals of a block, interposers apart, if they lead to this server.
    pub(super) fn leads_of_block<'a, M: Machine>(
        &'a self,
        machine: &'a M,
        server: InstanceId,
        block: &'a Block,
    ) -> impl Iterator<Item = Lead> {
        let leads = block.is_open() && block.server == server;
        let indexes = block.indexes().filter(move |_| leads).enumerate();
        indexes.map(move |(method, index)| {
            let forms = forms(machine, block, method);
            let code = || self.original(machine, block.client, index);
            let (code, elsewhere) = forms.unwrap_or_else(|| (code(), 0));
            Lead {
                code,
                elsewhere,
                client: block.client,
                server,
                at: (block.domain, block.first(), method),
                entry: entry(machine, block.kind, method),
            }
        })
    }
}

/// To whom a connection of the layout leads.
fn leads(layout: &Layout, portal: &Portal) -> Option<InstanceId> {
    layout.exports.get(portal.export as usize).map(|export| export.instance)
}

/// Where a method of what portals lead to is entered, as the record says.
pub(super) fn entry<M: Machine>(machine: &M, kind: Kind, method: usize) -> Option<u64> {
    let (Kind::Export(export) | Kind::Object(export, _)) = kind else { return None };
    let export = machine.layout().export(export as usize).ok()?;
    let method: &Method = machine.layout().methods_of(export).get(method)?;
    Some(method.entry)
}
