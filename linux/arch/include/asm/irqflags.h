/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupts are bits that other threads of the component set. They interrupt processes; the kernel takes them where it enables
 * interrupts, and before it returns to a process.
 */
#ifndef _ASM_CAIRN_IRQFLAGS_H
#define _ASM_CAIRN_IRQFLAGS_H

#include <asm/cairn.h>

/* Takes what is pending; interrupts are enabled when it returns. */
void cairn_take_interrupts(void);

static __always_inline unsigned long arch_local_save_flags(void)
{
	return cairn_status(CAIRN_ENABLED);
}

static __always_inline void arch_local_irq_enable(void)
{
	barrier();
	cairn_status(CAIRN_ENABLED) = 1;
	if (unlikely(cairn_status(CAIRN_PENDING)))
		cairn_take_interrupts();
}

static __always_inline void arch_local_irq_disable(void)
{
	cairn_status(CAIRN_ENABLED) = 0;
	barrier();
}

static __always_inline unsigned long arch_local_irq_save(void)
{
	unsigned long flags = arch_local_save_flags();

	arch_local_irq_disable();
	return flags;
}

static __always_inline int arch_irqs_disabled_flags(unsigned long flags)
{
	return !flags;
}

static __always_inline int arch_irqs_disabled(void)
{
	return arch_irqs_disabled_flags(arch_local_save_flags());
}

static __always_inline void arch_local_irq_restore(unsigned long flags)
{
	if (flags)
		arch_local_irq_enable();
}

#endif
