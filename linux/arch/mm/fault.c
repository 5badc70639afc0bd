// SPDX-License-Identifier: GPL-2.0-only
#include <linux/hugetlb.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/oom.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <asm/cairn.h>
#include <asm/csr.h>
#include <asm/ptrace.h>
#include "fault.h"

static bool may(struct vm_area_struct *vma, unsigned int flags)
{
	if (flags & FAULT_FLAG_WRITE)
		return vma->vm_flags & VM_WRITE;
	if (flags & FAULT_FLAG_INSTRUCTION)
		return vma->vm_flags & VM_EXEC;
	return vma->vm_flags & (VM_READ | VM_WRITE);
}

/* Tables are all taken, or there is no memory: whoever has most of both is killed, and others run meanwhile. */
static void make_room(void)
{
	struct oom_control control = {
		.zonelist = node_zonelist(first_memory_node, GFP_KERNEL),
		.gfp_mask = GFP_KERNEL,
	};

	pr_warn_ratelimited("cairn: no memory, or no `directories` or `leaves` left of the description's `processes`\n");
	if (mutex_trylock(&oom_lock)) {
		out_of_memory(&control);
		mutex_unlock(&oom_lock);
	}
	schedule_timeout_killable(1);
}

/*
 * Brings what a process may reach at an address into its tables. `regs` are those of a process that has a fault there, NULL for the
 * kernel. Answers 0 or the signal, with its code.
 */
int cairn_handle_fault(struct mm_struct *mm, unsigned long address, unsigned int flags, struct pt_regs *regs, int *code)
{
	struct vm_area_struct *vma;
	vm_fault_t fault;

	flags |= FAULT_FLAG_DEFAULT;
again:
	*code = SEGV_MAPERR;
	vma = lock_mm_and_find_vma(mm, address, regs);
	if (unlikely(!vma))
		return SIGSEGV;
	if (unlikely(!may(vma, flags))) {
		mmap_read_unlock(mm);
		*code = SEGV_ACCERR;
		return SIGSEGV;
	}
	fault = handle_mm_fault(vma, address, flags, regs);
	/* A signal comes first; of a process, on its way back. */
	if ((fault & VM_FAULT_RETRY) && fatal_signal_pending(current))
		return regs ? 0 : SIGKILL;
	if (regs && fault_signal_pending(fault, regs))
		return 0;
	if (fault & VM_FAULT_COMPLETED)
		return 0;
	if (unlikely(fault & VM_FAULT_RETRY)) {
		flags |= FAULT_FLAG_TRIED;
		goto again;
	}
	mmap_read_unlock(mm);
	if (likely(!(fault & VM_FAULT_ERROR)))
		return 0;
	if (fault & VM_FAULT_OOM) {
		make_room();
		if (fatal_signal_pending(current))
			return regs ? 0 : SIGKILL;
		goto again;
	}
	*code = BUS_ADRERR;
	if (fault & (VM_FAULT_SIGBUS | VM_FAULT_HWPOISON))
		return SIGBUS;
	*code = SEGV_MAPERR;
	return SIGSEGV;
}

asmlinkage void do_page_fault(struct pt_regs *regs)
{
	static unsigned long last_counter, last_address;
	unsigned long address = regs->badaddr;
	unsigned int flags = FAULT_FLAG_USER;
	int signal, code;

	perf_sw_event(PERF_COUNT_SW_PAGE_FAULTS, 1, regs, address);
	/* A core may keep that nothing was mapped. Whoever faults twice at the same has that forgotten. */
	if (unlikely(last_counter == regs->epc && last_address == address && current->mm))
		flush_tlb_mm(current->mm);
	last_counter = regs->epc;
	last_address = address;

	if (regs->cause == EXC_STORE_PAGE_FAULT)
		flags |= FAULT_FLAG_WRITE;
	else if (regs->cause == EXC_INST_PAGE_FAULT)
		flags |= FAULT_FLAG_INSTRUCTION;
	signal = cairn_handle_fault(current->mm, address, flags, regs, &code);
	if (unlikely(signal)) {
		current->thread.bad_cause = regs->cause;
		do_trap(regs, signal, code, address);
	}
}
