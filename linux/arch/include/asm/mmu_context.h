/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_MMU_CONTEXT_H
#define _ASM_CAIRN_MMU_CONTEXT_H

#include <linux/mm_types.h>
#include <linux/sched.h>
#include <asm-generic/mm_hooks.h>

void switch_mm(struct mm_struct *previous, struct mm_struct *next, struct task_struct *task);

#define activate_mm activate_mm
static inline void activate_mm(struct mm_struct *previous, struct mm_struct *next)
{
	switch_mm(previous, next, NULL);
}

#include <asm-generic/mmu_context.h>

#endif
