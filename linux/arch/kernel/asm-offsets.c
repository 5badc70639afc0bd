// SPDX-License-Identifier: GPL-2.0-only
#define COMPILE_OFFSETS

#include <linux/kbuild.h>
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <asm/ptrace.h>
#include <asm/thread_info.h>

void asm_offsets(void);
void asm_offsets(void)
{
	OFFSET(TASK_THREAD_RA, task_struct, thread.ra);
	OFFSET(TASK_TI_FLAGS, task_struct, thread_info.flags);
	OFFSET(TASK_TI_KERNEL_SP, task_struct, thread_info.kernel_sp);
	OFFSET(TASK_MM, task_struct, mm);
	OFFSET(MM_DIRECT, mm_struct, context.direct);
	OFFSET(PT_EPC, pt_regs, epc);
	OFFSET(PT_SP, pt_regs, sp);
	OFFSET(PT_A0, pt_regs, a0);
	OFFSET(PT_A7, pt_regs, a7);
	OFFSET(PT_STATUS, pt_regs, status);
	OFFSET(PT_BADADDR, pt_regs, badaddr);
	OFFSET(PT_CAUSE, pt_regs, cause);
	OFFSET(PT_ORIG_A0, pt_regs, orig_a0);
	DEFINE(PT_SIZE, ALIGN(sizeof(struct pt_regs), STACK_ALIGN));
	DEFINE(EXC_SYSCALL_CAUSE, EXC_SYSCALL);
}
