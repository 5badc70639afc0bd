/* SPDX-License-Identifier: GPL-2.0-only */
/* Registers of a device that the component has are mapped from its start; a driver is given the address. */
#ifndef _ASM_CAIRN_IO_H
#define _ASM_CAIRN_IO_H

#include <linux/types.h>
#include <asm/page.h>

static inline void __iomem *ioremap(phys_addr_t address, size_t size)
{
	return (void __iomem *)address;
}
#define ioremap ioremap
#define ioremap_wc ioremap
#define ioremap_wt ioremap
#define ioremap_uc ioremap

static inline void iounmap(volatile void __iomem *address)
{
}
#define iounmap iounmap

#include <asm-generic/io.h>

#endif
