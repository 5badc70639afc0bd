# Text and numbers on the serial port.
    .include "layout.inc"
    .option norelax
    .section .text.start, "ax"

    .globl print_byte
print_byte:
    li      t0, SERIAL
    sb      a0, 0(t0)
    ret

# The text at a0.
    .globl print
print:
    li      t0, SERIAL
1:  lbu     t1, 0(a0)
    beqz    t1, 2f
    sb      t1, 0(t0)
    addi    a0, a0, 1
    j       1b
2:  ret

# A tab and a0 in decimal.
    .globl print_number
print_number:
    li      t0, SERIAL
    li      t1, '\t'
    sb      t1, 0(t0)
    lla     t2, digits_end
    li      t3, 10
1:  remu    t4, a0, t3
    divu    a0, a0, t3
    addi    t4, t4, '0'
    addi    t2, t2, -1
    sb      t4, 0(t2)
    bnez    a0, 1b
    lla     t3, digits_end
2:  lbu     t1, 0(t2)
    sb      t1, 0(t0)
    addi    t2, t2, 1
    bne     t2, t3, 2b
    ret

    .section .data, "aw"
    .skip   24
digits_end:
