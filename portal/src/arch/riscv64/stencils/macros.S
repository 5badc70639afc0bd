# Stencils: the fragments of which portal code is made, for RISC-V 64.
#
# Where the order is free, an instruction stands between a load, or a read of a control register, and what needs its
# result: cores that execute in order wait otherwise.
#
# The build assembles this file and those beside it, as one; `portal/build.rs` cuts them at the labels `stencil_NAME`
# and turns each relocation against an undefined symbol into a hole. Symbols that begin with `to_` are
# labels in the finished portal, the others are numbers that the generator fills in.
#
# Registers on entry to portal code, from the trap entry:
#   t1  address of this code: literals are at negative offsets from it
#   tp  header of the topmost frame of the thread        sscratch  the user's tp
#   t0, t2-t6  free      a0-a7, s0-s11, sp, ra, gp  the user's
# Interrupts are off (sstatus.SIE, cleared by the trap). There is no loop in these files.

    .option norvc
    .option norelax

# The end of what a portal executes. The jump behind `sret` is never executed, only fetched: CVA6 fetches on until
# `sret` retires; if a line behind it is not in the cache, it waits for the memory, forgets what came, and does so
# again the next time. The jump keeps it in the line of `sret`, if it lies in the same 16 bytes: the generator sees
# to that.
.macro leave
    sret
    .word   0x0000006f                          # j . (without a relocation, which would be a hole)
.endm

# A branch to another part of the portal. It is a word with a relocation, since the assembler, which does not know
# how far that part is, would make a branch around a jump of the instruction; and cores predict that a branch forward
# is not taken.
    .equ    number_tp, 4
    .equ    number_t1, 6
    .equ    number_t2, 7
    .equ    number_a0, 10
    .equ    number_a1, 11
    .equ    number_a2, 12
    .equ    number_a3, 13
    .equ    number_a4, 14
    .equ    number_a5, 15
    .equ    number_a6, 16
    .equ    number_a7, 17
    .equ    number_t3, 28
    .equ    number_t4, 29
    .equ    number_t5, 30
    .equ    number_t6, 31
.macro branch word, target
    .reloc  ., R_RISCV_BRANCH, \target
    .word   0x63 | \word
.endm
.macro branch_if_zero register, target
    branch  0 << 12 | number_\register << 15, \target
.endm
.macro branch_if_not_zero register, target
    branch  1 << 12 | number_\register << 15, \target
.endm
.macro branch_if_different register, other, target
    branch  1 << 12 | number_\register << 15 | number_\other << 20, \target
.endm
.macro branch_if_negative register, target
    branch  4 << 12 | number_\register << 15, \target
.endm
.macro branch_if_not_negative register, target
    branch  5 << 12 | number_\register << 15, \target
.endm
.macro branch_if_less register, other, target
    branch  4 << 12 | number_\register << 15 | number_\other << 20, \target
.endm
.macro branch_if_not_below register, other, target  # unsigned
    branch  7 << 12 | number_\register << 15 | number_\other << 20, \target
.endm
.macro branch_if_below register, other, target  # unsigned
    branch  6 << 12 | number_\register << 15 | number_\other << 20, \target
.endm
# A branch over the next instructions, at most six: `word` is its condition. The assembler would make a relocation of it.
.macro skip word, instructions
    .word   0x63 | \word | (\instructions + 1) << 9
.endm
.macro branch_if_not_positive register, target  # zero >= register
    branch  5 << 12 | number_\register << 20, \target
.endm
