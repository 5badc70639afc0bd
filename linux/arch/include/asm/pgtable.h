/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page tables of Sv39 (privileged manual, section "Sv39"), which the hardware walks. They can be read; portals write them, and check
 * what they write: a leaf's entry leads to the memory of processes, other entries to a table of the next kind.
 */
#ifndef _ASM_CAIRN_PGTABLE_H
#define _ASM_CAIRN_PGTABLE_H

#include <linux/mmzone.h>
#include <linux/sizes.h>
#include <asm/pgtable-bits.h>

#include <asm-generic/pgtable-nopud.h>

#define PGDIR_SHIFT	30
#define PGDIR_SIZE	(_AC(1, UL) << PGDIR_SHIFT)
#define PGDIR_MASK	(~(PGDIR_SIZE - 1))
#define PMD_SHIFT	21
#define PMD_SIZE	(_AC(1, UL) << PMD_SHIFT)
#define PMD_MASK	(~(PMD_SIZE - 1))

#define PTRS_PER_PGD	512
#define PTRS_PER_PMD	512
#define PTRS_PER_PTE	512
#define USER_PTRS_PER_PGD (TASK_SIZE / PGDIR_SIZE)

#define TASK_SIZE	(PGDIR_SIZE * PTRS_PER_PGD / 2)
#define TASK_SIZE_64	TASK_SIZE
#define TASK_SIZE_MIN	TASK_SIZE

/* The kernel maps nothing: what asks for an area of virtual addresses is given memory (mm/vmalloc.c). */
#define VMALLOC_START	0UL
#define VMALLOC_END	0UL

/* The portal that writes several entries has all for one space alone, so RISC-V's bit for this, global, cannot be it. */
#undef _PAGE_PROT_NONE
#define _PAGE_PROT_NONE	(1 << 9)

#define _PAGE_PFN_MASK	GENMASK(53, 10)
#define _PAGE_CHG_MASK	(~(unsigned long)(_PAGE_PRESENT | _PAGE_READ | _PAGE_WRITE | _PAGE_EXEC | _PAGE_USER | \
					  _PAGE_GLOBAL))

#ifndef __ASSEMBLY__

#include <asm/page.h>
#include <asm/tlbflush.h>
#include <linux/mm_types.h>

#define _PAGE_BASE		(_PAGE_PRESENT | _PAGE_ACCESSED | _PAGE_USER)
#define PAGE_NONE		__pgprot(_PAGE_PROT_NONE | _PAGE_READ | _PAGE_USER)
#define PAGE_READ		__pgprot(_PAGE_BASE | _PAGE_READ)
#define PAGE_WRITE		__pgprot(_PAGE_BASE | _PAGE_READ | _PAGE_WRITE)
#define PAGE_EXEC		__pgprot(_PAGE_BASE | _PAGE_EXEC)
#define PAGE_READ_EXEC		__pgprot(_PAGE_BASE | _PAGE_READ | _PAGE_EXEC)
#define PAGE_WRITE_EXEC		__pgprot(_PAGE_BASE | _PAGE_READ | _PAGE_EXEC | _PAGE_WRITE)
#define PAGE_COPY		PAGE_READ
#define PAGE_COPY_EXEC		PAGE_READ_EXEC
#define PAGE_SHARED		PAGE_WRITE
#define PAGE_SHARED_EXEC	PAGE_WRITE_EXEC
#define PAGE_KERNEL		__pgprot(_PAGE_BASE | _PAGE_READ | _PAGE_WRITE | _PAGE_DIRTY)
#define PAGE_KERNEL_EXEC	PAGE_KERNEL

extern pgd_t swapper_pg_dir[];

/* Where the pool begins, and its first leaf (mm/tables.c). */
extern pte_t *cairn_tables, *cairn_leaves;

static inline unsigned long cairn_frame(unsigned long entry)
{
	return (entry & _PAGE_PFN_MASK) >> _PAGE_PFN_SHIFT;
}

/* The table that an entry leads to. */
static inline void *cairn_lower(unsigned long entry)
{
	return __va((entry & _PAGE_PFN_MASK) << (PAGE_SHIFT - _PAGE_PFN_SHIFT));
}

/* ---------------------------------------------------------------------------------------- roots and directories */

void cairn_link_table(void *entry, void *table);

static inline int pud_none(pud_t pud)
{
	return pgd_val(pud.p4d.pgd) == 0;
}

static inline int pud_present(pud_t pud)
{
	return !pud_none(pud);
}

static inline int pud_bad(pud_t pud)
{
	return 0;
}

#define pud_leaf(pud)	0
#define pmd_leaf(pmd)	0

static inline pmd_t *pud_pgtable(pud_t pud)
{
	return cairn_lower(pud_val(pud));
}

static inline void pud_populate(struct mm_struct *mm, pud_t *pud, pmd_t *pmd)
{
	cairn_link_table(pud, pmd);
}

static inline void pud_clear(pud_t *pud)
{
	cairn_link_table(pud, NULL);
}

static inline int pmd_none(pmd_t pmd)
{
	return pmd_val(pmd) == 0;
}

static inline int pmd_present(pmd_t pmd)
{
	return !pmd_none(pmd);
}

static inline int pmd_bad(pmd_t pmd)
{
	return 0;
}

#define pmd_page_vaddr(pmd)	((unsigned long)cairn_lower(pmd_val(pmd)))
#define pmd_pgtable(pmd)	((pgtable_t)pmd_page_vaddr(pmd))
#define pmd_pfn(pmd)		cairn_frame(pmd_val(pmd))
/* Of a large page, of which there are none. */
#define pmd_page(pmd)		pfn_to_page(pmd_pfn(pmd))

static inline void pmd_populate(struct mm_struct *mm, pmd_t *pmd, pgtable_t leaf)
{
	cairn_link_table(pmd, leaf);
}
#define pmd_populate_kernel	pmd_populate

static inline void pmd_clear(pmd_t *pmd)
{
	cairn_link_table(pmd, NULL);
}

/* Entries of directories change by the above alone. */
#define set_pud(pudp, pud)	BUILD_BUG()
#define set_pmd(pmdp, pmd)	BUILD_BUG()

/* ---------------------------------------------------------------------------------------- leaves */

void cairn_refused(const char *what, unsigned long first, unsigned long second);

static __always_inline void set_pte(pte_t *entry, pte_t pte)
{
	cairn_forget_pages();
	if (unlikely(cairn_map(entry - cairn_leaves, pte_val(pte))))
		cairn_refused("map", entry - cairn_leaves, pte_val(pte));
}

void flush_icache_pte(pte_t pte);

/* Before something becomes code of a process. */
static inline void cairn_prepare_code(pte_t pte)
{
	if ((pte_val(pte) & (_PAGE_PRESENT | _PAGE_EXEC)) == (_PAGE_PRESENT | _PAGE_EXEC))
		flush_icache_pte(pte);
}

static inline void set_pte_at(struct mm_struct *mm, unsigned long address, pte_t *entry, pte_t pte)
{
	cairn_prepare_code(pte);
	set_pte(entry, pte);
}

static inline void pte_clear(struct mm_struct *mm, unsigned long address, pte_t *entry)
{
	set_pte(entry, __pte(0));
}

#define __HAVE_ARCH_PTEP_GET_AND_CLEAR
static inline pte_t ptep_get_and_clear(struct mm_struct *mm, unsigned long address, pte_t *entry)
{
	/* The hardware sets bits while a process runs, and none does. */
	pte_t pte = *entry;

	set_pte(entry, __pte(0));
	return pte;
}

/*
 * Where rights of a range change, entries wait in the status page until the next is not the one behind the last, no more fit, or Linux
 * says so. Nothing else is written late: who reads an entry of a table that is locked has not changed it.
 */
#define __HAVE_ARCH_ENTER_LAZY_MMU_MODE
static inline void arch_enter_lazy_mmu_mode(void)
{
	cairn_status(CAIRN_LAZY_BASE) = CAIRN_LAZY_NONE;
}

void cairn_write_lazily(pte_t *entry, pte_t pte);
void cairn_write_waiting(void);

static inline void arch_flush_lazy_mmu_mode(void)
{
	if (cairn_status(CAIRN_LAZY_BASE) > CAIRN_LAZY_NONE)
		cairn_write_waiting();
}

static inline void arch_leave_lazy_mmu_mode(void)
{
	arch_flush_lazy_mmu_mode();
	cairn_status(CAIRN_LAZY_BASE) = CAIRN_NOT_LAZY;
}

/* Neither the hardware nor anybody else changes an entry between the two. */
#define __HAVE_ARCH_PTEP_MODIFY_PROT_TRANSACTION
static inline pte_t ptep_modify_prot_start(struct vm_area_struct *vma, unsigned long address, pte_t *entry)
{
	return *entry;
}

static inline void ptep_modify_prot_commit(struct vm_area_struct *vma, unsigned long address, pte_t *entry, pte_t old, pte_t pte)
{
	unsigned long place = cairn_status(CAIRN_LAZY_PLACE);

	cairn_prepare_code(pte);
	if (unlikely((unsigned long)entry - place != cairn_status(CAIRN_LAZY_BASE))) {
		cairn_write_lazily(entry, pte);
		return;
	}
	cairn_status(place) = pte_val(pte);
	place += sizeof(pte);
	cairn_status(CAIRN_LAZY_PLACE) = place;
	if (!place)
		cairn_write_waiting();
}

#define pte_pfn(pte)	cairn_frame(pte_val(pte))
#define pte_page(pte)	pfn_to_page(pte_pfn(pte))

static inline pte_t pfn_pte(unsigned long frame, pgprot_t protection)
{
	return __pte(frame << _PAGE_PFN_SHIFT | pgprot_val(protection));
}
#define mk_pte(page, protection) pfn_pte(page_to_pfn(page), protection)

#define CAIRN_PTE_HAS(name, bits)				\
static inline int name(pte_t pte)				\
{								\
	return pte_val(pte) & (bits);				\
}
CAIRN_PTE_HAS(pte_present, _PAGE_PRESENT | _PAGE_PROT_NONE)
CAIRN_PTE_HAS(pte_write, _PAGE_WRITE)
CAIRN_PTE_HAS(pte_exec, _PAGE_EXEC)
CAIRN_PTE_HAS(pte_dirty, _PAGE_DIRTY)
CAIRN_PTE_HAS(pte_young, _PAGE_ACCESSED)
CAIRN_PTE_HAS(pte_special, _PAGE_SPECIAL)

static inline int pte_none(pte_t pte)
{
	return pte_val(pte) == 0;
}

static inline int pte_huge(pte_t pte)
{
	return 0;
}

#define CAIRN_PTE_SET(name, bits)				\
static inline pte_t name(pte_t pte)				\
{								\
	return __pte(pte_val(pte) | (bits));			\
}
CAIRN_PTE_SET(pte_mkwrite, _PAGE_WRITE)
CAIRN_PTE_SET(pte_mkdirty, _PAGE_DIRTY)
CAIRN_PTE_SET(pte_mkyoung, _PAGE_ACCESSED)
CAIRN_PTE_SET(pte_mkspecial, _PAGE_SPECIAL)

#define CAIRN_PTE_WITHOUT(name, bits)				\
static inline pte_t name(pte_t pte)				\
{								\
	return __pte(pte_val(pte) & ~(bits));			\
}
CAIRN_PTE_WITHOUT(pte_wrprotect, _PAGE_WRITE)
CAIRN_PTE_WITHOUT(pte_mkclean, _PAGE_DIRTY)
CAIRN_PTE_WITHOUT(pte_mkold, _PAGE_ACCESSED)

static inline pte_t pte_modify(pte_t pte, pgprot_t protection)
{
	return __pte((pte_val(pte) & _PAGE_CHG_MASK) | pgprot_val(protection));
}

#ifdef CONFIG_NUMA_BALANCING
#error "there is one node"
#endif

#define pgprot_noncached(protection)	(protection)
#define pgprot_writecombine(protection)	(protection)
#define pgprot_nx(protection)		__pgprot(pgprot_val(protection) & ~_PAGE_EXEC)

/*
 * A core may keep that nothing was there; a process that faults at what is mapped has that fenced (mm/fault.c).
 */
static inline void update_mmu_cache(struct vm_area_struct *vma, unsigned long address, pte_t *entry)
{
}

#define pgd_ERROR(e)	pr_err("%s:%d: bad pgd %016lx\n", __FILE__, __LINE__, pgd_val(e))
#define pmd_ERROR(e)	pr_err("%s:%d: bad pmd %016lx\n", __FILE__, __LINE__, pmd_val(e))
#define pte_ERROR(e)	pr_err("%s:%d: bad pte %016lx\n", __FILE__, __LINE__, pte_val(e))

/* Of pages that are elsewhere: type in bits 1 to 5, number from bit 10 on; bits 0 and 9 are clear, so it is neither valid nor PROT_NONE. */
#define __SWP_TYPE_SHIFT	1
#define __SWP_TYPE_BITS		5
#define __SWP_TYPE_MASK		((1UL << __SWP_TYPE_BITS) - 1)
#define __SWP_OFFSET_SHIFT	10
#define MAX_SWAPFILES_CHECK()	BUILD_BUG_ON(MAX_SWAPFILES_SHIFT > __SWP_TYPE_BITS)
#define __swp_type(x)		(((x).val >> __SWP_TYPE_SHIFT) & __SWP_TYPE_MASK)
#define __swp_offset(x)		((x).val >> __SWP_OFFSET_SHIFT)
#define __swp_entry(type, offset) ((swp_entry_t) { (type) << __SWP_TYPE_SHIFT | (offset) << __SWP_OFFSET_SHIFT })
#define __pte_to_swp_entry(pte)	((swp_entry_t) { pte_val(pte) })
#define __swp_entry_to_pte(x)	((pte_t) { (x).val })

/* In memory, as all that processes may see (mm/init.c). */
extern struct page *cairn_zero_page;
#define ZERO_PAGE(address)	cairn_zero_page

void paging_init(void);
void cairn_find_tables(void);
void cairn_clear_tables(void);
/* The number of an address space. */
unsigned long cairn_space(struct mm_struct *mm);

#endif
#endif
