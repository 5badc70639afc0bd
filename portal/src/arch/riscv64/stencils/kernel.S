# ---------------------------------------------------------------------------- into the kernel domain

# The thread's own stack there.
stencil_stack_kernel:
    srli    t3, tp, 12
    slli    t3, t3, 12
    sd      sp, %lo(state)(tp)
    ld      sp, FIELD_KERNEL_STACK(t3)

# `m`: the callee has `tp` for its frame, as with `p`.
stencil_save_thread_pointer:
    csrrw   t2, sscratch, tp
    sd      t2, %lo(thread_pointer)(tp)

# The nucleus lets interrupts in (nucleus/src/arch/riscv64/kernel.S).
stencil_enter_kernel:
    ld      t2, LITERAL_ENTRY(t1)
    ld      ra, LITERAL_STUB(t1)
    jalr    zero, -8(ra)

# ---------------------------------------------------------------------------- back from it

# The callee kept what the C convention preserves, but `tp` was its frame. The page table is the caller's still.
stencil_pop_kernel:
    addi    t2, tp, %lo(frame_size_negative)
    csrw    sepc, ra
    csrw    sscratch, t2
    ld      tp, %lo(thread_pointer)(tp)
