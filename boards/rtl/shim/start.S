# The machine-mode shim: what firmware would do, in a simulation that has none. It prepares the core, enters
# the image in supervisor mode, and stays behind the traps that cannot be delegated (trap.S).
    .include "layout.inc"

    .section .text.entry, "ax"
    .globl _start
_start:
    lla     t0, machine_trap
    csrw    mtvec, t0
    lla     t0, save_area
    csrw    mscratch, t0

    # One region of physical memory protection, open to all: a core with this unit refuses lower modes otherwise.
    li      t0, -1
    csrw    pmpaddr0, t0
    li      t0, PMP_ALL
    csrw    pmpcfg0, t0

    li      t0, DELEGATED_EXCEPTIONS
    csrw    medeleg, t0
    li      t0, DELEGATED_INTERRUPTS
    csrw    mideleg, t0
    li      t0, 7                               # supervisor mode reads cycle, instret (and time, if there is one)
    csrw    mcounteren, t0
    csrw    mie, zero
    csrw    satp, zero

    li      t0, MSTATUS_MPP
    csrc    mstatus, t0
    li      t0, MSTATUS_MPP_SUPERVISOR
    csrs    mstatus, t0
    li      t0, IMAGE
    csrw    mepc, t0
    csrr    a0, mhartid
    li      a1, 0                               # no device tree: the image knows its board
    mret
