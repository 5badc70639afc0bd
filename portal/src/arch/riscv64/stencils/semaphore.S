# P and V on a semaphore, when they need not block, nor change who runs (see abi/src/semaphore.rs). The count is in `a0`,
# since the slow path fills that in itself (the methods' first letter is `c`): nothing of it is left to the caller.
# The branch off the fast path is not the last word of a line of 16 bytes: a core that fetches on before it takes the
# branch would wait for the next line, which is in no cache where the fast path is never taken, and forget it.
stencil_semaphore_p:
    ld      t2, LITERAL_SEMAPHORE(t1)
    ld      a0, 0(t2)
    branch_if_not_positive a0, to_slow
    csrw    sepc, ra
    addi    a0, a0, -1
    sd      a0, 0(t2)
    li      a0, 0

stencil_semaphore_v:
    ld      t2, LITERAL_SEMAPHORE(t1)
    ld      a0, 0(t2)
    branch_if_negative a0, to_note
    csrw    sepc, ra
    addi    a0, a0, 1
    sd      a0, 0(t2)
    li      a0, 0

# Who waits alone, and would not go before the caller, is noted for the scheduler: once, since the number of a semaphore
# is above all levels.
stencil_semaphore_note:
    ld      t3, LITERAL_NOTED(t1)
    ld      t4, SEMAPHORE_LEVEL(t2)
    ld      t5, 0(t3)
    ld      a0, LITERAL_CONSTANT(t1)
    branch_if_less t4, t5, to_slow
    csrw    sepc, ra
    sd      zero, 0(t2)
    sd      a0, 0(t3)
    li      a0, 0

# The ends of the fast paths towards a domain.
stencil_semaphore_leave:
    li      t1, 0
    li      t2, 0
    csrrw   tp, sscratch, tp
    leave
stencil_semaphore_note_leave:
    li      t1, 0
    li      t2, 0
    li      t3, 0
    li      t4, 0
    li      t5, 0
    csrrw   tp, sscratch, tp
    leave
