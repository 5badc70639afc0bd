// SPDX-License-Identifier: GPL-2.0-only
/* The terminal: what is said and typed goes through rings of the component's other threads, which wait for the console. */
#include <linux/console.h>
#include <linux/err.h>
#include <linux/init.h>
#include <asm/cairn.h>
#include "../../../drivers/tty/hvc/hvc_console.h"

static int put_chars(u32 terminal, const char *text, int count)
{
	return cairn_say(text, count);
}

static int get_chars(u32 terminal, char *text, int room)
{
	return cairn_hear(text, room);
}

static const struct hv_ops operations = {
	.get_chars = get_chars,
	.put_chars = put_chars,
	.notifier_add = notifier_add_irq,
	.notifier_del = notifier_del_irq,
	.notifier_hangup = notifier_hangup_irq,
};

static int __init console_init_early(void)
{
	return hvc_instantiate(0, 0, &operations);
}
console_initcall(console_init_early);

static int __init console_init_device(void)
{
	return PTR_ERR_OR_ZERO(hvc_alloc(0, CAIRN_IRQ_CONSOLE, &operations, 256));
}
device_initcall(console_init_device);
