// SPDX-License-Identifier: GPL-2.0-only
/* The clock is read by an instruction of user mode; the timer is another thread of the component that waits. */
#include <linux/clk-provider.h>
#include <linux/clockchips.h>
#include <linux/clocksource.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/sched_clock.h>
#include <asm/cairn.h>
#include <asm/timex.h>

unsigned long riscv_timebase;
EXPORT_SYMBOL_GPL(riscv_timebase);

static u64 read_clock(struct clocksource *clock)
{
	return get_cycles64();
}

static struct clocksource clock = {
	.name = "riscv_clocksource",
	.rating = 400,
	.mask = CLOCKSOURCE_MASK(64),
	.flags = CLOCK_SOURCE_IS_CONTINUOUS,
	.read = read_clock,
};

void clocksource_arch_init(struct clocksource *clock)
{
	clock->vdso_clock_mode = VDSO_CLOCKMODE_ARCHTIMER;
}

void read_persistent_clock64(struct timespec64 *now)
{
	static bool is_missing;
	u64 since = mul_u64_u64_div_u64(get_cycles64() - cairn_given.wall_ticks, NSEC_PER_SEC, cairn_given.time_base);

	/* A clock that answers a later life of a snapshot first: what it says has not passed meanwhile. */
	is_missing |= !cairn_given.wall_time;
	*now = ns_to_timespec64(is_missing ? 0 : cairn_given.wall_time + since);
}

static int next_event(unsigned long ticks, struct clock_event_device *device)
{
	cairn_set_timer(get_cycles64() + ticks);
	return 0;
}

static struct clock_event_device timer = {
	.name = "cairn",
	.features = CLOCK_EVT_FEAT_ONESHOT,
	.rating = 400,
	.set_next_event = next_event,
};

static irqreturn_t timer_interrupt(int irq, void *data)
{
	timer.event_handler(&timer);
	return IRQ_HANDLED;
}

static u64 notrace read_sched_clock(void)
{
	return get_cycles64();
}

void __init time_init(void)
{
	riscv_timebase = cairn_given.time_base;
	lpj_fine = riscv_timebase / HZ;
	clocksource_register_hz(&clock, riscv_timebase);
	sched_clock_register(read_sched_clock, 64, riscv_timebase);
	if (request_irq(CAIRN_IRQ_TIMER, timer_interrupt, IRQF_TIMER, "timer", NULL))
		panic("no timer");
	timer.cpumask = cpumask_of(0);
	timer.irq = CAIRN_IRQ_TIMER;
	clockevents_config_and_register(&timer, riscv_timebase, 100, ULONG_MAX >> 1);
}
