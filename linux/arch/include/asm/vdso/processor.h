/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_VDSO_PROCESSOR_H
#define _ASM_CAIRN_VDSO_PROCESSOR_H

#ifndef __ASSEMBLY__

#include <asm/barrier.h>

/* What waits in a loop may wait for an interrupt; the code that processes execute does not. */
static inline void cpu_relax(void)
{
#ifndef __PIC__
	void cairn_relax(void);

	cairn_relax();
#endif
	barrier();
}

#endif
#endif
