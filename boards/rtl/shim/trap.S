# Traps into machine mode: reads of the `time` counter, which neither core has; the firmware calls that the
# nucleus makes; the machine's timer, passed on as the supervisor's.
    .include "layout.inc"

    .section .text.start, "ax"
    .balign 4
    .globl machine_trap
machine_trap:
    csrrw   sp, mscratch, sp
    sd      t0, SAVE_T0(sp)
    sd      t1, SAVE_T1(sp)
    csrr    t0, mcause
    addi    t0, t0, -CAUSE_ILLEGAL
    beqz    t0, illegal
    bltz    t0, timer                           # the only interrupt that is enabled here
    addi    t0, t0, CAUSE_ILLEGAL - CAUSE_SUPERVISOR_CALL
    beqz    t0, supervisor_call
    j       fail

# The time has come: the supervisor's interrupt is pending until it sets the timer again.
timer:
    li      t0, INTERRUPT_TIMER_MACHINE
    csrc    mie, t0
    li      t0, INTERRUPT_TIMER_SUPERVISOR
    csrs    mip, t0

leave:
    ld      t0, SAVE_T0(sp)
    ld      t1, SAVE_T1(sp)
    csrrw   sp, mscratch, sp
    mret

# ------------------------------------------------------------------------ reads of `time`
    # `csrrs rd, time, zero`, whatever rd is
    .equ    READ_TIME, 0xc0102073
    .equ    WITHOUT_RD, 0xfffff07f
illegal:
    csrr    t0, mtval                           # both cores give the instruction here
    li      t1, WITHOUT_RD
    and     t1, t1, t0
    xor     t0, t0, t1                          # rd << 7
    sd      t2, SAVE_T2(sp)
    li      t2, READ_TIME
    bne     t1, t2, pass_on
    csrr    t1, mepc
    addi    t1, t1, 4
    csrw    mepc, t1
    ld      t2, SAVE_T2(sp)
    srli    t0, t0, 4                           # 8 bytes of code for each register
    lla     t1, write_register
    add     t1, t1, t0
    li      t0, TIME
    ld      t0, 0(t0)
    jr      t1

    .balign 8
    .option push
    .option norvc
write_register:
    j       leave                               # zero
    nop
    mv      ra, t0
    j       leave
    csrw    mscratch, t0                        # sp
    j       leave
    .irp    register, gp, tp
    mv      \register, t0
    j       leave
    .endr
    sd      t0, SAVE_T0(sp)
    j       leave
    sd      t0, SAVE_T1(sp)
    j       leave
    .irp    register, t2, s0, s1, a0, a1, a2, a3, a4, a5, a6, a7, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    mv      \register, t0
    j       leave
    .endr
    .irp    register, t3, t4, t5, t6
    mv      \register, t0
    j       leave
    .endr
    .option pop

# Another illegal instruction is the supervisor's to handle, as if it had been delegated (privileged
# manual, sections 3.1.6.1 and 4.1.1).
pass_on:
    ld      t2, SAVE_T2(sp)
    csrr    t0, mepc
    csrw    sepc, t0
    csrr    t0, mtval
    csrw    stval, t0
    li      t0, CAUSE_ILLEGAL
    csrw    scause, t0
    csrr    t0, stvec
    csrw    mepc, t0
    csrr    t0, mstatus
    li      t1, MSTATUS_SPP | MSTATUS_SPIE
    csrc    mstatus, t1
    srli    t1, t0, 3                           # MPP (bit 11, one of two modes) to SPP (bit 8)
    andi    t1, t1, MSTATUS_SPP
    csrs    mstatus, t1
    andi    t1, t0, MSTATUS_SIE
    slli    t1, t1, 4                           # SIE, to SPIE
    csrs    mstatus, t1
    csrci   mstatus, MSTATUS_SIE
    li      t1, MSTATUS_MPP
    csrc    mstatus, t1
    li      t1, MSTATUS_MPP_SUPERVISOR
    csrs    mstatus, t1
    j       leave

# ------------------------------------------------------------------------ calls to the firmware
# a7 is the extension, a6 its function; t0 and t1 come back as they were, a0 and a1 with the result.
supervisor_call:
    csrr    t1, mepc
    addi    t1, t1, 4
    csrw    mepc, t1
    li      t0, SBI_TIME
    beq     a7, t0, set_timer
    li      t0, SBI_PUTCHAR
    beq     a7, t0, put_character
    li      t0, SBI_RESET
    beq     a7, t0, reset
    beqz    a7, set_timer                       # legacy calls, of a Linux on the bare core
    li      t0, SBI_SHUTDOWN
    beq     a7, t0, shut_down
    li      a0, SBI_NOT_SUPPORTED
    li      a1, 0
    j       leave

set_timer:
    li      t0, TIME_COMPARE
    sd      a0, 0(t0)
    li      t0, INTERRUPT_TIMER_SUPERVISOR
    csrc    mip, t0
    li      t0, INTERRUPT_TIMER_MACHINE
    csrs    mie, t0
    li      a0, 0
    li      a1, 0
    j       leave

put_character:
    li      t0, SERIAL
    sb      a0, 0(t0)
    li      a0, 0
    j       leave

# The simulation cannot start again, so every reset ends it; a reason (a1) is a failure.
shut_down:
    li      a1, 0
reset:
    bnez    a1, fail
    li      t0, FINISHER
    li      t1, FINISHER_PASS
    sw      t1, 0(t0)
1:  j       1b

# What must not happen, and the end of a run that failed.
fail:
    li      t0, FINISHER
    li      t1, FINISHER_FAIL
    sw      t1, 0(t0)
1:  j       1b

    .section .data, "aw"
    .balign 64
    .globl save_area
save_area:
    .skip   SAVE_SIZE
