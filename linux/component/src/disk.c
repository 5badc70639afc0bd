/* SPDX-License-Identifier: GPL-2.0-only */
/* The disk: one thread takes the kernel's requests in their order and calls who serves the blocks. */
#include "../../arch/include/asm/component.h"
#include "../../arch/include/asm/devices.h"

#include "imports.h"
#include "semaphore.h"

#include "cairn_startup.h"
#include "cairn_thread.h"

#include <stdatomic.h>

/* Requests on their way in one direction; `from` and `to` only grow. There is room for all that the kernel can have. */
struct way {
    _Atomic uint32_t from, to;
    struct cairn_disk_request *requests[CAIRN_DISK_REQUESTS];
};
static struct way begun, done;

static uint32_t requests; /* a semaphore */
static _Atomic uint64_t blocks;
static bool is_read_only;

/* A window shows whole pages of the component's own. The kernel's memory is not of that kind, so what is read and written passes
 * through here. */
static _Alignas(4096) char bytes[CAIRN_DISK_BYTES];

static void put(struct way *way, struct cairn_disk_request *request)
{
    way->requests[way->to % CAIRN_DISK_REQUESTS] = request;
    way->to++;
}

static struct cairn_disk_request *get(struct way *way)
{
    struct cairn_disk_request *request;
    if (way->from == way->to)
        return NULL;
    request = way->requests[way->from % CAIRN_DISK_REQUESTS];
    way->from++;
    return request;
}

unsigned long cairn_disk_size(int *read_only)
{
    unsigned long size = blocks;
    *read_only = is_read_only;
    return size;
}

void cairn_disk_begin(struct cairn_disk_request *request)
{
    put(&begun, request);
    semaphore_v(requests);
}

struct cairn_disk_request *cairn_disk_done(void)
{
    return get(&done);
}

/* Copies between the pieces and what lies in one; how many bytes. */
static size_t copy(struct cairn_disk_request *request, bool to_pieces)
{
    size_t at = 0;
    for (unsigned piece = 0; piece < request->count; piece++) {
        void *memory = request->pieces[piece].bytes;
        size_t size = request->pieces[piece].size;
        if (to_pieces)
            memcpy(memory, bytes + at, size);
        else
            memcpy(bytes + at, memory, size);
        at += size;
    }
    return at;
}

static int64_t serve(struct cairn_disk_request *request)
{
    size_t size = 0;
    int64_t status;
    for (unsigned piece = 0; piece < request->count; piece++)
        size += request->pieces[piece].size;
    switch (request->kind) {
    case CAIRN_DISK_READ:
        status = blocks_read(DISK, request->first, bytes, size);
        if (status == 0)
            copy(request, true);
        return status;
    case CAIRN_DISK_WRITE:
        copy(request, false);
        return blocks_write(DISK, request->first, bytes, size);
    default:
        return blocks_flush(DISK);
    }
}

static void serve_requests(uint64_t unused)
{
    uint64_t size[2];
    (void)unused;
    /* It may not serve yet, or be about to start again. */
    while (blocks_size(DISK, size) != 0)
        wait_a_while();
    is_read_only = size[1] == 0;
    blocks = size[0];
    raise(CAIRN_IRQ_DISK);
    for (;;) {
        struct cairn_disk_request *request;
        semaphore_p(requests);
        while ((request = get(&begun))) {
            request->status = serve(request);
            put(&done, request);
            raise(CAIRN_IRQ_DISK);
        }
    }
}

void begin_disk(void)
{
    static CAIRN_STACK(8192) stack = CAIRN_GUARDED;
    if (cairn_is_left_out(DISK_PLACE))
        return;
    requests = make_semaphore();
    begin_thread(serve_requests, 0, stack.bytes);
}
