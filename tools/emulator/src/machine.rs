//! The hart: its state, one step of it, traps, and runs.

use crate::csr::{ControlRegisters, STATUS_SIE, STATUS_SPIE, STATUS_SPP};
use crate::execute::Flow;
use crate::journal::Journal;
use crate::memory::Memory;
use crate::tlb::{Caching, Fencing, Tlb};
use crate::trap::{Interrupt, Privilege, Trap};
use std::collections::HashMap;

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

/// The hart with its memory.
#[derive(Clone)]
pub struct Machine {
    registers: [u64; 32],
    /// Address of the next instruction.
    pub program_counter: u64,
    /// The current mode.
    pub privilege: Privilege,
    /// Control and status registers.
    pub csr: ControlRegisters,
    /// Physical memory.
    pub memory: Memory,
    /// What happened so far.
    pub journal: Journal,
    pub(crate) options: Options,
    pub(crate) tlb: Tlb,
    /// Physical address and size of the last load-reserved.
    pub(crate) reservation: Option<(u64, usize)>,
    /// With `keeps_instructions`: halves of instructions by physical address.
    pub(crate) fetched: HashMap<u64, u16>,
    /// Address of the instruction that executes, for the journal.
    pub(crate) current: u64,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine::new()
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
            registers: [0; 32],
            program_counter: 0,
            privilege: Privilege::Supervisor,
            csr: ControlRegisters::new(options.asid_bits),
            memory: Memory::new(),
            journal: Journal::default(),
            options,
            tlb: Tlb::default(),
            reservation: None,
            fetched: HashMap::new(),
            current: 0,
        }
    }

    /// Register `number` (see [`crate::register`]).
    pub fn get(&self, number: u8) -> u64 {
        self.registers[usize::from(number)]
    }

    /// Sets register `number`; register 0 stays zero.
    pub fn set(&mut self, number: u8, value: u64) {
        if number != 0 {
            self.registers[usize::from(number)] = value;
        }
    }

    /// All registers, by number.
    pub fn registers(&self) -> [u64; 32] {
        self.registers
    }

    /// Instructions executed so far, those that trapped included (what an emulator that counts
    /// instructions calls the count; `csr.instret` has those that completed).
    pub fn executed(&self) -> u64 {
        self.csr.cycle
    }

    /// Forgets all translations, as `sfence.vma` without operands: for tests that change page
    /// tables themselves.
    pub fn fence_translations(&mut self) {
        self.tlb.fence(None, None);
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
