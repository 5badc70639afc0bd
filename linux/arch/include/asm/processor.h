/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_PROCESSOR_H
#define _ASM_CAIRN_PROCESSOR_H

#include <linux/const.h>
#include <vdso/processor.h>
#include <asm/ptrace.h>

#define TASK_UNMAPPED_BASE	PAGE_ALIGN(TASK_SIZE / 3)
#define STACK_TOP		TASK_SIZE
#define STACK_TOP_MAX		TASK_SIZE
#define STACK_ALIGN		16

#ifndef __ASSEMBLY__

struct task_struct;
struct pt_regs;

/* What a task has beside its stack while another one runs. */
struct thread_struct {
	unsigned long ra;
	unsigned long sp;
	unsigned long s[12];
	struct __riscv_d_ext_state fstate;
	unsigned long bad_cause;
};

static inline void arch_thread_struct_whitelist(unsigned long *offset, unsigned long *size)
{
	*offset = offsetof(struct thread_struct, fstate);
	*size = sizeof_field(struct thread_struct, fstate);
}

#define INIT_THREAD { .sp = sizeof(init_stack) + (long)&init_stack }

#define task_pt_regs(task)						\
	((struct pt_regs *)(task_stack_page(task) + THREAD_SIZE - ALIGN(sizeof(struct pt_regs), STACK_ALIGN)))
#define KSTK_EIP(task)	(task_pt_regs(task)->epc)
#define KSTK_ESP(task)	(task_pt_regs(task)->sp)

void start_thread(struct pt_regs *regs, unsigned long pc, unsigned long sp);
unsigned long __get_wchan(struct task_struct *task);
int arch_dup_task_struct(struct task_struct *to, struct task_struct *from);

#endif
#endif
