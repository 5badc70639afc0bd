# Components in the kernel domain: into them, back from them, and traps of theirs (docs/portals.md, "Into the kernel domain").
#
# While such a component runs, `tp` and `sscratch` are the header of the topmost frame, interrupts are on, and the page
# table is that of the domain in user mode that the thread came from. Portals run with interrupts off: they are set here.

    .section .text.kernel, "ax"

    .balign 16
# To t2, with ra, which is `kernel_return`: portals find this and `kernel_enter_inside` by their distances from that.
kernel_enter:
    csrsi   sstatus, SSTATUS_SIE
    jr      t2
# Where a component returns to: as index 0 does in the trap entry.
    .globl kernel_return
kernel_return:
    csrci   sstatus, SSTATUS_SIE
    ld      t1, FRAME_RETURN(tp)
    jr      t1
# As `kernel_enter`, for a call inside the kernel domain on whose way back only its frame is taken off. The callee returns behind
# the jump, with interrupts on: its thread can be stopped before each instruction, and is the callee's until `sscratch` names the
# frame below.
kernel_enter_inside:
    csrsi   sstatus, SSTATUS_SIE
    jalr    t2
    .globl kernel_inside_return
kernel_inside_return:
    ld      ra, FRAME_RA(tp)
    addi    t2, tp, -KERNEL_CALL_FRAME
    csrw    sscratch, t2
    mv      tp, t2
    ret
# The caller has died (`unwind`): the frame below learns that its callee has.
    .globl kernel_inside_dead
kernel_inside_dead:
    csrci   sstatus, SSTATUS_SIE
    j       callee_dead
    .if (kernel_enter - kernel_return - KERNEL_ENTER) | (kernel_enter_inside - kernel_return - KERNEL_ENTER_INSIDE)
    .error "portals find the ways in by the way back"
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

# As `service_stack_wait`; when the thread goes on, it calls what its index leads to then.
    .globl service_stack_wait_in_kernel
service_stack_wait_in_kernel:
    csrw    stval, t2
    li      t2, STACK_WAIT
    csrw    scause, t2
    ld      t0, LITERAL_INDEX(t1)
    lla     t2, kernel_call
    csrw    sepc, t2
    sd      zero, FRAME_SCRATCH(tp)
    sd      zero, FRAME_SCRATCH + 8(tp)
    csrr    t2, sstatus
    li      t3, SSTATUS_SPP | SSTATUS_SPIE
    or      t2, t2, t3
    li      t3, 0
    li      t4, 0
    j       trap_save

# A call from there whose index is in t0, as the trap entry finds its portal. The table has a word that leads here, too: t0 is no
# index any more behind this, so that who calls by the index of that word finds no portal, and is not here for ever, with
# interrupts off.
    .globl kernel_call
kernel_call:
    csrci   sstatus, SSTATUS_SIE
kernel_call_bound:
    sltiu   t1, t0, PORTALS_DESCRIBED
    beqz    t1, 1f
    ld      t1, FRAME_TABLE(tp)
    slli    t0, t0, 3
    add     t0, t0, t1
    ld      t1, 0(t0)
    jr      t1
1:  li      a0, ERROR_NO_PORTAL
    csrsi   sstatus, SSTATUS_SIE
    ret

# The privileged portals of components in the kernel domain, which turned interrupts off. Who runs to completion leaves them so.
.macro leave_to_completion
    ret
.endm
.macro leave_in_kernel
    csrsi   sstatus, SSTATUS_SIE
    ret
.endm
.macro in_kernel function, leave
    .globl kernel_\function
kernel_\function:
    call_rust \function
    \leave
.endm
    in_kernel set_up_thread, leave_to_completion
    in_kernel set_timer_by_firmware, leave_to_completion
    in_kernel unwind, leave_in_kernel
    in_kernel divert, leave_in_kernel
    in_kernel refuse, leave_in_kernel
    in_kernel set_alive, leave_in_kernel
    in_kernel firmware, leave_in_kernel

    .globl kernel_set_timer
kernel_set_timer:
    csrw    STIMECMP, a0
    li      a0, 0
    leave_to_completion

    .globl kernel_fence_translation
kernel_fence_translation:
    fence_translation
    leave_in_kernel

    .globl kernel_fence_instruction
kernel_fence_instruction:
    fence.i
    li      a0, 0
    leave_in_kernel

    .globl kernel_wait
kernel_wait:
    wfi
    li      a0, 0
    leave_in_kernel

# A load or store of a component in the kernel domain that cannot be done; the trap frame is complete. In its copy routine it is
# what its caller passed: the callee's frame below is marked, where those in user mode have their activation, for the return
# portal, which answers, and the routine ends. The words lie in the instance's block, which no component writes.
    .globl kernel_access_fault
kernel_access_fault:
    ld      t2, FRAME_TABLE - TRAP_FRAME(tp)
    ld      t1, TRAP_SEPC(tp)
    ld      t3, FIELD_COPY_BEGIN(t2)
    ld      t4, FIELD_COPY_END(t2)
    bltu    t1, t3, 1f
    bgeu    t1, t4, 1f
    ld      t3, FIELD_COPY_LANDING(t2)
    sd      t3, FRAME_ACTIVATION - TRAP_FRAME(tp)
    sd      t3, TRAP_SEPC(tp)
    j       trap_return
1:  ld      t1, FAULT_ENTRY(t2)
    jr      t1
