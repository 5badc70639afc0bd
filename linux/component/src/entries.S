/* SPDX-License-Identifier: GPL-2.0-only */
# Where components enter that call services of Linux': an entry for each method of each, since a service can be of any interface. What comes in
# registers goes to `linux_enter` in memory, and comes back in registers.

        .set    SERVICES, 8
        .set    METHODS, 24

        .text
        .balign 8
        .globl  linux_gates
        .option push
        .option norvc
linux_gates:
        .set    number, 0
        .rept   SERVICES * METHODS
        li      t0, number
        j       enter
        .set    number, number + 1
        .endr
        .option pop

enter:
        addi    sp, sp, -112
        sd      a0, 0(sp)
        sd      a1, 8(sp)
        sd      a2, 16(sp)
        sd      a3, 24(sp)
        sd      a4, 32(sp)
        sd      a5, 40(sp)
        sd      a6, 48(sp)
        sd      a7, 56(sp)
        sd      ra, 104(sp)
        mv      a0, t0
        mv      a1, sp
        addi    a2, sp, 64
        call    linux_enter
        ld      a0, 64(sp)
        ld      a1, 72(sp)
        ld      a2, 80(sp)
        ld      a3, 88(sp)
        ld      a4, 96(sp)
        ld      ra, 104(sp)
        addi    sp, sp, 112
        ret
