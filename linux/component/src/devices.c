/* SPDX-License-Identifier: GPL-2.0-only */
/* Devices that the description gives to the component, whose drivers are Linux': a thread waits for each of their interrupts. */
#include "../../arch/include/asm/component.h"

#include "imports.h"
#include "interrupt.h"
#include "semaphore.h"

#include "cairn_startup.h"
#include "cairn_thread.h"

static struct cairn_given_device given[CAIRN_DEVICES];
/* The first portal of each interrupt: its semaphore, and behind that what opens its source again. */
static uint32_t interrupts[CAIRN_DEVICE_INTERRUPTS];
static unsigned interrupt_count;

void cairn_open_interrupt(unsigned number)
{
    interrupt_acknowledge(interrupts[number] + SEMAPHORE_METHODS);
}

static void wait_for_interrupts(uint64_t number)
{
    /* Its source stays shut until the kernel has called the driver. */
    while (semaphore_p(interrupts[number]) == 0)
        raise(CAIRN_IRQ_DEVICES + (unsigned)number);
}

void begin_devices(void)
{
    static CAIRN_STACK(8192) stacks[CAIRN_DEVICE_INTERRUPTS] = { CAIRN_GUARDED, CAIRN_GUARDED, CAIRN_GUARDED, CAIRN_GUARDED };
    const struct cairn_startup *startup = cairn_startup();
    for (uint32_t number = 0; number < startup->device_count && number < CAIRN_DEVICES; number++) {
        const struct cairn_mapping *device = &startup->devices[number];
        given[number] = (struct cairn_given_device){ device->name, device->address, device->size, interrupt_count, 0 };
        for (uint64_t each = 0; each < device->interrupt_count && interrupt_count < CAIRN_DEVICE_INTERRUPTS; each++) {
            interrupts[interrupt_count] = (uint32_t)(device->interrupt_portal + each * (SEMAPHORE_METHODS + INTERRUPT_METHODS));
            begin_thread(wait_for_interrupts, interrupt_count, stacks[interrupt_count].bytes);
            interrupt_count++;
            given[number].interrupts++;
        }
        cairn_given.device_count++;
    }
    cairn_given.devices = given;
}
