# Portals of domains that may use the floating-point unit (abi/src/float.rs); what changes hands is in the nucleus' float.S.

# A frame of a call into one: its activation has not used the unit.
stencil_float_unused:
    sd      zero, FLOAT_STATE(tp)

# Its callee has the unit from the start.
stencil_float_begin:
    ld      t5, LITERAL_SERVICES(t1)
    addi    t2, tp, 0
    ld      t5, SERVICE_FLOAT_BEGIN(t5)
    jalr    t5, 0(t5)

# Out of one, the first that the portal does when it has a frame: nobody else runs with the unit on. `sstatus.SD` (bit 63) tells that
# it is dirty, which is noted for whoever takes it.
stencil_float_off:
    li      t2, SSTATUS_FS
    csrrc   t2, sstatus, t2
    skip    5 << 12 | number_t2 << 15, 3        # bgez t2
    ld      t3, LITERAL_SERVICES(t1)
    ld      t3, SERVICE_FLOAT(t3)
    sd      t2, FLOAT_OLDER(t3)

# Back out of one: the activation ends, and with it what it has in the registers.
stencil_float_end:
    ld      t3, LITERAL_SERVICES(t1)
    li      t2, SSTATUS_FS
    ld      t3, SERVICE_FLOAT(t3)
    csrc    sstatus, t2
    ld      t4, FLOAT_OWNER(t3)
    skip    1 << 12 | number_t4 << 15 | number_tp << 20, 1  # bne t4, tp
    sd      zero, FLOAT_OWNER(t3)

# Back into one: if the registers are still those of the activation below this frame, it finds the unit on, and clean: what it wrote
# before is noted.
stencil_float_back:
    ld      t3, LITERAL_SERVICES(t1)
    addi    t2, tp, %lo(frame_size_negative)
    ld      t3, SERVICE_FLOAT(t3)
    li      t5, SSTATUS_FS_CLEAN
    ld      t4, FLOAT_OWNER(t3)
    branch_if_different t4, t2, to_float_elsewhere
    csrs    sstatus, t5

stencil_float_elsewhere:
    ld      t5, LITERAL_SERVICES(t1)
    ld      t5, SERVICE_FLOAT_RESUME(t5)
    jalr    t5, 0(t5)
    j       to_float_found
