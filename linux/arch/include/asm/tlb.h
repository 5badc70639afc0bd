/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_TLB_H
#define _ASM_CAIRN_TLB_H

struct mmu_gather;
static void tlb_flush(struct mmu_gather *tlb);
#define tlb_flush tlb_flush

#include <asm-generic/tlb.h>

static inline void tlb_flush(struct mmu_gather *tlb)
{
	/* Nobody runs in a space that ends, and its root is given back with a fence. */
	if (tlb->fullmm)
		return;
	if (tlb->end - tlb->start == PAGE_SIZE)
		cairn_flush_page(tlb->mm, tlb->start);
	else
		flush_tlb_mm(tlb->mm);
}

#endif
