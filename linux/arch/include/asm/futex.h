/* SPDX-License-Identifier: GPL-2.0-only */
/* Operations on a word of the current process, where the kernel has it. */
#ifndef _ASM_CAIRN_FUTEX_H
#define _ASM_CAIRN_FUTEX_H

#include <linux/futex.h>
#include <linux/uaccess.h>

static inline int arch_futex_atomic_op_inuser(int operation, int argument, int *old, u32 __user *address)
{
	u32 *word = cairn_user_word(address);

	if (!word)
		return -EFAULT;
	switch (operation) {
	case FUTEX_OP_SET:
		*old = xchg(word, argument);
		return 0;
	case FUTEX_OP_ADD:
		*old = atomic_fetch_add(argument, (atomic_t *)word);
		return 0;
	case FUTEX_OP_OR:
		*old = atomic_fetch_or(argument, (atomic_t *)word);
		return 0;
	case FUTEX_OP_ANDN:
		*old = atomic_fetch_andnot(argument, (atomic_t *)word);
		return 0;
	case FUTEX_OP_XOR:
		*old = atomic_fetch_xor(argument, (atomic_t *)word);
		return 0;
	default:
		return -ENOSYS;
	}
}

static inline int futex_atomic_cmpxchg_inatomic(u32 *value, u32 __user *address, u32 old, u32 new)
{
	u32 *word = cairn_user_word(address);

	if (!word)
		return -EFAULT;
	*value = cmpxchg(word, old, new);
	return 0;
}

#endif
