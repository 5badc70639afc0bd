# How code is entered that needs something set up first: thread-local variables (CAIRN_THREAD_LOCAL), constructors
# (CAIRN_CONSTRUCTORS), that it serves (CAIRN_READY). The host tool defines these where a program has them; no other has such code.
#
# Thread-local variables lie on the stack, in a block of the thread that enters; `tp` is its address, as the linker has
# computed offsets from it. They begin anew at every entry, since to the component every caller is another thread. `tp`
# is given back, because a caller in the same domain has its own there.

        .section .text.cairn_enter, "ax"

# Enters the function in t0 with what is in the argument registers, and returns what it returns.
        .globl  cairn_enter
        .type   cairn_enter, @function
cairn_enter:
#ifdef CAIRN_READY
        .globl  cairn_enters_ready
cairn_enters_ready:
        lla     t1, cairn_serves
        lw      t1, 0(t1)
        beqz    t1, await
        fence   r, rw
#endif
# The component's own threads, which are not called, begin here.
        .globl  cairn_enter_own
cairn_enter_own:
#ifdef CAIRN_CONSTRUCTORS
        .globl  cairn_enters_constructors
cairn_enters_constructors:
        lla     t1, cairn_constructed
        lw      t1, 0(t1)
        li      t2, 2
        bne     t1, t2, construct
        fence   r, rw
#endif
enter_constructed:
#ifdef CAIRN_THREAD_LOCAL
# By these names the loader knows what is set up.
        .globl  cairn_enters_thread_local
cairn_enters_thread_local:
# The block: the variables, the return address, the former tp.
        lui     t3, %hi(cairn_thread_local_size)
        addi    t3, t3, %lo(cairn_thread_local_size)
        lla     t1, cairn_thread_local
        lla     t2, cairn_thread_local_image_end
        addi    t4, sp, -16
        sub     sp, t4, t3
        mv      t5, sp
        beq     t1, t2, 2f
1:      ld      t6, 0(t1)                       # what has a first value
        addi    t1, t1, 8
        sd      t6, 0(t5)
        addi    t5, t5, 8
        bltu    t1, t2, 1b
        beq     t5, t4, 3f
2:      sd      zero, 0(t5)                     # the rest
        addi    t5, t5, 8
        bltu    t5, t4, 2b
3:      sd      ra, 0(t4)
        sd      tp, 8(t4)
        mv      tp, sp
        jalr    t0
# What was written to `stdout` and did not end a line is shown (lib/c/src/stdout.c, if it is linked).
        .weak   cairn_leave
        la      t0, cairn_leave
        bnez    t0, leave
left:
        lui     t3, %hi(cairn_thread_local_size)
        addi    t3, t3, %lo(cairn_thread_local_size)
        add     t3, t3, sp
        ld      ra, 0(t3)
        ld      tp, 8(t3)
        addi    sp, t3, 16
        ret

leave:
        addi    sp, sp, -48
        sd      a0, 0(sp)
        sd      a1, 8(sp)
        sd      a2, 16(sp)
        sd      a3, 24(sp)
        sd      a4, 32(sp)
        jalr    t0
        ld      a0, 0(sp)
        ld      a1, 8(sp)
        ld      a2, 16(sp)
        ld      a3, 24(sp)
        ld      a4, 32(sp)
        addi    sp, sp, 48
        j       left
#else
        jr      t0
#endif

#if defined(CAIRN_CONSTRUCTORS) || defined(CAIRN_READY)
#ifdef CAIRN_READY
await:
        lla     t2, cairn_await_ready
        lla     t3, cairn_enter_own
        j       before
#endif
#ifdef CAIRN_CONSTRUCTORS
construct:
        lla     t2, cairn_construct
        lla     t3, enter_constructed
#endif
# Calls the function in t2, then goes on at t3, or returns the error that it answers.
before:
        addi    sp, sp, -96
        sd      ra, 0(sp)
        sd      t0, 8(sp)
        sd      a0, 16(sp)
        sd      a1, 24(sp)
        sd      a2, 32(sp)
        sd      a3, 40(sp)
        sd      a4, 48(sp)
        sd      a5, 56(sp)
        sd      a6, 64(sp)
        sd      a7, 72(sp)
        sd      t3, 80(sp)
        lla     a0, cairn_main
        sub     a0, t0, a0
        seqz    a0, a0                          # whether this is the first thread
        mv      t0, t2
#ifdef CAIRN_THREAD_LOCAL
        call    enter_constructed               # a constructor has thread-local variables, too
#else
        jalr    t0
#endif
        mv      t1, a0
        ld      ra, 0(sp)
        ld      t0, 8(sp)
        ld      a0, 16(sp)
        ld      a1, 24(sp)
        ld      a2, 32(sp)
        ld      a3, 40(sp)
        ld      a4, 48(sp)
        ld      a5, 56(sp)
        ld      a6, 64(sp)
        ld      a7, 72(sp)
        ld      t3, 80(sp)
        addi    sp, sp, 96
        beqz    t1, 1f
        mv      a0, t1
        ret
1:      jr      t3
#endif

        .size   cairn_enter, . - cairn_enter

# A thread's first instructions (cairn_thread.h): its argument leads to the function and that one's argument.
        .globl  cairn_thread_begin
        .type   cairn_thread_begin, @function
cairn_thread_begin:
        ld      t0, 0(a0)
        ld      a0, 8(a0)
        j       cairn_enter_own
        .size   cairn_thread_begin, . - cairn_thread_begin
