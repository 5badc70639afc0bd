//! Quotas and limits: what the instances ask for must be there.

use crate::model::{Export, Instance, Open, Role, StackMode, System};
use crate::place::{Located, Place};
use crate::report::{Error, Report};
use crate::units::show_size;
use cairn_abi::address::{
    ACTIVATION_STACK_SMALL, DEVICES_OFFSET, IMAGE_OFFSET, PAGE_SIZE, SEMAPHORES, STACK_ALIASES,
    activation_stride,
};
use cairn_abi::domain::{
    ACTIVATIONS_MAXIMUM, BLOCKS_MAXIMUM, BLOCKS_OF_CLIENT, DOMAINS_MAXIMUM, HELD_QUEUE, Tables,
};
use cairn_abi::record::NAMES_MAXIMUM;
use cairn_abi::semaphore::{LOCKS_MAXIMUM, SEMAPHORES_MAXIMUM};
use cairn_abi::startup::SECTIONS_MAXIMUM;
use cairn_abi::thread::THREADS_MAXIMUM;
use cairn_abi::{identifier, memory};

/// Each has a domain of its own; number 0 is no instance, and the nucleus' own domain.
const INSTANCES_MAXIMUM: usize = {
    assert!(identifier::INSTANCES_MAXIMUM <= DOMAINS_MAXIMUM);
    identifier::INSTANCES_MAXIMUM - 1
};

/// Those that are loaded while the system runs, for which a server has stacks if it is open to everybody and its description has no
/// `stacks`.
const LOADED_CLIENTS: u64 = 8;

/// Gives instances without `stacks` as many as their possible clients need.
pub(super) fn default_stacks(system: &mut System) {
    let count = system.instances.len();
    for index in 0..count {
        let instance = &system.instances[index];
        let runs_to_completion = instance.role.is_some_and(Role::runs_to_completion);
        if instance.stacks.declared || runs_to_completion || instance.is_in_kernel() {
            continue;
        }
        let connected = clients(system, index);
        let clients = (0..count).filter(|client| {
            let waits = !system.instances[*client].role.is_some_and(Role::runs_to_completion);
            // Whoever is open to itself by name asks another content of its own.
            let is_meant = |open: &Open| *client != index || !matches!(open, Open::Anyone);
            let may_open = |open: &Open| is_meant(open) && waits && open.allows(*client);
            connected.contains(client) || {
                // Whoever is connected on a shared stack takes none.
                let explicit = instance.exports.iter().filter(|export| export.open_place.is_some());
                explicit.into_iter().any(|export| may_open(&export.open))
            }
        });
        let is_open =
            |export: &Export| export.open_place.is_some() && matches!(export.open, Open::Anyone);
        let loaded = match instance.exports.iter().any(is_open) {
            true => system.children().min(LOADED_CLIENTS) as u32,
            false => 0,
        };
        let needed = (clients.count() as u32 + loaded) * instance.stacks.per_client;
        system.instances[index].stacks.count = needed;
    }
}

/// The instances connected to `server` on new stacks, and those that it provides with pages.
fn clients(system: &System, server: usize) -> Vec<usize> {
    let calls = |client: &usize| {
        let mut connections = system.instances[*client].imports.iter();
        connections
            .any(|connection| *connection.target == server && *connection.stack == StackMode::New)
            || system.paged(*client).any(|(_, pager)| *pager.instance == server)
    };
    (0..system.instances.len()).filter(calls).collect()
}

pub(super) fn check(system: &System, report: &mut Report) {
    if let Some(instance) = system.instances.get(INSTANCES_MAXIMUM) {
        report.push(Error::new(
            &instance.name.place,
            "the system has too many instances",
            format!("expected at most {INSTANCES_MAXIMUM}, found {}", system.instances.len()),
            "remove instances",
        ));
    }
    for index in 0..system.instances.len() {
        check_stacks(system, index, report);
        check_quota(system, index, report);
    }
    check_queues(system, report);
    check_activations(system, report);
    check_memory(system, report);
    for instance in system.instances.iter().filter(|instance| *instance.locked) {
        if system.board.tlb.is_none() {
            report.push(Error::new(
                &instance.locked.place,
                format!(
                    "nothing says how many translations the board `{}` keeps",
                    system.board.name
                ),
                "expected `tlb` in the board description",
                "write there for example: tlb = { instruction = 32, data = 32 }",
            ));
        }
    }
    check_threads(system, report);
    check_shares(system, report);
    check_semaphores(system, report);
    check_locks(system, report);
    check_portals(system, report);
    check_names(system, report);
    check_sections_at_run_time(system, report);
}

fn check_stacks(system: &System, index: usize, report: &mut Report) {
    let instance = &system.instances[index];
    let stacks = &instance.stacks;
    if !stacks.declared {
        return;
    }
    if instance.role.is_some_and(Role::runs_to_completion) {
        report.push(Error::new(
            &stacks.place,
            format!("`{}` cannot have stacks for callers", instance.name),
            "expected no `stacks` here",
            "remove it: calls to the scheduler and the interrupt dispatcher run to completion \
             on one stack, whose size is `stack`",
        ));
        return;
    }
    let mut clients = clients(system, index);
    clients.extend(openers(system, index));
    let needed = clients.len() as u64 * u64::from(stacks.per_client);
    if needed > u64::from(stacks.count) {
        let mut error = Error::new(
            &stacks.place,
            format!("`{}` has fewer stacks than its clients need", instance.name),
            format!(
                "expected a `count` of at least {needed} ({} clients with {} each), found {}",
                clients.len(),
                stacks.per_client,
                stacks.count
            ),
            format!("write `count = {needed}`, or connect fewer clients"),
        );
        for client in clients {
            let client = &system.instances[client];
            let calls = client.imports.iter().find(|import| *import.target == index);
            error = match calls {
                Some(connection) => {
                    error.note(&connection.target.place, format!("`{}` calls it", client.name))
                }
                None => error.note(&client.name.place, "may open it by name"),
            };
        }
        report.push(error);
    }
}

/// The instances that an export of `server` names in `open`, that can open by name, since they call the portal manager,
/// and that are not connected. Of `"*"` nobody knows who will come.
fn openers(system: &System, server: usize) -> impl Iterator<Item = usize> {
    let exports = &system.instances[server].exports;
    let is_named = move |client: usize| {
        exports.iter().any(|export| {
            export.open_place.is_some()
                && matches!(&export.open, Open::Instances(named) if named.contains(&client))
        })
    };
    let opens = move |client: usize| {
        let targets = || system.instances[client].imports.iter().map(|import| *import.target);
        let is_connected = targets().any(|target| target == server);
        let is_manager = |target: usize| system.instances[target].role == Some(Role::Portals);
        !is_connected && targets().any(is_manager)
    };
    (0..system.instances.len())
        .filter(move |client| *client != server && is_named(*client) && opens(*client))
}

/// Each client of each server has a queue of stacks.
fn check_queues(system: &System, report: &mut Report) {
    let instances = system.instances.iter().enumerate();
    let parts =
        instances.map(|(index, server)| (clients(system, index).len() as u64, &server.name.place));
    // Who opens what it is not connected to needs one more.
    let open = |client: usize| {
        let mut servers = system.instances.iter().enumerate().filter(|(at, _)| *at != client);
        let allows = |server: &Instance| {
            let mut exports = server.exports.iter().filter(|export| export.open_place.is_some());
            exports.any(|export| export.open.allows(client))
        };
        servers.any(|(at, server)| allows(server) && !clients(system, at).contains(&client))
    };
    let opening = system.instances.iter().enumerate().filter(|(at, client)| {
        Some(*at) != system.roles.portals && system.gets_portals(client) && open(*at)
    });
    let opening = opening.map(|(_, client)| (1, &client.name.place));
    check_sum(parts.chain(opening), HELD_QUEUE as u64, report, |place, total| {
        Error::new(
            place,
            "the system has too many pairs of clients and servers",
            format!(
                "expected at most {HELD_QUEUE}, found {total}, with one for each instance that may open exports by name"
            ),
            "connect fewer instances on new stacks, or fewer to the portal manager",
        )
    });
}

// The kernel domain has an address for the top page of each stack.
const _: () = assert!(ACTIVATIONS_MAXIMUM as u64 <= (SEMAPHORES - STACK_ALIASES) / PAGE_SIZE);

fn check_activations(system: &System, report: &mut Report) {
    let limit = ACTIVATIONS_MAXIMUM as u64;
    let instances = system.instances.iter();
    let parts = instances.map(|server| (u64::from(server.stacks.count) + 1, &server.stacks.place));
    check_sum(parts, limit, report, |place, total| {
        Error::new(
            place,
            "the system has too many stacks",
            format!("expected at most {limit} in all, found {total}"),
            "lower `count` in `stacks`; each instance has one stack more, of its first thread",
        )
    });
}

fn check_quota(system: &System, index: usize, report: &mut Report) {
    let instance = &system.instances[index];
    let stacks = u64::from(instance.stacks.count) * instance.stacks.size;
    let devices = system.device_memory(index);
    let sections = instance.sections_memory();
    let needed = *instance.heap + *instance.stack + stacks + devices + sections;
    let (and_devices, mut beside) = match devices {
        0 => (" and stacks", String::new()),
        _ => (
            ", stacks and what its devices reach",
            format!(" {} for its devices, `dma` and their queues,", show_size(devices)),
        ),
    };
    if sections > 0 {
        beside += &format!(" {} for its `sections_at_run_time`,", show_size(sections));
    }
    if needed > *instance.memory {
        report.push(Error::new(
            &instance.memory.place,
            format!(
                "the memory of `{}` does not hold its heap{and_devices}",
                instance.name
            ),
            format!(
                "expected at least {}, found {}",
                show_size(needed),
                show_size(*instance.memory)
            ),
            format!(
                "raise `memory`, or lower what it holds: the heap of {}, the first thread's stack of \
                 {}, the stacks for callers ({}) of {} in all,{beside} and the program itself on top",
                show_size(*instance.heap),
                show_size(*instance.stack),
                instance.stacks.count,
                show_size(stacks)
            ),
        ));
    }
    let room =
        (DEVICES_OFFSET - IMAGE_OFFSET).saturating_sub(instance.heap.max(*instance.heap_limit));
    let each = activation_stride(instance.stacks.size.max(*instance.stacks.limit));
    let room =
        room.saturating_sub(activation_stride(instance.stack.max(*instance.stack_limit))) / each;
    if u64::from(instance.stacks.count) > room {
        report.push(Error::new(
            &instance.name.place,
            format!("`{}` does not fit into its region of addresses", instance.name),
            format!(
                "expected at most {room} stacks beside its heap and that of its first thread, found {}",
                instance.stacks.count
            ),
            format!(
                "each stack takes {} of addresses: ask for fewer or smaller ones, or for less heap",
                show_size(each)
            ),
        ));
    }
    if instance.stack_group.is_some() && *instance.stack > ACTIVATION_STACK_SMALL {
        report.push(Error::new(
            &instance.stack.place,
            format!("the stack of `{}` is too large to be shared", instance.name),
            format!("expected at most {} in a stack group", show_size(ACTIVATION_STACK_SMALL)),
            "make `stack` smaller, or remove `stack_group`",
        ));
    }
    if let Some(section) = instance.sections.get(SECTIONS_MAXIMUM) {
        report.push(Error::new(
            &section.access.place,
            format!("`{}` maps too many sections", instance.name),
            format!("expected at most {SECTIONS_MAXIMUM}, found {}", instance.sections.len()),
            "put the data into fewer sections",
        ));
    }
}

/// Reports the first of `parts` with which the running sum exceeds `limit`.
pub(super) fn check_sum<'a>(
    parts: impl Iterator<Item = (u64, &'a Place)>,
    limit: u64,
    report: &mut Report,
    error: impl FnOnce(&'a Place, u64) -> Error,
) {
    let parts: Vec<_> = parts.collect();
    let total = parts.iter().map(|(amount, _)| amount).sum();
    let mut sum = 0;
    let over = parts.iter().find(|(amount, _)| {
        sum += amount;
        sum > limit
    });
    if let Some((_, place)) = over {
        report.push(error(place, total));
    }
}

/// What the quotas alone show. The layout adds what the nucleus and everything beside the instances take.
fn check_memory(system: &System, report: &mut Report) {
    let room = system.board.room();
    let before = *system.board.memory.size - room;
    let instances = system.instances.iter().map(|i| (*i.memory, &i.memory.place));
    let sections = system.sections.iter().filter(|section| section.pager.is_none());
    let sections = sections.map(|s| (*s.size, &s.size.place));
    let processes = system.processes();
    let processes = processes.map(|p| (p.memory + p.area(Tables::LEAST), &p.place));
    check_sum(instances.chain(sections).chain(processes), room, report, |place, total| {
        Error::new(
            place,
            format!("the board `{}` has not enough memory", system.board.name),
            format!(
                "expected quotas, sections and processes with page tables of at most {} in all, found {}",
                show_size(room),
                show_size(total)
            ),
            "lower them, or choose a larger board",
        )
        .note(
            &system.board.memory.size.place,
            format!(
                "of which {} lie before the image, with the firmware, or are kept",
                show_size(before)
            ),
        )
    });
}

fn check_threads(system: &System, report: &mut Report) {
    let threads = &system.threads;
    let parts = system.instances.iter().map(|i| (u64::from(*i.threads), &i.threads.place));
    check_sum(parts, u64::from(**threads), report, |place, total| {
        Error::new(
            place,
            "the instances may make more threads than the system has",
            format!("expected at most {threads} in all, found {total}"),
            match total <= THREADS_MAXIMUM as u64 {
                true => format!(
                    "lower the quotas of threads (the default is 1), or write threads = {total} in `[system]`"
                ),
                false => format!(
                    "lower the quotas of threads (the default is 1): no system has more than {THREADS_MAXIMUM}"
                ),
            },
        )
        .note(&threads.place, "the system's threads")
    });
}

fn check_shares(system: &System, report: &mut Report) {
    let parts = system.instances.iter().map(|i| (u64::from(*i.share), &i.share.place));
    check_sum(parts, 100, report, |place, total| {
        Error::new(
            place,
            "the instances are promised more time than there is",
            format!("expected at most 100 percent in all, found {total}"),
            "lower the shares; what none declares is divided among the other instances",
        )
    });
}

fn check_semaphores(system: &System, report: &mut Report) {
    let interrupts: usize = system
        .instances
        .iter()
        .flat_map(|instance| &instance.devices)
        .map(|device| system.board.devices[**device].interrupts.len())
        .sum();
    let limit = (SEMAPHORES_MAXIMUM - interrupts.min(SEMAPHORES_MAXIMUM)) as u64;
    let parts = system.instances.iter().map(|i| (u64::from(*i.semaphores), &i.semaphores.place));
    check_sum(parts, limit, report, |place, total| {
        Error::new(
            place,
            "the instances may make more semaphores than the system has",
            format!("expected at most {limit} in all, found {total}"),
            format!(
                "lower the quotas of semaphores ({SEMAPHORES_MAXIMUM} are possible, one goes to \
                 each interrupt in use)"
            ),
        )
    });
}

fn check_locks(system: &System, report: &mut Report) {
    // Too many instances are reported as such.
    let instances = system.instances.iter().take(INSTANCES_MAXIMUM);
    let parts = instances.map(|i| (u64::from(*i.locks), &i.locks.place));
    check_sum(parts, LOCKS_MAXIMUM as u64, report, |place, total| {
        Error::new(
            place,
            "the instances may make more locks than the system has",
            format!("expected at most {LOCKS_MAXIMUM} in all, found {total}"),
            "lower the quotas of locks (the default is 1)",
        )
    });
}

/// The portal manager has blocks for what all of its clients may get, and each an equal part of the rest.
fn check_portals(system: &System, report: &mut Report) {
    let clients = || system.instances.iter().filter(|instance| system.gets_portals(instance));
    let count = clients().count();
    let limit = BLOCKS_MAXIMUM.saturating_sub(count * BLOCKS_OF_CLIENT) as u64;
    let parts = clients().map(|client| (client.kept().blocks.into(), client.kept_place()));
    check_sum(parts, limit, report, |place, total| {
        Error::new(
            place,
            "the instances may get more at run time than the portal manager has room for",
            format!(
                "expected `semaphores`, `locks` and `portals` of at most {limit} in all, found {total}"
            ),
            format!(
                "lower them, where an instance is connected to the portal manager: {BLOCKS_MAXIMUM} are possible, of which \
                 each of the {count} that are has {BLOCKS_OF_CLIENT} to open exports by name"
            ),
        )
    });
    for instance in system.instances.iter().filter(|instance| !system.gets_portals(instance)) {
        for (given, what) in [(&instance.portals, "portals"), (&instance.names, "names")] {
            if **given > 0 {
                report.push(Error::new(
                    &given.place,
                    format!("`{}` cannot get {what} while the system runs", instance.name),
                    "expected a connection to the portal manager, which makes them",
                    format!("connect an import of the interface `Portals`, or remove `{what}`"),
                ));
            }
        }
    }
}

fn check_names(system: &System, report: &mut Report) {
    let kept = system.instances.iter().map(|instance| &instance.names);
    check_kept(kept, NAMES_MAXIMUM, report, "register more names", "names");
}

fn check_sections_at_run_time(system: &System, report: &mut Report) {
    let kept = system.instances.iter().map(|instance| &instance.sections_at_run_time);
    let (what, key) = ("map more sections", "sections_at_run_time");
    check_kept(kept, memory::SECTIONS_MAXIMUM, report, what, key);
    let is_manager = |target: usize| system.roles.memory == Some(target);
    for instance in &system.instances {
        let given = &instance.sections_at_run_time;
        if **given > 0 && !instance.imports.iter().any(|import| is_manager(*import.target)) {
            report.push(Error::new(
                &given.place,
                format!(
                    "`{}` cannot map sections that are made while the system runs",
                    instance.name
                ),
                "expected a connection to the memory manager, which maps them",
                format!("connect an import of the interface `Memory`, or remove `{key}`"),
            ));
        }
    }
}

/// Of so many, some may be kept for instances as long as each has one beside them.
fn check_kept<'a>(
    kept: impl Iterator<Item = &'a Located<u32>> + Clone,
    all: usize,
    report: &mut Report,
    what: &str,
    key: &str,
) {
    let count = kept.clone().count();
    let limit = all.saturating_sub(count) as u64;
    check_sum(kept.map(|kept| (u64::from(**kept), &kept.place)), limit, report, |place, total| {
        Error::new(
            place,
            format!("the instances may {what} at run time than the system has"),
            format!("expected `{key}` of at most {limit} in all, found {total}"),
            format!(
                "lower them: {all} are possible, of which each of the {count} instances has one at least"
            ),
        )
    });
}
