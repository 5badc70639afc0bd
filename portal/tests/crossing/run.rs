//! Runs one crossing, from an instruction in user mode to the next one in user mode, and holds what
//! must be true of every crossing.

use crate::world::*;
use cairn_abi::address::*;
use cairn_abi::domain::PORTALS_DESCRIBED;
use cairn_abi::thread::*;
use cairn_emulator::csr::{SSTATUS, STATUS_FS, STATUS_MXR, STATUS_SIE, STATUS_SPP, STATUS_SUM};
use cairn_emulator::register::*;
use cairn_emulator::{Journal, Privilege, Step, Trap};
use std::collections::HashSet;

/// The longest crossing: three windows of 64 bytes take about 600 instructions.
const LIMIT: u64 = 5000;

/// Registers that a callee keeps by the C convention, without `sp`.
pub const SAVED: [u8; 14] = [S0, S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, GP, TP];
/// Registers that nobody keeps, without arguments.
pub const TEMPORARY: [u8; 7] = [T0, T1, T2, T3, T4, T5, T6];
/// `a0` to `a7`.
pub const ARGUMENTS: [u8; 8] = [A0, A1, A2, A3, A4, A5, A6, A7];

/// What happened.
pub struct Crossed {
    /// Instructions from the first, included, to the next in user mode, not included.
    pub instructions: u64,
    /// Registers at the first.
    pub before: [u64; 32],
    /// What a portal that does not touch `t0` leaves in it: the trap entry has multiplied an index of the table.
    index: u64,
    /// `sscratch` at the first.
    pub frame_before: u64,
    /// What was written and read.
    pub journal: Journal,
}

impl World {
    /// Puts random numbers into all registers but the stack pointer.
    pub fn scramble(&mut self) {
        for register in (1..32).filter(|register| *register != SP) {
            let number = self.random.u64(..);
            self.machine.set(register, number);
        }
    }

    /// Sets up a call from the running domain: random registers, these arguments.
    /// The same of all that code of the running domain can change: what is compiled for the kernel domain has no use for `gp`.
    pub fn scramble_what_runs(&mut self) {
        let pointer = self.machine.get(GP);
        self.scramble();
        if is_kernel(self.running()) {
            self.machine.set(GP, pointer);
        }
    }

    pub fn prepare_call(&mut self, index: u64, stack: u64, arguments: [u64; 8]) {
        let domain = self.running();
        self.scramble_what_runs();
        self.machine.set(SP, stack);
        self.machine.set(RA, at(domain, RESUME));
        self.machine.set(T0, index);
        for (register, argument) in ARGUMENTS.into_iter().zip(arguments) {
            self.machine.set(register, argument);
        }
        if is_kernel(domain) {
            // As the layout writes the call there: no trap, no index, and `tp` is the topmost frame.
            self.machine.set(TP, self.machine.csr.sscratch);
            self.machine.set(T0, u64::MAX);
            self.machine.set(T1, self.word(self.table(domain) + index * 8));
        }
        // Of whatever trapped last.
        (self.machine.csr.sepc, self.machine.csr.scause) = (0, 13);
        self.machine.program_counter = at(domain, if is_kernel(domain) { JUMP } else { CALL });
    }

    /// The running domain calls.
    pub fn call(&mut self, index: u64, stack: u64, arguments: [u64; 8]) -> Crossed {
        self.prepare_call(index, stack, arguments);
        self.cross()
    }

    /// Calls with random arguments, which is no use for windows.
    pub fn call_any(&mut self, connection: &Connection) -> Crossed {
        let arguments = std::array::from_fn(|_| self.random.u64(..));
        let stack = self.usual_stack(connection);
        self.call(connection.index, stack, arguments)
    }

    /// A caller's stack pointer that the connection accepts.
    pub fn usual_stack(&self, connection: &Connection) -> u64 {
        match connection.specification.stack {
            _ if is_kernel(connection.caller) => kernel_stack(THREAD) - 0x100,
            cairn_portal::Stack::Shared => GROUP_STACK - 0x100,
            _ => at(connection.caller, STACK - 0x100),
        }
    }

    /// Compiled code of the kernel domain puts back what it saved when it was entered, which is not `tp` and `gp`.
    pub fn put_back(&mut self, entered: &[u64; 32]) {
        for register in SAVED.into_iter().filter(|register| ![TP, GP].contains(register)) {
            self.machine.set(register, entered[usize::from(register)]);
        }
    }

    /// The running domain returns with this reply, every other register destroyed, but those that compiled code keeps in
    /// the kernel domain.
    pub fn reply(&mut self, status: u64, value: u64) -> Crossed {
        let kept = SAVED.map(|register| self.machine.get(register));
        let caller = self.frames()[0].into;
        let mut stack = self.machine.get(SP);
        self.scramble();
        if is_kernel(self.running()) {
            SAVED.iter().zip(kept).for_each(|(register, kept)| self.machine.set(*register, kept));
            self.machine.set(RA, self.ways_back[&self.machine.csr.sscratch]);
        }
        // Between two in the kernel domain the pointer is kept like a register.
        if !(is_kernel(self.running()) && is_kernel(caller.index())) {
            stack = self.random.u64(..);
        }
        for (register, number) in [(SP, stack), (T0, 0), (A0, status), (A1, value)] {
            self.machine.set(register, number);
        }
        self.machine.csr.sepc = 0;
        self.machine.program_counter = at(self.running(), CALL);
        self.cross()
    }

    /// One user instruction, and the way through the kernel domain if it traps.
    pub fn cross(&mut self) -> Crossed {
        assert!(self.is_in_component(), "a crossing begins in a component");
        self.machine.journal.clear();
        let before = self.machine.registers();
        let frame_before = self.machine.csr.sscratch;
        let is_multiplied = self.machine.privilege == Privilege::User
            && before[usize::from(T0)] < PORTALS_DESCRIBED as u64;
        let executed = self.machine.executed();
        self.machine.step();
        if self.machine.program_counter == at(KERNEL_SERVER, JUMP + 4)
            || self.machine.program_counter == at(KERNEL_BACKEND, JUMP + 4)
        {
            self.machine.step();
        }
        self.run_kernel();
        Crossed {
            instructions: self.machine.executed() - executed,
            before,
            index: before[usize::from(T0)] * if is_multiplied { 8 } else { 1 },
            frame_before,
            journal: std::mem::take(&mut self.machine.journal),
        }
    }

    pub fn run_kernel(&mut self) {
        for _ in 0..LIMIT {
            if self.is_in_component() {
                if self.machine.program_counter == at(self.running(), ENTRY) {
                    self.ways_back.insert(self.machine.csr.sscratch, self.machine.get(RA));
                }
                return self.check_after();
            }
            self.check_privileged();
            let step = self.machine.step();
            let expected = matches!(step, Step::Completed | Step::Trapped(_));
            assert!(expected, "{step:?}, {}", self.trace());
        }
        panic!("no way back to user mode, {}", self.trace());
    }

    /// Whether the next instruction is a component's.
    pub fn is_in_component(&self) -> bool {
        let machine = &self.machine;
        machine.privilege == Privilege::User || machine.program_counter >= KERNEL_REGIONS
    }

    /// What holds whenever privileged code that is no component's has left.
    fn check_after(&self) {
        let csr = &self.machine.csr;
        let status = csr.read(SSTATUS, Privilege::Supervisor).unwrap();
        let domain = self.running();
        // In the kernel domain a component may have been interrupted while it had user memory open.
        let forbidden = STATUS_MXR
            | if self.has_float(domain) { 0 } else { STATUS_FS }
            | if is_kernel(domain) { 0 } else { STATUS_SUM };
        assert_eq!(status & forbidden, 0, "user memory is closed, floating point off");
        if is_kernel(domain) {
            assert_eq!(status & (STATUS_SIE | STATUS_SPP), STATUS_SIE, "interrupts are on");
            assert_eq!(self.machine.get(TP), csr.sscratch, "the topmost frame");
            self.check_space();
        }
        let interrupts = if domain == SCHEDULER { 0 } else { self.interrupts };
        assert_eq!(csr.sie, interrupts, "sie in domain {domain}");
        let frame = csr.sscratch;
        let inside = THREADS..THREADS + THREAD_COUNT as u64 * PAGE_SIZE;
        assert!(inside.contains(&frame) && frame.is_multiple_of(8), "sscratch is {frame:#x}");
        // What runs above a frame is the domain that the frame names.
        let table = self.word(frame.wrapping_add_signed(FRAME_TABLE));
        assert_eq!(table, self.end(domain).table, "the frame names the running domain");
        self.check_no_loop();
    }

    /// No instruction of a portal was executed twice, and none of the nucleus' within one visit
    /// from portal code. (The services in Rust, which no call goes through, are not held to it.)
    pub fn check_no_loop(&self) {
        let portals = PORTAL_CODE..THREADS;
        // As portal code, somewhere to go on from.
        let back = self.nucleus.symbol("kernel_inside_return");
        let rust = self.machine.journal.path.iter().any(|(_, address)| {
            ["unwind", "divert", "refuse", "set_up_thread", "set_alive"]
                .iter()
                .any(|name| *address == self.nucleus.symbol(name))
        });
        if rust {
            return;
        }
        let mut seen = HashSet::new();
        let mut visit = HashSet::new();
        for (privilege, address) in &self.machine.journal.path {
            if *privilege == Privilege::User {
                continue;
            }
            let first = if portals.contains(address) || *address == back {
                visit.clear();
                seen.insert(*address)
            } else {
                visit.insert(*address)
            };
            assert!(first, "{address:#x} was executed twice, {}", self.trace());
        }
    }

    pub fn trace(&self) -> String {
        let path = &self.machine.journal.path;
        let end = &path[path.len().saturating_sub(20)..];
        let traps = &self.machine.journal.traps;
        format!(
            "pc {:#x}, traps {traps:x?}, last instructions {end:x?}",
            self.machine.program_counter
        )
    }

    /// Whether the hart has arrived where `domain` begins to execute at `offset` of its region.
    pub fn assert_at(&self, domain: usize, offset: u64) {
        assert_eq!(
            (self.running(), self.machine.program_counter),
            (domain, at(domain, offset)),
            "the running domain and its program counter"
        );
    }

    /// Whether the scheduler has just been entered for `upcall`.
    pub fn assert_upcall(&self, upcall: Upcall, thread: usize, cause: u64, value: u64) {
        let entry = World::upcall_entry(upcall);
        assert_eq!(
            (self.running(), self.machine.program_counter),
            (SCHEDULER, entry),
            "{upcall:?}"
        );
        let expected = [(A0, 0), (A1, thread_block(thread) >> 12), (A2, cause), (A3, value)];
        for (register, number) in expected {
            assert_eq!(self.machine.get(register), number, "{} at {upcall:?}", name(register));
        }
        assert_eq!(self.machine.get(SP), at(SCHEDULER, STACK));
        assert_eq!(self.machine.get(RA), at(SCHEDULER, STUB));
    }

    /// What user mode loads from `address`: the byte, or the trap, which is then taken back.
    pub fn load(&mut self, address: u64) -> Result<u64, Trap> {
        self.access(LOAD, address, 0)
    }

    /// User mode stores a byte.
    pub fn store(&mut self, address: u64, byte: u8) -> Result<(), Trap> {
        self.access(STORE, address, byte).map(|_| ())
    }

    fn access(&mut self, snippet: u64, address: u64, byte: u8) -> Result<u64, Trap> {
        let machine = &self.machine;
        let (registers, counter) = (machine.registers(), machine.program_counter);
        let control = machine.csr.clone();
        self.machine.program_counter = at(self.running(), snippet);
        self.machine.set(A0, u64::from(byte));
        self.machine.set(A1, address);
        // Nothing but the access may happen.
        self.machine.csr.sie = 0;
        let step = self.machine.step();
        let loaded = self.machine.get(A0);
        for (register, value) in (0..).zip(registers) {
            self.machine.set(register, value);
        }
        self.machine.program_counter = counter;
        self.machine.csr = control;
        self.machine.privilege = Privilege::User;
        match step {
            Step::Trapped(trap) => Err(trap),
            _ => Ok(loaded),
        }
    }
}

impl Crossed {
    /// What a portal that does not touch a register leaves in it.
    pub fn left(&self, register: u8) -> u64 {
        if register == T0 { self.index } else { self.before[usize::from(register)] }
    }

    /// No write but in these ranges of kernel or user addresses, nor in the thread's scratch words
    /// above the frames `from` to `to`.
    pub fn assert_writes(&self, frames: (u64, u64), allowed: &[(u64, u64)]) {
        let (from, to) = frames;
        let stack = from + FRAME_HEADER as u64..to + FRAME_SCRATCH as u64 + 24;
        let mut ranges = vec![(physical(stack.start), stack.end - stack.start)];
        ranges.extend(allowed.iter().map(|(address, size)| (physical(*address), *size)));
        let outside = self.journal.writes_outside(&ranges);
        assert!(outside.is_empty(), "written outside {allowed:x?}: {outside:x?}");
    }
}
