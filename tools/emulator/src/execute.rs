//! What each instruction does.

use crate::access::{Fetched, illegal};
use crate::arithmetic::{combine, compute, holds, sign_extend_word};
use crate::decode::{CsrChange, CsrOperand, Instruction, Register};
use crate::machine::Machine;
use crate::trap::{Cause, Exception, Privilege};

/// Where execution goes.
pub(crate) enum Flow {
    /// To this address.
    To(u64),
    /// It waits for an interrupt.
    Wait,
    /// To the firmware.
    FirmwareCall,
}

impl Machine {
    pub(crate) fn execute(&mut self, fetched: Fetched) -> Result<Flow, Exception> {
        let here = self.program_counter;
        let next = here.wrapping_add(fetched.length);
        match fetched.instruction {
            Instruction::LoadUpperImmediate { to, value } => self.set(to, value),
            Instruction::AddUpperImmediate { to, value } => self.set(to, here.wrapping_add(value)),
            Instruction::Jump { to, offset } => {
                self.set(to, next);
                return Ok(Flow::To(here.wrapping_add(offset)));
            }
            Instruction::JumpRegister { to, base, offset } => {
                // The target is taken before the link, they may be the same register.
                let target = self.get(base).wrapping_add(offset) & !1;
                self.set(to, next);
                return Ok(Flow::To(target));
            }
            Instruction::Branch { condition, left, right, offset } => {
                if holds(condition, self.get(left), self.get(right)) {
                    return Ok(Flow::To(here.wrapping_add(offset)));
                }
            }
            Instruction::Load { size, signed, to, base, offset } => {
                let value = self.load(self.get(base).wrapping_add(offset), size)?;
                let unused = 64 - 8 * size as u32;
                let extended =
                    if signed { ((value << unused) as i64 >> unused) as u64 } else { value };
                self.set(to, extended);
            }
            Instruction::Store { size, from, base, offset } => {
                self.store(self.get(base).wrapping_add(offset), size, self.get(from))?;
            }
            Instruction::ComputeImmediate { operation, word, to, left, right } => {
                self.set(to, compute(operation, word, self.get(left), right));
            }
            Instruction::Compute { operation, word, to, left, right } => {
                self.set(to, compute(operation, word, self.get(left), self.get(right)));
            }
            Instruction::LoadReserved { size, to, base } => {
                let value = self.load_reserved(self.get(base), size)?;
                self.set(to, value);
            }
            Instruction::StoreConditional { size, to, base, from } => {
                let stored = self.store_conditional(self.get(base), size, self.get(from))?;
                self.set(to, u64::from(!stored));
            }
            Instruction::Atomic { operation, size, to, base, from } => {
                let operand = self.get(from);
                let operand = if size == 4 { sign_extend_word(operand as u32) } else { operand };
                let old =
                    self.change(self.get(base), size, |old| combine(operation, old, operand))?;
                self.set(to, old);
            }
            Instruction::Csr { change, number, to, operand } => {
                self.change_csr(change, number, to, operand).ok_or(illegal(fetched.bits))?;
            }
            // A unit that is off has no registers.
            Instruction::FloatLoad { .. }
            | Instruction::FloatStore { .. }
            | Instruction::FloatFromBits { .. }
            | Instruction::FloatToBits { .. }
                if !self.csr.has_float() =>
            {
                return Err(illegal(fetched.bits));
            }
            Instruction::FloatLoad { size, to, base, offset } => {
                let value = self.load(self.get(base).wrapping_add(offset), size)?;
                // A number of 32 bits has ones above it.
                let ones = if size == 4 { u64::MAX << 32 } else { 0 };
                self.change_float(to, ones | value);
            }
            Instruction::FloatStore { size, from, base, offset } => {
                let value = self.get_float(from);
                self.store(self.get(base).wrapping_add(offset), size, value)?;
            }
            Instruction::FloatFromBits { to, from } => self.change_float(to, self.get(from)),
            Instruction::FloatToBits { to, from } => self.set(to, self.get_float(from)),
            Instruction::Fence => {}
            Instruction::FenceInstruction => self.fetched.clear(),
            Instruction::EnvironmentCall if self.privilege == Privilege::Supervisor => {
                return Ok(Flow::FirmwareCall);
            }
            Instruction::EnvironmentCall => {
                return Err(Exception { cause: Cause::UserCall, value: 0 });
            }
            Instruction::Breakpoint => {
                return Err(Exception { cause: Cause::Breakpoint, value: here });
            }
            // All that follows is the supervisor's alone.
            _ if self.privilege == Privilege::User => return Err(illegal(fetched.bits)),
            Instruction::FenceTranslation { address, space } => {
                let asid_mask = ((1u32 << self.options.asid_bits) - 1) as u16;
                let address = (address != 0).then(|| self.get(address));
                let space = (space != 0).then(|| self.get(space) as u16 & asid_mask);
                let (address, space) = self.options.fencing.reach(address, space, self.csr.asid());
                self.tlb.fence(address, space);
            }
            Instruction::SupervisorReturn => return Ok(Flow::To(self.supervisor_return())),
            Instruction::WaitForInterrupt => return Ok(Flow::Wait),
        }
        Ok(Flow::To(next))
    }

    /// Writes a floating-point register of the unit, which is on.
    fn change_float(&mut self, to: Register, value: u64) {
        self.csr.change_float();
        self.set_float(to, value);
    }

    /// None: illegal, and nothing has changed.
    fn change_csr(
        &mut self,
        change: CsrChange,
        number: u16,
        to: Register,
        operand: CsrOperand,
    ) -> Option<()> {
        let old = self.csr.read(number, self.privilege)?;
        let (value, is_zero) = match operand {
            CsrOperand::Register(register) => (self.get(register), register == 0),
            CsrOperand::Immediate(value) => (u64::from(value), value == 0),
        };
        let new = match change {
            CsrChange::Write => value,
            CsrChange::Set => old | value,
            CsrChange::Clear => old & !value,
        };
        // Setting or clearing by the operand zero itself does not write, so it may read what is
        // read-only.
        if change == CsrChange::Write || !is_zero {
            let privilege = self.privilege;
            self.csr.write(number, privilege, new)?;
        }
        self.set(to, old);
        Some(())
    }
}
