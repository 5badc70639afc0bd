# The trap entry: every way into privileged mode. It dispatches and knows no service.
#
# From user mode, sscratch is the header of the topmost frame of the current thread (abi/thread.rs);
# the space above the header is free. Portal code keeps it so: it swaps tp and sscratch back
# before `sret`. While privileged code touches user memory, sscratch equals tp, so that a fault
# there finds the frame as well.

    .section .text.trap, "ax"

# The jump is never executed: see the stencils of portals, which end in the same way.
.macro leave
    sret
    j       .
.endm

    .balign 64
    .skip   16                                  # of 0, 16 and 48 bytes, the one with the fewest cycles on CVA6
    .globl trap_entry
trap_entry:
    csrrw   tp, sscratch, tp
    sd      t1, FRAME_SCRATCH(tp)
    csrr    t1, scause
    addi    t1, t1, -8                          # 8: ecall from user mode
    bnez    t1, trap_other

    # A portal call. t0 is the index; only t1, which is saved, changes before the portal: for a process the others are as good as any.
    beqz    t0, trap_return_portal
trap_bound:
    sltiu   t1, t0, PORTALS_DESCRIBED           # the host tool writes how many entries the system's tables have
    beqz    t1, trap_no_portal
    ld      t1, FRAME_TABLE(tp)
    slli    t0, t0, 3                           # portals find it multiplied
    add     t1, t1, t0
    ld      t1, 0(t1)                           # every entry is filled: an unused one with `no portal`
    jr      t1

    # Index 0: whoever comes back goes on with the code that the topmost frame names.
trap_return_portal:
    ld      t1, FRAME_RETURN(tp)
    jr      t1

    # Entry 0, which no index reaches: `no portal`, or what a process' index leads to, whatever it is.
trap_no_portal:
    ld      t1, FRAME_TABLE(tp)
    ld      t1, 0(t1)
    jr      t1

    # An exception or an interrupt: save everything, then through the domain's own entry.
trap_other:
    sd      t2, FRAME_SCRATCH + 8(tp)
    csrr    t2, sstatus
    andi    t1, t2, SSTATUS_SPP
    bnez    t1, trap_privileged
    # t2 is the status of who is saved. SPP and SUM are zero in it: so is what portal code finds.
trap_save:
    addi    tp, tp, TRAP_FRAME
    sd      t2, TRAP_STATUS(tp)
    # t1 and t2 are in their places: FRAME_SCRATCH of the frame below.
    sd      ra, TRAP_STATE_X + 5*8(tp)
    sd      sp, TRAP_STATE_X + 6*8(tp)
    sd      gp, TRAP_STATE_X + 2*8(tp)
    sd      t0, TRAP_STATE_X + 4*8(tp)
    csrr    t2, sscratch
    sd      t2, TRAP_STATE_X + 3*8(tp)          # the user's tp
    sd      s0, TRAP_STATE_X + 7*8(tp)
    sd      s1, TRAP_STATE_X + 8*8(tp)
    sd      a0, TRAP_STATE_X + 9*8(tp)
    sd      a1, TRAP_STATE_X + 10*8(tp)
    sd      a2, TRAP_STATE_X + 11*8(tp)
    sd      a3, TRAP_STATE_X + 12*8(tp)
    sd      a4, TRAP_STATE_X + 13*8(tp)
    sd      a5, TRAP_STATE_X + 14*8(tp)
    sd      a6, TRAP_STATE_X + 15*8(tp)
    sd      a7, TRAP_STATE_X + 16*8(tp)
    sd      s2, TRAP_STATE_X + 17*8(tp)
    sd      s3, TRAP_STATE_X + 18*8(tp)
    sd      s4, TRAP_STATE_X + 19*8(tp)
    sd      s5, TRAP_STATE_X + 20*8(tp)
    sd      s6, TRAP_STATE_X + 21*8(tp)
    sd      s7, TRAP_STATE_X + 22*8(tp)
    sd      s8, TRAP_STATE_X + 23*8(tp)
    sd      s9, TRAP_STATE_X + 24*8(tp)
    sd      s10, TRAP_STATE_X + 25*8(tp)
    sd      s11, TRAP_STATE_X + 26*8(tp)
    sd      t3, TRAP_STATE_X + 27*8(tp)
    sd      t4, TRAP_STATE_X + 28*8(tp)
    sd      t5, TRAP_STATE_X + 29*8(tp)
    sd      t6, TRAP_STATE_X + 30*8(tp)
    csrr    t1, sie
    csrr    t2, sepc
    sd      t1, TRAP_INTERRUPTS(tp)
    sd      t2, TRAP_SEPC(tp)
    csrr    t2, satp
    sd      t2, TRAP_SPACE(tp)
    lla     t2, trap_return
    sd      t2, FRAME_RETURN(tp)
    ld      t2, FRAME_TABLE - TRAP_FRAME(tp)    # of the domain that was running
    csrr    t1, scause
    andi    t3, t1, 15
    slli    t3, t3, 3
    add     t2, t2, t3
    bltz    t1, 1f                              # the sign bit tells an interrupt
    ld      t1, EXCEPTION_ENTRIES(t2)
    jr      t1
1:  ld      t1, INTERRUPT_ENTRIES(t2)
    jr      t1

    # The stack queue of a call is empty: as if the `ecall` had been an exception, whose value is
    # the queue. When the thread goes on, it executes the `ecall` again.
    .globl service_stack_wait
service_stack_wait:
    csrw    stval, t2
    csrr    t2, sstatus
    sd      zero, FRAME_SCRATCH(tp)
    sd      zero, FRAME_SCRATCH + 8(tp)
    srli    t0, t0, 3
    li      t3, 0
    li      t4, 0
    j       trap_save

    # A fault of a portal or the nucleus is lawful only where portals copy user memory.
trap_fault:
    csrr    t1, sepc
    lla     t2, copy_begin
    bltu    t1, t2, 1f
    lla     t2, copy_end
    bgeu    t1, t2, 1f
    ld      t1, FRAME_SCRATCH(tp)
    j       copy_fault
1:  j       nucleus_unreachable

# ---------------------------------------------------------------------------- trap return
# What a trap frame names as its return portal; the words before it are as a return portal's.

    .balign 16
    .skip   8
    .dword  trap_dead                           # LITERAL_RETURN (-24)
    .dword  nucleus_unreachable                 # LITERAL_ABORT  (-16)
    .dword  MARK_RETURN                         # LITERAL_MARK   (-8)
    .globl trap_return
trap_return:
    ld      t0, TRAP_SPACE(tp)
    csrw    satp, t0
trap_return_entered:
    ld      t0, TRAP_SEPC(tp)
trap_return_fenced:
    csrw    sepc, t0
    ld      t0, TRAP_STATUS(tp)
    # Ends a reservation: the thread may have been interrupted between its `lr` and `sc`, and the hart may hold one of
    # another thread since. If it is one of this word, the frame that ends here gets a zero, which nobody reads. It is a
    # word that no trap reads: some caches forget the lines of its set.
    csrw    sstatus, t0
    addi    t0, tp, FRAME_ACTIVATION
    sc.d    zero, zero, (t0)
    ld      t0, TRAP_INTERRUPTS(tp)
    csrw    sie, t0
    ld      t0, TRAP_STATE_X + 3*8(tp)
    csrw    sscratch, t0
    ld      ra, TRAP_STATE_X + 5*8(tp)
    ld      sp, TRAP_STATE_X + 6*8(tp)
    ld      gp, TRAP_STATE_X + 2*8(tp)
    ld      t0, TRAP_STATE_X + 4*8(tp)
    ld      t1, TRAP_STATE_X + 0*8(tp)
    ld      t2, TRAP_STATE_X + 1*8(tp)
    ld      s0, TRAP_STATE_X + 7*8(tp)
    ld      s1, TRAP_STATE_X + 8*8(tp)
    ld      a0, TRAP_STATE_X + 9*8(tp)
    ld      a1, TRAP_STATE_X + 10*8(tp)
    ld      a2, TRAP_STATE_X + 11*8(tp)
    ld      a3, TRAP_STATE_X + 12*8(tp)
    ld      a4, TRAP_STATE_X + 13*8(tp)
    ld      a5, TRAP_STATE_X + 14*8(tp)
    ld      a6, TRAP_STATE_X + 15*8(tp)
    ld      a7, TRAP_STATE_X + 16*8(tp)
    ld      s2, TRAP_STATE_X + 17*8(tp)
    ld      s3, TRAP_STATE_X + 18*8(tp)
    ld      s4, TRAP_STATE_X + 19*8(tp)
    ld      s5, TRAP_STATE_X + 20*8(tp)
    ld      s6, TRAP_STATE_X + 21*8(tp)
    ld      s7, TRAP_STATE_X + 22*8(tp)
    ld      s8, TRAP_STATE_X + 23*8(tp)
    ld      s9, TRAP_STATE_X + 24*8(tp)
    ld      s10, TRAP_STATE_X + 25*8(tp)
    ld      s11, TRAP_STATE_X + 26*8(tp)
    ld      t3, TRAP_STATE_X + 27*8(tp)
    ld      t4, TRAP_STATE_X + 28*8(tp)
    ld      t5, TRAP_STATE_X + 29*8(tp)
    ld      t6, TRAP_STATE_X + 30*8(tp)
    addi    tp, tp, -TRAP_FRAME
    csrrw   tp, sscratch, tp
    leave

# Without ASIDs all domains have the ASID 0. What is global, the kernel's half, stays (privileged manual section 4.2.1).
trap_return_fence:
    li      t0, 0
    sfence.vma zero, t0
    ld      t0, TRAP_SEPC(tp)
    j       trap_return_fenced

# Where an index is compared with the entries of a table, and the instruction with zero of them.
    .section .rodata.portal_bounds, "a"
    .balign 8
    .globl portal_bounds
portal_bounds:
    .dword  trap_bound
    .dword  0x0002b313
    .dword  kernel_call_bound
    .dword  0x0002b313
    .globl portal_bounds_end
portal_bounds_end:
    .section .text.trap, "ax"

# What is different in the nucleus without ASIDs: addresses, and the instructions that the host tool writes there. Here,
# `j trap_return_fence`, of the form J with a distance below 2048.
    .section .rodata.without_asids, "a"
    .balign 8
    .globl changes_without_asids
changes_without_asids:
    .dword  trap_return_entered
    .dword  0x6f | (trap_return_fence - trap_return_entered) << 20
    .globl changes_without_asids_end
changes_without_asids_end:
    .section .text.trap, "ax"

# The interrupted domain is dead: the frame below learns that its callee is. It finds the page table of who was interrupted, and
# `gp`: frames of calls inside the kernel domain do not hold them.
    .balign 16
    .dword  trap_dead                           # LITERAL_ABORT
    .dword  MARK_DEAD                           # LITERAL_MARK
trap_dead:
    li      t0, INTERRUPTS_ON
    csrw    sie, t0
    ld      t0, TRAP_SPACE(tp)
    ld      gp, TRAP_STATE_X + 2*8(tp)
    csrw    satp, t0
    addi    tp, tp, -TRAP_FRAME
callee_dead:
    li      a0, ERROR_DEAD
    li      a1, 0
    ld      t1, FRAME_RETURN(tp)
    ld      t2, LITERAL_ABORT(t1)
    jr      t2
