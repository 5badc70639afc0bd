//! The hart's accesses to memory, through translation, into the journal.

use crate::arithmetic::sign_extend_word;
use crate::compressed;
use crate::decode::{Instruction, decode};
use crate::journal::{UserRead, Write};
use crate::machine::Machine;
use crate::memory::PAGE_SIZE;
use crate::mmu::{Access, Mmu, Translation};
use crate::tlb::Fencing;
use crate::trap::{Cause, Exception, Privilege};

/// An instruction and its length in bytes.
pub(crate) struct Fetched {
    pub instruction: Instruction,
    pub length: u64,
    /// For `stval`, if it turns out illegal.
    pub bits: u64,
}

/// The part of an access that lies in one page.
struct Piece {
    address: u64,
    size: usize,
    /// Its position in the access, in bits.
    shift: u32,
}

impl Machine {
    pub(crate) fn fetch(&mut self) -> Result<Fetched, Exception> {
        let address = self.program_counter;
        let first = self.fetch_half(address)?;
        let (instruction, length, bits) = if first & 3 == 3 {
            let second = self.fetch_half(address.wrapping_add(2))?;
            let word = u32::from(second) << 16 | u32::from(first);
            (decode(word), 4, u64::from(word))
        } else {
            (compressed::decode(first), 2, u64::from(first))
        };
        let instruction = instruction.ok_or(illegal(bits))?;
        Ok(Fetched { instruction, length, bits })
    }

    fn fetch_half(&mut self, address: u64) -> Result<u16, Exception> {
        let physical = self.translate(address, Access::Fetch)?.physical;
        if let Some(half) = self.fetched.get(&physical) {
            return Ok(*half);
        }
        let half = self.memory.read_word(physical, 2);
        let half = half.map_err(|_| Access::Fetch.access_fault(address))? as u16;
        if self.options.keeps_instructions {
            self.fetched.insert(physical, half);
        }
        Ok(half)
    }

    /// The zero-extended value at a virtual address.
    pub(crate) fn load(&mut self, address: u64, size: usize) -> Result<u64, Exception> {
        if self.options.traps_misaligned {
            check_alignment(address, size, Cause::LoadMisaligned)?;
        }
        let mut value = 0;
        for piece in pieces(address, size).into_iter().flatten() {
            let translation = self.translate(piece.address, Access::Load)?;
            value |= self.read(&piece, translation, Access::Load)? << piece.shift;
        }
        Ok(value)
    }

    pub(crate) fn store(&mut self, address: u64, size: usize, value: u64) -> Result<(), Exception> {
        if self.options.traps_misaligned {
            check_alignment(address, size, Cause::StoreMisaligned)?;
        }
        let parts = pieces(address, size);
        let mut physical = [0; 2];
        // A store that faults in its second page writes nothing to the first.
        for (piece, physical) in parts.iter().flatten().zip(&mut physical) {
            *physical = self.translate(piece.address, Access::Store)?.physical;
            if !self.memory.contains(*physical) {
                return Err(Access::Store.access_fault(piece.address));
            }
        }
        for (piece, physical) in parts.iter().flatten().zip(physical) {
            self.write(piece, physical, value >> piece.shift)?;
        }
        Ok(())
    }

    /// Load-reserved: the sign-extended value, and the reservation.
    pub(crate) fn load_reserved(&mut self, address: u64, size: usize) -> Result<u64, Exception> {
        check_alignment(address, size, Cause::LoadMisaligned)?;
        let piece = Piece { address, size, shift: 0 };
        let translation = self.translate(address, Access::Load)?;
        let value = self.read(&piece, translation, Access::Load)?;
        self.reservation = Some((translation.physical, size));
        Ok(extend(value, size))
    }

    /// Store-conditional: whether it stored. Any attempt ends the reservation; traps do not.
    pub(crate) fn store_conditional(
        &mut self,
        address: u64,
        size: usize,
        value: u64,
    ) -> Result<bool, Exception> {
        check_alignment(address, size, Cause::StoreMisaligned)?;
        let physical = self.translate(address, Access::Store)?.physical;
        let reserved = self.reservation.take() == Some((physical, size));
        if reserved {
            self.write(&Piece { address, size, shift: 0 }, physical, value)?;
        }
        Ok(reserved)
    }

    /// An atomic change: the sign-extended value before it.
    pub(crate) fn change(
        &mut self,
        address: u64,
        size: usize,
        new: impl FnOnce(u64) -> u64,
    ) -> Result<u64, Exception> {
        check_alignment(address, size, Cause::StoreMisaligned)?;
        let piece = Piece { address, size, shift: 0 };
        let translation = self.translate(address, Access::Store)?;
        let old = extend(self.read(&piece, translation, Access::Store)?, size);
        self.write(&piece, translation.physical, new(old))?;
        Ok(old)
    }

    fn translate(&mut self, address: u64, access: Access) -> Result<Translation, Exception> {
        let options = self.options;
        let (hart, memory) = self.parts();
        let privilege = hart.privilege;
        let mut mmu = Mmu {
            csr: &hart.csr,
            tlb: &mut hart.tlb,
            memory,
            caching: options.caching,
            keeps_global: options.fencing != Fencing::AlwaysBySatp,
            updates_accessed_dirty: options.updates_accessed_dirty,
        };
        let translation = mmu.translate(address, access, privilege)?;
        if let Some((location, old, new)) = translation.updated {
            self.written(location, 8, old, new, None);
        }
        Ok(translation)
    }

    fn read(
        &mut self,
        piece: &Piece,
        translation: Translation,
        access: Access,
    ) -> Result<u64, Exception> {
        let value = self.memory.read_word(translation.physical, piece.size);
        let value = value.map_err(|_| access.access_fault(piece.address))?;
        if translation.user && self.privilege == Privilege::Supervisor {
            let program_counter = self.current;
            self.journal.user_reads.push(UserRead {
                address: translation.physical,
                size: piece.size,
                value,
                virtual_address: piece.address,
                program_counter,
            });
        }
        Ok(value)
    }

    fn write(&mut self, piece: &Piece, physical: u64, value: u64) -> Result<(), Exception> {
        let absent = |_| Access::Store.access_fault(piece.address);
        let bytes = value.to_le_bytes();
        let old = self.memory.read_word(physical, piece.size).map_err(absent)?;
        self.memory.write(physical, &bytes[..piece.size]).map_err(absent)?;
        let new = self.memory.read_word(physical, piece.size).map_err(absent)?;
        self.written(physical, piece.size, old, new, Some(piece.address));
        Ok(())
    }

    /// Notes a write, and ends the reservations of other harts for what was written.
    fn written(&mut self, address: u64, size: usize, old: u64, new: u64, from: Option<u64>) {
        let (program_counter, privilege) = (self.current, self.privilege);
        let write =
            Write { address, size, old, new, virtual_address: from, program_counter, privilege };
        self.journal.writes.push(write);
        let end = address + size as u64;
        for hart in self.other_harts() {
            let overlaps =
                |(start, size): &(u64, usize)| *start < end && address < start + *size as u64;
            hart.reservation = hart.reservation.filter(|reserved| !overlaps(reserved));
        }
    }
}

/// The exception of an instruction with these bits.
pub(crate) fn illegal(bits: u64) -> Exception {
    Exception { cause: Cause::IllegalInstruction, value: bits }
}

/// Splits an access at the page boundary that it may cross.
fn pieces(address: u64, size: usize) -> [Option<Piece>; 2] {
    let first = size.min((PAGE_SIZE - address % PAGE_SIZE) as usize);
    let second = Piece {
        address: address.wrapping_add(first as u64),
        size: size - first,
        shift: 8 * first as u32,
    };
    [Some(Piece { address, size: first, shift: 0 }), (first < size).then_some(second)]
}

fn check_alignment(address: u64, size: usize, cause: Cause) -> Result<(), Exception> {
    if address.is_multiple_of(size as u64) {
        Ok(())
    } else {
        Err(Exception { cause, value: address })
    }
}

fn extend(value: u64, size: usize) -> u64 {
    if size == 4 { sign_extend_word(value as u32) } else { value }
}
