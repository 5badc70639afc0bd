# Machine mode: prepares the core, runs one measurement after another in a lower mode, prints what each
# found, and ends the simulation.
    .include "layout.inc"
    .option norelax

    .equ    MEASUREMENT_SIZE, 64

    .section .text.entry, "ax"
    .globl _start
_start:
    lla     t0, machine_trap
    csrw    mtvec, t0
    li      t0, -1                              # memory protection: everything is open to everyone
    csrw    pmpaddr0, t0
    li      t0, 0x1f
    csrw    pmpcfg0, t0
    li      t0, 0xb1f7                          # all exceptions, but breakpoints (3): they end a measurement
    csrw    medeleg, t0
    li      t0, 7
    csrw    mcounteren, t0
    csrw    scounteren, t0
    call    fill_tables

    lla     s11, measurements
next:
    ld      t0, 0(s11)                          # code
    beqz    t0, finish
    csrw    mepc, t0
    ld      t0, 8(s11)                          # trap entry
    csrw    stvec, t0
    li      t0, 3 << 11                         # MPP
    csrc    mstatus, t0
    ld      t0, 16(s11)                         # mode, in place
    csrs    mstatus, t0
    li      t0, KERNEL_DATA_AT
    csrw    sscratch, t0
    li      t0, FIRST_SATP
    csrw    satp, t0
    sfence.vma
    mret

finish:
    li      t0, FINISHER
    li      t1, 0x5555
    sw      t1, 0(t0)
1:  j       1b

# A breakpoint ends a measurement: s5 the least number of cycles, s6 the greatest of the second half,
# s7 instructions, s1 the repetitions left: none. Anything else is an error.
    .balign 4
machine_trap:
    csrr    t0, mcause
    li      t1, 3
    bne     t0, t1, unexpected
    bnez    s1, unexpected                      # not all repetitions are done
    ld      t0, 24(s11)                         # what the measuring itself takes is the first measurement
    beqz    t0, 1f
    sub     s5, s5, s8
    sub     s6, s6, s8
    sub     s7, s7, s9
    j       2f
1:  mv      s8, s5
    mv      s9, s7
2:  addi    a0, s11, 32
    call    print
    mv      a0, s5
    call    print_number
    mv      a0, s6
    call    print_number
    mv      a0, s7
    call    print_number
    li      a0, '\n'
    call    print_byte
    addi    s11, s11, MEASUREMENT_SIZE
    j       next

unexpected:
    mv      s1, t0
    lla     a0, unexpected_text
    call    print
    mv      a0, s1
    call    print_number
    csrr    a0, mepc
    call    print_number
    csrr    a0, scause
    call    print_number
    csrr    a0, sepc
    call    print_number
    li      a0, '\n'
    call    print_byte
    li      t0, FINISHER
    li      t1, 0x13333
    sw      t1, 0(t0)
1:  j       1b

    .section .rodata.start, "a"
unexpected_text:
    .asciz  "unexpected trap: mcause, mepc, scause, sepc"

    .equ    USER, 0 << 11
    .equ    SUPERVISOR, 1 << 11
.macro measurement text, code, entry, mode, corrected=1
    .dword  \code, \entry, \mode, \corrected
1:  .asciz  "\text"
    .space  32 - (. - 1b)
.endm
    .balign 8
measurements:
    measurement "(measuring)", first_nothing, entry_return, USER, 0
    measurement "trap and return", first_trap, entry_return, USER
    measurement "switch and back, no fence", first_switch, entry_switch, USER
    measurement "switch and back, all fenced", first_switch, entry_switch_fence, USER
    measurement "switch and back, asid fenced", first_switch, entry_switch_asid, USER
    measurement "(measuring, supervisor)", kernel_nothing, entry_return, SUPERVISOR, 0
    measurement "write satp", kernel_satp, entry_return, SUPERVISOR
    measurement "swap sscratch", kernel_sscratch, entry_return, SUPERVISOR
    measurement "write sepc", kernel_sepc, entry_return, SUPERVISOR
    measurement "sret", kernel_sret, entry_return, SUPERVISOR
    measurement "sfence.vma, one page", kernel_fence_page, entry_return, SUPERVISOR
    measurement "sfence.vma, one asid", kernel_fence_asid, entry_return, SUPERVISOR
    measurement "sfence.vma, all", kernel_fence_all, entry_return, SUPERVISOR
    measurement "fence.i", kernel_fence_i, entry_return, SUPERVISOR
    measurement "call and return", kernel_call, entry_return, SUPERVISOR
    .dword  0
