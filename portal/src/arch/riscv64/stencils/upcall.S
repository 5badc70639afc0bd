# Enters a run-to-completion component after the trap entry saved a trap frame (header in tp), or
# from another such component, whose own state ends here (state letter `d`).
stencil_upcall_enter:
    ld      t2, LITERAL_TABLE(t1)
    sd      t2, FRAME_TABLE(tp)
    ld      sp, LITERAL_STACK(t1)

# Upcalls find in a1 the thread, in a2 the cause and in a3 its value (fault address; queue of a
# stack wait), in a4 the instance that ran (zero: none), as a method `ctiia` would.
stencil_upcall_arguments:
    li      a0, 0
    csrr    a2, scause
    csrr    a3, stval

# The software interrupt is acknowledged here, since user mode cannot.
stencil_upcall_acknowledge:
    csrci   sip, SOFTWARE_INTERRUPT
