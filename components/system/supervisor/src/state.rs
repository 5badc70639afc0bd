//! What the supervisor knows: the layout's record, the threads' blocks, the state of each instance.

use cairn::section::Section;
use cairn::time::ticks;
use cairn::{DomainId, Error, InstanceId, environment};
use cairn_abi::address::{PORTAL_CODE, THREADS};
use cairn_abi::descriptor::name_text;
use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::record::{Export, Header, Instance, Symbol, Thread};
use cairn_abi::text::Visible;
use cairn_abi::thread::THREADS_MAXIMUM;
use cairn_interfaces::ThreadState;
use cairn_supervisor::stack::Words;
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

/// The layout's record and the memory of the kernel domain that the role shows.
#[derive(Clone, Copy)]
pub struct System {
    pub header: &'static Header,
    pub instances: &'static [Instance],
    pub symbols: &'static [Symbol],
    exports: &'static [Export],
    first_threads: &'static [Thread],
    names: &'static [u8],
    threads: Section,
    code: Section,
}

impl System {
    /// `None` if this instance does not hold the role.
    pub fn find() -> Option<System> {
        let record = cairn::record::Record::find()?;
        Some(System {
            header: record.header,
            instances: record.table(record.header.instances),
            symbols: record.table(record.header.symbols),
            exports: record.table(record.header.exports),
            first_threads: record.table(record.header.threads),
            names: record.table(record.header.symbol_names),
            threads: environment::section("threads")?,
            code: environment::section("portal-code")?,
        })
    }

    /// What the record says of an instance.
    pub fn instance(&self, instance: InstanceId) -> Option<&'static Instance> {
        self.instances.get(instance.index().checked_sub(1)?)
    }

    /// The instance that lives in a domain, which frames name; 0, which is always alive, if none does. The way back is
    /// the record's `domain`.
    pub fn lives_in(&self, domain: DomainId) -> InstanceId {
        // As long as both have the same number, the first one looked at is it.
        let at = domain.index().saturating_sub(1).min(self.instances.len());
        let (before, from) = self.instances.split_at(at);
        let mut records = from.iter().chain(before);
        records.find(|record| record.domain == domain).map_or(InstanceId(0), |record| record.number)
    }

    /// Whether a fault of the instance halts the machine.
    pub fn is_essential(&self, instance: InstanceId) -> bool {
        self.instance(instance).is_none_or(|record| record.essential != 0)
    }

    /// The instance of that name.
    pub fn named(&self, name: &str) -> Result<&'static Instance, Error> {
        self.instances
            .iter()
            .find(|instance| name_text(&instance.name) == name)
            .ok_or(Error::NotFound)
    }

    /// The scheduler's domain.
    pub fn scheduler(&self) -> Option<DomainId> {
        let mut exports = self.exports.iter();
        let control = exports.find(|export| name_text(&export.interface) == "Supervision")?;
        self.instance(control.instance).map(|record| record.domain)
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

/// What is to be done for an instance. The supervisor's worker alone changes it, by one step at a time; it
/// can be called only while it is [`Phase::Alive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// It runs or can be called.
    Alive,
    /// It died: no thread executes anything in it from here to the next `Alive`. What it had opened, and what others had
    /// opened of what it made, is closed.
    Closing,
    /// The threads in it are sent away; those that come back to it are counted.
    Leaving,
    /// Its semaphores and locks end, and the waits that were begun in it.
    Reclaiming,
    /// Threads that it sent into living callees have to come back.
    Waiting,
    /// Nothing names it: what it had goes back.
    Releasing,
    /// It starts again when that is due.
    Dead,
    /// Its memory becomes as it was at the start.
    Renewing,
    /// Threads that entered it since its death are sent away, before it lives again.
    Sweeping,
}

const PHASES: [Phase; 9] = [
    Phase::Alive,
    Phase::Closing,
    Phase::Leaving,
    Phase::Reclaiming,
    Phase::Waiting,
    Phase::Releasing,
    Phase::Dead,
    Phase::Renewing,
    Phase::Sweeping,
];

/// State of one instance. The supervisor's worker alone writes it, but for the requests.
pub struct InstanceState {
    phase: AtomicU8,
    /// Where the next step of the phase begins.
    pub cursor: AtomicU64,
    /// What callers ask for.
    pub requests: AtomicU8,
    /// When it is started again, in ticks; `u64::MAX`: not.
    pub due: AtomicU64,
    /// When it was started.
    pub started: AtomicU64,
    /// When it died.
    pub died: AtomicU64,
    /// The best priority of the threads that want its next life, at most its recovery priority.
    pub wanted: AtomicU8,
    /// When to look next whether invocation stacks still name it, and how long it was waited last.
    pub look: AtomicU64,
    pub look_interval: AtomicU64,
    /// Faults without good behaviour in between.
    pub faults: AtomicU32,
    /// Its memory and quota, when they were last asked for.
    pub pages: AtomicU64,
    pub page_quota: AtomicU64,
    /// How often it was started again.
    pub restarts: AtomicU32,
    /// Threads that have to come back to it, a bit for each.
    pub away: Threads,
}

/// Request: kill.
pub const KILL: u8 = 1;
/// Request: start again, after a kill if it is alive.
pub const RESTART: u8 = 2;
/// Request: its memory goes without any report.
pub const CRASH: u8 = 4;
/// Request: note how much memory it has.
pub const MEASURE: u8 = 8;

impl InstanceState {
    const fn new() -> InstanceState {
        InstanceState {
            phase: AtomicU8::new(Phase::Alive as u8),
            cursor: AtomicU64::new(0),
            requests: AtomicU8::new(0),
            pages: AtomicU64::new(0),
            page_quota: AtomicU64::new(0),
            due: AtomicU64::new(u64::MAX),
            started: AtomicU64::new(0),
            died: AtomicU64::new(0),
            wanted: AtomicU8::new(0),
            look: AtomicU64::new(0),
            look_interval: AtomicU64::new(0),
            faults: AtomicU32::new(0),
            restarts: AtomicU32::new(0),
            away: Threads::new(),
        }
    }

    pub fn phase(&self) -> Phase {
        PHASES[usize::from(self.phase.load(Relaxed)) % PHASES.len()]
    }

    pub fn is_alive(&self) -> bool {
        self.phase() == Phase::Alive
    }
}

static STATES: [InstanceState; INSTANCES_MAXIMUM] =
    [const { InstanceState::new() }; INSTANCES_MAXIMUM];
/// Instances that are not alive.
static UNDONE: Instances = Instances::new();
/// Instances of which something was asked.
pub static REQUESTED: Instances = Instances::new();

/// The state of an instance, whose number is the record's.
pub fn state(instance: InstanceId) -> &'static InstanceState {
    &STATES[instance.index() % INSTANCES_MAXIMUM]
}

/// An instance's next phase begins.
pub fn enter(instance: InstanceId, phase: Phase) {
    let state = state(instance);
    state.cursor.store(0, Relaxed);
    state.phase.store(phase as u8, Relaxed);
    match phase {
        Phase::Alive => UNDONE.remove(instance.into()),
        _ => UNDONE.insert(instance.into()),
    }
}

/// Instances that are not alive.
pub fn undone() -> impl Iterator<Item = InstanceId> {
    numbers(&UNDONE)
}

/// The numbers of the instances in a set.
pub fn numbers(instances: &Instances) -> impl Iterator<Item = InstanceId> {
    instances.iter().map(|number| InstanceId(number as u16))
}

/// Threads, by their indexes.
pub type Threads = Set<{ THREADS_MAXIMUM.div_ceil(64) }>;
/// Instances, by their numbers: each has at least a domain.
pub type Instances = Set<{ INSTANCES_MAXIMUM.div_ceil(64) }>;

/// A set of small numbers.
pub struct Set<const WORDS: usize>([AtomicU64; WORDS]);

impl<const WORDS: usize> Set<WORDS> {
    pub const fn new() -> Self {
        Set([const { AtomicU64::new(0) }; WORDS])
    }

    fn word(&self, number: u64) -> (&AtomicU64, u64) {
        (&self.0[number as usize / 64 % WORDS], 1 << (number % 64))
    }

    pub fn insert(&self, number: u64) {
        let (word, bit) = self.word(number);
        word.fetch_or(bit, Relaxed);
    }

    pub fn remove(&self, number: u64) {
        let (word, bit) = self.word(number);
        word.fetch_and(!bit, Relaxed);
    }

    /// The numbers, each as it is when its turn comes.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().enumerate().flat_map(|(index, word)| {
            let mut bits = word.load(Relaxed);
            core::iter::from_fn(move || {
                let bit = (bits != 0).then(|| u64::from(bits.trailing_zeros()))?;
                bits &= bits - 1;
                Some(index as u64 * 64 + bit)
            })
        })
    }

    /// The smallest number that is not below `from`.
    pub fn next(&self, from: u64) -> Option<u64> {
        self.iter().find(|number| *number >= from)
    }
}
