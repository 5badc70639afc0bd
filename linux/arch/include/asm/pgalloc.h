/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables are taken from the pool, and are empty when they are given back. */
#ifndef _ASM_CAIRN_PGALLOC_H
#define _ASM_CAIRN_PGALLOC_H

#include <linux/mm.h>

pgd_t *pgd_alloc(struct mm_struct *mm);
void pgd_free(struct mm_struct *mm, pgd_t *pgd);
pmd_t *pmd_alloc_one(struct mm_struct *mm, unsigned long address);
void pmd_free(struct mm_struct *mm, pmd_t *pmd);
pgtable_t pte_alloc_one(struct mm_struct *mm);
void pte_free(struct mm_struct *mm, pgtable_t leaf);

/* The kernel has no tables. */
#define pte_alloc_one_kernel(mm)	((pte_t *)NULL)
#define pte_free_kernel(mm, leaf)	BUG()

/*
 * Who gets a table next must not find that this space still walks through it: a core keeps entries that lead to tables, too, and a fence of one
 * address is of leaves alone (the privileged manual, 4.2.1). A space that ends is fenced before its root has another.
 */
#define cairn_free_fenced(tlb, free, table)		\
do {							\
	if (!(tlb)->fullmm)				\
		flush_tlb_mm((tlb)->mm);		\
	free((tlb)->mm, table);				\
} while (0)
#define __pte_free_tlb(tlb, leaf, address)	cairn_free_fenced(tlb, pte_free, leaf)
#define __pmd_free_tlb(tlb, pmd, address)	cairn_free_fenced(tlb, pmd_free, pmd)

#endif
