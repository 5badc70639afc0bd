// SPDX-License-Identifier: GPL-2.0-only
/*
 * The floating-point unit is the processes' while the kernel runs, which uses none. One task has its state where portal code finds it
 * and gives it to the hardware (the owner); all others have theirs in `thread.fstate`. A task that has none faults at its first use.
 */
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/cairn.h>
#include <asm/csr.h>
#include <asm/ptrace.h>
#include <asm/switch_to.h>

struct task_struct *cairn_float_owner;

bool has_fpu(void)
{
	return cairn_given.has_float;
}

/* What the owner has is in `thread.fstate`, too. */
static void get(struct task_struct *task)
{
	struct __riscv_d_ext_state *state = &task->thread.fstate;
	int number;

	cairn_float(0, 0);
	for (number = 0; number < 32; number++)
		state->f[number] = cairn_status(CAIRN_FLOAT + number * 8);
	state->fcsr = cairn_status(CAIRN_FLOAT + 32 * 8);
}

static void give(struct task_struct *task)
{
	struct __riscv_d_ext_state *state = &task->thread.fstate;
	int number;

	for (number = 0; number < 32; number++)
		cairn_status(CAIRN_FLOAT + number * 8) = state->f[number];
	cairn_status(CAIRN_FLOAT + 32 * 8) = state->fcsr;
	cairn_float(1, 0);
	cairn_float_owner = task;
}

/* Nobody owns the unit. */
static void none(void)
{
	cairn_float(2, 0);
	cairn_float_owner = NULL;
}

static bool has_state(struct pt_regs *regs)
{
	return regs->status & SR_FS;
}

void cairn_switch_float(struct task_struct *next)
{
	struct task_struct *owner = cairn_float_owner;

	if (owner == next)
		return;
	if (owner)
		get(owner);
	if (has_state(task_pt_regs(next)))
		give(next);
	else if (owner)
		none();
}

bool cairn_first_float(struct pt_regs *regs)
{
	if (!has_fpu() || has_state(regs))
		return false;
	/* It may be another illegal instruction: then it comes once more. */
	regs->status |= SR_FS_DIRTY;
	memset(&current->thread.fstate, 0, sizeof(current->thread.fstate));
	give(current);
	return true;
}

void fstate_off(struct task_struct *task, struct pt_regs *regs)
{
	regs->status &= ~SR_FS;
	if (cairn_float_owner == task)
		none();
}

/* `thread.fstate` is what the task has. */
void fstate_save(struct task_struct *task, struct pt_regs *regs)
{
	if (!has_state(regs))
		memset(&task->thread.fstate, 0, sizeof(task->thread.fstate));
	else if (cairn_float_owner == task)
		get(task);
}

/* The task has what is in `thread.fstate`. */
void fstate_restore(struct task_struct *task, struct pt_regs *regs)
{
	if (task != current)
		return;
	regs->status |= SR_FS_DIRTY;
	give(task);
}
