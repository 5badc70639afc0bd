/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_TLBFLUSH_H
#define _ASM_CAIRN_TLBFLUSH_H

#include <linux/mm_types.h>
#include <asm/cairn.h>

struct vm_area_struct;

void flush_tlb_mm(struct mm_struct *mm);
void cairn_flush_page(struct mm_struct *mm, unsigned long address);
void flush_tlb_page(struct vm_area_struct *vma, unsigned long address);
void flush_tlb_range(struct vm_area_struct *vma, unsigned long start, unsigned long end);

/* The kernel maps nothing itself. */
static inline void flush_tlb_all(void)
{
}

static inline void flush_tlb_kernel_range(unsigned long start, unsigned long end)
{
}

#endif
