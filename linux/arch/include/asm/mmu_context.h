/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_MMU_CONTEXT_H
#define _ASM_CAIRN_MMU_CONTEXT_H

#include <linux/mm_types.h>
#include <linux/sched.h>

#ifdef CONFIG_CAIRN_SERVICES
void cairn_end_direct(struct mm_struct *mm);
#else
static inline void cairn_end_direct(struct mm_struct *mm)
{
}
#endif

static inline int init_new_context(struct task_struct *task, struct mm_struct *mm)
{
	mm->context.direct = NULL;
	return 0;
}
#define init_new_context init_new_context

static inline void arch_exit_mmap(struct mm_struct *mm)
{
	cairn_end_direct(mm);
}

static inline int arch_dup_mmap(struct mm_struct *from, struct mm_struct *to)
{
	return 0;
}

static inline void arch_unmap(struct mm_struct *mm, unsigned long begin, unsigned long end)
{
}

static inline bool arch_vma_access_permitted(struct vm_area_struct *area, bool write, bool execute, bool foreign)
{
	return true;
}

void switch_mm(struct mm_struct *previous, struct mm_struct *next, struct task_struct *task);

#define activate_mm activate_mm
static inline void activate_mm(struct mm_struct *previous, struct mm_struct *next)
{
	switch_mm(previous, next, NULL);
}

#include <asm-generic/mmu_context.h>

#endif
