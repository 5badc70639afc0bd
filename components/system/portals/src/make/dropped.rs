//! Exports that came with a successor, and go with the next: what clients have of them ends, as when a server revokes it.

use super::Maker;
use crate::blocks::{Block, Kind, NO_INSTANCE};
use crate::machine::{Layout, Machine};
use cairn_abi::InstanceId;
use cairn_abi::record::{Export, Instance};

/// Blocks that one step ends: what bounds the time for which the manager is held.
const BLOCKS_OF_STEP: usize = 8;

impl Maker {
    /// Whether the import of a component that was loaded leads to what the successor of a server does not serve, if there is one.
    pub(super) fn drops_import<M: Machine>(&self, machine: &M, server: InstanceId) -> bool {
        let layout = machine.layout();
        if !self.has_added(layout, server) {
            return false;
        }
        let mut instances = layout.instances.iter();
        let is_successor =
            |one: &&Instance| one.successor_of == server && one.other_place == NO_INSTANCE;
        let Some(successor) = instances.find(is_successor) else {
            return false;
        };
        let is_dropped = |export: &Export| {
            let mut served = layout.exports.iter().filter(|one| one.instance == successor.number);
            export.is_added != 0
                && !served.any(|one| (one.name, one.version) == (export.name, export.version))
        };
        let leads = |block: &Block| {
            block.is_import && block.is_live() && export(layout, block).is_some_and(is_dropped)
        };
        self.blocks.made_by(server, None, leads).is_some()
    }

    /// A step of ending what leads to exports that a server does not serve now; whether there may be more.
    pub(super) fn end_dropped<M: Machine>(&mut self, machine: &M, server: InstanceId) -> bool {
        let layout = machine.layout();
        if !self.has_added(layout, server) {
            return false;
        }
        let is_dropped = |block: &Block| {
            block.is_live() && export(layout, block).is_some_and(|one| one.instance != server)
        };
        for _ in 0..BLOCKS_OF_STEP {
            let Some(place) = self.blocks.made_by(server, None, is_dropped) else {
                // Others can come under the numbers of such exports.
                self.templates.forget_exports();
                return false;
            };
            self.end(machine, place);
        }
        true
    }

    /// Whether a server has exports that came with a successor, served or not.
    fn has_added(&self, layout: &Layout, server: InstanceId) -> bool {
        let Ok(record) = self.instances.get(server) else { return false };
        let own = layout.exports.iter().skip(record.first_export as usize);
        own.take(record.export_count as usize).any(|export| export.is_added != 0)
    }
}

/// The export that a block leads to, itself or by an object.
fn export(layout: &Layout, block: &Block) -> Option<&'static Export> {
    let (Kind::Export(number) | Kind::Object(number, _)) = block.kind else { return None };
    layout.exports.get(number as usize)
}
