/* SPDX-License-Identifier: GPL-2.0-only */
/* The network: one thread sends the kernel's frames, another waits for those of others. What nobody takes in time is lost, as on any cable. */
#include "../../arch/include/asm/component.h"
#include "../../arch/include/asm/devices.h"

#include "imports.h"
#include "semaphore.h"

#include "cairn_startup.h"
#include "cairn_thread.h"

#include <stdatomic.h>

/* Frames on their way in one direction; `from` and `to` only grow. Each has a page, since that is what a call shows. */
struct way {
    _Atomic uint32_t from, to;
    size_t sizes[CAIRN_FRAMES];
    struct {
        _Alignas(4096) char bytes[4096];
    } frames[CAIRN_FRAMES];
};
static struct way leaving, arriving;

static uint32_t to_send, room; /* semaphores */
static _Atomic uint64_t address;

static bool is_full(const struct way *way)
{
    return way->to - way->from == CAIRN_FRAMES;
}

static char *frame_at(struct way *way, uint32_t place)
{
    return way->frames[place % CAIRN_FRAMES].bytes;
}

unsigned long cairn_network_address(void)
{
    return address;
}

int cairn_network_has_room(void)
{
    return !is_full(&leaving);
}

void cairn_network_send(const void *frame, unsigned long size)
{
    uint32_t place = leaving.to;
    if (is_full(&leaving) || size > CAIRN_FRAME_BYTES)
        return;
    memcpy(frame_at(&leaving, place), frame, size);
    leaving.sizes[place % CAIRN_FRAMES] = size;
    leaving.to = place + 1;
    semaphore_v(to_send);
}

unsigned long cairn_network_first(const void **frame)
{
    uint32_t place = arriving.from;
    if (place == arriving.to)
        return 0;
    *frame = frame_at(&arriving, place);
    return arriving.sizes[place % CAIRN_FRAMES];
}

void cairn_network_taken(void)
{
    bool was_full = is_full(&arriving);
    arriving.from++;
    if (was_full)
        semaphore_v(room);
}

static void send_frames(uint64_t unused)
{
    (void)unused;
    for (;;) {
        semaphore_p(to_send);
        while (leaving.from != leaving.to) {
            uint32_t place = leaving.from;
            bool was_full;
            frames_send(NETWORK, frame_at(&leaving, place), leaving.sizes[place % CAIRN_FRAMES]);
            was_full = is_full(&leaving);
            leaving.from = place + 1;
            if (was_full)
                raise(CAIRN_IRQ_NETWORK);
        }
    }
}

/* Another life of the network's may have another address; to the kernel it stays what it was. */
static void ask_for_address(void)
{
    uint64_t word;
    while (frames_address(NETWORK, &word) != 0)
        wait_a_while();
    if (address == 0) {
        address = word;
        raise(CAIRN_IRQ_NETWORK);
    }
}

static void receive_frames(uint64_t unused)
{
    (void)unused;
    ask_for_address();
    for (;;) {
        uint32_t place = arriving.to;
        uint64_t size;
        if (is_full(&arriving)) {
            semaphore_p(room);
        } else if (frames_receive(NETWORK, frame_at(&arriving, place), CAIRN_FRAME_BYTES, &size) != 0) {
            wait_a_while();
            ask_for_address();
        } else if (size > 0 && size <= CAIRN_FRAME_BYTES) {
            arriving.sizes[place % CAIRN_FRAMES] = size;
            arriving.to = place + 1;
            raise(CAIRN_IRQ_NETWORK);
        }
    }
}

void begin_network(void)
{
    static CAIRN_STACK(8192) stacks[2] = { CAIRN_GUARDED, CAIRN_GUARDED };
    if (cairn_is_left_out(NETWORK_PLACE))
        return;
    to_send = make_semaphore();
    room = make_semaphore();
    begin_thread(send_frames, 0, stacks[0].bytes);
    begin_thread(receive_frames, 0, stacks[1].bytes);
}
