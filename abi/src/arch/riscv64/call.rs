//! The form of calls in a component's machine code, and where its file says that they are. None of the instructions is
//! compressed, and nothing executes the jump.
//!
//! A call can be written anew in its place, as a jump through a word (`link`): so each has the bytes for that.

/// `ecall`.
pub const CALL: u32 = 0x0000_0073;
/// Instructions begin at multiples of so many bytes.
pub const INSTRUCTION_ALIGNMENT: u64 = 2;
/// Behind it: `j .`
pub const END: u32 = 0x0000_006f;
/// `ret`
pub const RETURN: u32 = 0x0000_8067;
/// `ebreak`
pub const BREAK: u32 = 0x0010_0073;
/// Section of a component's file, not loaded: the addresses of its stubs, 64-bit words. 0: one that is not linked.
pub const STUBS: &str = ".cairn.stubs";
/// The same for calls that are executed where they stand, at any address.
pub const CALLS: &str = ".cairn.calls";
/// What room is filled with that a call has where it stands: `nop`.
pub const ROOM: u32 = 0x0000_0013;
/// Bytes, and alignment, of a stub: `li t0, INDEX`, the call, the end, room.
pub const STUB_SIZE: u64 = 16;

/// `li t0, 0`
const LOAD_INDEX: u32 = 0x0000_0293;
/// `li a0, 0`
const LOAD_CONTROL_WORD: u32 = 0x0000_0513;

/// Before it: the index that `li t0, INDEX` loads.
pub const fn index(instruction: u32) -> Option<u16> {
    if instruction & 0x800f_ffff == LOAD_INDEX { Some((instruction >> 20) as u16) } else { None }
}

/// `li t0, INDEX`; none: an immediate cannot say it.
pub const fn load_index(index: u16) -> Option<u32> {
    if index < 1 << 11 { Some(LOAD_INDEX | (index as u32) << 20) } else { None }
}

/// `li a0, WORD`, the control word of a callee that nothing else tells; none: an immediate cannot say it.
pub const fn load_control_word(word: i16) -> Option<u32> {
    let fits = -(1 << 11) <= word && word < 1 << 11;
    if fits { Some(LOAD_CONTROL_WORD | (word as u32) << 20) } else { None }
}

/// `csrci sstatus, SIE`, in the kernel domain: nobody is stopped between the word that says where a portal is and the
/// portal, which so can be another's code as soon as no word leads there.
pub const INTERRUPTS_OFF: u32 = 0x1001_7073;

/// A jump to the address in the word that lies `offset` bytes from the first of these: `auipc t1, UPPER`,
/// `ld t1, LOWER(t1)`, `jr t1`. None: out of reach.
pub const fn link(offset: i64) -> Option<[u32; 3]> {
    const ADD_UPPER: u32 = 0x0000_0317;
    const LOAD: u32 = 0x0003_3303;
    const JUMP: u32 = 0x0003_0067;
    // The lower half is signed.
    let Some(rounded) = offset.checked_add(0x800) else { return None };
    if rounded as i32 as i64 != rounded {
        return None;
    }
    Some([ADD_UPPER | rounded as u32 & 0xffff_f000, LOAD | (offset as u32) << 20, JUMP])
}

/// A jump so many bytes on; none: out of the reach of this form.
pub const fn jump(distance: u64) -> Option<u32> {
    if distance < 1 << 11 && distance & 1 == 0 { Some(END | (distance as u32) << 20) } else { None }
}
