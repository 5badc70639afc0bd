//! The background loads of the interrupt latency, and how the measuring component chooses one: a
//! word of a shared section.

/// Instances that count themselves in the second word of the section `load` before they begin.
pub const LOADS: i64 = 2;

/// What runs when an interrupt comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Load {
    /// A loop in user mode.
    Idle = 0,
    /// A short-circuit portal, again and again.
    ShortCircuit = 1,
    /// A call into the measuring component's domain, which returns at once.
    Ipc = 2,
    /// A yield of the only ready thread.
    Yield = 3,
    /// Two threads in two domains that pass a token.
    Semaphores = 4,
    /// Nothing: the idle component waits for interrupts. The load thread ends for good.
    Wait = 5,
    /// A Linux that works, in a system of its own.
    Linux = 6,
}

impl Load {
    /// All of one system, in the order in which they have to be measured.
    pub const ALL: [Load; 6] =
        [Load::Idle, Load::ShortCircuit, Load::Ipc, Load::Yield, Load::Semaphores, Load::Wait];

    /// Its part in the benchmark's name.
    pub const fn name(self) -> &'static str {
        match self {
            Load::Idle => "idle",
            Load::ShortCircuit => "short_circuit",
            Load::Ipc => "ipc",
            Load::Yield => "yield",
            Load::Semaphores => "sem",
            Load::Wait => "wait",
            Load::Linux => "linux",
        }
    }

    /// The load that a word names.
    pub fn from_word(word: i64) -> Option<Load> {
        Load::ALL.into_iter().find(|load| *load as i64 == word)
    }
}
