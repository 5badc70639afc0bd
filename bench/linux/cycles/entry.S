# In front of a native kernel on a simulated core, whose shim knows no device tree: tells the kernel where that is, has programs count, and jumps to it.
        .globl  _start
_start:
        li      a1, DEVICE_TREE
        li      t0, 7                           # user mode reads cycle, time and instret
        csrw    scounteren, t0
        li      t0, KERNEL
        jr      t0
