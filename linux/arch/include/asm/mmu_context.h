/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_MMU_CONTEXT_H
#define _ASM_CAIRN_MMU_CONTEXT_H

#include <linux/mm_types.h>
#include <linux/sched.h>

#ifdef CONFIG_CAIRN_SERVICES
/* What the process calls itself (drivers/direct.c) ends with its address space. */
#define arch_exit_mmap no_exit_mmap
#include <asm-generic/mm_hooks.h>
#undef arch_exit_mmap
void arch_exit_mmap(struct mm_struct *mm);
#else
#include <asm-generic/mm_hooks.h>
#endif

static inline int init_new_context(struct task_struct *task, struct mm_struct *mm)
{
	mm->context.direct = NULL;
	return 0;
}
#define init_new_context init_new_context

void switch_mm(struct mm_struct *previous, struct mm_struct *next, struct task_struct *task);

#define activate_mm activate_mm
static inline void activate_mm(struct mm_struct *previous, struct mm_struct *next)
{
	switch_mm(previous, next, NULL);
}

#include <asm-generic/mmu_context.h>

#endif
