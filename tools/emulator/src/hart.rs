//! What belongs to one hart.

use crate::csr::ControlRegisters;
use crate::tlb::Tlb;
use crate::trap::Privilege;
use std::collections::HashMap;

/// A hart: all of the machine's state but its memory.
#[derive(Clone)]
pub struct Hart {
    registers: [u64; 32],
    float_registers: [u64; 32],
    /// Address of the next instruction.
    pub program_counter: u64,
    /// The current mode.
    pub privilege: Privilege,
    /// Control and status registers.
    pub csr: ControlRegisters,
    pub(crate) tlb: Tlb,
    /// Physical address and size of the last load-reserved.
    pub(crate) reservation: Option<(u64, usize)>,
    /// With `keeps_instructions`: halves of instructions by physical address.
    pub(crate) fetched: HashMap<u64, u16>,
    /// Address of the instruction that executes, for the journal.
    pub(crate) current: u64,
}

impl Hart {
    /// After reset, in supervisor mode, without translation.
    pub(crate) fn new(asid_bits: u32) -> Hart {
        Hart {
            registers: [0; 32],
            float_registers: [0; 32],
            program_counter: 0,
            privilege: Privilege::Supervisor,
            csr: ControlRegisters::new(asid_bits),
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

    /// Floating-point register `number`, its bits.
    pub fn get_float(&self, number: u8) -> u64 {
        self.float_registers[usize::from(number)]
    }

    /// Sets floating-point register `number`.
    pub fn set_float(&mut self, number: u8, value: u64) {
        self.float_registers[usize::from(number)] = value;
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
}
