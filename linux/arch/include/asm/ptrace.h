/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_CAIRN_PTRACE_H
#define _ASM_CAIRN_PTRACE_H

#include_next <asm/ptrace.h>

#ifndef __ASSEMBLY__

/* Who traces a task finds its floating-point state where Linux keeps it. */
void cairn_stop_float(void);
#define arch_ptrace_stop_needed(...)	1
#define arch_ptrace_stop(...)		cairn_stop_float()

#endif
#endif
