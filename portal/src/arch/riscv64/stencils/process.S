# Processes and their server (abi/src/process.rs). A frame of either has the address of the server's cells where others have an
# activation; the status page ends where the cells begin.

# ---------------------------------------------------------------------------- a process calls, the server returns

# The way in, by any index of the processes' table: it is a register like another, and the trap entry has multiplied it.
stencil_process_index:
    srli    t0, t0, 3

# By index 0, and by those behind the table's end. t0 and all other registers but t1, which lies in the scratch, are the process'.
stencil_process_call:
    sd      t2, FRAME_SCRATCH + 8(tp)
    ld      t2, FRAME_ACTIVATION(tp)
    csrr    t1, sepc
    sd      t1, STATUS_PC(t2)
    ld      t1, CELL_SERVER(t2)
    csrw    satp, t1
    ld      t1, CELL_CALL(t2)
    csrw    sepc, t1
stencil_process_called:
    ld      t2, FRAME_SCRATCH + 8(tp)
    ld      t1, FRAME_SCRATCH(tp)
    addi    tp, tp, SERVER_FRAME
    csrrw   tp, sscratch, tp
    leave

# Only where identifiers do not tell spaces apart: `fence_domains` with another register.
stencil_process_fence:
    li      t1, 0
    sfence.vma zero, t1

# Index 0 of the server, when its frame is on top: all registers but t0 are the process'.
stencil_process_return:
    ld      t0, FRAME_ACTIVATION(tp)
    ld      t1, STATUS_PENDING(t0)
    branch_if_not_zero t1, to_pending
    ld      t1, CELL_PROCESS(t0)
    csrw    satp, t1
stencil_process_resume:
    ld      t1, STATUS_PC(t0)
    csrw    sepc, t1
    ld      t1, FRAME_SCRATCH(tp)
    addi    tp, tp, -SERVER_FRAME
    ld      t0, STATUS_T0(t0)
    csrrw   tp, sscratch, tp
    leave

# The server has something to do first: the status page says where the process goes on already.
stencil_process_pending:
    ld      t1, CELL_INTERRUPT(t0)
    csrw    sepc, t1
    ld      t1, FRAME_SCRATCH(tp)
    ld      t0, STATUS_T0(t0)
    csrrw   tp, sscratch, tp
    leave

# ---------------------------------------------------------------------------- an exception of a process

# The trap entry has saved all registers in a trap frame above the process frame, but has changed t1 to t3 alone: all others, and in
# sscratch tp, are the process' still.
stencil_process_fault:
    ld      t2, FRAME_ACTIVATION - TRAP_FRAME(tp)
    csrr    t1, sepc
    csrr    t3, scause
    sd      t1, STATUS_PC(t2)
    csrr    t1, stval
    sd      t3, STATUS_CAUSE(t2)
    ld      t3, CELL_SERVER(t2)
    sd      t1, STATUS_VALUE(t2)
    ld      t1, CELL_FAULT(t2)
    csrw    satp, t3
    csrw    sepc, t1
stencil_process_faulted:
    ld      t3, TRAP_STATE_X + 27*8(tp)
    ld      t1, TRAP_STATE_X + 0*8(tp)
    ld      t2, TRAP_STATE_X + 1*8(tp)
    addi    tp, tp, SERVER_FRAME - TRAP_FRAME
    csrrw   tp, sscratch, tp
    leave

# ---------------------------------------------------------------------------- floating point
#
# The unit may be on with a process' registers while its server runs, which uses none. Whoever leaves the server's domain has what was
# written saved in the process' cell, and turns it off.

stencil_process_float_off:
    csrr    t2, sstatus
    skip    5 << 12 | number_t2 << 15, 5        # bgez t2: `sstatus.SD` is clear
    ld      t5, LITERAL_SERVICES(t1)
    ld      t3, SERVICE_FLOAT(t5)
    ld      t5, SERVICE_FLOAT_LEAVE(t5)
    jalr    t5, 0(t5)
    li      t5, 0
    li      t2, SSTATUS_FS
    csrc    sstatus, t2

# An interrupted process finds its registers at its next use.
stencil_process_float_status:
    ld      t3, TRAP_STATUS(tp)
    or      t3, t3, t2
    xor     t3, t3, t2
    sd      t3, TRAP_STATUS(tp)

# An illegal instruction of a process: one that has registers is given them, if the unit is off, and tries again. Only t1 to t3 change
# before it is a fault.
stencil_process_float_use:
    ld      t3, TRAP_STATUS(tp)
    ld      t2, FRAME_ACTIVATION - TRAP_FRAME(tp)
    slli    t3, t3, 63 - SSTATUS_FS_BIT
    branch_if_negative t3, to_fault
    ld      t3, CELL_FLOAT + FLOAT_STATE(t2)
    branch_if_zero t3, to_fault
    ld      t5, LITERAL_SERVICES(t1)
    addi    t0, t2, CELL_FLOAT
    ld      t3, SERVICE_FLOAT(t5)
    ld      t5, SERVICE_FLOAT_TAKE(t5)
    ld      t4, FLOAT_OWNER(t3)
    addi    t2, tp, -TRAP_FRAME
    skip    0 << 12 | number_t4 << 15 | number_t2 << 20, 1  # beq t4, t2
    jalr    t5, 0(t5)
    ld      t0, TRAP_STATUS(tp)
    li      t2, SSTATUS_FS_CLEAN
    ld      t1, FRAME_RETURN(tp)
    or      t0, t0, t2
    sd      t0, TRAP_STATUS(tp)
    jr      t1

# What the process has from now on, or had: behind `process_float_off`. Taken away, it stays in the cell until others are given.
stencil_process_float:
    ld      t2, LITERAL_CELLS(t1)
    branch_if_zero a0, to_save
    addi    a0, a0, -1
    branch_if_zero a0, to_load
    addi    a0, a0, -1
    sltu    t3, zero, a0
    sub     t3, zero, t3
    sd      t3, CELL_FLOAT + FLOAT_STATE(t2)
.macro copy_float from, to
    .set    place, 0
    .rept   FLOAT_WORDS
    ld      t3, \from + place(t2)
    sd      t3, \to + place(t2)
    .set    place, place + 8
    .endr
.endm
stencil_process_float_load:
    ld      t3, LITERAL_SERVICES(t1)
    ld      t5, CELL_CARRIER(t2)
    ld      t3, SERVICE_FLOAT(t3)
    addi    t5, t5, -SERVER_FRAME
    ld      t4, FLOAT_OWNER(t3)
    skip    1 << 12 | number_t4 << 15 | number_t5 << 20, 1  # bne t4, t5
    sd      zero, FLOAT_OWNER(t3)
    copy_float STATUS_FLOAT, CELL_FLOAT + FLOAT_REGISTERS
    li      t3, -1
    sd      t3, CELL_FLOAT + FLOAT_STATE(t2)
stencil_process_float_save:
    copy_float CELL_FLOAT + FLOAT_REGISTERS, STATUS_FLOAT

# ---------------------------------------------------------------------------- operations of the server

# Pushes both frames on the base frame of a thread, which no call has led into the server.
stencil_process_begin:
    ld      t2, LITERAL_RETURN(t1)
    ld      t3, FRAME_RETURN(tp)
    branch_if_different t2, t3, to_refused
    ld      t2, LITERAL_CELLS(t1)
    ld      t3, LITERAL_ENTRY(t1)
    ld      t4, LITERAL_TABLE(t1)
    ld      t5, LITERAL_STUB(t1)
    ld      t6, FRAME_TABLE(tp)
    sd      a0, CELL_CALL(t2)
    sd      a1, CELL_FAULT(t2)
    sd      a2, CELL_INTERRUPT(t2)
    sd      zero, CELL_FLOAT + FLOAT_STATE(t2)
    sd      t3, PROCESS_FRAME + FRAME_RETURN(tp)
    sd      t4, PROCESS_FRAME + FRAME_TABLE(tp)
    sd      t2, PROCESS_FRAME + FRAME_ACTIVATION(tp)
    addi    tp, tp, PROCESS_FRAME + SERVER_FRAME
    sd      t5, FRAME_RETURN(tp)
    sd      t6, FRAME_TABLE(tp)
    sd      t2, FRAME_ACTIVATION(tp)
    sd      tp, CELL_CARRIER(t2)

# The space of a number, in t3.
stencil_process_space:
    ld      t2, LITERAL_COUNT(t1)
    ld      t3, LITERAL_SPACE(t1)
    branch_if_not_below a0, t2, to_refused
stencil_process_space_identifier:
    slli    t4, a0, SPACE_IDENTIFIER_SHIFT
    add     t3, t3, t4
stencil_process_space_root:
    add     t3, t3, a0

stencil_process_select:
    ld      t2, LITERAL_CELLS(t1)
    sd      t3, CELL_PROCESS(t2)

# While that space is selected: there are cores whose fences compare the identifier that is, whatever the operands.
stencil_process_fence_space:
    csrrw   t4, satp, t3
    branch_if_not_zero a1, to_address
    slli    t3, t3, 64 - SPACE_IDENTIFIER_SHIFT - 16
    srli    t3, t3, 64 - 16
    sfence.vma zero, t3
    csrw    satp, t4
stencil_process_fence_address:
    sfence.vma a1, zero
    csrw    satp, t4

# What is valid leads to the server's memory, for user mode, in this space alone: as an entry, its memory is one range of numbers.
stencil_process_map:
    ld      t2, LITERAL_FIRST(t1)
    ld      t3, LITERAL_SPAN(t1)
    sub     t2, a1, t2
    andi    t4, a1, PTE_VALID
    branch_if_zero t4, to_entry
    branch_if_not_below t2, t3, to_refused
    andi    t4, a1, PTE_USER | PTE_GLOBAL
    addi    t4, t4, -PTE_USER
    branch_if_not_zero t4, to_refused
stencil_process_entry:
    ld      t2, LITERAL_COUNT(t1)
    ld      t3, LITERAL_POOL(t1)
    branch_if_not_below a0, t2, to_refused
    slli    a0, a0, 3
    add     t3, t3, a0
    sd      a1, 0(t3)

# The same of several, each of which leads to the server's memory, and becomes one for user mode in this space alone. They are written from
# the last to the first, so that the jump past those that are not there is the only one.
stencil_process_map_several:
    ld      t2, LITERAL_COUNT(t1)
    addi    t3, a1, -1
    sltiu   t4, t3, MAPPED_MAXIMUM
    branch_if_zero t4, to_refused
    branch_if_not_below a0, t2, to_refused
    add     t4, a0, t3
    branch_if_not_below t4, t2, to_refused
    ld      t5, LITERAL_POOL(t1)
    slli    a0, a0, 3
    ld      t2, LITERAL_FIRST(t1)
    add     t5, t5, a0
    ld      t6, LITERAL_CELLS(t1)
    slli    t4, t3, 3
    slli    a0, t3, 4
    ld      t3, LITERAL_SPAN(t1)
    add     t4, t4, a0
    auipc   a1, 0
    sub     a1, a1, t4
    jalr    zero, 3 * 4 + (MAPPED_MAXIMUM - 1) * 24(a1)
    .set    place, (MAPPED_MAXIMUM - 1) * 8
    .rept   MAPPED_MAXIMUM                      # 24 bytes each
    ld      a1, STATUS_ENTRIES + place(t6)
    sub     t4, a1, t2
    branch_if_not_below t4, t3, to_refused
    ori     a1, a1, PTE_USER
    andi    a1, a1, ~PTE_GLOBAL
    sd      a1, place(t5)
    .set    place, place - 8
    .endr

# Of a root only the entries of user mode; each leads to a table of the next kind.
stencil_process_link:
    ld      t2, LITERAL_COUNT(t1)
    ld      t3, LITERAL_FIRST(t1)
    ld      t4, LITERAL_SPAN(t1)
    andi    t5, a0, ENTRIES / 2
    branch_if_below a0, t2, to_root
    slli    t5, t4, ENTRIES_BITS
    add     t2, t2, t5
    add     t3, t3, t4
    ld      t4, LITERAL_LEAVES(t1)
    sltu    t5, a0, t2
    xori    t5, t5, 1
stencil_process_link_root:
    branch_if_not_zero t5, to_refused
    branch_if_zero a1, to_entry
    sub     t3, a1, t3
    branch_if_not_below t3, t4, to_refused
    ld      t4, LITERAL_POINTER(t1)
    slli    a1, a1, 10
    add     a1, a1, t4
stencil_process_link_entry:
    ld      t3, LITERAL_POOL(t1)
    slli    a0, a0, 3
    add     t3, t3, a0
    sd      a1, 0(t3)

# A run is an eighth of a table.
stencil_process_clear:
    ld      t2, LITERAL_COUNT(t1)
    ld      t3, LITERAL_FIRST(t1)
    branch_if_not_below a0, t2, to_refused
    sltu    t3, a0, t3
    slli    t3, t3, 2
    and     t3, t3, a0
    ld      t2, LITERAL_POOL(t1)
    branch_if_not_zero t3, to_refused
    slli    a0, a0, 9
    add     t2, t2, a0
    .set    place, 0
    .rept   CLEARED / 8
    sd      zero, place(t2)
    .set    place, place + 8
    .endr

# The trap frame of the process that the carrier was interrupted in becomes one of the server, above its own frame. The
# floating-point unit is off in both.
stencil_process_interrupt:
    ld      t2, LITERAL_CELLS(t1)
    ld      t5, LITERAL_ENTRY(t1)
    ld      t3, CELL_CARRIER(t2)
    branch_if_zero t3, to_elsewhere
    srli    t4, t3, 12
    srli    t6, tp, 12
    sub     t6, t6, t4
    branch_if_zero t6, to_elsewhere
    slli    t4, t4, 12
    addi    t6, t3, TRAP_FRAME - SERVER_FRAME
    ld      t3, FIELD_FRAME(t4)
    branch_if_different t3, t6, to_elsewhere
    ld      t3, FRAME_RETURN - TRAP_FRAME(t6)
    branch_if_different t3, t5, to_elsewhere
    ld      t3, FRAME_RETURN(t6)
    ld      t5, TRAP_SEPC(t6)
    sd      t3, SERVER_FRAME + FRAME_RETURN(t6)
    sd      t5, STATUS_PC(t2)
    ld      t3, CELL_INTERRUPT(t2)
    ld      t5, CELL_SERVER(t2)
    sd      t3, SERVER_FRAME + TRAP_SEPC(t6)
    sd      t5, SERVER_FRAME + TRAP_SPACE(t6)
    ld      t3, TRAP_STATUS(t6)
    ld      t5, TRAP_INTERRUPTS(t6)
    sd      t3, SERVER_FRAME + TRAP_STATUS(t6)
    sd      t5, SERVER_FRAME + TRAP_INTERRUPTS(t6)
    .set    place, TRAP_STATE_X
    .rept   31
    ld      t3, place(t6)
    sd      t3, SERVER_FRAME + place(t6)
    .set    place, place + 8
    .endr
    addi    t6, t6, SERVER_FRAME
    sd      t6, FIELD_FRAME(t4)

# The ends. The server learns no address of the kernel domain.
stencil_process_done:
    li      a0, 0
stencil_process_refused:
    addi    a0, zero, ERROR_BAD_ARGUMENT
stencil_process_elsewhere:
    addi    a0, zero, ERROR_WOULD_BLOCK
stencil_process_scrub:
    li      t1, 0
    li      t2, 0
    li      t3, 0
    li      t4, 0
    li      t5, 0
    li      t6, 0
