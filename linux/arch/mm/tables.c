// SPDX-License-Identifier: GPL-2.0-only
/* Page tables: which of the pool are free, and what changes in them but for entries of leaves. */
#include <linux/cacheflush.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <asm/cairn.h>
#include <asm/mmu_context.h>
#include <asm/pgalloc.h>
#include <asm/tlbflush.h>

#define RUNS 8

pte_t *cairn_tables, *cairn_leaves;

/* The numbers of free tables of a kind; all are cleared. */
struct free {
	u16 count;
	u16 numbers[CAIRN_TABLES_MAXIMUM];
};
static struct free roots, directories, leaves;

void cairn_refused(const char *what, unsigned long first, unsigned long second)
{
	panic("Cairn refuses `%s` of %lx, %lx", what, first, second);
}

/* Entries that wait (asm/pgtable.h). */
void cairn_write_waiting(void)
{
	unsigned long base = cairn_status(CAIRN_LAZY_BASE), first = CAIRN_ENTRIES;
	pte_t *entry = (pte_t *)(base + first);
	unsigned long count = (cairn_status(CAIRN_LAZY_PLACE) - first) / sizeof(*entry);

	cairn_status(CAIRN_LAZY_BASE) = CAIRN_LAZY_NONE;
	cairn_forget_pages();
	if (cairn_map_several(entry - cairn_leaves, count))
		cairn_refused("map several", entry - cairn_leaves, count);
}

/* One that is not behind the last that waits. */
void cairn_write_lazily(pte_t *entry, pte_t pte)
{
	unsigned long first = CAIRN_ENTRIES;

	if (cairn_status(CAIRN_LAZY_BASE) == CAIRN_NOT_LAZY) {
		set_pte(entry, pte);
		return;
	}
	arch_flush_lazy_mmu_mode();
	cairn_status(first) = pte_val(pte);
	cairn_status(CAIRN_LAZY_BASE) = (unsigned long)entry - first;
	cairn_status(CAIRN_LAZY_PLACE) = first + sizeof(pte);
}

static unsigned long number_of(void *table)
{
	return (table - (void *)cairn_tables) >> PAGE_SHIFT;
}

static void *take(struct free *free)
{
	return free->count ? (void *)cairn_tables + ((unsigned long)free->numbers[--free->count] << PAGE_SHIFT) : NULL;
}

static void give_back(struct free *free, void *table)
{
	free->numbers[free->count++] = number_of(table);
}

/* Runs of a table from its first: of a root the first half is the process'. */
static void clear(unsigned long number, unsigned int runs)
{
	unsigned int run;

	for (run = 0; run < runs; run++)
		if (cairn_clear(number * RUNS + run, 0))
			cairn_refused("clear", number, run);
}

/* What a life before has left is neither in tables nor in translations. */
void cairn_clear_tables(void)
{
	unsigned long first = cairn_given.spaces, end = first + cairn_given.directories + cairn_given.leaves, number;

	for (number = 0; number < end; number++) {
		clear(number, number < first ? RUNS / 2 : RUNS);
		if (number < first)
			cairn_fence(number, 0);
	}
}

void __init cairn_find_tables(void)
{
	unsigned long first = cairn_given.spaces, second = first + cairn_given.directories,
		      end = second + cairn_given.leaves, number;

	cairn_tables = __va(cairn_given.tables);
	cairn_leaves = cairn_tables + second * PTRS_PER_PTE;
	cairn_clear_tables();
	for (number = end; number-- > 0;) {
		struct free *free = number < first ? &roots : number < second ? &directories : &leaves;

		free->numbers[free->count++] = number;
	}
	cairn_status(CAIRN_LAZY_BASE) = CAIRN_NOT_LAZY;
	cairn_forget_pages();
}

void cairn_link_table(void *entry, void *table)
{
	unsigned long place = (unsigned long *)entry - (unsigned long *)cairn_tables;
	unsigned long number = table ? number_of(table) : 0;

	if (cairn_link(place, number))
		cairn_refused("link", place, number);
}

unsigned long cairn_space(struct mm_struct *mm)
{
	return number_of(mm->pgd);
}

pgd_t *pgd_alloc(struct mm_struct *mm)
{
	pgd_t *root = take(&roots);

	if (!root)
		pr_warn_ratelimited("cairn: no `spaces` left of the description's `processes`\n");
	return root;
}

void pgd_free(struct mm_struct *mm, pgd_t *pgd)
{
	/* Another process gets the number, and has other translations. */
	cairn_fence(number_of(pgd), 0);
	give_back(&roots, pgd);
}

pmd_t *pmd_alloc_one(struct mm_struct *mm, unsigned long address)
{
	return take(&directories);
}

void pmd_free(struct mm_struct *mm, pmd_t *pmd)
{
	give_back(&directories, pmd);
}

pgtable_t pte_alloc_one(struct mm_struct *mm)
{
	return take(&leaves);
}

void pte_free(struct mm_struct *mm, pgtable_t leaf)
{
	/* Entries of pages that are elsewhere, and markers, may still be there. */
	clear(number_of(leaf), RUNS);
	give_back(&leaves, leaf);
}

void switch_mm(struct mm_struct *previous, struct mm_struct *next, struct task_struct *task)
{
	if (previous == next)
		return;
	cairn_forget_pages();
	if (next != &init_mm && cairn_select(number_of(next->pgd), 0))
		cairn_refused("select", number_of(next->pgd), 0);
}

void flush_tlb_mm(struct mm_struct *mm)
{
	cairn_fence(cairn_space(mm), 0);
}

void cairn_flush_page(struct mm_struct *mm, unsigned long address)
{
	/* Address 0 would be all; that is right, too. */
	cairn_fence(cairn_space(mm), address & PAGE_MASK);
}

void flush_tlb_page(struct vm_area_struct *vma, unsigned long address)
{
	cairn_flush_page(vma->vm_mm, address);
}

void flush_tlb_range(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	if (end - start == PAGE_SIZE)
		flush_tlb_page(vma, start);
	else
		flush_tlb_mm(vma->vm_mm);
}

void flush_icache_pte(pte_t pte)
{
	struct page *page = pte_page(pte);

	if (!test_and_set_bit(PG_dcache_clean, &page->flags))
		local_flush_icache_all();
}
