# Boot: from the firmware to the scheduler.
#
# The firmware enters in supervisor mode, paging off, at the image's load address. Everything is
# laid out in the image already; what remains is to switch paging on and to enter the scheduler.

    .section .text.boot, "ax"
    .globl nucleus_start
nucleus_start:
    csrw    sie, zero
    lla     s0, NUCLEUS_PARAMETERS              # physical: paging is off

    # The instruction after the write of satp is fetched from a virtual address that is not
    # mapped; the page fault enters stvec, which is where we want to be.
    ld      t0, PARAMETERS_NUCLEUS_OFFSET(s0)
    lla     t1, boot_virtual
    add     t1, t1, t0
    csrw    stvec, t1
    ld      t1, PARAMETERS_BOOT_SPACE(s0)
    sfence.vma
    csrw    satp, t1
    nop
    .balign 4
boot_virtual:
    # The boot's identifier has all bits that the board description promises. A hart that lacks one keeps it
    # zero (privileged manual, section 4.1.11), and two domains could meet in one identifier.
    csrr    t0, satp
    bne     t0, t1, boot_refused
    # No cache operations that drop what others wrote, no pointer masking, no shadow stack: whatever the firmware left
    # there. A hart of before version 1.12 does not have the register; there the write traps to what follows.
    lla     t0, boot_environment
    csrw    stvec, t0
    csrw    SENVCFG, zero
    .balign 4
boot_environment:
    csrw    sip, zero                           # the software interrupt is the only one that can be cleared here
    lla     s0, NUCLEUS_PARAMETERS
    lla     t0, trap_entry
    csrw    stvec, t0                           # direct: one entry for all
    li      t0, SSTATUS_CLEAR                   # user mode next, interrupts and float off, little endian
    csrc    sstatus, t0
    li      t0, 7                               # user mode reads cycle, time, instret
    csrw    scounteren, t0
    ld      tp, PARAMETERS_BOOT_FRAME(s0)
    ld      t1, PARAMETERS_BOOT_PORTAL(s0)
    jr      t1
boot_refused:
    lla     sp, nucleus_stack_top
    tail    identifiers_missing
