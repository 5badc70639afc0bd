//! What the supervisor knows: the layout's record, the threads' blocks, the state of each instance.

use cairn::section::Section;
use cairn::time::ticks;
use cairn::{Error, environment};
use cairn_abi::address::{PORTAL_CODE, THREADS};
use cairn_abi::descriptor::name_text;
use cairn_abi::domain::DOMAINS_MAXIMUM;
use cairn_abi::record::{Export, Header, Instance, Symbol, Thread};
use cairn_abi::text::Visible;
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

    /// The instance of a domain.
    pub fn instance(&self, domain: u64) -> Option<&'static Instance> {
        self.instances.get(domain.checked_sub(1)? as usize)
    }

    /// The instance of that name.
    pub fn named(&self, name: &str) -> Result<&'static Instance, Error> {
        self.instances
            .iter()
            .find(|instance| name_text(&instance.name) == name)
            .ok_or(Error::NotFound)
    }

    /// The memory manager's domain.
    pub fn memory_manager(&self) -> Option<u64> {
        let mut exports = self.exports.iter();
        let control = exports.find(|export| name_text(&export.interface) == "MemoryControl")?;
        Some(control.instance.into())
    }

    /// The shortest of the longest executions that exports declare, in ticks.
    pub fn shortest_limit(&self) -> Option<u64> {
        let limits =
            self.exports.iter().map(|export| export.longest_execution).filter(|limit| *limit != 0);
        limits.min().map(|nanoseconds| ticks(nanoseconds.div_ceil(1000)))
    }

    /// The domain in which a thread began, from what the scheduler tells of it. The idle thread is
    /// nobody's there, so that it is never ended with a domain.
    pub fn home(&self, state: u64) -> u64 {
        match state >> 16 & 0xffff {
            0 => self
                .first_threads
                .iter()
                .find(|thread| thread.idle != 0)
                .map_or(0, |thread| thread.domain.into()),
            domain => domain,
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

/// Whether an instance serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// It runs or can be called.
    Alive,
    /// It died, but invocation stacks name it still.
    Dying,
    /// Nothing names it; what it had was given back.
    Dead,
}

/// State of one instance. The supervisor's first thread alone writes it, but for the requests.
pub struct InstanceState {
    phase: AtomicU8,
    /// What callers ask for.
    pub requests: AtomicU8,
    /// When it is started again, in ticks; `u64::MAX`: not.
    pub due: AtomicU64,
    /// When it was started.
    pub started: AtomicU64,
    /// When to look next whether invocation stacks still name it, and how long it was waited last.
    pub look: AtomicU64,
    pub look_interval: AtomicU64,
    /// Faults without good behaviour in between.
    pub faults: AtomicU32,
    /// Its memory and quota, when they were last asked for.
    pub memory: AtomicU64,
    /// How often it was started again.
    pub restarts: AtomicU32,
}

/// Request: kill.
pub const KILL: u8 = 1;
/// Request: start again, after a kill if it is alive.
pub const RESTART: u8 = 2;
/// Request: its memory goes without anybody being told.
pub const CRASH: u8 = 4;
/// Request: note how much memory it has.
pub const MEASURE: u8 = 8;

impl InstanceState {
    const NEW: InstanceState = InstanceState {
        phase: AtomicU8::new(Phase::Alive as u8),
        requests: AtomicU8::new(0),
        memory: AtomicU64::new(0),
        due: AtomicU64::new(u64::MAX),
        started: AtomicU64::new(0),
        look: AtomicU64::new(0),
        look_interval: AtomicU64::new(0),
        faults: AtomicU32::new(0),
        restarts: AtomicU32::new(0),
    };

    pub fn phase(&self) -> Phase {
        match self.phase.load(Relaxed) {
            0 => Phase::Alive,
            1 => Phase::Dying,
            _ => Phase::Dead,
        }
    }

    pub fn set_phase(&self, phase: Phase) {
        self.phase.store(phase as u8, Relaxed);
    }
}

static STATES: [InstanceState; DOMAINS_MAXIMUM] = [InstanceState::NEW; DOMAINS_MAXIMUM];

/// The state of a domain's instance.
pub fn state(domain: u64) -> &'static InstanceState {
    &STATES[domain as usize % DOMAINS_MAXIMUM]
}
