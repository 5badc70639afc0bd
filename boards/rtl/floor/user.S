# The two domains.
    .include "layout.inc"
    .include "measure.inc"
    .option norelax
    .option norvc

    .section .text.first, "ax"
    .equ    LINK_TO_RUN, FIRST_TEXT_AT - (MEMORY + FIRST_TEXT)
.macro user name, instructions:vararg
    .balign 64
\name\()_here:
    .equ    \name, \name\()_here + LINK_TO_RUN
    .globl  \name
    lla     ra, 9f
    li      a7, 1                               # the ASID that a switch may fence
    measure nop, \instructions
    ebreak
.endm
    user    first_nothing
    user    first_trap, ecall
.macro call_second
    li      t0, 1
    ecall
.endm
    user    first_switch, call_second

    .section .text.second, "ax"
    li      t0, 0
    ecall
    j       .                                   # never executed, see `leave`
