# Services for the parameters `r` and `w`, called by portal code with `jalr t5`.
#
# In: t1 the portal, tp the frame, t4 the slot, t3 length; to open and to copy back: t2 pointer. Out
# of opening: t2 the callee's pointer, t3 zero or an error. t0, t6 and ra are free; argument and saved
# registers are not touched. Portal code keeps pointer and length in a record of each slot below the
# frame's header and closes what the record says, whether or not it was opened as a whole.
#
# Straight-line code: a computed jump enters an unrolled sequence so that as many steps remain as
# there are bytes or pages.

    .section .text.trap, "ax"

# What the shifts below say in another form.
.if (WINDOW_SLOT_STRIDE - 5 * PAGE_SIZE) | (COPY_STRIDE - 80)
    .error "the distance of window slots or of copies has changed"
.endif

# t3 = pages of t3 bytes (one at least), less one
.macro pages_before_last
    addi    t3, t3, -1
    srli    t3, t3, 12
.endm

# ra = kernel address of the slot's first page-table entry, t2 = the callee's address of the slot
.macro slot
    ld      t0, FRAME_ACTIVATION(tp)
    ld      ra, ACTIVATION_WINDOW_ENTRY(t0)
    ld      t2, ACTIVATION_WINDOW(t0)
    slli    t0, t4, 2
    add     t4, t4, t0                          # 5 pages a slot
    slli    t0, t4, 3
    add     ra, ra, t0                          # 8 bytes an entry
    slli    t0, t4, 12
    add     t2, t2, t0
.endm

# Between these two, privileged code may touch user memory: SUM is set, and a fault finds the
# frame because sscratch equals tp.
.macro user_memory_on
    csrr    t0, sscratch
    sd      t0, FRAME_SCRATCH + 16(tp)
    csrw    sscratch, tp
    li      t0, SSTATUS_SUM
    csrs    sstatus, t0
.endm
.macro user_memory_off
    li      t0, SSTATUS_SUM
    csrc    sstatus, t0
    ld      t0, FRAME_SCRATCH + 16(tp)
    csrw    sscratch, t0
.endm

# t6 = the callee's address of the copy, t4 = its kernel alias. The copy lies as far behind a word's beginning as the
# caller's memory, at t2, does: so words can be copied, whatever the pointer.
.macro copy_place
    slli    t0, t4, 2
    add     t4, t4, t0
    slli    t4, t4, 4                           # 80 bytes a slot (COPY_STRIDE)
    ld      t0, FRAME_ACTIVATION(tp)
    ld      t6, ACTIVATION_STACK(t0)
    sub     t6, t6, t4
    andi    t4, t2, 7
    add     t6, t6, t4
    addi    t6, t6, -COPY_STRIDE
    ld      t0, ACTIVATION_ALIAS(t0)
    add     t4, t6, t0
.endm

# Enters the unrolled steps that end at `end`: so many that t0 bytes of them are executed.
.macro enter_before end
    lla     t6, \end
    sub     t0, t6, t0
    jr      t0
.endm

# Steps with the offsets -count * size to -size, 8 bytes of code each.
.macro copy_steps load, store, from, to, size, count
    .set    step, -\count * \size
    .rept   \count
    \load  t6, step(\from)
    \store t6, step(\to)
    .set    step, step + \size
    .endr
.endm

# Copies t3 bytes, 1 to COPY_MAXIMUM, between t2 and t4, which agree in their last three bits: bytes up to a word's
# beginning, words, bytes. Nothing outside of the t3 bytes is read or written, and nothing is misaligned. t2, t3 and
# t4 are used up.
.macro copy from, to
    li      t0, 8
    bltu    t3, t0, 3f
    neg     t0, t2
    andi    t0, t0, 7                           # bytes before the first whole word
    beqz    t0, 1f
    sub     t3, t3, t0
    add     t2, t2, t0
    add     t4, t4, t0
    slli    t0, t0, 3
    enter_before 1f
    copy_steps lb, sb, \from, \to, 1, 7
1:  andi    t0, t3, -8                          # a step of 8 bytes of code copies 8 bytes
    add     t2, t2, t0
    add     t4, t4, t0
    enter_before 2f
    copy_steps ld, sd, \from, \to, 8, 8
2:  andi    t3, t3, 7
    beqz    t3, 4f
3:  add     t2, t2, t3
    add     t4, t4, t3
    slli    t0, t3, 3
    enter_before 4f
    copy_steps lb, sb, \from, \to, 1, 7
4:
.endm

# Closing, in three forms, one for each kind of board (portal/src/arch/riscv64/fences.rs); the service tables below name them. A
# window's pages are fenced before the caller runs.
.macro closing form
    .globl service_close_\form
service_close_\form:
    li      t0, COPY_MAXIMUM
    bltu    t0, t3, unmap_\form
    jr      t5
    .globl service_close_write_\form
service_close_write_\form:
    li      t0, COPY_MAXIMUM
    bltu    t0, t3, unmap_\form
    j       copy_out
unmap_\form:
    slot
    pages_before_last
.endm

# The core does what the manual says.
    closing by_asid
    ld      t6, LITERAL_IDENTIFIER(t1)
    li      t0, PAGE_SIZE
    slli    t3, t3, 4                           # 16 bytes of code for each
    lla     t4, 1f - 16
    sub     t4, t4, t3
    jr      t4
    .rept   4
    sd      zero, 0(ra)
    addi    ra, ra, 8
    sfence.vma t2, t6
    add     t2, t2, t0
    .endr
1:  jr      t5

# The core may compare the identifier in `satp` with that of an entry, for fences of an address and an identifier, or
# for all, when it drops everything if that in `satp` is zero. So this is a fence of an address in all address spaces
# while `satp` has the identifier 0, which no domain has: whatever is looked up meanwhile helps nobody.
    closing by_satp
    li      t6, SPACE_IDENTIFIER
    csrrc   t6, satp, t6
    li      t0, PAGE_SIZE
    slli    t3, t3, 4
    lla     t4, 1f - 16
    sub     t4, t4, t3
    jr      t4
    .rept   4
    sd      zero, 0(ra)
    addi    ra, ra, 8
    sfence.vma t2, zero
    add     t2, t2, t0
    .endr
1:  csrw    satp, t6
    jr      t5

# The domains' identifiers are all 0: the portal has fenced all domains when it entered the caller's, or will when it
# enters that of a frame below; until then nothing is looked up in the callee's page table. Where caller and callee have
# the same, the portal fences behind this.
    closing without_asids
    slli    t3, t3, 3
    lla     t4, 1f - 8
    sub     t4, t4, t3
    jr      t4
    .rept   4
    sd      zero, 0(ra)
    addi    ra, ra, 8
    .endr
1:  jr      t5

# `copy` is where short parameters are copied; `added`: a bit that entries get. `passed`: what lies in windows of the call whose
# activation is in t6, else what is the caller's own.
.macro open name, copy, required, kept, added, passed
    .globl service_\name
service_\name:
    li      t0, COPY_MAXIMUM
    bltu    t0, t3, 1f
    j       \copy
1:  li      t0, WINDOW_MAXIMUM
    bltu    t0, t3, refuse_too_large
    slli    t0, t2, 52                          # begins at a page; whole pages are passed
    bnez    t0, refuse_not_aligned
    .ifb    \passed
    ld      t0, LITERAL_SOURCE(t1)
    sub     t0, t2, t0                          # offset in the caller's memory
    ld      t6, LITERAL_SOURCE_SIZE(t1)
    bgeu    t0, t6, refuse_bad_pointer
    sub     t6, t6, t0
    bltu    t6, t3, refuse_bad_pointer          # the memory ends at a page, so the round-up fits too
    srli    t0, t0, 9                           # 8 bytes of entry for 4096 of memory
    ld      t6, LITERAL_SOURCE_ENTRY(t1)
    .else
    ld      t0, ACTIVATION_WINDOW(t6)
    sub     t0, t2, t0                          # offset in its windows; what lies behind each is nobody's, so the end will show
    li      ra, WINDOW_SLOTS * WINDOW_SLOT_STRIDE
    bgeu    t0, ra, refuse_bad_pointer
    srli    t0, t0, 9
    ld      t6, ACTIVATION_WINDOW_ENTRY(t6)
    .endif
    add     t6, t6, t0
    slot
    pages_before_last
    .ifb    \added
    slli    t3, t3, 5                           # 32 bytes of code for each
    lla     t0, 2f - 32
    .else
    slli    t0, t3, 5                           # 36
    slli    t3, t3, 2
    add     t3, t3, t0
    lla     t0, 2f - 36
    .endif
    sub     t0, t0, t3
    jr      t0
    .rept   4
    ld      t0, 0(t6)
    addi    t6, t6, 8
    andi    t3, t0, \required
    addi    t3, t3, -\required
    bnez    t3, refuse_bad_pointer
    andi    t0, t0, \kept
    .ifnb   \added
    ori     t0, t0, \added
    .endif
    sd      t0, 0(ra)
    addi    ra, ra, 8
    .endr
2:  li      t3, 0
    jr      t5
.endm
    open    open_read, copy_in, PTE_READABLE, PTE_READ_WINDOW
    open    open_write, copy_in, PTE_WRITABLE, PTE_WRITE_WINDOW

    # Closing must not enter the unrolled code by this length.
refuse_too_large:
    slli    t0, t4, 4                           # 16 bytes a record
    sub     t0, tp, t0
    sd      zero, -8(t0)
    li      t3, ERROR_TOO_LARGE
    jr      t5
refuse_not_aligned:
    li      t3, ERROR_NOT_PAGE_ALIGNED
    jr      t5
refuse_bad_pointer:
    li      t3, ERROR_BAD_POINTER
    jr      t5

copy_in:
    srli    t0, t2, USER_ADDRESS_BITS           # an address of the kernel domain would be readable here
    bnez    t0, refuse_bad_pointer
copy_in_any:
    copy_place
    mv      ra, t6
    beqz    t3, 5f
    user_memory_on
    .globl copy_begin
copy_begin:
    copy    t2, t4
copy_in_end:
    user_memory_off
5:  mv      t2, ra
    li      t3, 0
    jr      t5

copy_out:
    beqz    t3, closed
    copy_place
    user_memory_on
    copy    t4, t2
    .globl copy_end
copy_end:
    user_memory_off
    jr      t5

# A fault between copy_begin and copy_end, in either direction.
    .globl copy_fault
copy_fault:
    user_memory_off
    li      t0, SSTATUS_SPP                     # set by this trap; the portal's sret leaves to user mode
    csrc    sstatus, t0
    li      t3, ERROR_BAD_POINTER               # to open: refused
    csrr    t2, sepc
    lla     t0, copy_in_end
    bltu    t2, t0, closed
    mv      a0, t3                              # to close: the caller's reply
    li      a1, 0
closed:
    jr      t5

# For callers in the kernel domain, who may read all of it.
    open    open_kernel_read, copy_in_any, PTE_KERNEL_READABLE, PTE_KERNEL_READ_WINDOW, PTE_USER
    open    open_kernel_write, copy_in_any, PTE_KERNEL_WRITABLE, PTE_KERNEL_WRITE_WINDOW, PTE_USER

# For interposers, what they were passed.
    open    open_passed_read, copy_in, PTE_PASSED_READABLE, PTE_READ_WINDOW,, passed
    open    open_passed_write, copy_in, PTE_PASSED_WRITABLE, PTE_WRITE_WINDOW,, passed

# What portals reach by LITERAL_SERVICES: a table for each kind of board.
    .section .rodata.services, "a"
    .balign 8
.macro services form
    .globl service_table_\form
service_table_\form:
    .dword  service_open_read
    .dword  service_open_write
    .dword  service_close_\form
    .dword  service_close_write_\form
    .dword  service_stack_wait
    .dword  service_stack_wait_in_kernel
    .dword  service_open_kernel_read
    .dword  service_open_kernel_write
    .dword  nucleus_float
    .dword  service_float_resume
    .dword  service_float_begin
    .dword  service_open_passed_read
    .dword  service_open_passed_write
    .dword  service_float_leave
    .dword  float_take
.endm
    services by_asid
    services by_satp
    services without_asids
