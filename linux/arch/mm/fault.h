/* SPDX-License-Identifier: GPL-2.0-only */
int cairn_handle_fault(struct mm_struct *mm, unsigned long address, unsigned int flags, struct pt_regs *regs, int *code);
