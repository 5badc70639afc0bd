/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's side of Cairn's mechanism for processes: the status page, the last one of the kernel's address space, and the portals
 * that change page tables (abi/src/process.rs and docs/processes.md of Cairn).
 */
#ifndef _ASM_CAIRN_H
#define _ASM_CAIRN_H

/* What portal code reads and writes, from register zero. */
#define CAIRN_PC	-2048	/* where the process goes on, or has stopped */
#define CAIRN_T0	-2040	/* its t0, on the way to it */
#define CAIRN_CAUSE	-2032	/* of an exception, as `scause` */
#define CAIRN_VALUE	-2024	/* of an exception, as `stval` */
#define CAIRN_PENDING	-2016	/* a bit for each interrupt that the kernel has not taken yet; other threads set them */
#define CAIRN_FLOAT	-2008	/* f0 to f31 and fcsr, of cairn_float() */

/* The rest is the kernel's own. */
#define CAIRN_USER_SP	-1744
#define CAIRN_FRAME	-1736	/* the registers of the current task's process */
#define CAIRN_CURRENT	-1728	/* the task */
#define CAIRN_ENABLED	-1720	/* interrupts are taken when they come to be pending */
#define CAIRN_READ_PAGE	-1712	/* a page of the current process that may be read; or -1 << 63 */
#define CAIRN_READ_OFFSET -1704	/* from an address in it to where the kernel has it */
#define CAIRN_WRITE_PAGE -1696	/* the same of one that may be written */
#define CAIRN_WRITE_OFFSET -1688
#define CAIRN_LAZY_BASE	-1680	/* from a place in what follows to the entry that waits there (asm/pgtable.h); or one of these: */
#define CAIRN_NOT_LAZY	0
#define CAIRN_LAZY_NONE	1
#define CAIRN_LAZY_PLACE -1672	/* the next place */
#define CAIRN_DIRECT_T1	-1664	/* registers of a process that calls a portal itself, if that is none */
#define CAIRN_DIRECT_T2	-1656

/* Calls of a process by these negative numbers are its own portals; -1 is none. */
#define CAIRN_DIRECT	64

/* Entries of cairn_map_several(), which portal code reads, too. */
#define CAIRN_ENTRIES	-128	/* up to the end of the page */

/* Where the kernel has what lies at a physical address, if it is memory of processes or one of their page tables. */
#define CAIRN_LINEAR	0x2000000000

#ifndef __ASSEMBLY__

#include <linux/types.h>
#include <asm/component.h>

#define cairn_status(place) (*(volatile unsigned long *)(long)(place))

/* Each calls a portal of the same name; 0 or a negative error of Cairn's. */
#define CAIRN_PORTAL2(name)						\
static __always_inline long name(unsigned long first, unsigned long second) \
{									\
	register unsigned long a0 asm("a0") = first;			\
	register unsigned long a1 asm("a1") = second;			\
									\
	asm volatile("call portal_" #name				\
		     : "+r"(a0), "+r"(a1)				\
		     :							\
		     : "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "memory"); \
	return a0;							\
}

CAIRN_PORTAL2(cairn_select)	/* space */
CAIRN_PORTAL2(cairn_map)	/* entry of a leaf, word */
CAIRN_PORTAL2(cairn_map_several) /* the first of entries, which follow each other, and how many */
CAIRN_PORTAL2(cairn_link)	/* entry of a root or directory, table or 0 */
CAIRN_PORTAL2(cairn_clear)	/* an eighth of a table */
CAIRN_PORTAL2(cairn_fence)	/* space, address or 0 */
CAIRN_PORTAL2(cairn_float)	/* 0: get, 1: give, 2: none, 3: the owner's again */

/* What a cached page says is no longer so. */
static __always_inline void cairn_forget_pages(void)
{
	cairn_status(CAIRN_READ_PAGE) = 1UL << 63;
	cairn_status(CAIRN_WRITE_PAGE) = 1UL << 63;
}

#endif
#endif
