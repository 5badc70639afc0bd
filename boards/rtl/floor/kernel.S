# Supervisor mode: the trap entries, each the least that does its work, and the single instructions.
    .include "layout.inc"
    .include "measure.inc"
    .option norelax
    .option norvc

    .section .text.kernel, "ax"
    .equ    LINK_TO_RUN, KERNEL_TEXT_AT - (MEMORY + KERNEL_TEXT)

# The jump is never executed, only fetched: CVA6 fetches on behind `sret`, and waits for a line that is not in its
# cache each time.
.macro leave
    sret
    j       .
.endm

# Return behind the `ecall`.
    .balign 64
return_here:
    .equ    entry_return, return_here + LINK_TO_RUN
    .globl  entry_return
    csrr    t1, sepc
    addi    t1, t1, 4
    csrw    sepc, t1
    leave

# A call (t0 is not zero) or return (zero) to the other domain: checks the cause, saves and loads stack
# pointer and return address, and leaves and finds a frame.
.macro switch name, fence:vararg
    .balign 64
\name\()_here:
    .equ    \name, \name\()_here + LINK_TO_RUN
    .globl  \name
    csrrw   tp, sscratch, tp
    csrr    t1, scause
    addi    t1, t1, -8                          # 8: ecall from user mode
    bnez    t1, 2f
    beqz    t0, 1f
    sd      ra, FRAME_RA(tp)
    sd      sp, FRAME_SP(tp)
    ld      t1, FRAME_CALLEE_SATP(tp)
    ld      t2, FRAME_CALLEE_ENTRY(tp)
    ld      sp, FRAME_CALLEE_SP(tp)
    addi    tp, tp, FRAME_SIZE
    csrw    satp, t1
    \fence
    csrw    sepc, t2
    csrrw   tp, sscratch, tp
    leave
1:  addi    tp, tp, -FRAME_SIZE
    ld      ra, FRAME_RA(tp)
    ld      sp, FRAME_SP(tp)
    ld      t1, FRAME_CALLER_SATP(tp)
    csrw    satp, t1
    \fence
    csrw    sepc, ra
    csrrw   tp, sscratch, tp
    leave
2:  ebreak
.endm
    switch  entry_switch
    switch  entry_switch_fence, sfence.vma
    switch  entry_switch_asid, sfence.vma zero, a7

.macro kernel name, instructions:vararg
    .balign 64
\name\()_here:
    .equ    \name, \name\()_here + LINK_TO_RUN
    .globl  \name
    li      a0, FIRST_SATP
    li      a1, KERNEL_DATA_AT
    li      a2, 1
    lla     a3, 9f
    li      t0, 1 << 8                          # SPP: sret stays in supervisor mode
    measure "csrw sepc, a3; csrs sstatus, t0", \instructions
    ebreak
.endm
    kernel  kernel_nothing
    kernel  kernel_satp, csrw satp, a0
    kernel  kernel_sscratch, csrrw a4, sscratch, a4
    kernel  kernel_sepc, csrw sepc, a3
    kernel  kernel_sret, sret
    kernel  kernel_fence_page, sfence.vma a1
    kernel  kernel_fence_asid, sfence.vma zero, a2
    kernel  kernel_fence_all, sfence.vma
    kernel  kernel_fence_i, fence.i
    kernel  kernel_call, jal return_at_once
return_at_once:
    ret

    .section .data.kernel, "aw"
    .dword  0, 0                                # the measuring domain's frame: ra, sp
    .dword  FIRST_SATP, SECOND_SATP, SECOND_TEXT_AT, 0
    .skip   FRAME_SIZE
