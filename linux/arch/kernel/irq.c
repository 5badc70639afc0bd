// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts: bits of a word that other threads of the component set, in the order of their numbers. */
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/sched.h>
#include <asm/cairn.h>
#include <asm/irq_regs.h>
#include <asm/ptrace.h>

static void handle_pending(struct pt_regs *regs)
{
	struct pt_regs *former = set_irq_regs(regs);
	unsigned long pending;

	irq_enter();
	while ((pending = xchg((unsigned long *)CAIRN_PENDING, 0))) {
		for (; pending; pending &= pending - 1)
			generic_handle_irq(__ffs(pending));
	}
	irq_exit();
	set_irq_regs(former);
}

/* A process was interrupted. */
asmlinkage void cairn_interrupt(struct pt_regs *regs)
{
	handle_pending(regs);
}

/* Where the kernel enables interrupts. */
void cairn_take_interrupts(void)
{
	/* Who asks where it was finds the kernel. */
	static struct pt_regs kernel = { .status = SR_PP };

	do {
		cairn_status(CAIRN_ENABLED) = 0;
		handle_pending(&kernel);
		if (IS_ENABLED(CONFIG_PREEMPTION) && !preempt_count() && need_resched())
			preempt_schedule_irq();
		cairn_status(CAIRN_ENABLED) = 1;
	} while (cairn_status(CAIRN_PENDING));
}

void cairn_relax(void)
{
	if (cairn_status(CAIRN_PENDING) && cairn_status(CAIRN_ENABLED))
		cairn_take_interrupts();
}
EXPORT_SYMBOL(cairn_relax);

static void nothing(struct irq_data *data)
{
}

/* A bit that is set while an interrupt is off is lost: who is behind it looks again when it is on. */
static struct irq_chip chip = {
	.name = "Cairn",
	.irq_mask = nothing,
	.irq_unmask = nothing,
	.irq_ack = nothing,
};

int arch_show_interrupts(struct seq_file *file, int precision)
{
	return 0;
}

void __init init_IRQ(void)
{
	unsigned int irq;

	for (irq = 0; irq < NR_IRQS; irq++)
		irq_set_chip_and_handler(irq, &chip, handle_edge_irq);
}
