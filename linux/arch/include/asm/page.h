/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of processes is the kernel's too, at a fixed distance. The kernel's image is not part of it: no page of that can be
 * given to a process.
 */
#ifndef _ASM_CAIRN_PAGE_H
#define _ASM_CAIRN_PAGE_H

#include <linux/pfn.h>
#include <linux/const.h>
#include <asm/cairn.h>

#define PAGE_SHIFT	12
#define PAGE_SIZE	(_AC(1, UL) << PAGE_SHIFT)
#define PAGE_MASK	(~(PAGE_SIZE - 1))

#define HPAGE_SHIFT	PMD_SHIFT
#define HPAGE_SIZE	(_AC(1, UL) << HPAGE_SHIFT)
#define HPAGE_MASK	(~(HPAGE_SIZE - 1))

#define PAGE_OFFSET	_AC(CAIRN_LINEAR, UL)

#ifndef __ASSEMBLY__

#define clear_page(page)			memset((page), 0, PAGE_SIZE)
#define copy_page(to, from)			memcpy((to), (from), PAGE_SIZE)
#define clear_user_page(page, address, of)	clear_page(page)
#define copy_user_page(to, from, address, of)	copy_page((to), (from))

typedef struct { unsigned long pgd; } pgd_t;
typedef struct { unsigned long pmd; } pmd_t;
typedef struct { unsigned long pte; } pte_t;
typedef struct { unsigned long pgprot; } pgprot_t;
/* A leaf: tables lie in a pool of their own, which has no struct page. */
typedef pte_t *pgtable_t;

#define pgd_val(x)	((x).pgd)
#define pmd_val(x)	((x).pmd)
#define pte_val(x)	((x).pte)
#define pgprot_val(x)	((x).pgprot)
#define __pgd(x)	((pgd_t) { (x) })
#define __pmd(x)	((pmd_t) { (x) })
#define __pte(x)	((pte_t) { (x) })
#define __pgprot(x)	((pgprot_t) { (x) })

/* The first frame of memory. */
extern unsigned long cairn_first_frame;
#define ARCH_PFN_OFFSET	cairn_first_frame

#define __pa(x)		((unsigned long)(x) - PAGE_OFFSET)
#define __va(x)		((void *)((unsigned long)(x) + PAGE_OFFSET))
#define __pa_symbol(x)	__pa(x)

#define virt_to_pfn(address)	PFN_DOWN(__pa(address))
#define pfn_to_virt(pfn)	__va(PFN_PHYS(pfn))
#define sym_to_pfn(x)		virt_to_pfn(x)
#define virt_to_page(address)	pfn_to_page(virt_to_pfn(address))
#define page_to_virt(page)	pfn_to_virt(page_to_pfn(page))
#define page_to_phys(page)	PFN_PHYS(page_to_pfn(page))
#define phys_to_page(address)	pfn_to_page(PFN_DOWN(address))

#define pfn_valid(pfn)		((pfn) - ARCH_PFN_OFFSET < max_mapnr)
#define virt_addr_valid(address) pfn_valid(virt_to_pfn(address))

#define VM_DATA_DEFAULT_FLAGS	VM_DATA_FLAGS_NON_EXEC

#include <asm-generic/memory_model.h>
#include <asm-generic/getorder.h>

#endif
#endif
