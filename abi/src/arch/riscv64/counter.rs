//! Reads of the run clock in machine code.

/// `csrrs RD, time, zero`, made `csrrs RD, cycle, zero` (unprivileged manual, chapter "Zicntr"); nothing for another instruction.
pub const fn by_cycles(instruction: u32) -> Option<u32> {
    const READ_TIME: u32 = 0xc010_2073;
    const READ_CYCLE: u32 = 0xc000_2073;
    const REGISTER: u32 = 0x0000_0f80;
    if instruction & !REGISTER == READ_TIME {
        Some(instruction & REGISTER | READ_CYCLE)
    } else {
        None
    }
}
