// SPDX-License-Identifier: GPL-2.0-only
/* What the current process has at its addresses, found in its page tables (asm/uaccess.h). */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/sections.h>
#include <asm/cairn.h>
#include <asm/pgtable.h>
#include "fault.h"

/* What the kernel may look at without knowing: there is no fault to take, so all else is refused before. */
bool copy_from_kernel_nofault_allowed(const void *address, size_t size)
{
	const struct {
		const void *begin, *end;
	} parts[] = {
		{ __start_rodata, __end_rodata },
		{ _sdata, __bss_stop },
		{ __va(cairn_given.memory), __va(cairn_given.memory) + cairn_given.memory_size },
	};
	unsigned int part;

	for (part = 0; part < ARRAY_SIZE(parts); part++)
		if (address >= parts[part].begin && address < parts[part].end && size <= parts[part].end - address)
			return true;
	return false;
}

#define TO_READ		(_PAGE_PRESENT | _PAGE_USER | _PAGE_READ | _PAGE_ACCESSED)
/* The hardware notes what a process writes; what the kernel writes it notes itself, before. */
#define TO_WRITE	(_PAGE_PRESENT | _PAGE_USER | _PAGE_WRITE | _PAGE_ACCESSED | _PAGE_DIRTY)

static pte_t *find_entry(struct mm_struct *mm, unsigned long address)
{
	unsigned long word = ((unsigned long *)mm->pgd)[(address >> PGDIR_SHIFT) & 511];

	if (!word)
		return NULL;
	word = ((unsigned long *)cairn_lower(word))[(address >> PMD_SHIFT) & 511];
	if (!word)
		return NULL;
	return (pte_t *)cairn_lower(word) + ((address >> PAGE_SHIFT) & 511);
}

/* Where the kernel has the page of an address, which has all the bits; 0: it has not. */
static __always_inline unsigned long find_page(struct mm_struct *mm, unsigned long address, unsigned long bits)
{
	pte_t *entry = find_entry(mm, address);

	if (!entry)
		return 0;
	if (unlikely((pte_val(*entry) & bits) != bits)) {
		unsigned long noted = bits & (_PAGE_ACCESSED | _PAGE_DIRTY);

		if ((pte_val(*entry) & (bits & ~noted)) != (bits & ~noted))
			return 0;
		set_pte(entry, __pte(pte_val(*entry) | noted));
	}
	return (unsigned long)cairn_lower(pte_val(*entry));
}

static noinline unsigned long fault_in(unsigned long address, unsigned long bits)
{
	struct mm_struct *mm = current->mm;
	unsigned long page;
	int code;

	if (faulthandler_disabled() || !mm || address >= TASK_SIZE)
		return 0;
	do {
		if (cairn_handle_fault(mm, address, bits == TO_WRITE ? FAULT_FLAG_WRITE : 0, NULL, &code))
			return 0;
		page = find_page(mm, address, bits);
	} while (!page);
	return page;
}

static __always_inline void *find(unsigned long address, unsigned long bits, long page_known, long offset_known)
{
	struct mm_struct *mm = current->mm;
	unsigned long page = 0;

	if (likely(mm && address < TASK_SIZE))
		page = find_page(mm, address, bits);
	if (unlikely(!page)) {
		page = fault_in(address, bits);
		if (!page)
			return NULL;
	}
	cairn_status(page_known) = address & PAGE_MASK;
	cairn_status(offset_known) = page - (address & PAGE_MASK);
	return (void *)(page + offset_in_page(address));
}

void *cairn_find_to_read(unsigned long address)
{
	return find(address, TO_READ, CAIRN_READ_PAGE, CAIRN_READ_OFFSET);
}

void *cairn_find_to_write(unsigned long address)
{
	return find(address, TO_WRITE, CAIRN_WRITE_PAGE, CAIRN_WRITE_OFFSET);
}

static unsigned long part(unsigned long address, unsigned long count)
{
	return min(count, PAGE_SIZE - offset_in_page(address));
}

unsigned long cairn_copy_from(void *to, unsigned long from, unsigned long count)
{
	while (count) {
		unsigned long size = part(from, count);
		void *here = cairn_known_to_read(from, size);

		if (!here)
			here = cairn_find_to_read(from);
		if (!here)
			break;
		memcpy(to, here, size);
		to += size;
		from += size;
		count -= size;
	}
	return count;
}
EXPORT_SYMBOL(cairn_copy_from);

unsigned long cairn_copy_to(unsigned long to, const void *from, unsigned long count)
{
	while (count) {
		unsigned long size = part(to, count);
		void *here = cairn_known_to_write(to, size);

		if (!here)
			here = cairn_find_to_write(to);
		if (!here)
			break;
		memcpy(here, from, size);
		to += size;
		from += size;
		count -= size;
	}
	return count;
}
EXPORT_SYMBOL(cairn_copy_to);

unsigned long __clear_user(void __user *address, unsigned long count)
{
	unsigned long to = (unsigned long)address;

	while (count) {
		unsigned long size = part(to, count);
		void *here = cairn_known_to_write(to, size);

		if (!here)
			here = cairn_find_to_write(to);
		if (!here)
			break;
		memset(here, 0, size);
		to += size;
		count -= size;
	}
	return count;
}
EXPORT_SYMBOL(__clear_user);

long strncpy_from_user(char *to, const char __user *from, long count)
{
	unsigned long address = (unsigned long)from;
	long copied = 0;

	if (count <= 0)
		return 0;
	while (copied < count) {
		unsigned long size = part(address + copied, count - copied), length;
		char *here = cairn_known_to_read(address + copied, size);

		if (address + copied >= TASK_SIZE)
			return -EFAULT;
		if (!here)
			here = cairn_find_to_read(address + copied);
		if (!here)
			return -EFAULT;
		length = strnlen(here, size);
		memcpy(to + copied, here, length);
		copied += length;
		if (length < size) {
			to[copied] = 0;
			return copied;
		}
	}
	return count;
}
EXPORT_SYMBOL(strncpy_from_user);

/* With its end; 0: it cannot be read; more than `count`: it is longer. */
long strnlen_user(const char __user *text, long count)
{
	unsigned long address = (unsigned long)text;
	long found = 0;

	while (found < count) {
		unsigned long size = part(address + found, count - found), length;
		char *here;

		if (address + found >= TASK_SIZE)
			return 0;
		here = cairn_find_to_read(address + found);
		if (!here)
			return 0;
		length = strnlen(here, size);
		found += length;
		if (length < size)
			return found + 1;
	}
	return count + 1;
}
EXPORT_SYMBOL(strnlen_user);

u32 *cairn_user_word(u32 __user *address)
{
	if (!access_ok(address, sizeof(u32)) || ((unsigned long)address & 3))
		return NULL;
	return cairn_find_to_write((unsigned long)address);
}
EXPORT_SYMBOL(cairn_user_word);
