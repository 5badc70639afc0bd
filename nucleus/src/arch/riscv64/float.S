# The floating-point unit changes hands (abi/src/float.rs). What is here is reached from domains that may use it, and from portals
# of theirs, alone: elsewhere the unit is off, and nothing knows of it.
#
# The unit is on only while its owner runs. Whoever leaves the owner's domain turns it off, a portal or the entry of a trap, and
# notes if it is dirty. So the registers stay where they are until somebody else wants the unit.

    .section .text.float, "ax"
    .option push
    .option arch, +d

.macro every_register instruction, base
    .irp    number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \instruction f\number, FLOAT_REGISTERS + 8*\number(\base)
    .endr
.endm

# The end of the cell of the activation whose header is in `header`. The base frame alone goes back to the end of its thread.
.macro find_cell header, to, other
    ld      \other, NUCLEUS_PARAMETERS + PARAMETERS_EXIT_PORTAL
    ld      \to, FRAME_RETURN(\header)
    xor     \other, \other, \to
    mv      \to, \header
    bnez    \other, 1f
    srli    \to, \header, 12
    addi    \to, \to, 1
    slli    \to, \to, 12
1:
.endm

# The illegal instructions of a domain that may use the unit; the trap frame is complete. If the unit is off, it is turned on, and
# the instruction tried again, whatever it is: one that is illegal all the same comes back with the unit on.
    .globl float_first_use
float_first_use:
    ld      t0, TRAP_STATUS(tp)
    li      t2, SSTATUS_FS
    and     t0, t0, t2
    bnez    t0, float_no_reason
    addi    t2, tp, -TRAP_FRAME
    lla     t3, nucleus_float
    ld      t4, FLOAT_OWNER(t3)
    beq     t4, t2, 1f
    jal     t5, float_take
1:  ld      t0, TRAP_STATUS(tp)
    li      t2, SSTATUS_FS_CLEAN
    or      t0, t0, t2
    sd      t0, TRAP_STATUS(tp)
    j       trap_return
float_no_reason:
    ld      t2, FRAME_TABLE - TRAP_FRAME(tp)
    ld      t1, UNKNOWN_ENTRY(t2)
    jr      t1

# A return portal leads back to the activation in t2, which is not the owner. If it has used the unit it will again, as a rule: to
# give it its registers takes a quarter of what the trap of its first instruction does, the firmware's part of it included. t5 is
# the way back; t0 and t2 to t6 are free.
    .globl service_float_resume
service_float_resume:
    find_cell t2, t0, t6
    ld      t6, FLOAT_STATE(t0)
    lla     t3, nucleus_float
    bnez    t6, float_take
    jr      t5

# The activation in t2 becomes the owner, and finds the unit on, and clean if it has used it before. t3 are the hart's words.
float_take:
    li      t0, SSTATUS_FS
    csrs    sstatus, t0
    ld      t4, FLOAT_OWNER(t3)
    beqz    t4, float_load
    # If the owner was interrupted, its status says that the unit is on. What lies above the frame of a thread that runs is not
    # known, but then it has left its domain by a portal.
    srli    t0, t4, 12
    srli    t6, t2, 12
    beq     t0, t6, float_save
    slli    t0, t0, 12
    ld      t6, FIELD_FRAME(t0)
    addi    t0, t4, TRAP_FRAME
    bne     t0, t6, float_save
    ld      t6, FRAME_RETURN(t0)
    lla     t4, trap_return
    bne     t6, t4, float_save
    ld      t6, TRAP_STATUS(t0)
    li      t4, ~SSTATUS_FS
    and     t6, t6, t4
    sd      t6, TRAP_STATUS(t0)
float_save:
    ld      t6, FLOAT_OLDER(t3)
    bgez    t6, float_load
    ld      t4, FLOAT_OWNER(t3)
    find_cell t4, t0, t6
    every_register fsd, t0
    csrr    t6, fcsr
    sd      t6, FLOAT_CONTROL(t0)
float_load:
    sd      t2, FLOAT_OWNER(t3)
    find_cell t2, t0, t6
    ld      t6, FLOAT_STATE(t0)
    beqz    t6, float_begin
    every_register fld, t0
    ld      t6, FLOAT_CONTROL(t0)
    csrw    fcsr, t6
    sd      zero, FLOAT_OLDER(t3)
    li      t6, SSTATUS_FS - SSTATUS_FS_CLEAN
    csrc    sstatus, t6
    jr      t5
# Its first use: nothing of whoever had the registers, or the cell's memory, before.
float_begin:
    .irp    number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    fmv.d.x f\number, zero
    .endr
    csrw    fcsr, zero
    li      t6, -1
    sd      t6, FLOAT_STATE(t0)
    sd      t6, FLOAT_OLDER(t3)
    jr      t5                                  # to the first use, whose trap frame has the status

    .option pop

# Of the hart: who has the unit (FLOAT_OWNER), and whether its cell is older than its registers (FLOAT_OLDER).
    .section .data.float, "aw"
    .balign 16
    .globl nucleus_float
nucleus_float:
    .dword  0
    .dword  0
