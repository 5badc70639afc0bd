/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel takes no exceptions of its own: what is wrong is said by a call. */
#ifndef _ASM_CAIRN_BUG_H
#define _ASM_CAIRN_BUG_H

#include <asm-generic/bug.h>

struct pt_regs;

void __show_regs(struct pt_regs *regs);
void die(struct pt_regs *regs, const char *text);
void do_trap(struct pt_regs *regs, int signal, int code, unsigned long address);

#endif
