//! The form of calls, and the note that says where each is.

/// A call where it stands: `load`, which is `li t0, INDEX` or nothing, and behind it the `ecall`. None of it is compressed.
/// Its address is noted for the host tool in a section that is not loaded (`cairn_abi::arch::call`); that of one that is
/// not linked becomes 0 there. The host tool can write a jump through a word in its place, which takes three instructions, or a
/// fourth where the index is known only when it is made: so there is room behind it.
///
/// The jump behind the `ecall` is never executed, nor is what follows: a core fetches on until the `ecall` traps, and this keeps
/// it from lines that are not in its cache. CVA6 would wait for such a line and forget it, each time.
macro_rules! call_in_place {
    () => {
        crate::arch::riscv64::form::noted_call!(".cairn.calls", "", "nop\nnop\n")
    };
    ($load:literal) => {
        crate::arch::riscv64::form::noted_call!(".cairn.calls", $load, "")
    };
}

/// The same as a stub, of which nothing else is in its 16 bytes.
macro_rules! call_stub {
    ($load:literal) => {
        concat!(
            ".balign 16\n",
            crate::arch::riscv64::form::noted_call!(".cairn.stubs", $load, ""),
            ".balign 16\n"
        )
    };
}

macro_rules! noted_call {
    ($notes:literal, $load:literal, $room:literal) => {
        concat!(
            ".pushsection ",
            $notes,
            ", \"\", @progbits\n.dword 77f\n.popsection\n",
            ".option push\n.option norvc\n77:\n",
            $load,
            "\necall\nj .\n",
            $room,
            ".option pop\n",
        )
    };
}

pub(super) use {call_in_place, call_stub, noted_call};
