/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ways from a process into the kernel and back. All registers are the process' on either; what none can carry is in the status
 * page, which is reached from register zero (asm/cairn.h).
 *
 * The registers of a process are at the bottom of its task's kernel stack, in the order of their numbers behind `epc` (asm/ptrace.h).
 */
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/cairn.h>
#include <asm/csr.h>
#include <asm/thread_info.h>
#include <asm/unistd.h>

	.macro	save_registers
	sd	sp, CAIRN_USER_SP(zero)
	ld	sp, CAIRN_FRAME(zero)
	.irp	number, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	sd	x\number, \number*8(sp)
	.endr
	ld	s0, CAIRN_USER_SP(zero)
	ld	s1, CAIRN_PC(zero)
	ld	tp, CAIRN_CURRENT(zero)
	sd	s0, PT_SP(sp)
	.endm

	/* What a call preserves, as in `thread` and in a snapshot. */
	.macro	preserved instruction, base
	\instruction ra, 0(\base)
	\instruction sp, 8(\base)
	.set	place, 16
	.irp	number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	\instruction s\number, place(\base)
	.set	place, place + 8
	.endr
	.endm

	.section .text.cairn_entry, "ax"

/* A process has called. */
SYM_CODE_START(cairn_enter_call)
	bltz	a7, direct
ordinary_call:
	save_registers
	addi	s1, s1, 4
	li	t0, EXC_SYSCALL_CAUSE
	li	t1, 1
	ld	t2, TASK_TI_FLAGS(tp)
	sd	s1, PT_EPC(sp)
	sd	t0, PT_CAUSE(sp)
	sd	a0, PT_ORIG_A0(sp)
	sd	t1, CAIRN_ENABLED(zero)
	andi	t2, t2, _TIF_SYSCALL_WORK
	li	t0, __NR_syscalls
	bnez	t2, trace_enter
dispatch:
	la	t1, sys_call_table
	bgeu	a7, t0, not_there
	slli	t0, a7, 3
	add	t1, t1, t0
	ld	t1, 0(t1)
invoke:
	jalr	t1
	ld	t2, TASK_TI_FLAGS(tp)
	sd	a0, PT_A0(sp)
	andi	t2, t2, _TIF_SYSCALL_WORK
	bnez	t2, trace_exit

/* Back to a process, or out of a kernel thread that has become one. */
SYM_INNER_LABEL(cairn_leave, SYM_L_GLOBAL)
	sd	zero, CAIRN_ENABLED(zero)
	ld	t0, TASK_TI_FLAGS(tp)
	andi	t1, t0, _TIF_WORK_MASK
	bnez	t1, work
leave:
	ld	t0, PT_EPC(sp)
	/* A reservation of a compare-and-swap here, or of the process before, is not this one's. */
	sc.d	zero, t0, PT_EPC(sp)
	sd	t0, CAIRN_PC(zero)
	ld	t0, 5*8(sp)
	sd	t0, CAIRN_T0(zero)
	.irp	number, 1, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 2
	ld	x\number, \number*8(sp)
	.endr
	j	portal_return

work:
	mv	a0, sp
	mv	a1, t0
	call	do_work_pending
	j	leave

not_there:
	la	t1, sys_ni_syscall
	j	invoke

trace_enter:
	mv	a0, sp
	call	do_syscall_trace_enter
	mv	t2, a0
	.irp	number, 10, 11, 12, 13, 14, 15, 16, 17
	ld	x\number, \number*8(sp)
	.endr
	li	t0, __NR_syscalls
	beqz	t2, dispatch
	j	trace_exit
trace_exit:
	mv	a0, sp
	call	do_syscall_trace_exit
	j	cairn_leave
SYM_CODE_END(cairn_enter_call)

/*
 * A process calls a component itself (drivers/direct.c): its arguments, stack and all registers that the C convention preserves are in place, and
 * those stay its own in the portal. What interrupts meanwhile is taken when the process goes on.
 */
SYM_CODE_START_LOCAL(direct)
	sd	t1, CAIRN_DIRECT_T1(zero)
	sd	t2, CAIRN_DIRECT_T2(zero)
	ld	t1, CAIRN_CURRENT(zero)
	addi	t2, a7, CAIRN_DIRECT
	ld	t1, TASK_MM(t1)
	bltz	t2, no_portal
	slli	t2, t2, 2
	ld	t1, MM_DIRECT(t1)
	beqz	t1, no_portal
	add	t1, t1, t2
	lw	t1, 0(t1)
	beqz	t1, no_portal
	mv	t0, t1
	call	cairn_portal_call
	ld	t0, CAIRN_PC(zero)
	li	a7, 0
	addi	t0, t0, 4
	sd	t0, CAIRN_PC(zero)
	sd	zero, CAIRN_T0(zero)
	j	portal_return
no_portal:
	ld	t1, CAIRN_DIRECT_T1(zero)
	ld	t2, CAIRN_DIRECT_T2(zero)
	j	ordinary_call
SYM_CODE_END(direct)

/* A process has an exception. */
SYM_CODE_START(cairn_enter_fault)
	save_registers
	ld	s2, CAIRN_VALUE(zero)
	ld	s3, CAIRN_CAUSE(zero)
	li	t1, 1
	sd	s1, PT_EPC(sp)
	sd	s2, PT_BADADDR(sp)
	sd	s3, PT_CAUSE(sp)
	sd	t1, CAIRN_ENABLED(zero)
	mv	a0, sp
	la	ra, cairn_leave
	tail	cairn_exception
SYM_CODE_END(cairn_enter_fault)

/* A process was interrupted, or would have been. */
SYM_CODE_START(cairn_enter_interrupt)
	save_registers
	li	s3, -1
	sd	s1, PT_EPC(sp)
	sd	s3, PT_CAUSE(sp)
	mv	a0, sp
	la	ra, cairn_leave
	tail	cairn_interrupt
SYM_CODE_END(cairn_enter_interrupt)

SYM_CODE_START(ret_from_fork)
	call	schedule_tail
	j	cairn_leave
SYM_CODE_END(ret_from_fork)

SYM_CODE_START(ret_from_kernel_thread)
	call	schedule_tail
	mv	a0, s1
	la	ra, cairn_leave
	jr	s0
SYM_CODE_END(ret_from_kernel_thread)

/* From the task in a0 to the one in a1; a0 is what it was. */
SYM_FUNC_START(__switch_to)
	li	a4, TASK_THREAD_RA
	add	a3, a0, a4
	add	a4, a1, a4
	ld	a5, TASK_TI_KERNEL_SP(a1)
	preserved sd, a3
	preserved ld, a4
	sd	a5, CAIRN_FRAME(zero)
	sd	a1, CAIRN_CURRENT(zero)
	mv	tp, a1
	ret
SYM_FUNC_END(__switch_to)

/* The component's first thread becomes the kernel's. */
SYM_CODE_START(cairn_start_kernel)
#ifdef CONFIG_CAIRN_SNAPSHOT
	call	cairn_go_on_if_possible
#endif
	la	tp, init_task
	la	sp, init_thread_union + THREAD_SIZE - PT_SIZE
	sd	sp, CAIRN_FRAME(zero)
	sd	sp, TASK_TI_KERNEL_SP(tp)
	sd	tp, CAIRN_CURRENT(zero)
	sd	zero, CAIRN_ENABLED(zero)
	tail	start_kernel
SYM_CODE_END(cairn_start_kernel)

#ifdef CONFIG_CAIRN_SNAPSHOT
SYM_FUNC_START(cairn_keep_registers)
	preserved sd, a0
	li	a0, 0
	ret
SYM_FUNC_END(cairn_keep_registers)

SYM_FUNC_START(cairn_go_on)
	preserved ld, a0
	ld	tp, CAIRN_CURRENT(zero)
	li	a0, 1
	ret
SYM_FUNC_END(cairn_go_on)
#endif

/*
 * Calls of portals, in the form by which the host tool knows them: `ecall` behaves as a jump to a procedure that returns to ra.
 * Where they are is a note to modpost, which warns of other sections that are no memory; vmlinux.lds.S has the name that the host tool looks for.
 */
	.macro	portal name, index
	.balign	16
	.globl	portal_\name
portal_\name:
	.option	push
	.option	norvc
	li	t0, \index
	ecall
	j	.
	.option	pop
	.balign	16
	.pushsection .note.cairn.stubs, "", @note
	.dword	portal_\name
	.popsection
	.endm

	portal	return, 0
	portal	cairn_begin, 4
	portal	cairn_select, 5
	portal	cairn_map, 6
	portal	cairn_link, 8
	portal	cairn_clear, 9
	portal	cairn_fence, 10
	portal	cairn_interrupt, 11
	portal	cairn_float, 12
	portal	cairn_map_several, 13
