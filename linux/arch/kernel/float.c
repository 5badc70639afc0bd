// SPDX-License-Identifier: GPL-2.0-only
/*
 * The floating-point unit is the processes' while the kernel runs, which uses none. One task, the owner, has its state where portal code
 * finds it and gives it to the hardware; all others have theirs in `thread.fstate`. While another task runs, the state is taken away, and
 * stays where it is: a task that uses the unit without it faults, and becomes the owner. So a switch of tasks copies nothing.
 */
#include <linux/sched.h>
#include <asm/cairn.h>
#include <asm/csr.h>
#include <asm/ptrace.h>
#include <asm/switch_to.h>

struct task_struct *cairn_float_owner, *cairn_float_given;

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

/* The current task becomes the owner, with what is in its `thread.fstate`. */
static void give(void)
{
	struct __riscv_d_ext_state *state = &current->thread.fstate;
	int number;

	for (number = 0; number < 32; number++)
		cairn_status(CAIRN_FLOAT + number * 8) = state->f[number];
	cairn_status(CAIRN_FLOAT + 32 * 8) = state->fcsr;
	cairn_float(1, 0);
	cairn_float_owner = cairn_float_given = current;
}

static void become_owner(void)
{
	struct task_struct *owner = cairn_float_owner;

	if (owner && owner != current)
		get(owner);
	give();
}

/* Another task runs from now on: it has its state, or nobody has. */
void cairn_switch_float(struct task_struct *next)
{
	cairn_float_given = cairn_float_owner == next ? next : NULL;
	cairn_float(cairn_float_given ? 3 : 2, 0);
}

/* An illegal instruction: whether it may be one of the unit, and comes again with a state. */
bool cairn_takes_float(struct pt_regs *regs)
{
	if (!has_fpu() || cairn_float_given == current)
		return false;
	regs->status |= SR_FS_DIRTY;
	become_owner();
	return true;
}

/* The task has none any more, or is one no more. */
void cairn_drop_float(struct task_struct *task)
{
	if (cairn_float_owner != task)
		return;
	if (cairn_float_given)
		cairn_float(2, 0);
	cairn_float_owner = cairn_float_given = NULL;
}

void fstate_off(struct task_struct *task, struct pt_regs *regs)
{
	regs->status &= ~SR_FS;
	cairn_drop_float(task);
	/* What becomes a process here may have been a thread of the kernel, which leaves the state to others. */
	if (cairn_float_given && cairn_float_given != current)
		cairn_switch_float(current);
}

/* All have theirs in `thread.fstate`. */
void cairn_collect_float(void)
{
	struct task_struct *owner = cairn_float_owner;

	if (owner) {
		get(owner);
		cairn_drop_float(owner);
	}
}

/* Others read and write what a task has that stops. */
void cairn_stop_float(void)
{
	if (cairn_float_owner == current)
		cairn_collect_float();
}

/* `thread.fstate` is what the task has. */
void fstate_save(struct task_struct *task, struct pt_regs *regs)
{
	if (cairn_float_owner == task)
		get(task);
}

/* The task has what is in `thread.fstate`. */
void fstate_restore(struct task_struct *task, struct pt_regs *regs)
{
	regs->status |= SR_FS_DIRTY;
	/* It finds that at its next use. */
	cairn_drop_float(task);
}
