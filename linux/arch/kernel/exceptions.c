// SPDX-License-Identifier: GPL-2.0-only
/* What a process does that is no call. */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <linux/sched/debug.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <asm/cairn.h>
#include <asm/csr.h>
#include <asm/ptrace.h>
#include <asm/switch_to.h>

int show_unhandled_signals = 1;

void do_page_fault(struct pt_regs *regs);

void do_trap(struct pt_regs *regs, int signal, int code, unsigned long address)
{
	if (show_unhandled_signals && unhandled_signal(current, signal) && printk_ratelimit()) {
		pr_info("%s[%d]: unhandled signal %d code 0x%x at 0x%016lx", current->comm, task_pid_nr(current), signal, code,
			address);
		print_vma_addr(KERN_CONT " in ", instruction_pointer(regs));
		pr_cont("\n");
		__show_regs(regs);
	}
	force_sig_fault(signal, code, (void __user *)address);
}

/* By cause: the signal and its code. */
static const struct {
	int signal, code;
} signals[] = {
	[EXC_INST_MISALIGNED] = { SIGBUS, BUS_ADRALN },
	[EXC_INST_ACCESS] = { SIGSEGV, SEGV_ACCERR },
	[EXC_INST_ILLEGAL] = { SIGILL, ILL_ILLOPC },
	[EXC_BREAKPOINT] = { SIGTRAP, TRAP_BRKPT },
	[4] = { SIGBUS, BUS_ADRALN },
	[EXC_LOAD_ACCESS] = { SIGSEGV, SEGV_ACCERR },
	[6] = { SIGBUS, BUS_ADRALN },
	[EXC_STORE_ACCESS] = { SIGSEGV, SEGV_ACCERR },
};

asmlinkage void cairn_exception(struct pt_regs *regs)
{
	unsigned long cause = regs->cause;

	if (cause >= EXC_INST_PAGE_FAULT) {
		do_page_fault(regs);
		return;
	}
	if (cause == EXC_INST_ILLEGAL && cairn_takes_float(regs))
		return;
	current->thread.bad_cause = cause;
	if (cause < ARRAY_SIZE(signals) && signals[cause].signal == SIGTRAP)
		force_sig_fault(SIGTRAP, TRAP_BRKPT, (void __user *)regs->epc);
	else if (cause < ARRAY_SIZE(signals))
		do_trap(regs, signals[cause].signal, signals[cause].code, regs->epc);
	else
		do_trap(regs, SIGILL, ILL_ILLTRP, regs->epc);
}

/* The kernel takes no exceptions: this is what it thinks of itself. */
void die(struct pt_regs *regs, const char *text)
{
	panic("%s", text);
}
