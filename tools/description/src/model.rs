//! What a system description says, checked and with all names resolved.

use crate::arguments::Given;
use crate::board::Board;
pub use crate::package::{Package, PackageExport, PackageImport};
pub use crate::pagers::Pager;
use crate::place::{Located, Place};
pub use crate::processes::Processes;
pub use crate::role::{Role, Roles};
use cairn_abi::address::{PAGE_SIZE, kernel_region, region};
use cairn_abi::device::{QUEUE_PAGES, VirtioKind};
use cairn_abi::semaphore::{LOCK_PORTALS, SEMAPHORE_PORTALS};
use cairn_abi::{DomainId, InstanceId, RegionId};

/// A system: every name is resolved to an index into one of these lists.
#[derive(Clone, Debug)]
pub struct System {
    /// The system's name.
    pub name: Located<String>,
    /// The board that it is built for.
    pub board: Board,
    /// How its components are compiled.
    pub profile: Profile,
    /// Portals count their calls.
    pub counting: bool,
    /// Most threads.
    pub threads: Located<u32>,
    /// How long a callee may keep a thread that was called home, in nanoseconds, where its export does not say.
    pub cancelled_for: u64,
    /// Which instances hold the roles that the nucleus and the tools know.
    pub roles: Roles,
    /// The instances, in the order of the file, and behind them the other places of those that move. See [`Instance::number`].
    pub instances: Vec<Instance>,
    /// What can be loaded while it runs: the tables in the order of the file, then those that only the shelf names.
    pub packages: Vec<Package>,
    /// The shared sections, in the order of the file.
    pub sections: Vec<Section>,
    /// The stack groups, in the order in which the file first names them.
    pub stack_groups: Vec<StackGroup>,
}

/// One running copy of a component.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Its name; the place is the key of its table.
    pub name: Located<String>,
    /// What messages call it, and its table: `instance`, or `package`.
    pub(crate) noun: &'static str,
    /// Its number, from 1; 0, if it is what a package has.
    pub number: InstanceId,
    /// Its protection domain, or what stands for one in the kernel domain. Those that have the same end together, and call each
    /// other by plain procedure calls.
    pub domain: DomainId,
    /// Its region of addresses.
    pub region: RegionId,
    /// The component, as written.
    pub component: Located<String>,
    /// The component's folder, relative to the repository's root, with `/`.
    pub folder: String,
    /// The role it holds, if any.
    pub role: Option<Role>,
    /// Where it runs.
    pub placement: Located<Placement>,
    /// Whether the description says where it runs.
    pub says_placement: bool,
    /// Where it goes on and comes back from while it runs, if the description lets it move.
    pub moves: Option<Located<Destination>>,
    /// Of one that moves: its other place, as an index into [`System::instances`]; of that: whose it is.
    pub other_place: Option<usize>,
    /// Whether it may run in the kernel domain though it does not forbid unsafe code.
    pub accepts_unsafe_code: Located<bool>,
    /// Priority of its first thread; 255 is the highest.
    pub priority: Located<u8>,
    /// The highest priority at which the supervisor cleans up after it and starts it again.
    pub recovery_priority: Located<u8>,
    /// Quota of memory, in bytes.
    pub memory: Located<u64>,
    /// Bytes of it that its devices read and write.
    pub dma: Located<u64>,
    /// Bytes of its heap.
    pub heap: Located<u64>,
    /// Bytes to which its heap grows; 0: it does not.
    pub heap_limit: Located<u64>,
    /// The number of the last level that it logs at first.
    pub log: u8,
    /// Bytes of its log.
    pub log_size: Located<u64>,
    /// Bytes of the stack of its first thread (of the one stack, if it runs to completion).
    pub stack: Located<u64>,
    /// Bytes to which that stack grows; 0: it does not.
    pub stack_limit: Located<u64>,
    /// The activations for callers.
    pub stacks: Stacks,
    /// Quota of threads.
    pub threads: Located<u32>,
    /// Its part of the time, in percent, if its scheduler gives out parts; zero: it declares none.
    pub share: Located<u32>,
    /// How long its threads run at most in each period, if the description says so.
    pub cpu: Option<Located<Cpu>>,
    /// What it has for processes, if it runs some.
    pub processes: Option<Located<Processes>>,
    /// Quota of semaphores.
    pub semaphores: Located<u32>,
    /// Quota of locks.
    pub locks: Located<u32>,
    /// Components that it may have loaded at a time, with all that these load in turn.
    pub children: Located<u32>,
    /// Portals that it may get while the system runs, beside its equal part of what all have.
    pub portals: Located<u32>,
    /// Names that it may register while the system runs, beside its equal part.
    pub names: Located<u32>,
    /// Sections made while the system runs that it may map at a time, beside its equal part.
    pub sections_at_run_time: Located<u32>,
    /// What to do when it ends.
    pub restart: Located<Restart>,
    /// The system halts when it faults.
    pub essential: Located<bool>,
    /// It is started by the first call into it.
    pub on_demand: Located<bool>,
    /// If so: for how long nobody needs it before it ends, in nanoseconds.
    pub idle_stop: Option<Located<u64>>,
    /// Whether callers wait until it serves, or get an error, if the description says so.
    pub callers_wait: Option<Located<bool>>,
    /// The description allows it what gives the system away: a device that reaches all memory, an interface by which a role commands others.
    pub trusted: Located<bool>,
    /// Who stands between it and its clients from the start, as an index into [`System::instances`].
    pub wrapped_by: Option<Located<usize>>,
    /// When calls into it have the floating-point unit, if it is built for that: when they begin, or from their first use on.
    pub float_at_start: Option<Located<bool>>,
    /// It has that unit whatever its own component is built for: one that replaces it, or that it replaces, is built for it. Known when the
    /// components' files have been read.
    pub has_float: bool,
    /// Its translations have to fit into the board's TLB.
    pub locked: Located<bool>,
    /// Text that it is given at its start.
    pub argument: String,
    /// The arguments that its component declares, as they are written.
    pub arguments: Vec<(Located<String>, Located<Given>)>,
    /// The stack group it is a member of, as an index into [`System::stack_groups`].
    pub stack_group: Option<usize>,
    /// Its devices, as indexes into [`Board::devices`].
    pub devices: Vec<Located<usize>>,
    /// What it calls each of them.
    pub device_names: Vec<String>,
    /// The sections that it maps.
    pub sections: Vec<SectionUse>,
    /// The connections of its imports.
    pub imports: Vec<Connection>,
    /// Its exports, as far as the description mentions them (in a table or in a connection).
    pub exports: Vec<Export>,
}

/// Where an instance goes on that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// In the kernel domain.
    Kernel,
    /// In the page table of another one, as an index into [`System::instances`].
    With(usize),
}

/// The activations with which an instance serves calls on new stacks.
#[derive(Clone, Debug)]
pub struct Stacks {
    /// How many, for all clients together.
    pub count: u32,
    /// Bytes of each stack.
    pub size: u64,
    /// Bytes to which each grows; 0: it does not.
    pub limit: Located<u64>,
    /// How many a client gets for itself.
    pub per_client: u32,
    /// Where the description says so.
    pub place: Place,
    /// Whether it says so; else `count` is one for each instance that may open an export.
    pub declared: bool,
}

/// How long the threads of an instance run at most in each period, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The period.
    pub period: u64,
    /// What they run of it.
    pub budget: u64,
}

/// What to do when an instance ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Nothing.
    Never,
    /// Start it again, however it ended.
    Always,
    /// Start it again if it faulted.
    OnFault,
}

/// How an instance maps a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading only.
    Read,
    /// Reading and writing.
    ReadWrite,
}

/// A section that an instance maps.
#[derive(Clone, Debug)]
pub struct SectionUse {
    /// Index into [`System::sections`].
    pub section: usize,
    /// How.
    pub access: Located<Access>,
}

/// The stack on which the callee runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackMode {
    /// One of the callee's own.
    New,
    /// The caller's, which lies in a stack group of both.
    Shared,
    /// The hart's one stack of the callee, with interrupts off.
    RunToCompletion,
}

impl StackMode {
    /// Its letter in a portal specification.
    pub const fn letter(self) -> char {
        match self {
            StackMode::New => 'n',
            StackMode::Shared => 's',
            StackMode::RunToCompletion => 'r',
        }
    }
}

/// What a portal saves of the caller's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateMode {
    /// Nothing: the callee is trusted to keep what the C convention preserves.
    Minimal,
    /// What the C convention preserves; everything else is cleared, both ways.
    Partial,
}

impl StateMode {
    /// Its letter in a portal specification.
    pub const fn letter(self) -> char {
        match self {
            StateMode::Minimal => 'm',
            StateMode::Partial => 'p',
        }
    }
}

/// An import connected to an export.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The component's name of the import; the place is the key.
    pub import: Located<String>,
    /// The serving instance, as an index into [`System::instances`]; the place is the target text.
    pub target: Located<usize>,
    /// The export, as an index into the target's [`Instance::exports`]; the place is its name in the target text.
    pub export: Located<usize>,
    /// The stack on which the callee runs.
    pub stack: Located<StackMode>,
    /// Whether the description says so, which allows an instance to call itself over a new one.
    pub says_stack: bool,
    /// What the portal saves.
    pub state: Located<StateMode>,
    /// The section whose memory is passed in windows, as an index into [`System::sections`]; else it is the client's own.
    pub windows: Option<Located<usize>>,
}

/// An export, with what the description says of it.
#[derive(Clone, Debug)]
pub struct Export {
    /// Its name; the place is the key of its table, or the first connection that names it.
    pub name: Located<String>,
    /// Who may open it.
    pub open: Open,
    /// Where the description says who may; `None` if it does not.
    pub open_place: Option<Place>,
    /// Callers with whom its instance agrees to share stacks or to keep registers for, as indexes.
    pub trust: Vec<Located<usize>>,
    /// The longest time that a call may execute, in nanoseconds.
    pub longest_execution: Option<Located<u64>>,
    /// The longest time until a call is back, in nanoseconds.
    pub longest_call: Option<Located<u64>>,
    /// How long it may keep a thread that was called home, in nanoseconds.
    pub cancelled_for: Option<Located<u64>>,
    /// Whether the description has a table for it.
    pub declared: bool,
}

/// Who may open an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Open {
    /// Every instance.
    Anyone,
    /// These instances, as indexes, sorted. Without `open` in the description: those that it
    /// connects to the export.
    Instances(Vec<usize>),
}

/// How the components of a system are compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// Arithmetic that overflows is a panic.
    #[default]
    Development,
    /// Arithmetic that overflows wraps.
    Release,
}

impl Profile {
    /// All of them.
    pub const ALL: [Profile; 2] = [Profile::Development, Profile::Release];

    /// As descriptions call it, and cargo.
    pub const fn name(self) -> &'static str {
        match self {
            Profile::Development => "development",
            Profile::Release => "release",
        }
    }
}

/// Where an instance runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// In user mode, in a protection domain of its own.
    Domain,
    /// In privileged mode, in the kernel domain.
    Kernel,
}

/// What the portal manager keeps for a client beside its equal part.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// What is opened, made or reserved together.
    pub blocks: u32,
    /// In all of them.
    pub portals: u32,
}

impl Instance {
    /// What its quotas of semaphores, locks and portals promise it at run time.
    pub fn kept(&self) -> Kept {
        let (semaphores, locks, portals) = (*self.semaphores, *self.locks, *self.portals);
        Kept {
            blocks: semaphores + locks + portals,
            portals: semaphores * SEMAPHORE_PORTALS + locks * LOCK_PORTALS + portals,
        }
    }

    /// Where the largest part of that is said.
    pub(crate) fn kept_place(&self) -> &Place {
        let parts = [
            (*self.semaphores * SEMAPHORE_PORTALS, &self.semaphores.place),
            (*self.locks * LOCK_PORTALS, &self.locks.place),
            (*self.portals, &self.portals.place),
        ];
        let largest = parts.into_iter().max_by_key(|(portals, _)| *portals);
        largest.map_or(&self.name.place, |(_, place)| place)
    }

    /// Bytes that its quota of memory keeps for the sections that are kept for it: each has a page and one that lists them.
    pub fn sections_memory(&self) -> u64 {
        u64::from(*self.sections_at_run_time) * 2 * PAGE_SIZE
    }

    /// Whether it runs in the kernel domain.
    pub fn is_in_kernel(&self) -> bool {
        *self.placement == Placement::Kernel
    }

    /// The domain that it has if it shares none: the one of its number.
    pub(crate) fn number_as_domain(&self) -> DomainId {
        DomainId(self.number.0)
    }

    /// First address of its region.
    pub fn start_address(&self) -> u64 {
        if self.is_in_kernel() { kernel_region(self.region) } else { region(self.region) }
    }
}

impl Open {
    /// Whether `instance` may open it.
    pub fn allows(&self, instance: usize) -> bool {
        match self {
            Open::Anyone => true,
            Open::Instances(instances) => instances.contains(&instance),
        }
    }
}

/// Memory that several instances map.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its name.
    pub name: Located<String>,
    /// Bytes.
    pub size: Located<u64>,
    /// The path, from the root, of what it begins with ([`crate::content`]); behind that are zeros.
    pub content: Option<Located<String>>,
    /// Who provides it with pages, when they are missed; else they are there from the start.
    pub pager: Option<Pager>,
}

/// Instances that share their stacks.
#[derive(Clone, Debug)]
pub struct StackGroup {
    /// Its name, where it is first written.
    pub name: Located<String>,
    /// Its members, as indexes into [`System::instances`].
    pub members: Vec<usize>,
}

impl System {
    /// Whether callers of an instance that says when it serves wait until then. The supervisor lets them; it calls those with a
    /// role itself, and in the kernel domain it cannot send them away.
    pub fn callers_wait(&self, index: usize) -> bool {
        let instance = &self.instances[index];
        let can =
            self.roles.supervisor.is_some() && instance.role.is_none() && !instance.is_in_kernel();
        can && instance.callers_wait.as_ref().is_none_or(|wait| **wait)
    }

    /// The instances of the domain of one of them, itself too, in order.
    pub fn fellows(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let domain = self.instances[index].domain;
        (0..self.instances.len()).filter(move |other| self.instances[*other].domain == domain)
    }

    /// Whether the portal manager makes portals for it: it is connected to it, or is the manager.
    pub fn gets_portals(&self, instance: &Instance) -> bool {
        let is_manager = |at: usize| self.roles.portals == Some(at);
        self.roles.portals == Some(usize::from(instance.number.0).wrapping_sub(1))
            || instance.imports.iter().any(|import| is_manager(*import.target))
    }

    /// The first instance of the domain of one of them, which stands for all.
    pub fn leader(&self, index: usize) -> usize {
        self.fellows(index).next().unwrap_or(index)
    }

    /// Where an instance is, in words: `domain`, a domain of its own; `with NAME`, that of another; `kernel`, and `kernel with
    /// NAME` with the fate of another. Who moves has two.
    pub fn placement(&self, index: usize) -> String {
        let leader = Some(self.leader(index)).filter(|leader| *leader != index);
        let leader = leader.map(|leader| format!("with {}", self.instances[leader].name));
        match (self.instances[index].is_in_kernel(), leader) {
            (true, _) if self.instances[index].is_other_place() => "kernel, asleep".to_owned(),
            (false, None) if self.instances[index].is_other_place() => {
                let host = self.instances[index].host().map(|host| &*self.instances[host].name);
                format!("with {}, asleep", host.map_or("", String::as_str))
            }
            (false, None) if self.instances[index].moves.is_some() => "domain, moves".to_owned(),
            (false, None) => "domain".to_owned(),
            (true, None) => "kernel".to_owned(),
            (false, Some(leader)) => leader,
            (true, Some(leader)) => format!("kernel {leader}"),
        }
    }

    /// Whether a device of an instance cannot be made to reach memory that is not meant for it, whatever its driver does: the
    /// driver only reads its registers. `device` is an index into [`Board::devices`].
    pub fn is_confined(&self, instance: usize, device: usize) -> bool {
        self.board.devices[device].kind().is_some() && !*self.instances[instance].trusted
    }

    /// Bytes of an instance's quota of memory that are for its devices: what they read and write, and the queues of those of a
    /// known kind.
    pub fn device_memory(&self, instance: usize) -> u64 {
        let instance = &self.instances[instance];
        let kinds =
            instance.devices.iter().filter_map(|device| self.board.devices[**device].kind());
        let queues: usize = kinds.map(VirtioKind::queues).sum();
        *instance.dma + queues as u64 * QUEUE_PAGES * PAGE_SIZE
    }

    /// The index of the instance called `name`.
    pub fn instance(&self, name: &str) -> Option<usize> {
        self.instances.iter().position(|instance| *instance.name == name)
    }
}
