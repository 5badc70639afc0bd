/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_CACHEFLUSH_H
#define _ASM_CAIRN_CACHEFLUSH_H

#include <linux/mm.h>

/* Of the system call: of this hart alone, of which there is one. */
#define SYS_RISCV_FLUSH_ICACHE_LOCAL	1UL
#define SYS_RISCV_FLUSH_ICACHE_ALL	SYS_RISCV_FLUSH_ICACHE_LOCAL

static inline void local_flush_icache_all(void)
{
	asm volatile ("fence.i" ::: "memory");
}

#define PG_dcache_clean PG_arch_1

static inline void flush_dcache_page(struct page *page)
{
	if (test_bit(PG_dcache_clean, &page->flags))
		clear_bit(PG_dcache_clean, &page->flags);
}
#define ARCH_IMPLEMENTS_FLUSH_DCACHE_PAGE 1

#define flush_icache_user_page(vma, page, address, length)	local_flush_icache_all()
#define flush_icache_range(start, end)				local_flush_icache_all()
#define flush_icache_mm(mm, local)				local_flush_icache_all()

#include <asm-generic/cacheflush.h>

#endif
