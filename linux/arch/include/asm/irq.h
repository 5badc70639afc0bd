/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_IRQ_H
#define _ASM_CAIRN_IRQ_H

/* A bit of the pending word each (component.h says which). */
#define NR_IRQS	64

#include <asm-generic/irq.h>

#endif
