/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_MMU_H
#define _ASM_CAIRN_MMU_H

#ifndef __ASSEMBLY__
typedef struct {
	void *vdso;
	struct cairn_direct *direct; /* portals that the process calls itself, first of all (drivers/direct.c) */
} mm_context_t;
#endif

#endif
