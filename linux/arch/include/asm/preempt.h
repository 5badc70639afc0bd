/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the kernel asks whether another task is to run, what is pending is taken first: it interrupts no loop of the kernel's. */
#ifndef _ASM_CAIRN_PREEMPT_H
#define _ASM_CAIRN_PREEMPT_H

#include <asm/cairn.h>

#define should_resched is_to_resched
#include <asm-generic/preempt.h>
#undef should_resched

void cairn_relax(void);

static __always_inline bool should_resched(int count)
{
	if (unlikely(cairn_status(CAIRN_PENDING)))
		cairn_relax();
	return is_to_resched(count);
}

#endif
