stencil_own_domain:
    addi    a1, zero, %lo(domain)
stencil_own_thread:
    slli    a1, tp, 64 - THREAD_INDEX_TOP
    srli    a1, a1, 64 - THREAD_INDEX_TOP + 12
stencil_own_time:
    csrr    a1, time
stencil_short_circuit_leave:
    li      a0, 0
    csrw    sepc, ra
    csrrw   tp, sscratch, tp
    leave

# One for all domains; where the caller runs, its block says.
stencil_no_portal:
    ld      t2, FRAME_TABLE(tp)
    addi    a0, zero, ERROR_NO_PORTAL
    ld      t2, FIELD_KERNEL_ENTRIES(t2)
    branch_if_not_zero t2, to_in_kernel
    li      t1, 0
    csrw    sepc, ra
    csrrw   tp, sscratch, tp
    sret
stencil_no_portal_in_kernel:
    csrsi   sstatus, SSTATUS_SIE
    ret
stencil_end:
