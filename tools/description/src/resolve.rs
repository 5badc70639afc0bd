//! From a draft to a system: every name becomes an index, every default a value.

use crate::board::Board;
use crate::copies::ranges;
use crate::devices;
use crate::draft::{Draft, ExportDraft, ImportDraft, InstanceDraft};
use crate::fellows;
use crate::files::Files;
use crate::groups::Groups;
use crate::model::{
    Connection, Export, Instance, Open, Placement, Restart, Role, Roles, Section, SectionUse,
    StackMode, Stacks, StateMode, System,
};
use crate::moves;
use crate::names::suggestion;
use crate::offered::unknown_instance;
use crate::package::{self, EVERYONE};
use crate::pagers;
use crate::place::Located;
use crate::report::{Error, Report};
use crate::sections;
use cairn_abi::address::PAGE_SIZE;
use cairn_abi::{DomainId, InstanceId, RegionId};
use std::collections::HashMap;

/// Default of an instance's priority.
const PRIORITY_DEFAULT: u8 = 100;
/// Priority of the supervisor where the description gives none: the highest.
const PRIORITY_SUPERVISOR: u8 = 255;
/// Default size of an activation's stack.
const STACK_DEFAULT: u64 = 4 * PAGE_SIZE;

/// Resolves all names; reports those that name nothing. `folders` are those of the components that
/// were found.
pub(crate) fn resolve(
    draft: Draft,
    files: &dyn Files,
    folders: &HashMap<String, String>,
    mut board: Board,
    report: &mut Report,
) -> Option<System> {
    let before = report.errors().len();
    let names: Vec<Located<String>> =
        draft.instances.iter().map(|instance| instance.name.clone()).collect();
    let tables: Vec<String> =
        draft.instances.iter().map(|instance| instance.table.clone()).collect();
    let roles = resolve_roles(&draft.roles, &names, report)?;
    let (mut sections, pagers): (Vec<Section>, Vec<_>) =
        draft.sections.into_iter().map(|draft| sections::resolve(draft, files, report)).unzip();
    let groups = Groups::new(draft.stack_groups);
    let mut resolver = Resolver { folders, sections: &sections, log: draft.log, groups };
    let mut instances = Vec::new();
    let wanted: Vec<&[devices::Asked]> =
        draft.instances.iter().map(|instance| instance.devices.as_slice()).collect();
    let devices = devices::resolve(&wanted, &names, &mut board, report);
    let shares: Vec<_> = draft
        .instances
        .iter()
        .map(|instance| (instance.shares.clone(), instance.restart.clone()))
        .collect();
    let moves: Vec<_> = draft.instances.iter().map(|instance| instance.moves.clone()).collect();
    let wrapped: Vec<_> =
        draft.instances.iter().map(|instance| instance.wrapped_by.clone()).collect();
    let mut connections = Vec::new();
    for (index, (instance, devices)) in draft.instances.into_iter().zip(devices).enumerate() {
        connections.push((instance.imports, instance.exports));
        let mut rest = InstanceDraft { imports: Vec::new(), exports: Vec::new(), ..instance };
        let is_left_out = devices.len() < rest.devices.len();
        if is_left_out && !devices.iter().any(|(_, device)| board.devices[**device].dma) {
            // It was for a device that this board does not have.
            rest.dma.value = 0;
        }
        let role = Role::ALL.into_iter().find(|role| roles.get(*role) == Some(index));
        instances.push(resolver.instance(rest, index, role, devices, report));
    }
    let packages = package::resolve(
        draft.packages,
        &names,
        |draft, report| resolver.package(draft, report),
        report,
    );
    let stack_groups = resolver.groups.finish(&instances, report);
    fellows::join(&mut instances, &shares, &names, report);
    moves::resolve(&mut instances, moves, &names, report);
    let (imports, exports): (Vec<_>, Vec<_>) = connections.into_iter().unzip();
    for (instance, drafts) in exports.into_iter().enumerate() {
        instances[instance].exports = drafts
            .into_iter()
            .map(|draft| resolve_export(draft, &names, &tables, report))
            .collect();
    }
    for (client, drafts) in imports.into_iter().enumerate() {
        for draft in drafts {
            let windows = draft.windows.as_ref().and_then(|name| {
                let found = find_section(name, &sections, report)?;
                Some(Located::new(found, name.place.clone()))
            });
            connect(client, draft, windows, &mut instances, report);
        }
    }
    for (instance, name) in instances.iter_mut().zip(wrapped) {
        let find = |name: Located<String>| {
            Some(Located::new(find_instance(&name, &names, report)?, name.place))
        };
        instance.wrapped_by = name.and_then(find);
    }
    pagers::resolve(&mut sections, pagers, &mut instances, &names, report);
    (report.errors().len() == before).then_some(System {
        name: draft.name,
        board,
        profile: draft.profile,
        counting: draft.counting,
        threads: draft.threads,
        cancelled_for: draft.cancelled_for,
        roles,
        instances,
        packages,
        sections,
        stack_groups,
    })
}

/// The index of the instance called `name`; an error if there is none.
pub(crate) fn find_instance(
    name: &Located<String>,
    instances: &[Located<String>],
    report: &mut Report,
) -> Option<usize> {
    let found = instances.iter().position(|instance| **instance == **name);
    if found.is_none() {
        let names = instances.iter().map(|instance| instance.as_str());
        let is_copy = |one: &str| {
            let number = one.strip_prefix(&format!("{name}-")).unwrap_or_default();
            !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
        };
        let copies = ranges(names.clone().filter(|one| is_copy(one)), |name| format!("{name:?}"));
        let help = match copies.as_slice() {
            [] => {
                let new = format!("add a table `[instance.{name}]`");
                suggestion(name, "the instances are", names, &new)
            }
            copies => format!("name the one that is meant, of {}", copies.join(", ")),
        };
        let expected = "expected the name of an instance of this system";
        report.push(Error::new(&name.place, unknown_instance(name), expected, help));
    }
    found
}

/// The instances that `name` stands for where any number can be named: the one, or all copies of a table; an error
/// if there are none.
fn find_instances(
    name: &Located<String>,
    instances: &[Located<String>],
    tables: &[String],
    report: &mut Report,
) -> Vec<usize> {
    let copies = tables.iter().enumerate().filter(|(_, table)| **table == **name);
    let copies: Vec<usize> = copies.map(|(index, _)| index).collect();
    if copies.is_empty() {
        return find_instance(name, instances, report).into_iter().collect();
    }
    copies
}

fn resolve_roles(
    drafts: &[(Role, Located<String>)],
    names: &[Located<String>],
    report: &mut Report,
) -> Option<Roles> {
    let mut roles = Roles::default();
    let mut good = true;
    let mut found: Vec<(Role, usize, &Located<String>)> = Vec::new();
    for (role, name) in drafts {
        let Some(instance) = find_instance(name, names, report) else {
            good = false;
            continue;
        };
        if let Some((other, _, place)) = found.iter().find(|(_, index, _)| *index == instance) {
            good = false;
            report.push(
                Error::new(
                    &name.place,
                    format!("`{name}` has two roles: `{}` and `{}`", other.key(), role.key()),
                    "expected an instance that has no other role",
                    "each role grants privileges of its own; give it to an instance of its own",
                )
                .note(&place.place, "the other role"),
            );
            continue;
        }
        found.push((*role, instance, name));
        match role {
            Role::Scheduler => roles.scheduler = instance,
            Role::Interrupts => roles.interrupts = Some(instance),
            Role::Supervisor => roles.supervisor = Some(instance),
            Role::Memory => roles.memory = Some(instance),
            Role::Portals => roles.portals = Some(instance),
            Role::Names => roles.names = Some(instance),
            Role::Devices => roles.devices = Some(instance),
            Role::Logs => roles.logs = Some(instance),
            Role::ShelfKeeper => roles.shelf_keeper = Some(instance),
            Role::Loader => roles.loader = Some(instance),
            Role::Idle => roles.idle = Some(instance),
        }
    }
    good.then_some(roles)
}

/// What all instances are resolved with.
struct Resolver<'a> {
    folders: &'a HashMap<String, String>,
    sections: &'a [Section],
    /// The level that instances log which do not say.
    log: u8,
    groups: Groups,
}

impl Resolver<'_> {
    /// What a package has as instances do: it has no number until it is loaded.
    fn package(&mut self, draft: InstanceDraft, report: &mut Report) -> Instance {
        let instance = self.instance(draft, 0, None, Vec::new(), report);
        let (number, domain, region) = Default::default();
        Instance { number, domain, region, ..instance }
    }

    fn instance(
        &mut self,
        draft: InstanceDraft,
        index: usize,
        role: Option<Role>,
        devices: Vec<(String, Located<usize>)>,
        report: &mut Report,
    ) -> Instance {
        let place = draft.name.place.clone();
        let sections = draft
            .sections
            .into_iter()
            .filter_map(|(name, access)| {
                let section = find_section(&name, self.sections, report)?;
                Some(SectionUse { section, access })
            })
            .collect();
        let default_priority = match role {
            Some(Role::Idle) => 0,
            Some(Role::Supervisor) => PRIORITY_SUPERVISOR,
            _ => PRIORITY_DEFAULT,
        };
        let stacks = match draft.stacks {
            Some(stacks) => Stacks {
                count: *stacks.count,
                size: *stacks.size,
                limit: stacks.limit,
                per_client: stacks.per_client.map_or(1, |per_client| *per_client),
                place: stacks.place,
                declared: true,
            },
            None => Stacks {
                count: 0,
                size: STACK_DEFAULT,
                limit: Located::new(0, place.clone()),
                per_client: 1,
                place: place.clone(),
                declared: false,
            },
        };
        let priority = draft.priority.unwrap_or(Located::new(default_priority, place.clone()));
        let number = index as u16 + 1;
        let is_essential = role.is_some_and(Role::is_essential);
        let (device_names, devices) = devices.into_iter().unzip();
        Instance {
            noun: draft.noun,
            number: InstanceId(number),
            // A domain and a region of its own, which have its number.
            domain: DomainId(number),
            region: RegionId(number),
            // One that was not found has been reported.
            folder: self.folders.get(&*draft.component).cloned().unwrap_or_default(),
            component: draft.component,
            role,
            says_placement: draft.placement.is_some(),
            placement: draft.placement.unwrap_or(Located::new(Placement::Domain, place.clone())),
            moves: None,
            other_place: None,
            accepts_unsafe_code: draft.accepts_unsafe_code,
            recovery_priority: draft.recovery_priority.unwrap_or(priority.clone()),
            priority,
            memory: draft.memory,
            dma: draft.dma,
            heap: draft.heap,
            heap_limit: draft.heap_limit,
            log: draft.log.unwrap_or(self.log),
            log_size: draft.log_size,
            stack: draft.stack,
            stack_limit: draft.stack_limit,
            stacks,
            threads: draft.threads,
            share: draft.share,
            cpu: draft.cpu,
            processes: draft.processes,
            semaphores: draft.semaphores,
            locks: draft.locks,
            children: draft.children,
            portals: draft.portals,
            names: draft.names,
            sections_at_run_time: draft.sections_at_run_time,
            restart: draft.restart.unwrap_or(Located::new(Restart::Never, place.clone())),
            essential: draft.essential.unwrap_or(Located::new(is_essential, place.clone())),
            on_demand: draft.on_demand.unwrap_or(Located::new(false, place)),
            idle_stop: draft.idle_stop,
            callers_wait: draft.callers_wait,
            trusted: draft.trusted,
            wrapped_by: None,
            float_at_start: draft.float_at_start,
            has_float: false,
            locked: draft.locked,
            argument: draft.argument,
            arguments: draft.arguments,
            stack_group: draft.stack_group.and_then(|name| self.groups.join(name, index, report)),
            devices,
            device_names,
            sections,
            imports: Vec::new(),
            exports: Vec::new(),
            name: draft.name,
        }
    }
}

fn find_section(
    name: &Located<String>,
    sections: &[Section],
    report: &mut Report,
) -> Option<usize> {
    let found = sections.iter().position(|section| *section.name == **name);
    if found.is_none() {
        let names = sections.iter().map(|section| section.name.as_str());
        report.push(Error::new(
            &name.place,
            format!("unknown section `{name}`"),
            "expected a section of this system",
            suggestion(name, "the sections are", names, &format!("add a table `[section.{name}]`")),
        ));
    }
    found
}

fn resolve_export(
    draft: ExportDraft,
    names: &[Located<String>],
    tables: &[String],
    report: &mut Report,
) -> Export {
    let open = match &draft.open {
        // Whoever is connected is added when the connections are known.
        None => Open::Instances(Vec::new()),
        Some(open) if open.iter().any(|name| ***name == *EVERYONE) => {
            // The other names must be right all the same.
            let others = open.iter().filter(|name| ***name != *EVERYONE);
            others.for_each(|name| {
                find_instances(name, names, tables, report);
            });
            Open::Anyone
        }
        Some(open) => {
            let found = |name| find_instances(name, names, tables, report);
            let mut instances: Vec<usize> = open.iter().flat_map(found).collect();
            instances.sort_unstable();
            instances.dedup();
            Open::Instances(instances)
        }
    };
    let mut trust = Vec::new();
    for name in &draft.trust {
        if **name == EVERYONE {
            trust.extend((0..names.len()).map(|index| Located::new(index, name.place.clone())));
        } else {
            let found = find_instances(name, names, tables, report);
            trust.extend(found.into_iter().map(|index| Located::new(index, name.place.clone())));
        }
    }
    Export {
        name: draft.name,
        open,
        open_place: draft.open.map(|open| open.place),
        trust,
        longest_execution: draft.longest_execution,
        longest_call: draft.longest_call,
        cancelled_for: draft.cancelled_for,
        declared: true,
    }
}

fn connect(
    client: usize,
    draft: ImportDraft,
    windows: Option<Located<usize>>,
    instances: &mut [Instance],
    report: &mut Report,
) {
    let names: Vec<Located<String>> =
        instances.iter().map(|instance| instance.name.clone()).collect();
    let Some(target) = find_instance(&draft.instance, &names, report) else {
        return;
    };
    let place = &draft.instance.place;
    let runs_to_completion = instances[target].role.is_some_and(Role::runs_to_completion);
    let says_stack = draft.stack.is_some();
    let stack = match draft.stack {
        Some(stack) if runs_to_completion => {
            report.push(Error::new(
                &stack.place,
                "the stack of this connection cannot be chosen",
                format!("expected no `stack`, since `{}` is called here", draft.instance),
                "remove it: calls to the scheduler and the interrupt dispatcher run to completion \
                 on a stack of their own",
            ));
            return;
        }
        Some(stack) => stack,
        None if runs_to_completion => Located::new(StackMode::RunToCompletion, place.clone()),
        None => Located::new(StackMode::New, place.clone()),
    };
    let state = draft.state.unwrap_or(Located::new(StateMode::Partial, place.clone()));
    let export_place = draft.export.place.clone();
    let export = pagers::exported(&mut instances[target], draft.export);
    let export_entry = &mut instances[target].exports[export];
    if export_entry.open_place.is_none()
        && let Open::Instances(allowed) = &mut export_entry.open
        && let Err(position) = allowed.binary_search(&client)
    {
        allowed.insert(position, client);
    }
    let target = Located::new(target, place.clone());
    instances[client].imports.push(Connection {
        import: draft.import,
        target,
        export: Located::new(export, export_place),
        stack,
        says_stack,
        state,
        windows,
    });
}
