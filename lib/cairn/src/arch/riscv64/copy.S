# Copying to and from memory that another thread may write meanwhile, in Rust and in C: the one place of a component that
# reads and writes what a caller passed. Each byte is read once and written once, in words where both sides are aligned alike.
#
# a0: to. a1: from. a2: bytes. Back in a0: the bytes copied. Changes a1, a3, t0 to t6, nothing else.
#
# Where it begins and ends, and where it goes on if it cannot reach its memory, is noted for the host tool in a section
# that is not loaded (loader/src/copy.rs). In a domain such a fault is the component's. In the kernel domain the first
# instruction is a jump to the end, where user memory is opened around the rest; the landing is the nucleus' choice there,
# which has marked the call (nucleus/src/arch/riscv64/kernel.S).

        .pushsection .text.cairn_copy, "ax"
        .balign 64
        .globl  cairn_copy
        .type   cairn_copy, @function
cairn_copy:
        .option push
        .option norvc                   # as long as the jump
        add     a3, a0, a2              # the end
        .option pop
cairn_copy_on:
        li      t0, 8
        bltu    a2, t0, 5f
        xor     t0, a0, a1
        andi    t0, t0, 7
        bnez    t0, 5f
        andi    t0, a0, 7
        beqz    t0, 2f
1:      lbu     t1, 0(a1)               # up to the first word: there is one
        addi    a1, a1, 1
        sb      t1, 0(a0)
        addi    a0, a0, 1
        andi    t0, a0, 7
        bnez    t0, 1b
2:      addi    t0, a3, -128            # where the last sixteen words can begin
        bltu    t0, a0, 13f
12:
        .irp    at, 0, 32, 64, 96
        ld      t1, \at + 0(a1)
        ld      t2, \at + 8(a1)
        ld      t3, \at + 16(a1)
        ld      t4, \at + 24(a1)
        sd      t1, \at + 0(a0)
        sd      t2, \at + 8(a0)
        sd      t3, \at + 16(a0)
        sd      t4, \at + 24(a0)
        .endr
        addi    a1, a1, 128
        addi    a0, a0, 128
        bgeu    t0, a0, 12b
13:     addi    t0, a3, -32             # the last four
        bltu    t0, a0, 4f
3:      ld      t1, 0(a1)
        ld      t2, 8(a1)
        ld      t3, 16(a1)
        ld      t4, 24(a1)
        addi    a1, a1, 32
        sd      t1, 0(a0)
        sd      t2, 8(a0)
        sd      t3, 16(a0)
        sd      t4, 24(a0)
        addi    a0, a0, 32
        bgeu    t0, a0, 3b
4:      addi    t0, a3, -8
        bltu    t0, a0, 5f
6:      ld      t1, 0(a1)
        addi    a1, a1, 8
        sd      t1, 0(a0)
        addi    a0, a0, 8
        bgeu    t0, a0, 6b
5:      addi    t0, a3, -4              # bytes
        bltu    t0, a0, 8f
7:      lbu     t1, 0(a1)
        lbu     t2, 1(a1)
        lbu     t3, 2(a1)
        lbu     t4, 3(a1)
        addi    a1, a1, 4
        sb      t1, 0(a0)
        sb      t2, 1(a0)
        sb      t3, 2(a0)
        sb      t4, 3(a0)
        addi    a0, a0, 4
        bgeu    t0, a0, 7b
8:      beq     a0, a3, 10f
9:      lbu     t1, 0(a1)
        addi    a1, a1, 1
        sb      t1, 0(a0)
        addi    a0, a0, 1
        bne     a0, a3, 9b
10:     mv      a0, a2
        ret
cairn_copy_end:
        .option push
        .option arch, +zicsr            # C is compiled without
        mv      t6, ra
        li      t5, 1 << 18             # SUM (privileged manual section 4.1.1)
        add     a3, a0, a2
        csrs    sstatus, t5
        jal     cairn_copy_on
11:     csrc    sstatus, t5
        jr      t6
cairn_copy_landing:
        li      a0, 0
        j       11b
        .option pop
        .size   cairn_copy, . - cairn_copy
        .popsection

        .pushsection .cairn.copy, "", @progbits
        .dword  cairn_copy, cairn_copy_end, cairn_copy_landing
        .popsection
