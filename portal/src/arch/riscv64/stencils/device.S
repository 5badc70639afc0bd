# What a confined driver does to its device (abi/src/device.rs). As in a method of an interface, what the driver passes
# begins in a1. Registers are written in words, whatever the driver passes;
# descriptors are checked before anything of them is written.

# A queue has something.
stencil_device_notify:
    ld      t3, LITERAL_COUNT(t1)
    ld      t2, LITERAL_REGISTERS(t1)
    branch_if_not_below a1, t3, to_refused
    fence   w, o                                # what it has is in memory before the device looks
    sw      a1, QUEUE_NOTIFY(t2)

stencil_device_acknowledge:
    ld      t2, LITERAL_REGISTERS(t1)
    sw      a1, INTERRUPT_ACKNOWLEDGE(t2)
    fence   o, r                                # what the driver then sees, an interrupt comes for later

stencil_device_configure:
    ld      t3, LITERAL_COUNT(t1)
    andi    t4, a1, 3
    ld      t2, LITERAL_REGISTERS(t1)
    branch_if_not_below a1, t3, to_refused
    branch_if_not_zero t4, to_refused
    add     t2, t2, a1
    sw      a2, CONFIGURATION(t2)

# Up to six descriptors. Of each the upper half of the length is zero, and the next one is the one behind, from the
# layout on. The first word is a descriptor whatever it is, the others may be the list's end.
stencil_post:
    ld      t3, LITERAL_COUNT(t1)
    ld      t2, LITERAL_DESCRIPTORS(t1)
    ld      t4, LITERAL_DMA_SIZE(t1)
    branch_if_not_below a1, t3, to_refused
    ld      t5, LITERAL_DEVICE_ADDRESS(t1)
    ld      t0, LITERAL_LENGTH_MASK(t1)
    slli    a1, a1, 4
    add     t2, t2, a1
.macro descriptor word, number
stencil_post_descriptor_\number:
    .if \number > 0
    branch_if_zero \word, to_posted
    .endif
    srli    t3, \word, 40
    and     t6, \word, t0
    add     t6, t6, t3
    branch_if_below t4, t6, to_refused
    add     t3, t3, t5
    sd      t3, \number * DESCRIPTOR_SIZE(t2)
    sh      \word, \number * DESCRIPTOR_SIZE + 8(t2)
    srli    \word, \word, 16
    andi    \word, \word, 3
    sh      \word, \number * DESCRIPTOR_SIZE + 12(t2)
.endm
    descriptor a2, 0
    descriptor a3, 1
    descriptor a4, 2
    descriptor a5, 3
    descriptor a6, 4
    descriptor a7, 5

# Behind the descriptors: into the ring of what is offered, whose index is the driver's word for how many there were.
stencil_offer:
    ld      t2, LITERAL_RINGS(t1)
    ld      t4, LITERAL_COUNT(t1)
    lhu     t3, AVAILABLE_INDEX(t2)
    addi    t4, t4, -1
    and     t4, t4, t3
    slli    t4, t4, 1
    add     t4, t4, t2
    srli    a1, a1, 4
    addi    t3, t3, 1
    sh      a1, AVAILABLE_ENTRIES(t4)
    ld      t1, LITERAL_REGISTERS(t1)
    fence   w, w                                # the device sees descriptors and entry before the index
    sh      t3, AVAILABLE_INDEX(t2)
    addi    t4, zero, %lo(queue)
    fence   w, o
    sw      t4, QUEUE_NOTIFY(t1)

# The ends: the driver learns no address of the kernel's half. Those are in t1 and t2 alone; where a device finds the
# driver's memory the driver knows anyway.
stencil_device_done:
    li      a0, 0
stencil_device_scrub:
    li      t1, 0
    li      t2, 0
stencil_device_refused:
    addi    a0, zero, ERROR_BAD_ARGUMENT
stencil_device_leave:
    csrw    sepc, ra
    csrrw   tp, sscratch, tp
    leave
