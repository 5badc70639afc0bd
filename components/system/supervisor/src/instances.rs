//! What the supervisor knows of each instance that there is: those of the layout come in through the same door as any that is
//! added later.

use cairn_abi::identifier::INSTANCES_MAXIMUM;
use cairn_abi::thread::THREADS_MAXIMUM;
use cairn_abi::{Error, InstanceId};
use core::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed,
};

/// What is to be done for an instance. The supervisor's worker alone changes it, by one step at a time; it
/// can be called only up to [`Phase::Asleep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// There is none of this number.
    Absent,
    /// It runs or can be called.
    Alive,
    /// It does too, but its memory is out of its page table, to see whether anybody still needs it.
    Tried,
    /// It was not started yet in this life, which its first call does.
    Asleep,
    /// It died: no thread executes anything in it from here to the next `Alive`. What it had opened, and what others had
    /// opened of what it made, is closed.
    Closing,
    /// The threads in it are sent away; those that come back to it are counted.
    Leaving,
    /// Its semaphores and locks end, and the waits that were begun in it.
    Reclaiming,
    /// Threads that it sent into living callees have to come back.
    Waiting,
    /// Nothing names it: its devices are reset, since they reach its memory by themselves.
    Quieting,
    /// What it had goes back.
    Releasing,
    /// It starts again when that is due.
    Dead,
    /// Its memory becomes as it was at the start.
    Renewing,
    /// Threads that entered it since its death are sent away, before it lives again.
    Sweeping,
    /// A device of it could not be reset. It keeps all that it had, until somebody asks for its restart and the device is reset.
    Quarantined,
    /// It is dead for good, or was never begun: one after the other forgets it.
    Retiring,
}

impl Phase {
    /// A constant's way back from its number: the compiler makes one comparison of it.
    const fn of(number: u8) -> Phase {
        match number {
            1 => Phase::Alive,
            2 => Phase::Tried,
            3 => Phase::Asleep,
            4 => Phase::Closing,
            5 => Phase::Leaving,
            6 => Phase::Reclaiming,
            7 => Phase::Waiting,
            8 => Phase::Quieting,
            9 => Phase::Releasing,
            10 => Phase::Dead,
            11 => Phase::Renewing,
            12 => Phase::Sweeping,
            13 => Phase::Quarantined,
            14 => Phase::Retiring,
            _ => Phase::Absent,
        }
    }
}

/// State of one instance. The supervisor's worker alone writes it, but for the requests. Its size is a power of two, so that a
/// shift finds it.
#[derive(Debug)]
#[repr(align(128))]
pub struct InstanceState {
    phase: AtomicU8,
    /// Of which of its fellows the next step of the phase is, and where it begins.
    pub at: AtomicU16,
    pub cursor: AtomicU64,
    /// What callers ask for.
    pub requests: AtomicU8,
    /// When it is started again, in ticks; `u64::MAX`: not.
    pub due: AtomicU64,
    /// Its next life begins with a call, and none is lost until then: whoever comes while it ends is kept.
    pub sleeps: AtomicBool,
    /// It has no next life: when it is dead it retires.
    pub retires: AtomicBool,
    /// What became of the last request that has an answer: a status as a portal has it.
    pub answer: AtomicI64,
    /// The name of the first thread of this life; zero: it has none.
    pub first: AtomicU64,
    /// When it was started.
    pub started: AtomicU64,
    /// When its memory came back that was out of its page table to see whether anybody needs it.
    pub needed: AtomicU64,
    /// When it died.
    pub died: AtomicU64,
    /// The best priority of the threads that want its next life, at most its recovery priority.
    pub wanted: AtomicU8,
    /// When to look next whether invocation stacks still name it, or whether anybody needs it, and how long it was waited last.
    pub look: AtomicU64,
    pub look_interval: AtomicU64,
    /// Faults without good behaviour in between.
    pub faults: AtomicU32,
    /// Its memory and quota, when they were last asked for.
    pub pages: AtomicU32,
    pub page_quota: AtomicU32,
    /// How often it was started again.
    pub restarts: AtomicU32,
    /// Threads that have to come back to it, a bit for each.
    pub away: Threads,
}

const _: () = assert!(size_of::<InstanceState>() == 128);

/// Request: kill.
pub const KILL: u8 = 1;
/// Request: start again, after a kill if it is alive.
pub const RESTART: u8 = 2;
/// Request: its memory goes without any report.
pub const CRASH: u8 = 4;
/// Request: note how much memory it has.
pub const MEASURE: u8 = 8;
/// Request: its first life begins. It has an answer.
pub const BEGIN: u8 = 16;
/// Request: it ends for good. It has an answer, whether that can be; when it is over, there is none of its number.
pub const RETIRE: u8 = 32;

/// Request: it gets the content of its successor. It has an answer, whether that can be.
pub const EXCHANGE: u8 = 64;
/// Request: what was on trial stays.
pub const SETTLE: u8 = 128;

impl InstanceState {
    const fn new() -> InstanceState {
        InstanceState {
            phase: AtomicU8::new(Phase::Absent as u8),
            at: AtomicU16::new(0),
            cursor: AtomicU64::new(0),
            requests: AtomicU8::new(0),
            pages: AtomicU32::new(0),
            page_quota: AtomicU32::new(0),
            due: AtomicU64::new(0),
            sleeps: AtomicBool::new(false),
            retires: AtomicBool::new(false),
            answer: AtomicI64::new(0),
            first: AtomicU64::new(0),
            started: AtomicU64::new(0),
            needed: AtomicU64::new(0),
            died: AtomicU64::new(0),
            wanted: AtomicU8::new(0),
            look: AtomicU64::new(0),
            look_interval: AtomicU64::new(0),
            faults: AtomicU32::new(0),
            restarts: AtomicU32::new(0),
            away: Threads::new(),
        }
    }

    /// Nothing is known of the next one of this number.
    fn forget(&self) {
        let words =
            [&self.first, &self.started, &self.needed, &self.died, &self.look, &self.look_interval];
        words.into_iter().for_each(|word| word.store(0, Relaxed));
        let counts = [&self.faults, &self.restarts, &self.pages, &self.page_quota];
        counts.into_iter().for_each(|count| count.store(0, Relaxed));
        self.wanted.store(0, Relaxed);
        [&self.sleeps, &self.retires].into_iter().for_each(|flag| flag.store(false, Relaxed));
    }

    /// What is to be done.
    pub fn phase(&self) -> Phase {
        Phase::of(self.phase.load(Relaxed))
    }

    /// Whether there is one of this number.
    pub fn is_present(&self) -> bool {
        self.phase.load(Relaxed) != Phase::Absent as u8
    }

    /// Whether it can be called.
    pub fn is_alive(&self) -> bool {
        (Phase::Alive as u8..=Phase::Asleep as u8).contains(&self.phase.load(Relaxed))
    }
}

/// The states of all instances, by number.
pub struct Instances {
    states: [InstanceState; INSTANCES_MAXIMUM],
    /// Those that are not alive.
    undone: Numbers,
    /// Those of which something was asked.
    pub requested: Numbers,
}

impl Instances {
    /// Without any.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Instances {
        Instances {
            states: [const { InstanceState::new() }; INSTANCES_MAXIMUM],
            undone: Numbers::new(),
            requested: Numbers::new(),
        }
    }

    /// There is a new instance, and it lives. [`Error::Busy`]: one of this number is still there.
    pub fn add_domain(&self, instance: InstanceId) -> Result<(), Error> {
        let known = self.states.get(instance.index()).filter(|_| instance.index() != 0);
        match known.ok_or(Error::BadArgument)?.phase() {
            Phase::Absent => {
                self.state(instance).due.store(u64::MAX, Relaxed);
                self.enter(instance, Phase::Alive);
            }
            _ => return Err(Error::Busy),
        }
        Ok(())
    }

    /// An instance is no more, and nothing that was known of it is of its successor under the number. [`Error::Busy`]: the leader of those with
    /// which it ends lives, or will, or is not cleaned up yet.
    pub fn retire_domain(&self, instance: InstanceId, leader: InstanceId) -> Result<(), Error> {
        let state = self.state(instance);
        match (state.phase(), self.state(leader).phase()) {
            (Phase::Absent, _) => return Err(Error::NotFound),
            (_, Phase::Retiring) => {}
            _ => return Err(Error::Busy),
        }
        state.forget();
        self.enter(instance, Phase::Absent);
        Ok(())
    }

    /// An instance that is dead, or never lived, begins to retire. [`Error::Busy`]: it is to be ended first.
    pub fn retire(&self, instance: InstanceId) -> Result<(), Error> {
        let state = self.state(instance);
        match state.phase() {
            Phase::Absent | Phase::Dead | Phase::Renewing | Phase::Sweeping => {}
            Phase::Retiring => return Ok(()),
            _ => return Err(Error::Busy),
        }
        state.retires.store(true, Relaxed);
        state.due.store(u64::MAX, Relaxed);
        self.enter(instance, Phase::Retiring);
        Ok(())
    }

    /// The state of an instance, whose number is a record's.
    pub fn state(&self, instance: InstanceId) -> &InstanceState {
        &self.states[instance.index() % INSTANCES_MAXIMUM]
    }

    /// An instance's next phase begins.
    pub fn enter(&self, instance: InstanceId, phase: Phase) {
        let state = self.state(instance);
        state.cursor.store(0, Relaxed);
        state.at.store(instance.0, Relaxed);
        state.phase.store(phase as u8, Relaxed);
        match phase {
            Phase::Absent | Phase::Alive | Phase::Tried | Phase::Asleep => {
                self.undone.remove(instance.into());
            }
            _ => self.undone.insert(instance.into()),
        }
    }

    /// Those that are not alive.
    pub fn undone(&self) -> impl Iterator<Item = InstanceId> {
        numbers(&self.undone)
    }
}

/// The numbers of the instances in a set.
pub fn numbers(instances: &Numbers) -> impl Iterator<Item = InstanceId> {
    instances.iter().map(|number| InstanceId(number as u16))
}

/// Threads, by their indexes.
pub type Threads = Set<{ THREADS_MAXIMUM.div_ceil(64) }>;
/// Instances, by their numbers: each has at least a domain.
pub type Numbers = Set<{ INSTANCES_MAXIMUM.div_ceil(64) }>;

/// A set of small numbers.
#[derive(Debug)]
pub struct Set<const WORDS: usize>([AtomicU64; WORDS]);

impl<const WORDS: usize> Set<WORDS> {
    #[allow(clippy::new_without_default)]
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

    pub fn contains(&self, number: u64) -> bool {
        let (word, bit) = self.word(number);
        word.load(Relaxed) & bit != 0
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

#[cfg(test)]
mod tests;
