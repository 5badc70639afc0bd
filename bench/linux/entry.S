# In front of a native kernel: writes the count of instructions, in 16 digits, behind `entered=` on its command line, and jumps to it.
        .globl  _start
_start:
        ld      t0, name
        mv      t2, a1                          # the device tree, which has the command line
        li      t1, 0
1:      lbu     t3, 0(t2)
        addi    t2, t2, 1
        srli    t1, t1, 8
        slli    t3, t3, 56
        or      t1, t1, t3                      # the last eight bytes
        bne     t1, t0, 1b
        rdinstret t0
        li      t1, 10
        addi    t3, t2, 16
2:      addi    t3, t3, -1
        remu    t4, t0, t1
        divu    t0, t0, t1
        addi    t4, t4, '0'
        sb      t4, 0(t3)
        bne     t3, t2, 2b
        li      t0, 0x80400000
        jr      t0
        .balign 8
name:   .ascii  "entered="
