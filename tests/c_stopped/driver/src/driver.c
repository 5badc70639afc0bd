/* Offers its device what no device understands, more requests than its queue holds, and looks after its interrupt. */
#include "cairn_dma.h"
#include "console.h"
#include "devices.h"
#include "interrupt.h"
#include "semaphore.h"

#include <string.h>

enum { CONSOLE = CAIRN_PORTAL_FIRST_IMPORT, DEVICES = CONSOLE + CONSOLE_METHODS };

/* Where the ring of what is offered, the first of its page, has its index (virtio 1.2, section 2.7.6). */
enum { INDEX = 2 };

static void run(void)
{
    static const char lives[] = "FAILED: the driver goes on with a device that has stopped\n";
    const struct cairn_mapping *device = cairn_required_device("virtio-rng");
    const uint32_t interrupt = (uint32_t)device->interrupt_portal;
    uint64_t features;
    if (devices_begin(DEVICES, cairn_device_position(device), 0, &features) != 0)
        cairn_panic("the device owner refuses to let the device begin");
    if (interrupt_acknowledge(interrupt + SEMAPHORE_METHODS) != 0)
        cairn_panic("cannot open the device's interrupt");
    *(volatile uint16_t *)(device->queues + CAIRN_PAGE_SIZE + INDEX) = UINT16_MAX / 2;
    cairn_device_notify(device, 0);
    if (semaphore_p(interrupt) != 0 || cairn_device_acknowledge(device, NULL) != 0)
        cairn_panic("cannot serve the device's interrupt");
    console_write(CONSOLE, lives, strlen(lives));
}

CAIRN_COMPONENT(
    .name = "driver",
    .main = run,
    .import_count = 2,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE }, { "devices", DEVICES, DEVICES_INTERFACE } });
