//! The form of calls in a component's machine code, and where its file says that they are. None of the instructions is
//! compressed, and nothing executes the jump.

/// `ecall`.
pub const CALL: u32 = 0x0000_0073;
/// Behind it: `j .`
pub const END: u32 = 0x0000_006f;
/// Section of a component's file, not loaded: the addresses of its stubs, 64-bit words. 0: one that is not linked.
pub const STUBS: &str = ".cairn.stubs";
/// The same for calls that are executed where they stand, at any address.
pub const CALLS: &str = ".cairn.calls";
/// Bytes, and alignment, of a stub: `li t0, INDEX`, the call, the end, room.
pub const STUB_SIZE: u64 = 16;

/// Before it: the index that `li t0, INDEX` loads.
pub const fn index(instruction: u32) -> Option<u16> {
    const LOAD: u32 = 0x0000_0293;
    if instruction & 0x800f_ffff == LOAD { Some((instruction >> 20) as u16) } else { None }
}

/// Bytes of the instruction that begins with these 16 bits (unprivileged manual, section 1.5).
pub const fn length(first: u16) -> usize {
    if first & 3 == 3 { 4 } else { 2 }
}
