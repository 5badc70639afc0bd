// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code and data of the kernel that processes have in their address spaces. What the kernel's image has of both is no memory that a
 * process can be given, so both are copied.
 */
#include <linux/binfmts.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <asm/vdso.h>
#include <vdso/datapage.h>

extern char vdso_start[], vdso_end[];

/* Before there is memory, and what it is copied from. */
static struct vdso_data first_data[CS_BASES];
struct vdso_data *vdso_data = first_data;

#define CODE_PAGES_MAXIMUM 4
static struct page *code_pages[CODE_PAGES_MAXIMUM + 1], *data_pages[__VVAR_PAGES + 1];
static unsigned int code_size;

static int moved(const struct vm_special_mapping *mapping, struct vm_area_struct *vma)
{
	current->mm->context.vdso = (void *)vma->vm_start;
	return 0;
}

static struct vm_special_mapping data_mapping = { .name = "[vvar]", .pages = data_pages };
static struct vm_special_mapping code_mapping = { .name = "[vdso]", .pages = code_pages, .mremap = moved };

static struct page *copied(const void *from)
{
	struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);

	if (!page)
		panic("no memory for what processes have of the kernel");
	if (from)
		copy_page(page_address(page), from);
	return page;
}

static int __init vdso_init(void)
{
	unsigned long flags;
	unsigned int page;

	code_size = vdso_end - vdso_start;
	for (page = 0; page < code_size >> PAGE_SHIFT && page < CODE_PAGES_MAXIMUM; page++)
		code_pages[page] = copied(vdso_start + (page << PAGE_SHIFT));
	for (page = 0; page < __VVAR_PAGES; page++)
		data_pages[page] = copied(NULL);
	BUILD_BUG_ON(sizeof(first_data) > PAGE_SIZE);
	local_irq_save(flags);
	memcpy(page_address(data_pages[0]), first_data, sizeof(first_data));
	vdso_data = page_address(data_pages[0]);
	local_irq_restore(flags);
	return 0;
}
arch_initcall(vdso_init);

int arch_setup_additional_pages(struct linux_binprm *binary, int uses_interpreter)
{
	const unsigned long data_size = __VVAR_PAGES << PAGE_SHIFT;
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	unsigned long address;
	int error = 0;

	if (mmap_write_lock_killable(mm))
		return -EINTR;
	address = get_unmapped_area(NULL, 0, data_size + code_size, 0, 0);
	if (IS_ERR_VALUE(address)) {
		error = address;
		goto unlock;
	}
	vma = _install_special_mapping(mm, address, data_size, VM_READ | VM_MAYREAD, &data_mapping);
	if (!IS_ERR(vma))
		vma = _install_special_mapping(mm, address + data_size, code_size,
					       VM_READ | VM_EXEC | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC, &code_mapping);
	if (IS_ERR(vma))
		error = PTR_ERR(vma);
	else
		mm->context.vdso = (void *)(address + data_size);
unlock:
	mmap_write_unlock(mm);
	return error;
}
