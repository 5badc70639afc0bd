//! How each call of a component is written: by a trap, by a jump into a portal, or to a method in its own domain.

use super::Layout;
use crate::memory::READ;
use crate::package::index_in_table;
use cairn_abi::address::{INSIDE_OFFSET, PAGE_SIZE};
use cairn_abi::domain::{FIELD_KERNEL_RETURN, PORTAL_FIRST_IMPORT};
use cairn_abi::privileged::PORTAL_KERNEL_CALL;
use cairn_description::model::Role;
use cairn_description::{Error, Report};
use cairn_loader::{Call, Copying, First, Form};
use std::ops::Range;

/// What a method can have as parameters that is called without a portal: nothing that a portal fills in, but for the control
/// word of an export, which is zero.
fn needs_no_portal(letters: &str) -> bool {
    letters.starts_with('c') && letters[1..].chars().all(|letter| "irw234".contains(letter))
}

impl Layout<'_> {
    /// How many portals of its fellows lie before those of an instance.
    pub(super) fn portals_before(&self, index: usize) -> u16 {
        (self.connected.portals[index].start - PORTAL_FIRST_IMPORT) as u16
    }

    /// Index of the first portal of an instance's import of the interface of this name that who has the role exports; zero: it has
    /// none. A product may have another of that name, which is not meant.
    pub(super) fn import_of(&self, index: usize, role: Role, interface: &str) -> u64 {
        let version = self.version_of(role, interface);
        let mut imports = self.connected.imports[index].iter();
        let import = imports.find(|import| {
            let exports = &self.components[import.target].descriptor.exports;
            let found = &exports[import.export].interface;
            found.name == interface && version == Some(found.version)
        });
        import.map_or(0, |import| import.first_portal as u64)
    }

    /// The version of the interface of this name that who has the role exports.
    fn version_of(&self, role: Role, interface: &str) -> Option<u64> {
        let instance = self.system.roles.get(role)?;
        let mut exports = self.components[instance].descriptor.exports.iter();
        let export = exports.find(|export| export.interface.name == interface)?;
        Some(export.interface.version)
    }

    /// Refuses components whose code calls the portal manager or the scheduler by an import that they do not have. One that the
    /// description leaves out they can do without.
    pub(super) fn check_needs(&self) -> Result<(), Report> {
        let mut report = Report::new();
        for (instance, component) in self.system.instances.iter().zip(self.components) {
            let portals = (component.needs_portals, "cairn::sync", Role::Portals, "Portals");
            let threads = (component.needs_threads, "cairn::thread", Role::Scheduler, "Threads");
            let grows = *instance.heap_limit > *instance.heap;
            let memory = (grows, "heap_limit", Role::Memory, "Memory");
            for (needs, module, role, interface) in [portals, threads, memory] {
                let version = self.version_of(role, interface);
                let mut imports = component.descriptor.imports.iter().map(|one| &one.interface);
                if !needs
                    || imports.any(|one| {
                        one.name == interface
                            && version.is_none_or(|version| one.version == version)
                    })
                {
                    continue;
                }
                let import = interface.to_lowercase();
                let server = self
                    .system
                    .roles
                    .get(role)
                    .map_or(&*import, |instance| &*self.system.instances[instance].name);
                report.push(Error::new(
                    &instance.component.place,
                    format!("`{}` uses `{module}` without the import `{interface}`", *instance.name),
                    format!(
                        "expected `imports: {{ {import}: cairn_interfaces::{interface} }}` in the `cairn::component!` of `{}`",
                        instance.folder
                    ),
                    format!("write it, and `{import} = \"{server}.{import}\"` in [instance.{}.imports]", *instance.name),
                ));
            }
        }
        report.into_result(())
    }

    /// A call of an instance, whose index is the one that its component was built with.
    pub(super) fn form(&self, index: usize, call: &Call) -> Form {
        let (instance, placed) = (&self.system.instances[index], &self.placed[index]);
        let before = self.portals_before(index);
        let portal = call.portal.map(|portal| index_in_table(portal, before));
        if let Some(portal) = portal.filter(|portal| call.is_stub && self.is_inside(index, *portal))
        {
            let word = placed.region + INSIDE_OFFSET + u64::from(portal) * 8;
            return Form::Link { word, first: Some(First::ControlWord(0)) };
        }
        if portal.is_some_and(|portal| call.is_stub && self.is_left_out(index, portal)) {
            return Form::Absent;
        }
        if !instance.is_in_kernel() {
            return Form::Trap(portal);
        }
        // Who runs to completion has interrupts off, and what is called by index 0 or none turns them off itself.
        let is_off = instance.role.is_some_and(Role::runs_to_completion);
        let first = portal.filter(|portal| *portal != 0 && !is_off).map(|_| First::InterruptsOff);
        let word = match portal {
            Some(0) if !is_off => placed.links().wrapping_add_signed(FIELD_KERNEL_RETURN),
            _ => placed.links() + u64::from(portal.unwrap_or(PORTAL_KERNEL_CALL as u16)) * 8,
        };
        Form::Link { word, first }
    }

    /// The imports of an instance that its description leaves out, by their places, and the indexes of their portals.
    fn left_out(&self, index: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
        let mut end = self.connected.portals[index].start;
        let imports = self.components[index].descriptor.imports.iter().map(move |import| {
            let start = end;
            end += import.interface.methods.len();
            start..end
        });
        let connected = &self.connected.imports[index];
        imports.enumerate().filter(|(_, portals)| {
            connected.iter().all(|import| import.first_portal != portals.start)
        })
    }

    /// The same as the startup page has it: a bit for each.
    pub(super) fn imports_left_out(&self, index: usize) -> u16 {
        self.left_out(index).fold(0, |left_out, (place, _)| left_out | 1 << place)
    }

    fn is_left_out(&self, index: usize, portal: u16) -> bool {
        self.left_out(index).any(|(_, portals)| portals.contains(&portal.into()))
    }

    /// Whether the portal of an import at this index would lead to a method in the same domain that needs none.
    pub(super) fn is_inside(&self, index: usize, portal: u16) -> bool {
        self.calls_inside(index).any(|(at, ..)| at == usize::from(portal))
    }

    /// The calls of an instance that stay in its domain and need no portal: the index of the portal, who is called, and the
    /// method's place in that one's file.
    fn calls_inside(&self, index: usize) -> impl Iterator<Item = (usize, usize, u64)> {
        let imports = self.connected.imports[index].iter();
        let domain = self.system.instances[index].domain;
        let inside = imports.filter(move |import| {
            import.target != index && self.system.instances[import.target].domain == domain
        });
        inside.flat_map(|import| {
            let export = &self.components[import.target].descriptor.exports[import.export];
            let methods = export.interface.methods.iter().enumerate();
            let methods = methods.filter(|(_, method)| needs_no_portal(&method.letters));
            methods.map(|(at, method)| (import.first_portal + at, import.target, method.entry))
        })
    }

    /// Maps the page of an instance by which it calls its fellows.
    pub(super) fn map_inside(&mut self, index: usize) -> Result<(), String> {
        if self.system.fellows(index).nth(1).is_none() {
            return Ok(());
        }
        let physical = self.memory.pages(1);
        let placed = &mut self.placed[index];
        placed.inside = Some(physical);
        let (root, address, rights) =
            (placed.root, placed.region + INSIDE_OFFSET, placed.reach | READ);
        self.tables.map_range(&mut self.memory, root, address, physical, PAGE_SIZE, rights)
    }

    /// Writes where the methods are, when all instances have their places.
    pub(super) fn link_inside(&mut self) {
        for index in self.instances() {
            let Some(page) = self.placed[index].inside else { continue };
            let calls: Vec<_> = self.calls_inside(index).collect();
            for (portal, target, entry) in calls {
                self.memory.store(page + portal as u64 * 8, self.placed[target].image + entry);
            }
            // Index 0 is no import's: here it leads to the domain's copy routine.
            if let Some((owner, Copying { code, .. })) = self.copying(index) {
                self.memory.store(page, self.placed[owner].image + code.start);
            }
        }
    }
}
