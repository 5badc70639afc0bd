/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_SWITCH_TO_H
#define _ASM_CAIRN_SWITCH_TO_H

#include <linux/sched/task_stack.h>
#include <asm/csr.h>
#include <asm/hwcap.h>
#include <asm/processor.h>
#include <asm/ptrace.h>

/*
 * Floating point (kernel/float.c). The status in a process' registers says whether it has a state of the unit; that of one task is where
 * portal code finds it, that of all others in their `thread.fstate`.
 */
bool has_fpu(void);
void fstate_off(struct task_struct *task, struct pt_regs *regs);
void fstate_save(struct task_struct *task, struct pt_regs *regs);
void fstate_restore(struct task_struct *task, struct pt_regs *regs);
void cairn_switch_float(struct task_struct *next);
bool cairn_takes_float(struct pt_regs *regs);
void cairn_drop_float(struct task_struct *task);
void cairn_collect_float(void);

/* Whose state is where portal code finds it, and whether that gives it to the task that runs. */
extern struct task_struct *cairn_float_owner, *cairn_float_given;

struct task_struct *__switch_to(struct task_struct *previous, struct task_struct *next);

#define switch_to(prev, next, last)						\
do {										\
	struct task_struct *__prev = (prev), *__next = (next);			\
										\
	/* A thread of the kernel has no use for it, and may lead back. */	\
	if (__next->mm && (cairn_float_given ? cairn_float_given != __next :	\
					       cairn_float_owner == __next))	\
		cairn_switch_float(__next);					\
	(last) = __switch_to(__prev, __next);					\
} while (0)

#endif
