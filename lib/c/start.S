# The two instructions that C cannot say. What else a component needs, the host tool has laid out:
# memory is zeroed and relocated, and a thread begins in `main` with a stack. The jumps to themselves are never
# executed: a core fetches on until an `ecall` traps, and they keep it from lines that are not in its cache. This is the
# form of calls: 16 bytes each, nothing compressed, their addresses noted in a section that is not loaded, by which the
# host tool finds them (loader/src/calls.rs).

        .section .text.cairn, "ax"
        .option norvc

# Calls the portal whose index is in t0. The ecall behaves as a jump to a procedure that returns to
# ra: execution does not go on behind it.
        .balign 16
        .globl  cairn_portal_call
        .type   cairn_portal_call, @function
cairn_portal_call:
        ecall
        j       .
        .balign 16
        .pushsection .cairn.stubs, "", @progbits
        .dword  cairn_portal_call
        .popsection
        .size   cairn_portal_call, . - cairn_portal_call

# Where a server's entry point and a thread's main function return to: portal 0 leaves the frame.
        .balign 16
        .globl  cairn_return_stub
        .type   cairn_return_stub, @function
cairn_return_stub:
        li      t0, 0
        ecall
        j       .
        .balign 16
        .pushsection .cairn.stubs, "", @progbits
        .dword  cairn_return_stub
        .popsection
        .size   cairn_return_stub, . - cairn_return_stub
