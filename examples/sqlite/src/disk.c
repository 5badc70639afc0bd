/* The disk as bytes, over whole blocks. What a driver that ended had not acknowledged is asked again. */
#include "disk.h"
#include "imports.h"

/* How often, and how long in between: ten seconds, since a driver that faults again and again waits longer each time. */
enum { TIMES = 2000, PAUSE_MICROSECONDS = 5000 };

/* What a call takes at most, in pages that the driver sees. */
static _Alignas(CAIRN_PAGE_SIZE) unsigned char blocks[16384];

int64_t disk_pause(uint64_t microseconds)
{
    return threads_sleep_until(THREADS, cairn_ticks() + cairn_startup()->time_base * microseconds / 1000000);
}

/* This thread is called home: its waits end, and it gives up whatever it does. */
static bool is_called_home;

void disk_begin(void)
{
    is_called_home = false;
}

bool disk_is_called_home(void)
{
    return is_called_home;
}

/* Whether to ask again. */
static bool again(int64_t status, unsigned *times)
{
    switch (status) {
    case CAIRN_ERROR_BUSY:
    case CAIRN_ERROR_DEAD:
    case CAIRN_ERROR_NO_PORTAL:
        is_called_home = disk_pause(PAUSE_MICROSECONDS) != 0;
        return !is_called_home && ++*times < TIMES;
    case CAIRN_ERROR_CANCELLED:
        is_called_home = true;
        return false;
    default:
        return false;
    }
}

/* Asks until there is an answer; of a thread that is called home, nothing. */
#define ASK(status, call)                                     \
    do {                                                      \
        unsigned times = 0;                                   \
        (status) = CAIRN_ERROR_CANCELLED;                     \
        while (!is_called_home && again((status) = (call), &times)) \
            ;                                                 \
    } while (0)

int64_t disk_size(uint64_t *size, bool *writable)
{
    uint64_t value[2];
    int64_t status;
    ASK(status, blocks_size(BLOCKS, value));
    if (status != 0)
        return status;
    *size = value[0] * BLOCK;
    *writable = value[1] != 0;
    return 0;
}

int64_t disk_flush(void)
{
    int64_t status;
    ASK(status, blocks_flush(BLOCKS));
    return status;
}

static int64_t read_blocks(uint64_t first, size_t length)
{
    int64_t status;
    ASK(status, blocks_read(BLOCKS, first, blocks, length));
    return status;
}

static int64_t write_blocks(uint64_t first, size_t length)
{
    int64_t status;
    ASK(status, blocks_write(BLOCKS, first, blocks, length));
    return status;
}

/* A part of a range that fits into one call. */
struct part {
    uint64_t first; /* block */
    size_t skip, count; /* bytes of the blocks before it, and of it */
    size_t length; /* bytes of the blocks */
};

static struct part part_of(uint64_t at, size_t count)
{
    struct part part = { .first = at / BLOCK, .skip = at % BLOCK };
    part.count = count < sizeof blocks - part.skip ? count : sizeof blocks - part.skip;
    part.length = (part.skip + part.count + BLOCK - 1) / BLOCK * BLOCK;
    return part;
}

int64_t disk_read(uint64_t at, void *to, size_t count)
{
    for (unsigned char *next = to; count > 0;) {
        struct part part = part_of(at, count);
        int64_t status = read_blocks(part.first, part.length);
        if (status != 0)
            return status;
        memcpy(next, blocks + part.skip, part.count);
        at += part.count, next += part.count, count -= part.count;
    }
    return 0;
}

int64_t disk_write(uint64_t at, const void *from, size_t count)
{
    for (const unsigned char *next = from; count > 0;) {
        struct part part = part_of(at, count);
        int64_t status = 0;
        /* The first and the last block keep what is not written. */
        if (part.count != part.length)
            status = read_blocks(part.first, part.length);
        if (status != 0)
            return status;
        memcpy(blocks + part.skip, next, part.count);
        status = write_blocks(part.first, part.length);
        if (status != 0)
            return status;
        at += part.count, next += part.count, count -= part.count;
    }
    return 0;
}
