# ---------------------------------------------------------------------------- call: frame

# An interposer calls on behalf of a client: only with a thread of the client's, and in the call by which that came here. The
# queue of its return portal is that client's alone. A frame whose client is dead names a dead entry, before which instructions
# stand, and no address.
stencil_behalf:
    ld      t2, FRAME_RETURN(tp)
    ld      t3, LITERAL_BEHALF(t1)
    ld      t2, LITERAL_QUEUE(t2)
    branch_if_different t2, t3, to_stranger

# Pushes a frame. One bit of the new header's address tells an overflow, because thread blocks are
# aligned and frames may begin only in the block's first half.
stencil_call_push:
    addi    tp, tp, %lo(frame_size)
    slli    t2, tp, 63 - INVOCATION_LIMIT_BIT
    branch_if_negative t2, to_overflow

# The same, but that the caller's header tells: so whoever was called, however deep, can have the portal manager make what it waits by.
# Above that frame is only what the manager calls of the scheduler.
stencil_call_push_manager:
    slli    t2, tp, 63 - INVOCATION_LIMIT_BIT
    addi    tp, tp, %lo(frame_size)
    branch_if_negative t2, to_overflow

# Who runs to completion calls nobody above its frame, and is not interrupted there. So that frame has room behind the half: whoever
# was called can take a lock, and give it back.
stencil_call_push_last:
    addi    tp, tp, %lo(frame_size)

stencil_call_frame:
    ld      t2, LITERAL_RETURN(t1)
    ld      t3, LITERAL_TABLE(t1)
    sd      ra, FRAME_RA(tp)
    sd      t2, FRAME_RETURN(tp)
    sd      t3, FRAME_TABLE(tp)

# Counting build only.
stencil_count:
    ld      t2, LITERAL_COUNTER(t1)
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

stencil_interrupts_off:
    csrw    sie, zero

# ---------------------------------------------------------------------------- call: state

# Saves what the C convention preserves. The word at `state` is the stack pointer. From here on `tp` and `sscratch` are
# both the frame.
stencil_save_registers:
    csrrw   t2, sscratch, tp
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

stencil_save_global_pointer:
    sd      gp, %lo(state + 104)(tp)

# Towards the kernel domain it is the frame below.
stencil_save_own_pointer:
    sd      t2, %lo(state + 112)(tp)

# ---------------------------------------------------------------------------- call: parameters

.macro parameter register, position
stencil_constant_\position:
    ld      \register, LITERAL_CONSTANT(t1)
stencil_index_\position:
    addi    \register, zero, %lo(index)
stencil_caller_\position:
    addi    \register, zero, %lo(caller)
stencil_thread_\position:
    slli    \register, tp, 64 - THREAD_INDEX_TOP
    srli    \register, \register, 64 - THREAD_INDEX_TOP + 12
# For who runs to completion: the number of the block's page. Its lowest bits are the index.
stencil_block_\position:
    srli    \register, tp, 12
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

# A limited grant: is there time, and a call left? Where the callee has stacks, it counts once it has one: a call that waits for one is
# made again. Refused, it undoes what was done as with a window. One hart takes from the word, with interrupts off; several would by one
# instruction.
stencil_limits:
    ld      t2, %lo(limits)(t1)
    csrr    t4, time
    ld      t5, LIMIT_UNTIL(t2)
    addi    t3, zero, ERROR_TIMED_OUT
    branch_if_not_below t4, t5, to_refused
    ld      t4, LIMIT_USES(t2)
    addi    t3, zero, ERROR_EXHAUSTED
    branch_if_zero t4, to_refused
    addi    t4, t4, -1
    sd      t4, LIMIT_USES(t2)

# A slot after a refused one has length zero, so that closing it does nothing.
stencil_window_clear:
    sd      zero, %lo(window_length)(tp)

# What is passed on lies in the windows of the frame below. The services for it find that call's activation in t6.
stencil_passed:
    ld      t6, %lo(passed_activation)(tp)

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
    ld      t2, LITERAL_SPACE(t1)
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

.macro clear_arguments                          # but those that carry a reply of one word
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

# Nothing has moved.
stencil_stranger:
    addi    a0, zero, ERROR_NOT_ALLOWED
    li      t1, 0
    li      t2, 0
    li      t3, 0
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

# Waits in the scheduler and then executes the `ecall` again, or the portal: arguments, t0 and ra are untouched.
stencil_stack_wait:
    addi    tp, tp, %lo(frame_size_negative)
    ld      t3, LITERAL_SERVICES(t1)
    ld      t3, %lo(stack_wait_service)(t3)
    jr      t3

# A window, or the call itself, was refused: the abort entry of the return portal undoes the call, but for its scrubbing,
# since the registers are still the caller's.
stencil_refused:
    addi    a0, t3, 0
    ld      t1, LITERAL_RETURN(t1)
    ld      t2, LITERAL_ABORT(t1)
    jalr    zero, %lo(abort_scrub_size)(t2)

# The same where nothing has moved: the end follows.
stencil_refused_first:
    addi    a0, t3, 0
    csrw    sepc, ra
