# ---------------------------------------------------------------------------- faults of a range
#
# The entry of a domain's page faults. The trap entry has saved a trap frame, whose header is in tp: all registers are free, and the
# way back is that of the trap. Faults outside of the range go on by the code that comes next, at last by the upcall.

stencil_fault_range:
    csrr    t2, stval
    ld      t3, LITERAL_RANGE(t1)
    ld      t4, LITERAL_RANGE_SIZE(t1)
    sub     t3, t2, t3
    branch_if_not_below t3, t4, to_elsewhere
    addi    tp, tp, %lo(frame_size)
    slli    t4, tp, 63 - INVOCATION_LIMIT_BIT
    branch_if_negative t4, to_overflow

# The frame is that of a call which returns to the instruction that faulted. So what sends a thread away from its callee, or makes it
# fault when it comes back, does so here.
stencil_fault_frame:
    ld      t4, LITERAL_RETURN(t1)
    ld      t5, LITERAL_TABLE(t1)
    ld      ra, %lo(frame_size_negative + TRAP_SEPC)(tp)
    csrr    t6, scause
    sd      t4, FRAME_RETURN(tp)
    sd      t5, FRAME_TABLE(tp)
    sd      ra, FRAME_RA(tp)
    ld      t4, LITERAL_RANGE_ENTRIES(t1)
    srli    t5, t3, 12
    slli    t5, t5, 3                           # 8 bytes of entry for 4096 of memory
    add     t4, t4, t5
    sd      t2, %lo(state)(tp)
    sd      t6, %lo(state + 8)(tp)
    sd      t4, %lo(state + 16)(tp)

# As a method `c=tiiii` finds them: no portal of a table has the index 0. The lowest bits of the cause are the rights that were lacking: 0,
# execute; 1, read; 3, write.
stencil_fault_arguments:
    ld      t4, %lo(frame_size_negative + FRAME_TABLE - TRAP_FRAME)(tp)
    ld      a3, LITERAL_CONSTANT(t1)
    li      a0, 0
    li      a1, 0
    slli    a2, tp, 64 - THREAD_INDEX_TOP
    srli    a2, a2, 64 - THREAD_INDEX_TOP + 12
    addi    a4, t3, 0
    andi    a5, t6, 3
    ld      a6, FIELD_GENERATION(t4)
    li      a7, 0

stencil_fault_stack:
    ld      t4, LITERAL_QUEUE(t1)
    ld      t5, QUEUE_FIRST(t4)
    branch_if_zero t5, to_stack_wait
    ld      ra, ACTIVATION_NEXT(t5)
    ld      sp, ACTIVATION_STACK(t5)
    sd      t5, FRAME_ACTIVATION(tp)
    sd      ra, QUEUE_FIRST(t4)

stencil_fault_overflow:
    addi    tp, tp, %lo(frame_size_negative)
stencil_fault_elsewhere:
    ld      t1, LITERAL_ELSE(t1)
    jr      t1

# The thread waits in the scheduler for a stack. It stands at no call, which could be answered: so the frame stays, and leads back to
# the instruction, which faults again.
stencil_fault_wait:
    ld      t2, LITERAL_AGAIN(t1)
    ld      t3, %lo(frame_size_negative + FRAME_TABLE - TRAP_FRAME)(tp)
    sd      t2, FRAME_RETURN(tp)
    csrw    stval, t4
    li      t2, STACK_WAIT
    csrw    scause, t2
    ld      t1, EXCEPTION_ENTRIES + 8*STACK_WAIT(t3)
    jr      t1
stencil_fault_again:
    ld      t2, FRAME_RA(tp)
    addi    tp, tp, %lo(frame_size_negative)
    sd      t2, TRAP_SEPC(tp)
    ld      t1, FRAME_RETURN(tp)
    jr      t1

# ---------------------------------------------------------------------------- back from a pager

# The reply in a1 is the address of a page of the pager's own, and in its lowest bits the rights. The page has to be in the pager's region,
# mapped, and its own to give away; the client's entry must not be that of a page which is lost. Whatever was mapped there before is not
# any more.
stencil_fault_map:
    ld      t2, LITERAL_SOURCE(t1)
    ld      t3, LITERAL_SOURCE_SIZE(t1)
    ld      t4, LITERAL_SOURCE_ENTRY(t1)
    sub     t2, a1, t2
    branch_if_not_zero a0, to_refused
    branch_if_not_below t2, t3, to_refused
    srli    t2, t2, 12
    slli    t2, t2, 3
    add     t2, t2, t4
    ld      t5, %lo(state + 16)(tp)
    ld      t2, 0(t2)
    ld      t6, 0(t5)
    andi    t3, t2, PTE_PAGED
    addi    t3, t3, -PTE_PAGED
    branch_if_not_zero t3, to_refused
    andi    t6, t6, PTE_LOST
    branch_if_not_zero t6, to_refused
    andi    t3, a1, %lo(rights)
    andi    t2, t2, PTE_PAGED_KEPT
    slli    t3, t3, 1
    or      t2, t2, t3
    ori     t2, t2, PTE_PAGED_GIVEN
    sd      t2, 0(t5)
    # `satp` is the client's: cores that compare its identifier, whatever the operands, do what they should.
    ld      t3, %lo(state)(tp)
    sfence.vma t3, zero

# Where the trap goes on.
stencil_fault_trap:
    ld      t0, %lo(frame_size_negative + FRAME_RETURN)(tp)

# To t0, with the trap frame on top. The thread goes on where its frame says: it may have been moved (`divert`).
stencil_fault_pop:
    ld      t2, FRAME_RA(tp)
    addi    tp, tp, %lo(frame_size_negative)
    sd      t2, TRAP_SEPC(tp)
stencil_fault_go_on:
    addi    t1, t0, 0
    jr      t1

# As if there were no pager.
stencil_fault_refused:
    ld      t2, %lo(state)(tp)
    ld      t3, %lo(state + 8)(tp)
    ld      t0, LITERAL_ELSE(t1)
    csrw    stval, t2
    csrw    scause, t3
    j       to_finish
stencil_jump_to_refused:
    j       to_refused

# ---------------------------------------------------------------------------- faults that go through interposers
#
# The frame is that of a fault, but that it keeps the client's life above the cause, and its table. Each call on behalf of the client
# copies this out of the frame below, so what it is about nobody can change; and the innermost one, to the pager, maps the page
# on its way back. So an interposer sees the answer when there is nothing left to change about it.
stencil_fault_between:
    ld      a0, LITERAL_INNER(t1)
    slli    t5, a6, FAULT_LIFE_SHIFT
    or      t5, t5, t6
    sd      t5, %lo(state + 8)(tp)
    sd      t4, %lo(state + 24)(tp)

# What an interposer answers.
stencil_fault_answered:
    branch_if_not_zero a0, to_refused

stencil_fault_refused_between:
    ld      t2, %lo(state)(tp)
    ld      t3, %lo(state + 8)(tp)
    ld      t0, LITERAL_ELSE(t1)
    andi    t3, t3, FAULT_CAUSES
    csrw    stval, t2
    csrw    scause, t3
    j       to_finish

# Only in the call by which a fault of that range came.
stencil_fault_behalf:
    ld      t2, FRAME_RETURN(tp)
    ld      t3, LITERAL_BEHALF(t1)
    ld      t2, LITERAL_FAULT(t2)
    branch_if_different t2, t3, to_stranger

stencil_fault_passed:
    ld      t2, %lo(fault_below)(tp)
    ld      t3, %lo(fault_below + 8)(tp)
    ld      t4, %lo(fault_below + 16)(tp)
    ld      t5, %lo(fault_below + 24)(tp)
    ld      t6, LITERAL_RANGE(t1)
    ld      a3, LITERAL_RANGE_NUMBER(t1)
    sd      t2, %lo(fault)(tp)
    sd      t3, %lo(fault + 8)(tp)
    sd      t4, %lo(fault + 16)(tp)
    sd      t5, %lo(fault + 24)(tp)
    sub     a4, t2, t6
    andi    a5, t3, 3
    srli    a6, t3, FAULT_LIFE_SHIFT
    li      a7, 0

# Before `fault_map`: in the client's space, if it is in that life still.
stencil_fault_client:
    ld      t2, %lo(fault + 24)(tp)
    ld      t3, %lo(fault + 8)(tp)
    ld      t4, FIELD_GENERATION(t2)
    srli    t3, t3, FAULT_LIFE_SHIFT
    ld      t5, FIELD_ALIVE(t2)
    branch_if_different t3, t4, to_refused
    branch_if_zero t5, to_refused
    ld      t5, FIELD_SPACE(t2)
    csrw    satp, t5

# A reply that could not be mapped is an error, if it is none already.
stencil_fault_not_mapped:
    sltiu   t2, a0, 1
    sub     t2, zero, t2
    andi    t2, t2, ERROR_MALFORMED
    or      a0, a0, t2
    j       to_mapped
