// SPDX-License-Identifier: GPL-2.0-only
#include <linux/init.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <asm/cairn.h>
#include <asm/page.h>
#include <asm/sections.h>

unsigned long cairn_first_frame;
struct page *cairn_zero_page;

/* What threads of the kernel have as their address space, which is none. */
pgd_t swapper_pg_dir[PTRS_PER_PGD] __page_aligned_bss;

void __init paging_init(void)
{
	unsigned long end = cairn_given.memory + cairn_given.memory_size;
	unsigned long frames[MAX_NR_ZONES] = { [ZONE_NORMAL] = PFN_DOWN(end) };

	cairn_first_frame = PFN_DOWN(cairn_given.memory);
	min_low_pfn = cairn_first_frame;
	max_low_pfn = max_pfn = PFN_DOWN(end);
	set_max_mapnr(max_low_pfn - cairn_first_frame);
	memblock_add(cairn_given.memory, cairn_given.memory_size);
	memblock_set_current_limit(end);
	free_area_init(frames);
	cairn_find_tables();
}

void __init mem_init(void)
{
	high_memory = __va(PFN_PHYS(max_low_pfn));
	memblock_free_all();
	cairn_zero_page = virt_to_page((void *)get_zeroed_page(GFP_KERNEL));
}

static const pgprot_t protection_map[16] = {
	[VM_NONE]					= PAGE_NONE,
	[VM_READ]					= PAGE_READ,
	[VM_WRITE]					= PAGE_COPY,
	[VM_WRITE | VM_READ]				= PAGE_COPY,
	[VM_EXEC]					= PAGE_EXEC,
	[VM_EXEC | VM_READ]				= PAGE_READ_EXEC,
	[VM_EXEC | VM_WRITE]				= PAGE_COPY_EXEC,
	[VM_EXEC | VM_WRITE | VM_READ]			= PAGE_COPY_EXEC,
	[VM_SHARED]					= PAGE_NONE,
	[VM_SHARED | VM_READ]				= PAGE_READ,
	[VM_SHARED | VM_WRITE]				= PAGE_SHARED,
	[VM_SHARED | VM_WRITE | VM_READ]		= PAGE_SHARED,
	[VM_SHARED | VM_EXEC]				= PAGE_EXEC,
	[VM_SHARED | VM_EXEC | VM_READ]			= PAGE_READ_EXEC,
	[VM_SHARED | VM_EXEC | VM_WRITE]		= PAGE_SHARED_EXEC,
	[VM_SHARED | VM_EXEC | VM_WRITE | VM_READ]	= PAGE_SHARED_EXEC
};
DECLARE_VM_GET_PAGE_PROT
