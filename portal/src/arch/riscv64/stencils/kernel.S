# ---------------------------------------------------------------------------- into the kernel domain

stencil_keep_stack:
    sd      sp, %lo(state)(tp)

# The thread's own stack there.
stencil_stack_kernel:
    srli    t3, tp, 12
    slli    t3, t3, 12
    ld      sp, FIELD_KERNEL_STACK(t3)

# `m`: the callee has `tp` for its frame, as with `p`.
stencil_save_thread_pointer:
    csrrw   t2, sscratch, tp
    sd      t2, %lo(thread_pointer)(tp)

# The nucleus lets interrupts in (nucleus/src/arch/riscv64/kernel.S).
stencil_enter_kernel:
    ld      t2, LITERAL_ENTRY(t1)
    ld      ra, LITERAL_STUB(t1)
    jalr    zero, KERNEL_ENTER(ra)

# Inside it, with nothing to do on the way back: the nucleus takes the frame off.
stencil_enter_inside_kernel:
    ld      t2, LITERAL_ENTRY(t1)
    ld      t3, LITERAL_STUB(t1)
    jalr    zero, KERNEL_ENTER_INSIDE(t3)

# After a trap the frame is in `tp` only.
stencil_note_frame:
    csrw    sscratch, tp

# Who runs to completion keeps interrupts out.
stencil_enter_to_completion:
    ld      t2, LITERAL_ENTRY(t1)
    ld      ra, LITERAL_STUB(t1)
    jr      t2

# Windows are read and written in place, by the callee's copy routine. The frame is marked if it cannot reach its memory
# (nucleus/src/arch/riscv64/kernel.S); nothing else is in this word of the frame of such a callee.
stencil_windows_unmarked:
    sd      zero, FRAME_ACTIVATION(tp)

# Below the kernel's half: pointer and length are, so their sum does not wrap. What of it the caller has itself, its page
# table says when the routine reads or writes there.
.macro window_in_place pointer, length, position
stencil_window_in_place_\position:
    or      t2, \pointer, \length
    srli    t2, t2, USER_ADDRESS_BITS
    li      t3, WINDOW_MAXIMUM
    branch_if_not_zero t2, to_bad_pointer
    branch_if_below t3, \length, to_too_large
.endm
    window_in_place a0, a1, 0
    window_in_place a1, a2, 1
    window_in_place a2, a3, 2
    window_in_place a3, a4, 3
    window_in_place a4, a5, 4
    window_in_place a5, a6, 5
    window_in_place a6, a7, 6

stencil_too_large:
    addi    t3, zero, ERROR_TOO_LARGE
    j       to_refused
stencil_bad_pointer:
    addi    t3, zero, ERROR_BAD_POINTER

# ---------------------------------------------------------------------------- back from it

stencil_windows_check:
    ld      t2, FRAME_ACTIVATION(tp)
    branch_if_not_zero t2, to_bad_pointer
# The abort entry follows.
stencil_out_of_reach:
    addi    a0, zero, ERROR_BAD_POINTER

# The callee kept what the C convention preserves, but `tp` was its frame. The page table is the caller's still.
stencil_pop_kernel:
    addi    t2, tp, %lo(frame_size_negative)
    csrw    sepc, ra
    csrw    sscratch, t2
    ld      tp, %lo(thread_pointer)(tp)

# ---------------------------------------------------------------------------- out of the kernel domain
#
# Such a caller turns interrupts off and jumps to the portal, with its address in t1 (abi/src/arch/riscv64/call.rs).

# What is called in the kernel domain, by this call or below it, begins where this caller stands: half of the stack has to be left,
# which is enough for each of the system's components.
stencil_kernel_stack_room:
    slli    t2, sp, 63 - KERNEL_STACK_HALF_BIT
    branch_if_not_negative t2, to_overflow

# What is called below a callee in a domain begins there.
stencil_keep_kernel_stack:
    srli    t3, tp, 12
    slli    t3, t3, 12
    ld      t4, FIELD_KERNEL_STACK(t3)
    sd      sp, FIELD_KERNEL_STACK(t3)
    sd      t4, %lo(kernel_stack)(tp)

stencil_save_space:
    csrr    t2, satp
    sd      t2, %lo(space)(tp)

# ---------------------------------------------------------------------------- back into it

stencil_restore_space:
    ld      t2, %lo(space)(tp)
    csrw    satp, t2

stencil_restore_kernel_stack:
    ld      t4, %lo(kernel_stack)(tp)
    srli    t3, tp, 12
    slli    t3, t3, 12
    sd      t4, FIELD_KERNEL_STACK(t3)

# Between two in the kernel domain the callee kept the registers.
stencil_pop_in_kernel:
    addi    tp, tp, %lo(frame_size_negative)
    csrw    sepc, ra
    csrw    sscratch, tp

# Lets interrupts in and leaves by one instruction: no thread is stopped in a portal.
.macro leave_to_kernel
    li      t2, SSTATUS_SPP | SSTATUS_SPIE
    csrs    sstatus, t2
    leave
.endm
stencil_leave_to_kernel:
    leave_to_kernel

# ---------------------------------------------------------------------------- errors of its callers

# Nothing was pushed but the pointer moved.
stencil_overflow_in_kernel:
    addi    tp, tp, %lo(frame_size_negative)
    addi    a0, zero, ERROR_INVOCATION_OVERFLOW
    csrw    sepc, ra
    leave_to_kernel

# The ends of short circuits, which stay for good; of who runs to completion, without the first.
stencil_short_circuit_in_kernel:
    csrsi   sstatus, SSTATUS_SIE
    li      a0, 0
    ret
stencil_no_portal_to_completion:
    addi    a0, zero, ERROR_NO_PORTAL
    ret
