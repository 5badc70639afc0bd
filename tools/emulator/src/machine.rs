//! The machine: steps of the hart that runs, traps, and runs of many steps.

use crate::csr::{STATUS_SIE, STATUS_SPIE, STATUS_SPP};
use crate::execute::Flow;
use crate::hart::Hart;
use crate::journal::Journal;
use crate::memory::Memory;
use crate::tlb::{Caching, Fencing};
use crate::trap::{Interrupt, Privilege, Trap};
use std::ops::{Deref, DerefMut};

/// Where hardware may choose, what this hart does. The default is what finds most mistakes, except
/// that misaligned accesses work, as they do on the systems that Cairn runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What the TLB keeps.
    pub caching: Caching,
    /// What its fences compare.
    pub fencing: Fencing,
    /// The page-table walk sets the accessed and dirty bits (Svadu). If not (Svade), an access that
    /// finds them clear is a page fault.
    pub updates_accessed_dirty: bool,
    /// ASID bits, at most 16.
    pub asid_bits: u32,
    /// Misaligned loads and stores are exceptions. (Misaligned atomics always are.)
    pub traps_misaligned: bool,
    /// Instructions, once fetched, are seen until `fence.i`, whatever is written over them.
    pub keeps_instructions: bool,
    /// Instructions in a tick of `time`; 0: only the test moves it.
    pub instructions_per_tick: u64,
    /// The journal gets the address of every instruction.
    pub record_path: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            caching: Caching::Valid,
            fencing: Fencing::Operand,
            updates_accessed_dirty: false,
            asid_bits: 16,
            traps_misaligned: false,
            keeps_instructions: false,
            instructions_per_tick: 1,
            record_path: false,
        }
    }
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An instruction completed.
    Completed,
    /// A trap was taken: the next instruction is the handler's first.
    Trapped(Trap),
    /// The supervisor called the firmware; the program counter is behind the `ecall`, the test sets
    /// the results.
    FirmwareCall,
    /// Nothing: the hart is in `wfi` and nothing will wake it but the test.
    Waiting,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The wanted instruction comes next.
    Address,
    /// The wanted kind of trap was taken.
    Trap(Trap),
    /// See [`Step::FirmwareCall`].
    FirmwareCall,
    /// See [`Step::Waiting`].
    Waiting,
    /// As many steps as were allowed have passed.
    Limit,
}

/// Harts and their memory. One of the harts runs, and is what the machine stands for where a hart is asked for; a step
/// is a step of that one.
#[derive(Clone)]
pub struct Machine {
    harts: Vec<Hart>,
    running: usize,
    /// Physical memory.
    pub memory: Memory,
    /// What happened so far.
    pub journal: Journal,
    pub(crate) options: Options,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine::new()
    }
}

impl Deref for Machine {
    type Target = Hart;

    fn deref(&self) -> &Hart {
        &self.harts[self.running]
    }
}

impl DerefMut for Machine {
    fn deref_mut(&mut self) -> &mut Hart {
        &mut self.harts[self.running]
    }
}

impl Machine {
    /// A hart after reset, in supervisor mode, without translation and without memory.
    pub fn new() -> Machine {
        Machine::with(Options::default())
    }

    /// The same with other options.
    pub fn with(options: Options) -> Machine {
        assert!(options.asid_bits <= 16, "an Sv39 ASID has at most 16 bits");
        Machine {
            harts: vec![Hart::new(options.asid_bits)],
            running: 0,
            memory: Memory::new(),
            journal: Journal::default(),
            options,
        }
    }

    /// Adds a hart after reset, for the same memory, and returns its number. The first one's is 0.
    pub fn add_hart(&mut self) -> usize {
        self.harts.push(Hart::new(self.options.asid_bits));
        self.harts.len() - 1
    }

    /// From now on, hart `number` runs.
    pub fn select_hart(&mut self, number: usize) {
        assert!(number < self.harts.len(), "there is no hart {number}: add it with add_hart");
        self.running = number;
    }

    /// The hart that runs, and the memory.
    pub(crate) fn parts(&mut self) -> (&mut Hart, &mut Memory) {
        (&mut self.harts[self.running], &mut self.memory)
    }

    /// The harts that do not run.
    pub(crate) fn other_harts(&mut self) -> impl Iterator<Item = &mut Hart> {
        let running = self.running;
        let harts = self.harts.iter_mut().enumerate();
        harts.filter(move |(number, _)| *number != running).map(|(_, hart)| hart)
    }

    /// Register `number` of the hart that runs. (Not by `Deref`, so that it can stand in an argument of `set`.)
    pub fn get(&self, number: u8) -> u64 {
        self.harts[self.running].get(number)
    }

    /// Sets register `number` of the hart that runs.
    pub fn set(&mut self, number: u8, value: u64) {
        self.harts[self.running].set(number, value);
    }

    /// Executes one instruction, or takes a pending interrupt in its place.
    pub fn step(&mut self) -> Step {
        if let Some(interrupt) = self.interrupt() {
            return Step::Trapped(self.trap(interrupt.code(), 0));
        }
        self.current = self.program_counter;
        if self.options.record_path {
            self.journal.path.push((self.privilege, self.current));
        }
        let outcome = self.fetch().and_then(|fetched| self.execute(fetched));
        let step = match outcome {
            Ok(Flow::To(address)) => {
                self.program_counter = address;
                Step::Completed
            }
            Ok(Flow::FirmwareCall) => {
                self.program_counter = self.current.wrapping_add(4);
                Step::FirmwareCall
            }
            Ok(Flow::Wait) => return self.wait(),
            Err(exception) => Step::Trapped(self.trap(exception.cause as u64, exception.value)),
        };
        self.count(!matches!(step, Step::Trapped(_)));
        step
    }

    fn count(&mut self, completed: bool) {
        self.csr.cycle += 1;
        self.csr.instret += u64::from(completed);
        let per_tick = self.options.instructions_per_tick;
        if per_tick != 0 && self.csr.cycle.is_multiple_of(per_tick) {
            self.csr.time += 1;
        }
    }

    /// `wfi`: goes on if an enabled interrupt is pending, whether or not it will be taken. Only time
    /// passes while the hart waits, so it is moved to the timer's at once.
    fn wait(&mut self) -> Step {
        let timer = self.csr.sie & Interrupt::Timer.bit() != 0 && self.csr.stimecmp != u64::MAX;
        if self.csr.pending() & self.csr.sie == 0 {
            if !timer {
                return Step::Waiting;
            }
            self.csr.time = self.csr.stimecmp;
        }
        self.program_counter = self.current.wrapping_add(4);
        self.count(true);
        Step::Completed
    }

    /// The interrupt to take now. `sstatus.SIE` holds them off in supervisor mode only.
    fn interrupt(&self) -> Option<Interrupt> {
        let enabled = self.privilege == Privilege::User || self.csr.sstatus & STATUS_SIE != 0;
        let candidates = self.csr.pending() & self.csr.sie;
        Interrupt::BY_PRIORITY
            .into_iter()
            .find(|interrupt| enabled && candidates & interrupt.bit() != 0)
    }

    fn trap(&mut self, code: u64, value: u64) -> Trap {
        let trap =
            Trap { code, value, program_counter: self.program_counter, from: self.privilege };
        let status = self.csr.sstatus & !(STATUS_SIE | STATUS_SPIE | STATUS_SPP);
        let interrupts = if self.csr.sstatus & STATUS_SIE != 0 { STATUS_SPIE } else { 0 };
        let previous = if self.privilege == Privilege::Supervisor { STATUS_SPP } else { 0 };
        self.csr.sstatus = status | interrupts | previous;
        self.csr.sepc = trap.program_counter;
        self.csr.scause = code;
        self.csr.stval = value;
        self.privilege = Privilege::Supervisor;
        let base = self.csr.stvec & !3;
        let vectored = self.csr.stvec & 1 != 0 && code >> 63 != 0;
        // The shift drops the interrupt bit.
        self.program_counter = if vectored { base.wrapping_add(code << 2) } else { base };
        self.journal.traps.push(trap);
        trap
    }

    pub(crate) fn supervisor_return(&mut self) -> u64 {
        let status = self.csr.sstatus;
        let interrupts = if status & STATUS_SPIE != 0 { STATUS_SIE } else { 0 };
        self.csr.sstatus = status & !(STATUS_SIE | STATUS_SPP) | STATUS_SPIE | interrupts;
        if status & STATUS_SPP == 0 {
            self.privilege = Privilege::User;
        }
        self.csr.sepc
    }

    /// Runs until the instruction at `address` comes next, at most `limit` steps. Stops at once if
    /// it does already.
    pub fn run_until(&mut self, address: u64, limit: u64) -> Stop {
        self.run_while(limit, |machine| machine.program_counter != address)
    }

    /// Runs while `condition` holds, which is asked before each step, at most `limit` steps;
    /// [`Stop::Address`] when it does not hold.
    pub fn run_while(&mut self, limit: u64, condition: impl Fn(&Machine) -> bool) -> Stop {
        for _ in 0..limit {
            if !condition(self) {
                return Stop::Address;
            }
            match self.step() {
                Step::Completed | Step::Trapped(_) => {}
                Step::FirmwareCall => return Stop::FirmwareCall,
                Step::Waiting => return Stop::Waiting,
            }
        }
        if condition(self) { Stop::Limit } else { Stop::Address }
    }

    /// Runs until a trap for which `wanted` holds has been taken, at most `limit` steps.
    pub fn run_until_trap(&mut self, limit: u64, wanted: impl Fn(&Trap) -> bool) -> Stop {
        for _ in 0..limit {
            match self.step() {
                Step::Trapped(trap) if wanted(&trap) => return Stop::Trap(trap),
                Step::Completed | Step::Trapped(_) => {}
                Step::FirmwareCall => return Stop::FirmwareCall,
                Step::Waiting => return Stop::Waiting,
            }
        }
        Stop::Limit
    }

    /// Runs at most `limit` steps.
    pub fn run(&mut self, limit: u64) -> Stop {
        self.run_while(limit, |_| true)
    }
}
