// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/pm.h>
#include <linux/ptrace.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <linux/sched/debug.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/cairn.h>
#include <asm/csr.h>
#include <asm/switch_to.h>

asmlinkage void ret_from_fork(void);
asmlinkage void ret_from_kernel_thread(void);

void (*pm_power_off)(void);

void arch_cpu_idle(void)
{
	/* Another thread of the component signals when there is something. */
	if (!cairn_status(CAIRN_PENDING))
		cairn_idle();
	raw_local_irq_enable();
}

void __show_regs(struct pt_regs *regs)
{
	static const char names[32][5] = {
		"epc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
		"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"
	};
	const unsigned long *words = (const unsigned long *)regs;
	int number;

	show_regs_print_info(KERN_DEFAULT);
	for (number = 0; number < 32; number++)
		pr_cont("%4s %016lx%s", names[number], words[number], number % 4 == 3 ? "\n" : "");
	pr_cont("cause %lx, value %016lx\n", regs->cause, regs->badaddr);
}

void show_regs(struct pt_regs *regs)
{
	__show_regs(regs);
}

void show_stack(struct task_struct *task, unsigned long *stack, const char *level)
{
	printk("%sno stack trace: the kernel has no frame pointers\n", level);
}

unsigned long __get_wchan(struct task_struct *task)
{
	return 0;
}

void start_thread(struct pt_regs *regs, unsigned long pc, unsigned long sp)
{
	regs->status = SR_PIE | SR_UXL_64;
	regs->epc = pc;
	regs->sp = sp;
	if (unlikely(is_global_init(current)))
		cairn_begun();
}

void flush_thread(void)
{
	fstate_off(current, task_pt_regs(current));
	memset(&current->thread.fstate, 0, sizeof(current->thread.fstate));
}

void arch_release_task_struct(struct task_struct *task)
{
	cairn_drop_float(task);
}

int arch_dup_task_struct(struct task_struct *to, struct task_struct *from)
{
	fstate_save(from, task_pt_regs(from));
	*to = *from;
	return 0;
}

int copy_thread(struct task_struct *task, const struct kernel_clone_args *args)
{
	struct pt_regs *regs = task_pt_regs(task);

	memset(&task->thread.s, 0, sizeof(task->thread.s));
	if (args->fn) {
		memset(regs, 0, sizeof(*regs));
		regs->status = SR_PP | SR_PIE;
		task->thread.ra = (unsigned long)ret_from_kernel_thread;
		task->thread.s[0] = (unsigned long)args->fn;
		task->thread.s[1] = (unsigned long)args->fn_arg;
	} else {
		*regs = *current_pt_regs();
		if (args->stack)
			regs->sp = args->stack;
		if (args->flags & CLONE_SETTLS)
			regs->tp = args->tls;
		regs->a0 = 0;
		task->thread.ra = (unsigned long)ret_from_fork;
	}
	task->thread.sp = (unsigned long)regs;
	task->thread_info.kernel_sp = (unsigned long)regs;
	return 0;
}

void machine_restart(char *command)
{
	do_kernel_restart(command);
	cairn_end(CAIRN_END_RESTART);
}

void machine_halt(void)
{
	cairn_end(CAIRN_END_OFF);
}

void machine_power_off(void)
{
	cairn_end(CAIRN_END_OFF);
}
