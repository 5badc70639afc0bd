// SPDX-License-Identifier: GPL-2.0-only
/*
 * What Linux asks virtual areas for is given memory as it lies: the kernel has no page tables of its own, so nothing that it fills can make
 * its code writable. This stands for mm/vmalloc.c.
 */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

static void *take(unsigned long size, gfp_t flags)
{
	/* Compound: its size is known when it is given back. */
	return (void *)__get_free_pages((flags & ~__GFP_HIGHMEM) | __GFP_COMP, get_order(size));
}

void *__vmalloc(unsigned long size, gfp_t flags)
{
	return size ? take(size, flags) : NULL;
}
EXPORT_SYMBOL(__vmalloc);

void *__vmalloc_node(unsigned long size, unsigned long align, gfp_t flags, int node, const void *caller)
{
	return __vmalloc(size, flags);
}

void *__vmalloc_node_range(unsigned long size, unsigned long align, unsigned long start, unsigned long end, gfp_t flags,
			   pgprot_t protection, unsigned long vm_flags, int node, const void *caller)
{
	return __vmalloc(size, flags);
}

#define TAKES(name, flags)					\
void *name(unsigned long size)					\
{								\
	return __vmalloc(size, flags);				\
}								\
EXPORT_SYMBOL(name);
TAKES(vmalloc, GFP_KERNEL)
TAKES(vzalloc, GFP_KERNEL | __GFP_ZERO)
TAKES(vmalloc_user, GFP_KERNEL | __GFP_ZERO)
TAKES(vmalloc_32, GFP_KERNEL)
TAKES(vmalloc_32_user, GFP_KERNEL | __GFP_ZERO)

void *vmalloc_huge(unsigned long size, gfp_t flags)
{
	return __vmalloc(size, flags);
}
EXPORT_SYMBOL(vmalloc_huge);

void *vmalloc_node(unsigned long size, int node)
{
	return vmalloc(size);
}
EXPORT_SYMBOL(vmalloc_node);

void *vzalloc_node(unsigned long size, int node)
{
	return vzalloc(size);
}
EXPORT_SYMBOL(vzalloc_node);

void vfree(const void *address)
{
	if (address)
		free_pages((unsigned long)address, compound_order(virt_to_page(address)));
}
EXPORT_SYMBOL(vfree);

void vfree_atomic(const void *address)
{
	vfree(address);
}

/* Pages that lie one behind the other are seen as they lie; others cannot be. */
void *vmap(struct page **pages, unsigned int count, unsigned long flags, pgprot_t protection)
{
	unsigned int page;

	for (page = 1; page < count; page++)
		if (page_to_pfn(pages[page]) != page_to_pfn(pages[0]) + page)
			return NULL;
	return count ? page_address(pages[0]) : NULL;
}
EXPORT_SYMBOL(vmap);

void vunmap(const void *address)
{
}
EXPORT_SYMBOL(vunmap);

void *vm_map_ram(struct page **pages, unsigned int count, int node)
{
	return vmap(pages, count, 0, PAGE_KERNEL);
}
EXPORT_SYMBOL(vm_map_ram);

void vm_unmap_ram(const void *address, unsigned int count)
{
}
EXPORT_SYMBOL(vm_unmap_ram);

void vm_unmap_aliases(void)
{
}
EXPORT_SYMBOL(vm_unmap_aliases);

bool is_vmalloc_addr(const void *address)
{
	return false;
}
EXPORT_SYMBOL(is_vmalloc_addr);

int is_vmalloc_or_module_addr(const void *address)
{
	return 0;
}

struct page *vmalloc_to_page(const void *address)
{
	return virt_to_page(address);
}
EXPORT_SYMBOL(vmalloc_to_page);

unsigned long vmalloc_to_pfn(const void *address)
{
	return virt_to_pfn(address);
}
EXPORT_SYMBOL(vmalloc_to_pfn);

int remap_vmalloc_range(struct vm_area_struct *vma, void *address, unsigned long first)
{
	unsigned long size = vma->vm_end - vma->vm_start, pages = compound_nr(virt_to_head_page(address));

	if (first > pages || size >> PAGE_SHIFT > pages - first)
		return -EINVAL;
	return remap_pfn_range(vma, vma->vm_start, virt_to_pfn(address) + first, size, vma->vm_page_prot);
}
EXPORT_SYMBOL(remap_vmalloc_range);

struct vm_struct *find_vm_area(const void *address)
{
	return NULL;
}

bool vmalloc_dump_obj(void *object)
{
	return false;
}

unsigned long vmalloc_nr_pages(void)
{
	return 0;
}

void __init vmalloc_init(void)
{
}
