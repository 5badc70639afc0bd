//! What the supervisor sees of the system: the layout's record, the threads' blocks, the states of the instances.

use crate::component as imports;
use crate::lasting::lasting;
use cairn::cached::Cached;
use cairn::section::Section;
use cairn::time::ticks;
use cairn::{DomainId, Error, InstanceId, environment};
use cairn_abi::address::{PORTAL_CODE, THREADS};
use cairn_abi::descriptor::is_name;
use cairn_abi::record::{
    Device, Export, Header, Instance, Interrupt, Method, Portal, Symbol, Thread,
};
use cairn_abi::text::Visible;
use cairn_interfaces::ThreadState;
use cairn_supervisor::instances::{InstanceState, Instances, Phase};
use cairn_supervisor::stack::Words;
use cairn_supervisor::standing::Standing;
use core::sync::atomic::Ordering::Relaxed;

/// The states of all instances.
pub static INSTANCES: &Instances = &lasting().instances;

/// Threads that stand still until something happens to an instance.
pub static STANDING: &Standing = &lasting().standing;

static SYSTEM: Cached<System> = Cached::new();

/// The state of an instance, whose number is the record's. Of those that end together it is the leader's that counts.
pub fn state(instance: InstanceId) -> &'static InstanceState {
    INSTANCES.state(instance)
}

/// The layout's record and the memory of the kernel domain that the role shows.
#[derive(Clone, Copy)]
pub struct System {
    pub header: &'static Header,
    /// By number from 1; of some there may be none any more.
    instances: &'static [Instance],
    pub devices: &'static [Device],
    interrupts: &'static [Interrupt],
    pub symbols: &'static [Symbol],
    pub exports: &'static [Export],
    pub methods: &'static [Method],
    portals: &'static [Portal],
    first_threads: &'static [Thread],
    names: &'static [u8],
    threads: Section,
    code: Section,
}

impl System {
    /// `None` if this instance does not hold the role.
    pub fn find() -> Option<System> {
        SYSTEM.with(System::look_up, |system| *system)
    }

    fn look_up() -> Option<System> {
        let record = cairn::record::Record::find()?;
        Some(System {
            header: record.header,
            instances: record.table(record.header.instances),
            devices: record.table(record.header.devices),
            interrupts: record.table(record.header.interrupts),
            symbols: record.table(record.header.symbols),
            exports: record.table(record.header.exports),
            methods: record.table(record.header.methods),
            portals: record.table(record.header.portals),
            first_threads: record.table(record.header.threads),
            names: record.table(record.header.symbol_names),
            threads: environment::section("threads")?,
            code: environment::section("portal-code")?,
        })
    }

    /// Takes over from the layout, once.
    pub fn take_over(&self) {
        for record in self.instances.iter().filter(|one| one.is_described()) {
            // The host tool numbers them from 1, and no more than there are states.
            let _ = INSTANCES.add_domain(record.number);
        }
        self.put_to_sleep();
        for record in self.instances(0).filter(|one| one.on_demand == 0) {
            let mut threads = self.first_threads.iter();
            let first = threads.find(|thread| thread.instance == record.number);
            let first =
                first.and_then(|thread| imports::SCHEDULING.thread(thread.index.into()).ok());
            self.starts(record, first.map(|thread| thread.name));
        }
    }

    /// What the record says of a number; whether there is such an instance, its state says.
    pub fn instance(&self, instance: InstanceId) -> Option<&'static Instance> {
        self.instances.get(instance.index().checked_sub(1)?)
    }

    /// What the record says of an instance that there is, whether it has begun or not.
    pub fn made(&self, instance: InstanceId) -> Result<&'static Instance, Error> {
        self.instance(instance).filter(|record| record.is_there()).ok_or(Error::NotFound)
    }

    /// The instances that one had loaded, whether they have begun or not.
    pub fn children(&self, parent: InstanceId) -> impl Iterator<Item = &'static Instance> {
        let is_child = move |record: &&Instance| record.is_there() && record.parent == parent;
        // Where nothing can be loaded, no death looks through the record.
        let loadable = self.header.loadable;
        let all = if loadable.start == loadable.end { &[] } else { self.instances };
        all.iter().filter(is_child)
    }

    /// The instances that were made and never begun, those that end included. The other place of one is not made.
    pub fn made_only(&self) -> impl Iterator<Item = &'static Instance> {
        let is_made = |record: &&Instance| {
            let state = state(record.number);
            let ends = state.phase() == Phase::Retiring && state.started.load(Relaxed) == 0;
            let is_loaded = record.is_there() && record.other_place == InstanceId(0);
            is_loaded && (!state.is_present() || ends)
        };
        self.instances.iter().filter(is_made)
    }

    /// Whether an instance of the description is connected to what begins instances.
    pub fn makes_instances(&self, instance: InstanceId) -> bool {
        let own = environment::startup().instance;
        let begins =
            |export: &Export| export.instance == own && is_name(&export.name, b"instances");
        let leads = |portal: &Portal| self.exports.get(portal.export as usize).is_some_and(begins);
        self.portals.iter().any(|portal| portal.client == instance && leads(portal))
    }

    /// The interrupts for which an instance waits.
    pub fn interrupts_of(&self, instance: InstanceId) -> impl Iterator<Item = &'static Interrupt> {
        self.interrupts.iter().filter(move |interrupt| interrupt.instance == instance)
    }

    /// Whether somebody can reset each device of an instance that reaches memory by itself.
    pub fn can_be_quiet(&self, instance: InstanceId) -> bool {
        let mut own = self.devices.iter().filter(|device| device.instance == instance);
        own.all(|device| device.kind != 0)
    }

    /// The same of all that end with an instance.
    pub fn can_all_be_quiet(&self, record: &Instance) -> bool {
        self.together(record.leader).all(|fellow| self.can_be_quiet(fellow.number))
    }

    /// Those that there are, from a number on.
    pub fn instances(&self, from: u64) -> impl Iterator<Item = &'static Instance> {
        let from = usize::try_from(from).unwrap_or(usize::MAX).saturating_sub(1);
        let records = self.instances.get(from..).unwrap_or(&[]).iter();
        records.filter(|record| state(record.number).is_present())
    }

    /// The leader of the instances that live in a domain, which frames name; 0, which is always alive, if none do. The way back
    /// is the record's `domain`.
    pub fn lives_in(&self, domain: DomainId) -> InstanceId {
        // As long as both have the same number, the first one looked at is it.
        let at = domain.index().saturating_sub(1).min(self.instances.len());
        let (before, from) = self.instances.split_at(at);
        let mut records = from.iter().chain(before);
        records.find(|record| record.domain == domain).map_or(InstanceId(0), |record| record.leader)
    }

    /// Those that end and start again with their leader, itself first.
    pub fn fellows(&self, leader: &'static Instance) -> impl Iterator<Item = &'static Instance> {
        let instances = self.instances;
        core::iter::successors(Some(leader), move |record| {
            instances.get(record.next_fellow.index().checked_sub(1)?)
        })
    }

    /// The same, of a leader's number; nobody, if that is no instance's.
    pub fn together(&self, leader: InstanceId) -> impl Iterator<Item = &'static Instance> {
        self.instance(leader).into_iter().flat_map(|leader| self.fellows(leader))
    }

    /// Whether a fault of the instance halts the machine.
    pub fn is_essential(&self, instance: InstanceId) -> bool {
        self.instance(instance).is_none_or(|record| record.essential != 0)
    }

    /// The instance of that name.
    pub fn named(&self, name: &str) -> Result<&'static Instance, Error> {
        let mut instances = self.instances.iter().filter(|one| one.is_there());
        let found = instances.find(|instance| is_name(&instance.name, name.as_bytes()));
        found.filter(|found| state(found.number).is_present()).ok_or(Error::NotFound)
    }

    /// The scheduler's domain.
    pub fn scheduler(&self) -> Option<DomainId> {
        let exports = self.exports.iter();
        let controls = exports.filter(|export| is_name(&export.interface, b"Supervision"));
        // Any component can have an interface of that name.
        let mut servers = controls.filter_map(|control| self.instance(control.instance));
        servers.find(|server| server.run_to_completion != 0).map(|record| record.domain)
    }

    /// The priority of who prints.
    pub fn console_priority(&self) -> Option<u8> {
        let mut exports = self.exports.iter();
        let console = exports.find(|export| is_name(&export.interface, b"Console"))?;
        self.instance(console.instance).map(|record| record.priority as u8)
    }

    /// The shortest of the longest executions that exports declare, in ticks.
    pub fn shortest_limit(&self) -> Option<u64> {
        let limits = self.exports.iter().flat_map(|export| {
            [export.longest_execution, export.longest_call].into_iter().filter(|limit| *limit != 0)
        });
        limits.min().map(|nanoseconds| ticks(nanoseconds.div_ceil(1000)))
    }

    /// The instance in which a thread began. The idle thread is that of no instance for the scheduler, so that it is
    /// never ended with one.
    pub fn home(&self, thread: ThreadState) -> InstanceId {
        match thread.home {
            InstanceId(0) => self
                .first_threads
                .iter()
                .find(|thread| thread.idle != 0)
                .map_or(InstanceId(0), |thread| thread.instance),
            instance => instance,
        }
    }

    /// Whether an instance gives way to its successor while it is in use, since it cannot end and live again: nobody would run meanwhile, or serve interrupts.
    pub fn gives_way(&self, record: &Instance) -> bool {
        record.run_to_completion != 0 || self.idles(record)
    }

    /// Whether its thread runs when no other does.
    pub fn idles(&self, record: &Instance) -> bool {
        let mut threads = self.first_threads.iter();
        threads.any(|thread| thread.idle != 0 && thread.instance == record.number)
    }

    /// The index of the thread that runs when no other does.
    pub fn idle_thread(&self) -> Option<u64> {
        let mut threads = self.first_threads.iter();
        threads.find(|thread| thread.idle != 0).map(|thread| thread.index.into())
    }

    /// Threads that can exist.
    pub fn thread_count(&self) -> u64 {
        self.header.free_threads.end
    }

    /// The name of a function, which its component's author chose.
    pub fn symbol_name(&self, symbol: &Symbol) -> Visible<'static> {
        let from = symbol.name as usize;
        Visible(self.names.get(from..from + symbol.name_length as usize).unwrap_or(&[]))
    }
}

impl Words for System {
    fn load(&self, address: u64) -> Option<u64> {
        let (section, offset) = match address {
            THREADS.. => (&self.threads, address - THREADS),
            PORTAL_CODE.. => (&self.code, address - PORTAL_CODE),
            _ => return None,
        };
        let inside = offset % 8 == 0 && offset < section.size() as u64;
        inside.then(|| section.load(offset as usize))
    }
}
