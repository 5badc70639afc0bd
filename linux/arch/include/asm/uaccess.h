/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a process has at an address the kernel has elsewhere, so an address of a process is a number that its page tables are looked up
 * for. The last page that was read and the last one that was written are known without that.
 */
#ifndef _ASM_CAIRN_UACCESS_H
#define _ASM_CAIRN_UACCESS_H

#include <asm/cairn.h>
#include <asm/pgtable.h>
#include <asm/unaligned.h>

/*
 * Where the kernel has an address of the current process, to the end of the page; NULL if the process may not read it (write it), after
 * the page has been asked for as by a fault.
 */
void *cairn_find_to_read(unsigned long address);
void *cairn_find_to_write(unsigned long address);

unsigned long cairn_copy_from(void *to, unsigned long from, unsigned long count);
unsigned long cairn_copy_to(unsigned long to, const void *from, unsigned long count);
unsigned long __clear_user(void __user *to, unsigned long count);
long strncpy_from_user(char *to, const char __user *from, long count);
long strnlen_user(const char __user *text, long count);
#define __clear_user __clear_user

#define CAIRN_KNOWN(name, PAGE, OFFSET)							\
static __always_inline void *name(unsigned long address, unsigned long count)		\
{											\
	/* In the page, and `count` bytes of it. */					\
	if (likely(address - cairn_status(PAGE) <= PAGE_SIZE - count))			\
		return (void *)(address + cairn_status(OFFSET));			\
	return NULL;									\
}
CAIRN_KNOWN(cairn_known_to_read, CAIRN_READ_PAGE, CAIRN_READ_OFFSET)
CAIRN_KNOWN(cairn_known_to_write, CAIRN_WRITE_PAGE, CAIRN_WRITE_OFFSET)

static __always_inline unsigned long raw_copy_from_user(void *to, const void __user *from, unsigned long count)
{
	unsigned long address = (unsigned long)from;

	if (__builtin_constant_p(count) && (count == 1 || count == 2 || count == 4 || count == 8)) {
		void *here = cairn_known_to_read(address, count);

		if (likely(here && !(address & (count - 1)))) {
			switch (count) {
			case 1: *(u8 *)to = *(u8 *)here; return 0;
			case 2: *(u16 *)to = *(u16 *)here; return 0;
			case 4: *(u32 *)to = *(u32 *)here; return 0;
			case 8: *(u64 *)to = *(u64 *)here; return 0;
			}
		}
	}
	return cairn_copy_from(to, address, count);
}

static __always_inline unsigned long raw_copy_to_user(void __user *to, const void *from, unsigned long count)
{
	unsigned long address = (unsigned long)to;

	if (__builtin_constant_p(count) && (count == 1 || count == 2 || count == 4 || count == 8)) {
		void *here = cairn_known_to_write(address, count);

		if (likely(here && !(address & (count - 1)))) {
			switch (count) {
			case 1: *(u8 *)here = *(u8 *)from; return 0;
			case 2: *(u16 *)here = *(u16 *)from; return 0;
			case 4: *(u32 *)here = *(u32 *)from; return 0;
			case 8: *(u64 *)here = *(u64 *)from; return 0;
			}
		}
	}
	return cairn_copy_to(address, from, count);
}

/* The word at an aligned address of the current process, to be changed, without a fault; or NULL. */
u32 *cairn_user_word(u32 __user *address);

/* What the kernel reads at its own addresses is there (copy_from_kernel_nofault_allowed); what it writes is, or it dies. */
#define __get_kernel_nofault(to, from, type, label)			\
do {									\
	*(type *)(to) = get_unaligned((type *)(from));			\
	if (0)								\
		goto label;						\
} while (0)

#define __put_kernel_nofault(to, from, type, label)			\
do {									\
	put_unaligned(*(type *)(from), (type *)(to));			\
	if (0)								\
		goto label;						\
} while (0)

#include <asm-generic/access_ok.h>
#include <asm-generic/uaccess.h>

#endif
