// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices that the component has: registers in its address space, and interrupts. `cairn_device=NAME:DRIVER` on the command line gives the
 * one that the description calls NAME to a driver of platform devices.
 */
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/platform_device.h>
#include <asm/cairn.h>
#include <asm/snapshot.h>

static char *wanted[CAIRN_DEVICES];
static struct platform_device *added[CAIRN_DEVICES];

static int __init want(char *text)
{
	unsigned int number;

	for (number = 0; number < CAIRN_DEVICES; number++) {
		if (!wanted[number]) {
			wanted[number] = text;
			return 1;
		}
	}
	pr_err("cairn: more than %u devices\n", CAIRN_DEVICES);
	return 1;
}
__setup("cairn_device=", want);

static void nothing(struct irq_data *data)
{
}

/* Whoever has called the driver opens the source: it was shut when the interrupt came. */
static void open_source(struct irq_data *data)
{
	cairn_open_interrupt(data->irq - CAIRN_IRQ_DEVICES);
}

static struct irq_chip chip = {
	.name = "Cairn's",
	.irq_mask = nothing,
	.irq_unmask = open_source,
};

static struct platform_device *__init add(const struct cairn_given_device *device, const char *driver)
{
	struct resource resources[1 + CAIRN_DEVICE_INTERRUPTS] = { DEFINE_RES_MEM(device->address, device->size) };
	unsigned int each, irq;

	for (each = 0; each < device->interrupts; each++) {
		irq = CAIRN_IRQ_DEVICES + device->first_interrupt + each;
		irq_set_chip_and_handler(irq, &chip, handle_level_irq);
		resources[1 + each] = (struct resource)DEFINE_RES_IRQ(irq);
	}
	cairn_forbid_snapshots("a device of Linux' own is");
	return platform_device_register_simple(driver, PLATFORM_DEVID_AUTO, resources, 1 + device->interrupts);
}

static int __init devices_init(void)
{
	unsigned int number, each;

	for (number = 0; number < CAIRN_DEVICES && wanted[number]; number++) {
		char *driver = strchr(wanted[number], ':');
		size_t length = driver ? driver - wanted[number] : 0;

		for (each = 0; each < cairn_given.device_count && length; each++) {
			const struct cairn_given_device *device = &cairn_given.devices[each];

			if (strlen(device->name) == length && !strncmp(device->name, wanted[number], length)) {
				added[number] = add(device, driver + 1);
				break;
			}
		}
		if (!length)
			pr_err("cairn: cairn_device=%s: expected NAME:DRIVER\n", wanted[number]);
		else if (each == cairn_given.device_count)
			pr_err("cairn: cairn_device=%s: the description gives no such device\n", wanted[number]);
	}
	return 0;
}
arch_initcall(devices_init);

static int __init devices_taken(void)
{
	unsigned int number;

	for (number = 0; number < CAIRN_DEVICES; number++)
		if (added[number] && (IS_ERR(added[number]) || !added[number]->dev.driver))
			pr_err("cairn: cairn_device=%s: no driver has taken it; the kernel has none of this name, or it says why above\n", wanted[number]);
	return 0;
}
late_initcall_sync(devices_taken);
