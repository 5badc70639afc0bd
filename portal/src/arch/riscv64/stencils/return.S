# A return portal: t1 is its address; a0 and a1 the reply.
stencil_return_enter:
    ld      t2, LITERAL_SPACE(t1)
    csrw    satp, t2

# Services for closing: t3 length, t4 slot; to copy back also t2 pointer, and an error comes in a0.
stencil_window_close_pointer:
    ld      t2, %lo(window_pointer)(tp)
stencil_window_close:
    ld      t5, LITERAL_SERVICES(t1)
    ld      t3, %lo(window_length)(tp)
    ld      t5, %lo(window_service)(t5)
    addi    t4, zero, %lo(window_slot)
    jalr    t5, 0(t5)

# Puts the activation back; t6 tells at the end whether someone waits for it.
stencil_release:
    ld      t2, LITERAL_QUEUE(t1)
    ld      t3, FRAME_ACTIVATION(tp)
    ld      t6, LITERAL_WAITERS(t1)
    ld      t4, QUEUE_FIRST(t2)
    ld      t6, 0(t6)
    sd      t4, ACTIVATION_NEXT(t3)
    sd      t3, QUEUE_FIRST(t2)

stencil_restore_stack:
    ld      sp, %lo(state)(tp)

stencil_restore_address:
    ld      ra, FRAME_RA(tp)

# With the pop: `tp`, by which all others are reached, comes last.
stencil_find_below:
    addi    t2, tp, %lo(frame_size_negative)

stencil_restore_registers:
    ld      s0, %lo(state + 8)(tp)
    ld      s1, %lo(state + 16)(tp)
    ld      s2, %lo(state + 24)(tp)
    ld      s3, %lo(state + 32)(tp)
    ld      s4, %lo(state + 40)(tp)
    ld      s5, %lo(state + 48)(tp)
    ld      s6, %lo(state + 56)(tp)
    ld      s7, %lo(state + 64)(tp)
    ld      s8, %lo(state + 72)(tp)
    ld      s9, %lo(state + 80)(tp)
    ld      s10, %lo(state + 88)(tp)
    ld      s11, %lo(state + 96)(tp)

stencil_restore_global_pointer:
    ld      gp, %lo(state + 104)(tp)

stencil_restore_own_pointer:
    csrw    sscratch, t2
    csrw    sepc, ra
    ld      tp, %lo(state + 112)(tp)

stencil_pop:
    addi    tp, tp, %lo(frame_size_negative)
    csrw    sepc, ra
    csrrw   tp, sscratch, tp

# Interrupts of ordinary components are on.
stencil_interrupts_on:
    li      t2, INTERRUPTS_ON
    csrw    sie, t2

stencil_wake_check:
    branch_if_not_zero t6, to_wake

# Those that can carry a reply come first: as many as a reply has words beside its value are left out.
stencil_scrub_return:
    clear_arguments
    li      t0, 0
    li      t1, 0
    li      t2, 0
    li      t3, 0
    li      t4, 0

# The scheduler hears of a released activation by the software interrupt, right after `sret`.
stencil_wake:
    csrsi   sip, SOFTWARE_INTERRUPT
    j       to_woken

# Entries beside the first do not know their own portal.
stencil_find_base:
    auipc   t1, 0
    addi    t1, t1, %lo(base_distance)

# As many as the reply has words.
stencil_abort_reply:
    li      a1, 0
    li      a2, 0
    li      a3, 0
    li      a4, 0

# Only `m`: what this portal does not restore belongs to whoever ran last, not to the caller's callee.
stencil_scrub_abort:
    csrw    sscratch, zero
    li      gp, 0
    li      t0, 0
    li      t3, 0
    li      t4, 0
    li      t5, 0
    li      t6, 0
    clear_saved
    clear_arguments

stencil_jump_to_finish:
    j       to_finish

# The domain to which this frame returns is dead: on to the frame below, whose callee it was.
stencil_dead_pop:
    addi    tp, tp, %lo(frame_size_negative)
    addi    a0, zero, ERROR_DEAD
    li      a1, 0
    ld      t1, FRAME_RETURN(tp)
    ld      t2, LITERAL_ABORT(t1)
    jr      t2

# As above, for a frame that owns an activation: the wake-up must not be lost.
stencil_dead_wake:
    branch_if_zero t6, to_dead_pop
    csrsi   sip, SOFTWARE_INTERRUPT
