# The privileged short-circuit portals (abi/src/privileged.rs). The portal table of the component
# that one is granted to names it directly: t1 is its address, tp the frame, a0... the arguments.

    .section .text.trap, "ax"

.macro leave_short_circuit
    csrw    sepc, ra
    csrrw   tp, sscratch, tp
    leave
.endm

# Runs another thread: its topmost frame knows how it goes on.
    .section .text.switch, "ax"
    .balign 64
    .globl privileged_switch
privileged_switch:
    ld      t2, NUCLEUS_PARAMETERS + PARAMETERS_THREADS
    bgeu    a2, t2, bad_thread
    srli    t3, tp, 12
    slli    t3, t3, 12
    sd      tp, FIELD_FRAME(t3)
    li      t2, THREADS_PAGE
    add     t2, t2, a2
    slli    t2, t2, 12
    ld      tp, FIELD_FRAME(t2)
    beqz    tp, no_thread
    ld      t1, FRAME_RETURN(tp)
    jr      t1
no_thread:
    ld      tp, FIELD_FRAME(t3)
    # There is nothing to come back to: the caller faults, at an address that nobody has.
bad_thread:
    csrw    sepc, zero
    csrrw   tp, sscratch, tp
    leave

# As `privileged_switch`, of a caller that could do it itself.
    .balign 16
    .globl kernel_switch
kernel_switch:
    srli    t3, tp, 12
    slli    t3, t3, 12
    li      t2, THREADS_PAGE
    add     t2, t2, a2
    slli    t2, t2, 12
    sd      tp, FIELD_FRAME(t3)
    ld      tp, FIELD_FRAME(t2)
    ld      t1, FRAME_RETURN(tp)
    jr      t1

    .section .text.trap, "ax"
    .balign 4
    .globl privileged_set_timer
privileged_set_timer:
    csrw    STIMECMP, a0
    li      a0, 0
    leave_short_circuit

# The fence is executed while `satp` has the identifier 0, which no domain has where identifiers tell domains apart:
# there are cores that compare with that one, whatever the operands (see `closing by_satp` in window.S).
.macro fence_translation
    li      t2, SPACE_IDENTIFIER
    csrrc   t2, satp, t2
    beqz    a0, 1f
    sfence.vma a0, zero
    j       2f
1:  sfence.vma zero, zero
2:  csrw    satp, t2
    li      t2, 0
    li      a0, 0
.endm
    .globl privileged_fence_translation
privileged_fence_translation:
    fence_translation
    leave_short_circuit

    .globl privileged_fence_instruction
privileged_fence_instruction:
    fence.i
    li      a0, 0
    leave_short_circuit

# Waits until an interrupt is pending; interrupts are off here, so it is taken in user mode
# (privileged manual, section 3.3.3: wfi resumes on a pending interrupt even when disabled globally).
    .globl privileged_wait
privileged_wait:
    wfi
    li      a0, 0
    leave_short_circuit

# The services written in Rust run on the hart's own nucleus stack; a seventh argument is the frame. What they leave in
# registers, words of other domains' frames among it, is cleared.
.macro call_rust function
    sd      ra, FRAME_SCRATCH(tp)
    sd      sp, FRAME_SCRATCH + 8(tp)
    lla     sp, nucleus_stack_top
    mv      a6, tp
    call    \function
    ld      ra, FRAME_SCRATCH(tp)
    ld      sp, FRAME_SCRATCH + 8(tp)
.endm
.macro in_rust name, function
    .globl \name
\name:
    call_rust \function
    j       leave_rust
.endm
    in_rust privileged_unwind, unwind
    in_rust privileged_divert, divert
    in_rust privileged_refuse, refuse
    in_rust privileged_set_alive, set_alive
    in_rust privileged_set_timer_by_firmware, set_timer_by_firmware
    in_rust privileged_firmware, firmware
    .globl privileged_set_up_thread
privileged_set_up_thread:
    call_rust set_up_thread
leave_rust:
    li      a1, 0
    li      a2, 0
    li      a3, 0
    li      a4, 0
    li      a5, 0
    li      a6, 0
    li      a7, 0
    li      t0, 0
    li      t1, 0
    li      t2, 0
    li      t3, 0
    li      t4, 0
    li      t5, 0
    li      t6, 0
    leave_short_circuit

# The exception entry of domains without which the system cannot go on.
    .globl nucleus_fatal
nucleus_fatal:
    mv      a0, tp
    csrr    a1, scause
    csrr    a2, stval
    lla     sp, nucleus_stack_top
    tail    fatal

    .globl nucleus_unreachable
nucleus_unreachable:
    mv      a0, tp
    lla     sp, nucleus_stack_top
    tail    privileged_fault

    .section .bss
    .balign 16
    .skip   NUCLEUS_STACK_SIZE
nucleus_stack_top:
