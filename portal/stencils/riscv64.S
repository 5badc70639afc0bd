# Stencils: the fragments of which portal code is made, for RISC-V 64.
#
# Where the order is free, an instruction stands between a load, or a read of a control register, and what needs its
# result: cores that execute in order wait otherwise.
#
# The build assembles this file; `portal/build.rs` cuts it at the labels `stencil_NAME` and turns
# each relocation against an undefined symbol into a hole. Symbols that begin with `to_` are
# labels in the finished portal, the others are numbers that the generator fills in.
#
# Registers on entry to portal code, from the trap entry:
#   t1  address of this code: literals are at negative offsets from it
#   tp  header of the topmost frame of the thread        sscratch  the user's tp
#   t0, t2-t6  free      a0-a7, s0-s11, sp, ra, gp  the user's
# Interrupts are off (sstatus.SIE, cleared by the trap). There is no loop in this file.

    .option norvc
    .option norelax

# The end of what a portal executes. The jump behind `sret` is never executed, only fetched: CVA6 fetches on until
# `sret` retires; if a line behind it is not in the cache, it waits for the memory, forgets what came, and does so
# again the next time. The jump keeps it in the line of `sret`, if it lies in the same 16 bytes: the generator sees
# to that.
.macro leave
    sret
    .word   0x0000006f                          # j . (without a relocation, which would be a hole)
.endm

# A branch to another part of the portal. It is a word with a relocation, since the assembler, which does not know
# how far that part is, would make a branch around a jump of the instruction; and cores predict that a branch forward
# is not taken.
    .equ    number_t2, 7
    .equ    number_a0, 10
    .equ    number_t3, 28
    .equ    number_t6, 31
.macro branch word, target
    .reloc  ., R_RISCV_BRANCH, \target
    .word   0x63 | \word
.endm
.macro branch_if_zero register, target
    branch  0 << 12 | number_\register << 15, \target
.endm
.macro branch_if_not_zero register, target
    branch  1 << 12 | number_\register << 15, \target
.endm
.macro branch_if_negative register, target
    branch  4 << 12 | number_\register << 15, \target
.endm
.macro branch_if_not_positive register, target  # zero >= register
    branch  5 << 12 | number_\register << 20, \target
.endm

# ---------------------------------------------------------------------------- call: frame

# Pushes a frame. One bit of the new header's address tells an overflow, because thread blocks are
# aligned and frames may begin only in the block's first half.
stencil_call_push:
    addi    tp, tp, %lo(frame_size)
    slli    t2, tp, 63 - INVOCATION_LIMIT_BIT
    branch_if_negative t2, to_overflow
    ld      t2, LITERAL_RETURN(t1)
    ld      t3, LITERAL_TABLE(t1)
    sd      ra, FRAME_RA(tp)
    sd      t2, FRAME_RETURN(tp)
    sd      t3, FRAME_TABLE(tp)

# Counting build only.
stencil_count:
    ld      t2, LITERAL_FRAME(t1)
    ld      t3, 0(t2)
    addi    t3, t3, 1
    sd      t3, 0(t2)

# Only if the export declares a longest execution: the lowest word of the frame tells one call from
# the next for whoever looks at it from time to time.
stencil_stamp:
    csrr    t2, time
    sd      t2, %lo(stamp)(tp)

# ---------------------------------------------------------------------------- call: stack

# `s`: the stack pointer must lie in the group's memory, else the callee would push where the
# caller says.
stencil_stack_shared:
    ld      t2, LITERAL_STACK(t1)
    sd      sp, %lo(state)(tp)
    xor     t2, t2, sp
    srli    t2, t2, STACK_GROUP_SHIFT
    branch_if_not_zero t2, to_bad_stack

# `n`: takes the first activation of the callee's stack queue.
stencil_stack_new:
    ld      t2, LITERAL_QUEUE(t1)
    sd      sp, %lo(state)(tp)
    ld      t3, QUEUE_FIRST(t2)
    branch_if_zero t3, to_stack_wait
    ld      t4, ACTIVATION_NEXT(t3)
    ld      sp, ACTIVATION_STACK(t3)
    sd      t3, FRAME_ACTIVATION(tp)
    sd      t4, QUEUE_FIRST(t2)

# `s` with windows: an activation for its window slots; the stack stays.
stencil_stack_windows:
    ld      t2, LITERAL_QUEUE(t1)
    ld      t3, QUEUE_FIRST(t2)
    branch_if_zero t3, to_stack_wait
    ld      t4, ACTIVATION_NEXT(t3)
    sd      t3, FRAME_ACTIVATION(tp)
    sd      t4, QUEUE_FIRST(t2)

# `n` with windows: copied data lies at the top of the new stack, below it the callee's stack.
stencil_stack_below_copies:
    addi    sp, sp, %lo(copies_size)

# `r`: the one stack on which this callee runs to completion, interrupts off.
stencil_stack_run_to_completion:
    sd      sp, %lo(state)(tp)
    ld      sp, LITERAL_STACK(t1)
    csrw    sie, zero

# ---------------------------------------------------------------------------- call: state

# Saves what the C convention preserves. The word at `state` is the stack pointer.
stencil_save_partial:
    csrr    t2, sscratch
    sd      s0, %lo(state + 8)(tp)
    sd      s1, %lo(state + 16)(tp)
    sd      s2, %lo(state + 24)(tp)
    sd      s3, %lo(state + 32)(tp)
    sd      s4, %lo(state + 40)(tp)
    sd      s5, %lo(state + 48)(tp)
    sd      s6, %lo(state + 56)(tp)
    sd      s7, %lo(state + 64)(tp)
    sd      s8, %lo(state + 72)(tp)
    sd      s9, %lo(state + 80)(tp)
    sd      s10, %lo(state + 88)(tp)
    sd      s11, %lo(state + 96)(tp)
    sd      gp, %lo(state + 104)(tp)
    sd      t2, %lo(state + 112)(tp)

# ---------------------------------------------------------------------------- call: parameters

.macro parameter register, position
stencil_constant_\position:
    ld      \register, LITERAL_CONSTANT(t1)
stencil_index_\position:
    addi    \register, zero, %lo(index)
stencil_domain_\position:
    addi    \register, zero, %lo(domain)
stencil_thread_\position:
    slli    \register, tp, 64 - THREAD_INDEX_TOP
    srli    \register, \register, 64 - THREAD_INDEX_TOP + 12
# Where the call's frame is: the thread's index, and the offset of the frame's header in its block.
stencil_frame_\position:
    slli    \register, tp, 64 - THREAD_INDEX_TOP
    srli    \register, \register, 64 - THREAD_INDEX_TOP
stencil_time_\position:
    csrr    \register, time
.endm
    parameter a0, 0
    parameter a1, 1
    parameter a2, 2
    parameter a3, 3
    parameter a4, 4
    parameter a5, 5
    parameter a6, 6
    parameter a7, 7

# A slot after a refused one has length zero, so that closing it does nothing.
stencil_window_clear:
    sd      zero, %lo(window_length)(tp)

# `r` and `w`: a service of the nucleus copies or maps. In: t2 pointer, t3 length, t4 slot.
# Out: t2 the callee's pointer, t3 zero or an error. The window is closed by what the slot's record
# says: its length, and where to copy to.
.macro window pointer, length, position
stencil_window_pointer_\position:
    sd      \pointer, %lo(window_pointer)(tp)
stencil_window_\position:
    ld      t5, LITERAL_SERVICES(t1)
    sd      \length, %lo(window_length)(tp)
    ld      t5, %lo(window_service)(t5)
    addi    t2, \pointer, 0
    addi    t3, \length, 0
    addi    t4, zero, %lo(window_slot)
    jalr    t5, 0(t5)
    branch_if_not_zero t3, to_refused
    addi    \pointer, t2, 0
.endm
    window a0, a1, 0
    window a1, a2, 1
    window a2, a3, 2
    window a3, a4, 3
    window a4, a5, 4
    window a5, a6, 5
    window a6, a7, 6

# Registered types: their fragments work on t2 and t3, so argument registers are moved there and back.
.macro argument register, position
stencil_first_from_\position:
    addi    t2, \register, 0
stencil_first_to_\position:
    addi    \register, t2, 0
stencil_second_from_\position:
    addi    t3, \register, 0
stencil_second_to_\position:
    addi    \register, t3, 0
.endm
    argument a0, 0
    argument a1, 1
    argument a2, 2
    argument a3, 3
    argument a4, 4
    argument a5, 5
    argument a6, 6
    argument a7, 7

# ---------------------------------------------------------------------------- call: enter

stencil_enter:
    ld      t2, LITERAL_SATP(t1)
    csrw    satp, t2

# Only on a machine whose ASIDs do not tell domains apart: all have the ASID 0, whose translations go. Those of the
# kernel's half are global and stay (privileged manual section 4.2.1); with `zero` for the register they would go too.
stencil_fence_domains:
    li      t2, 0
    sfence.vma zero, t2

stencil_enter_entry:
    ld      t2, LITERAL_ENTRY(t1)
    ld      ra, LITERAL_STUB(t1)
    csrw    sepc, t2

# `m`: the thread pointer is the caller's, and so is every register that is not an argument.
stencil_leave_minimal:
    csrrw   tp, sscratch, tp
    leave

.macro clear_arguments                          # but those that carry the reply
    li      a2, 0
    li      a3, 0
    li      a4, 0
    li      a5, 0
    li      a6, 0
    li      a7, 0
.endm
.macro clear_saved
    li      s0, 0
    li      s1, 0
    li      s2, 0
    li      s3, 0
    li      s4, 0
    li      s5, 0
    li      s6, 0
    li      s7, 0
    li      s8, 0
    li      s9, 0
    li      s10, 0
    li      s11, 0
.endm

# `p`: nothing but the arguments reaches the callee.
stencil_leave_partial:
    csrw    sscratch, tp
    clear_saved
    li      gp, 0
    li      tp, 0
    li      t0, 0
    li      t1, 0
    li      t2, 0
    li      t3, 0
    li      t4, 0

.macro scrub register, position
stencil_scrub_\position:
    li      \register, 0
.endm
    scrub a0, 0
    scrub a1, 1
    scrub a2, 2
    scrub a3, 3
    scrub a4, 4
    scrub a5, 5
    scrub a6, 6
    scrub a7, 7

# The last two, in two words or, compressed, in one: whichever leaves room behind `sret`.
stencil_scrub_last:
    li      t5, 0
    li      t6, 0
    .option push
    .option rvc
stencil_scrub_last_short:
    li      t5, 0
    li      t6, 0
    .option pop

stencil_no_operation:
    nop

stencil_leave:
    leave

# ---------------------------------------------------------------------------- call: errors

# Nothing was pushed but the pointer moved.
stencil_overflow:
    addi    tp, tp, %lo(frame_size_negative)
    addi    a0, zero, ERROR_INVOCATION_OVERFLOW
    li      t1, 0
    li      t2, 0
    csrw    sepc, ra
    csrrw   tp, sscratch, tp
    sret

stencil_bad_stack:
    addi    tp, tp, %lo(frame_size_negative)
    addi    a0, zero, ERROR_BAD_STACK
    li      t1, 0
    li      t2, 0
    li      t3, 0
    csrw    sepc, ra
    csrrw   tp, sscratch, tp
    sret

# Waits in the scheduler and then executes the `ecall` again: arguments, t0 and ra are untouched.
stencil_stack_wait:
    addi    tp, tp, %lo(frame_size_negative)
    ld      t3, LITERAL_SERVICES(t1)
    ld      t3, SERVICE_STACK_WAIT(t3)
    jr      t3

# A window was refused: the abort entry of the return portal undoes the call, but for its scrubbing,
# since the registers are still the caller's.
stencil_refused:
    addi    a0, t3, 0
    ld      t1, LITERAL_RETURN(t1)
    ld      t2, LITERAL_ABORT(t1)
    jalr    zero, %lo(abort_scrub_size)(t2)

# ---------------------------------------------------------------------------- return

# A return portal: t1 is its address; a0 and a1 the reply.
stencil_return_enter:
    ld      t2, LITERAL_SATP(t1)
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
    ld      t6, LITERAL_ENTRY(t1)
    ld      t4, QUEUE_FIRST(t2)
    ld      t6, 0(t6)
    sd      t4, ACTIVATION_NEXT(t3)
    sd      t3, QUEUE_FIRST(t2)

stencil_restore_stack:
    ld      sp, %lo(state)(tp)

stencil_restore_address:
    ld      ra, FRAME_RA(tp)

stencil_restore_partial:
    ld      t2, %lo(state + 112)(tp)
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
    ld      gp, %lo(state + 104)(tp)
    csrw    sscratch, t2

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

stencil_scrub_return:
    li      t0, 0
    li      t1, 0
    li      t2, 0
    li      t3, 0
    li      t4, 0
    clear_arguments

# The scheduler hears of a released activation by the software interrupt, right after `sret`.
stencil_wake:
    csrsi   sip, SOFTWARE_INTERRUPT
    j       to_woken

# Entries beside the first do not know their own portal.
stencil_find_base:
    auipc   t1, 0
    addi    t1, t1, %lo(base_distance)

stencil_abort_reply:
    li      a1, 0

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

# ---------------------------------------------------------------------------- events

# Enters a run-to-completion component after the trap entry saved a trap frame (header in tp), or
# from another such component, whose own state ends here (state letter `d`).
stencil_event_enter:
    ld      t2, LITERAL_TABLE(t1)
    sd      t2, FRAME_TABLE(tp)
    ld      sp, LITERAL_STACK(t1)
    csrw    sie, zero

# Events find in a1 the thread, in a2 the cause and in a3 its value (fault address; queue of a
# stack wait), in a4 the domain that ran (zero: none), as a method `ctiia` would.
stencil_event_arguments:
    li      a0, 0
    csrr    a2, scause
    csrr    a3, stval

# The software interrupt is acknowledged here, since user mode cannot.
stencil_event_acknowledge:
    csrci   sip, SOFTWARE_INTERRUPT

# ---------------------------------------------------------------------------- semaphores

# P and V on a semaphore word, when they need not block or wake (see abi/src/semaphore.rs). The count is in `a0`, since
# the slow path fills that in itself (the methods' first letter is `c`): nothing of it is left to the caller.
stencil_semaphore_p:
    ld      t2, LITERAL_SOURCE(t1)
    csrw    sepc, ra
    ld      a0, 0(t2)
    branch_if_not_positive a0, to_slow
    addi    a0, a0, -1
    sd      a0, 0(t2)
    li      a0, 0
    li      t1, 0
    li      t2, 0
    csrrw   tp, sscratch, tp
    leave

stencil_semaphore_v:
    ld      t2, LITERAL_SOURCE(t1)
    csrw    sepc, ra
    ld      a0, 0(t2)
    branch_if_negative a0, to_slow
    addi    a0, a0, 1
    sd      a0, 0(t2)
    li      a0, 0
    li      t1, 0
    li      t2, 0
    csrrw   tp, sscratch, tp
    leave

# ---------------------------------------------------------------------------- short circuits

stencil_own_domain:
    addi    a1, zero, %lo(domain)
stencil_own_thread:
    slli    a1, tp, 64 - THREAD_INDEX_TOP
    srli    a1, a1, 64 - THREAD_INDEX_TOP + 12
stencil_own_time:
    csrr    a1, time
stencil_short_circuit_leave:
    li      a0, 0
    csrw    sepc, ra
    csrrw   tp, sscratch, tp
    leave

stencil_no_portal:
    addi    a0, zero, ERROR_NO_PORTAL
    li      t1, 0
    csrw    sepc, ra
    csrrw   tp, sscratch, tp
    sret
stencil_end:
