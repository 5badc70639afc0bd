# The smallest guest with a console, to test that QEMU is driven rightly: prints a prompt, echoes what
# is typed. A line with `q` ends the machine with status 7, a line with `z` with status 0.
    .globl _start
_start:
    la      s0, prompt
print:
    lbu     a0, (s0)
    beqz    a0, read
    call    put
    addi    s0, s0, 1
    j       print

read:
    li      a7, 2                   # SBI legacy: console getchar; negative if there is none
    ecall
    bltz    a0, read
    mv      s1, a0
    call    put
    li      t0, 'q'
    beq     s1, t0, fail
    li      t0, 'z'
    beq     s1, t0, pass
    li      t0, '\r'
    bne     s1, t0, read
    li      a0, '\n'
    call    put
    j       _start

put:
    li      a7, 1                   # SBI legacy: console putchar
    ecall
    ret

fail:
    li      t0, 0x100000            # the test finisher of QEMU's board
    li      t1, 0x00073333          # fail, status 7
    sw      t1, (t0)
pass:
    li      t0, 0x100000
    li      t1, 0x5555
    sw      t1, (t0)
stay:
    j       stay

prompt:
    .asciz  "guest> "
