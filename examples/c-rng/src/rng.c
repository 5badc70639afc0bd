/* Random bytes from a virtio device (virtio 1.2, section 5.4), for several callers at a time. */
#include "cairn_dma.h"
#include "devices.h"
#include "interrupt.h"
#include "portals.h"
#include "random.h"
#include "semaphore.h"

#include <stdatomic.h>

enum { PORTALS = CAIRN_PORTAL_FIRST_IMPORT, DEVICES = PORTALS + PORTALS_METHODS };

RANDOM_SERVER(rng)

enum {
    BYTES = 512, /* most of one answer */
    PLACES = 4, /* for requests: each has a descriptor of the queue, and a part of the memory for DMA */
};

/* A place is free; a thread prepares its request, or looks at the answer; the device has it, and the thread waits; the
 * device has it, and nobody waits; or the answer is there. */
enum state { FREE, TAKEN, OFFERED, LEFT, ANSWERED };

static struct {
    _Atomic uint32_t state;
    uint32_t answered; /* a semaphore */
    _Atomic uint32_t length; /* how many bytes the device says it wrote; it may say so again at any time */
} places[PLACES];

/* A semaphore, of how many places are free; 0: the driver has not begun. */
static _Atomic uint32_t free_places;

static const struct cairn_mapping *device(void)
{
    return cairn_required_device("virtio-rng");
}

static bool change(unsigned place, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(&places[place].state, &from, to);
}

static void give(unsigned place)
{
    atomic_store(&places[place].state, FREE);
    semaphore_v(free_places);
}

/* The answer of a place, whose request was for `size` bytes: at most so many, whatever the device says. */
static int64_t answer(unsigned place, struct cairn_buffer found, volatile void *to, uint64_t *count)
{
    *count = places[place].length;
    if (*count > found.size)
        *count = found.size;
    bool is_copied = cairn_copy(to, found.bytes, *count) == *count;
    /* Nobody is to find them there again. */
    for (size_t at = 0; at < found.size; at++)
        found.bytes[at] = 0;
    return is_copied ? 0 : CAIRN_ERROR_BAD_POINTER;
}

struct cairn_reply rng_fill(uint64_t control, volatile void *buffer, size_t length)
{
    struct cairn_reply reply = { 0, 0 };
    unsigned place = 0;
    (void)control;
    if (length == 0)
        return reply;
    if (free_places == 0)
        return (struct cairn_reply){ CAIRN_ERROR_BUSY, 0 };
    reply.status = semaphore_p(free_places);
    if (reply.status != 0)
        return reply;
    while (place < PLACES && !change(place, FREE, TAKEN))
        place++;
    if (place == PLACES)
        return (struct cairn_reply){ CAIRN_ERROR_BUSY, 0 };

    struct cairn_buffer bytes = cairn_buffer_part(cairn_dma(), place * BYTES, length < BYTES ? length : BYTES);
    uint64_t descriptor = cairn_descriptor(bytes, true, false);
    atomic_store(&places[place].state, OFFERED);
    reply.status = cairn_device_offer(device(), 0, (uint16_t)place, &descriptor, 1);
    if (reply.status == 0) {
        /* A signal alone does not say that the answer is there: it may be late, for who was called home before it came. */
        do
            reply.status = semaphore_p(places[place].answered);
        while (reply.status == 0 && places[place].state != ANSWERED);
        /* Called home: the place is free when the device has done with it. */
        if (reply.status != 0 && change(place, OFFERED, LEFT))
            return reply;
        /* A signal that came too late for that is not for the next one here. */
        if (reply.status != 0)
            semaphore_try_p(places[place].answered);
        else
            reply.status = answer(place, bytes, buffer, &reply.value);
    }
    give(place);
    return reply;
}

/* The device is no more to be believed than a caller: what it says may be of no request, or come twice. */
static void wake(struct cairn_done *done)
{
    uint32_t place, length;
    while (cairn_done_next(done, &place, &length)) {
        if (place >= PLACES)
            continue;
        places[place].length = length;
        if (change(place, OFFERED, ANSWERED))
            semaphore_v(places[place].answered);
        else if (change(place, LEFT, TAKEN))
            give(place);
    }
}

static uint32_t semaphore(uint64_t level)
{
    uint64_t portal;
    if (portals_make_semaphore(PORTALS, level, &portal) != 0)
        cairn_panic("the description's `semaphores`: expected 5");
    return (uint32_t)portal;
}

static void run(void)
{
    const uint32_t interrupt = (uint32_t)device()->interrupt_portal;
    uint64_t features;
    /* The device owner resets the device, places its queue, and lets it go; it has no features that are wanted. */
    if (devices_begin(DEVICES, cairn_device_position(device()), 0, &features) != 0)
        cairn_panic("the device owner refuses to let the device begin");
    struct cairn_done done = cairn_done_of(device(), 0, CAIRN_RANDOM_DESCRIPTORS);
    cairn_buffer_part(cairn_dma(), 0, PLACES * BYTES);
    for (unsigned place = 0; place < PLACES; place++)
        places[place].answered = semaphore(0);
    free_places = semaphore(PLACES);

    for (;;) {
        /* The first acknowledgement opens the source. */
        if (interrupt_acknowledge(interrupt + SEMAPHORE_METHODS) != 0 || semaphore_p(interrupt) != 0)
            cairn_panic("cannot wait for the device's interrupt");
        if (cairn_device_acknowledge(device(), NULL) != 0)
            cairn_panic("cannot acknowledge the device's interrupt");
        wake(&done);
    }
}

CAIRN_COMPONENT(
    .name = "c-rng",
    .main = run,
    .import_count = 2,
    .imports = { { "portals", PORTALS, PORTALS_INTERFACE }, { "devices", DEVICES, DEVICES_INTERFACE } },
    .export_count = 1,
    .exports = { { "random", 0, RANDOM_INTERFACE, RANDOM_ENTRIES(rng) } });
