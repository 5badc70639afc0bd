# The floating-point unit changes hands (abi/src/float.rs). What is here is reached from domains that may use it, and from portals
# of theirs, alone: elsewhere the unit is off, and nothing knows of it.
#
# The unit is on only while its owner runs. Whoever leaves the owner's domain turns it off, a portal or the entry of a trap, and
# notes if it is dirty. So the registers stay where they are until somebody else wants the unit.

    .section .text.float, "ax"
    .option push
    .option arch, +d

# Of the C convention (lp64d): what a function preserves, and what it does not. `what` happens to each: it is saved in the cell
# that ends at `base`, loaded from there, or cleared.
.macro every_preserved what, base
    .irp    number, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
    \what   \number, \base
    .endr
.endm
.macro every_other what, base
    .irp    number, 0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31
    \what   \number, \base
    .endr
.endm
.macro save number, base
    fsd     f\number, FLOAT_REGISTERS + 8*\number(\base)
.endm
.macro restore number, base
    fld     f\number, FLOAT_REGISTERS + 8*\number(\base)
.endm
.macro clear number, base
    fmv.d.x f\number, zero
.endm

# t0: the end of the cell of the activation whose header is t2. The base frame alone goes back to the end of its thread. t3: the
# hart's words.
.macro find_cell
    ld      t6, NUCLEUS_PARAMETERS + PARAMETERS_EXIT_PORTAL
    ld      t4, FRAME_RETURN(t2)
    mv      t0, t2
    bne     t6, t4, 1f
    srli    t0, t2, 12
    addi    t0, t0, 1
    slli    t0, t0, 12
1:  lla     t3, nucleus_float
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
    find_cell
    ld      t4, FLOAT_OWNER(t3)
    beq     t4, t2, 2f
    jal     t5, float_take
2:  ld      t0, TRAP_STATUS(tp)
    li      t2, SSTATUS_FS_CLEAN
    or      t0, t0, t2
    sd      t0, TRAP_STATUS(tp)
    j       trap_return
float_no_reason:
    ld      t2, FRAME_TABLE - TRAP_FRAME(tp)
    ld      t1, UNKNOWN_ENTRY(t2)
    jr      t1

# A server of processes is left (portal/src/arch/riscv64/stencils/process.S): what the process has written is in its cell from then on,
# which is never older than the registers while a process has the unit, and says so since they were given.
# t3: the hart's words; t4 and t6 are free.
    .globl service_float_leave
service_float_leave:
    ld      t4, FLOAT_OWNER_CELL(t3)
    every_other save, t4
    every_preserved save, t4
    csrr    t6, fcsr
    sd      t6, FLOAT_CONTROL(t4)
    li      t6, 0                               # a call that is refused leaves these
    li      t4, 0
    jr      t5

# A return portal leads back to the activation in t2, which is not the owner. If it has used the unit it will again, as a rule: to
# give it its registers takes a fifth of what the trap of its first instruction does, the firmware's part of it included. t5 is
# the way back; t0, t2 to t4 and t6 are free.
    .globl service_float_resume
service_float_resume:
    find_cell
    ld      t6, FLOAT_STATE(t0)
    bnez    t6, float_take
    jr      t5

# A call begins, whose frame is t2, and whose callee has the unit from the start.
    .globl service_float_begin
service_float_begin:
    mv      t0, t2
    lla     t3, nucleus_float

# The activation in t2, whose cell ends at t0, becomes the owner, and finds the unit on, and clean if it has used it before.
    .globl float_take
float_take:
    li      t6, SSTATUS_FS
    csrs    sstatus, t6
    ld      t4, FLOAT_OWNER(t3)
    sd      t2, FLOAT_OWNER(t3)
    beqz    t4, float_load
    # Was the owner interrupted? Of a thread that runs it is not known what lies above a frame, but it has left that one's domain
    # by a portal.
    srli    t6, t4, 12
    srli    t2, t2, 12
    beq     t6, t2, float_save
    slli    t6, t6, 12
    ld      t6, FIELD_FRAME(t6)
    addi    t4, t4, TRAP_FRAME
    bne     t6, t4, float_save
    ld      t6, FRAME_RETURN(t4)
    lla     t2, trap_return
    bne     t6, t2, float_save

    # It was: its status no longer says that the unit is on, and all registers are saved.
    ld      t6, TRAP_STATUS(t4)
    li      t2, ~SSTATUS_FS
    and     t6, t6, t2
    sd      t6, TRAP_STATUS(t4)
    ld      t6, FLOAT_OLDER(t3)
    ld      t4, FLOAT_OWNER_CELL(t3)
    bgez    t6, float_load
    sd      t6, FLOAT_STATE(t4)                 # negative
    every_other save, t4
    j       float_save_preserved

    # It has called, and so finds again what the convention preserves.
float_save:
    ld      t6, FLOAT_OLDER(t3)
    ld      t4, FLOAT_OWNER_CELL(t3)
    bgez    t6, float_load
    li      t6, FLOAT_PRESERVED
    sd      t6, FLOAT_STATE(t4)
float_save_preserved:
    every_preserved save, t4
    csrr    t6, fcsr
    sd      t6, FLOAT_CONTROL(t4)
float_load:
    sd      t0, FLOAT_OWNER_CELL(t3)
    ld      t6, FLOAT_STATE(t0)
    beqz    t6, float_begin
    bgtz    t6, float_clear
    every_other restore, t0
    j       float_load_preserved
float_clear:
    every_other clear
float_load_preserved:
    every_preserved restore, t0
    ld      t6, FLOAT_CONTROL(t0)
    csrw    fcsr, t6
    sd      zero, FLOAT_OLDER(t3)
    li      t6, SSTATUS_FS - SSTATUS_FS_CLEAN
    csrc    sstatus, t6
    jr      t5

# Its first use: nothing of whoever had the registers, or the cell's memory, before.
float_begin:
    every_other clear
    every_preserved clear
    csrw    fcsr, zero
    li      t6, -1
    sd      t6, FLOAT_OLDER(t3)
    jr      t5                                  # to the first use, whose trap frame has the status

    .option pop

# Of the hart: who has the unit (FLOAT_OWNER), whether its cell is older than its registers (FLOAT_OLDER), where that ends
# (FLOAT_OWNER_CELL).
    .section .data.float, "aw"
    .balign 16
    .globl nucleus_float
nucleus_float:
    .dword  0
    .dword  0
    .dword  0
