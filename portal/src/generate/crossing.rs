//! Caller and callee of a portal.

/// One end of a crossing.
#[derive(Clone, Copy, Debug, Default)]
pub struct End {
    /// Number of the domain.
    pub domain: u64,
    /// `satp`: mode, ASID and root page table.
    pub satp: u64,
    /// Kernel address of the portal table.
    pub table: u64,
}

/// How long an export may keep a thread, in ticks; zero: it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The longest execution of a call.
    pub execution: u64,
    /// The longest time until a call is back.
    pub call: u64,
    /// The longest time after the thread was called home.
    pub cancelled: u64,
}

/// Everything that a portal's code depends on beside its specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crossing {
    /// The caller.
    pub caller: End,
    /// The callee.
    pub callee: End,
    /// The callee's entry point.
    pub entry: u64,
    /// The callee's return stub.
    pub stub: u64,
    /// `c`.
    pub constant: u64,
    /// `=`: the index at which the portal will be installed.
    pub index: u64,
    /// `s`: base of the stack group. `r`: top of the callee's stack.
    pub stack: u64,
    /// Address of the callee's stack queue for this client, if the specification takes
    /// activations.
    pub queue: u64,
    /// Address of the word that counts the threads that wait for that queue.
    pub waiters: u64,
    /// Windows: first address of what the caller may pass. Semaphores: of the count.
    pub source: u64,
    /// Windows: bytes of it. Semaphores: address of the hart's word.
    pub source_size: u64,
    /// Windows: kernel address of the page-table entry of its first page.
    pub source_entry: u64,
    /// Address of the nucleus' service table.
    pub services: u64,
    /// Counting build: address of the call counter, else zero.
    pub counter: u64,
    /// What the export declares.
    pub limits: Limits,
    /// Whether the machine's ASIDs tell domains apart; if not, entering a domain fences.
    pub asids: bool,
}

impl Crossing {
    /// Whether the time of a call is stored in its frame.
    pub fn stamps(&self) -> bool {
        self.limits.execution != 0 || self.limits.call != 0
    }
}
