# Components in the kernel domain: into them, back from them, and traps of theirs (docs/portals.md, "Into the kernel domain").
#
# While such a component runs, `tp` and `sscratch` are the header of the topmost frame, interrupts are on, and the page
# table is that of the domain in user mode that the thread came from. Portals run with interrupts off: they are set here.

    .section .text.kernel, "ax"

    .balign 16
# To t2, with ra, which is `kernel_return`: a portal finds this 8 bytes before that.
kernel_enter:
    csrsi   sstatus, SSTATUS_SIE
    jr      t2
# Where a component returns to: as index 0 does in the trap entry.
    .globl kernel_return
kernel_return:
    csrci   sstatus, SSTATUS_SIE
    ld      t1, FRAME_RETURN(tp)
    jr      t1
    .if kernel_return - kernel_enter != 8
    .error "portals find the way in by the way back"
    .endif

# A trap from privileged mode, with its status in t2. Components in the kernel domain alone have interrupts on there, so SPIE
# tells them from portals and the nucleus (privileged manual section 4.1.1).
trap_privileged:
    andi    t1, t2, SSTATUS_SPIE
    beqz    t1, trap_fault

# `tp` is the topmost frame. Compiled code does not touch `tp`, and whatever it was, the thread goes on with the frame. Portal
# code finds SPP and SUM zero.
trap_kernel:
    csrw    sscratch, tp
    li      t1, SSTATUS_SPP | SSTATUS_SUM
    csrc    sstatus, t1
    j       trap_save
