/* When a component begins to serve, as lib/cairn/src/ready.rs. What calls `cairn_ready` is entered by lib/c/enter.S, which asks. */
#include "cairn.h"

#include <stdatomic.h>

/* Read by lib/c/enter.S. */
atomic_int cairn_serves;

/* Reads a word of the page by which the supervisor is asked. It may have the thread go on behind that, with an error in a0. */
static void touch(uint64_t offset)
{
    uint64_t address = cairn_region() + CAIRN_READY_OFFSET + offset;
    __asm__ volatile("lla ra, 1f\n\tld %0, 0(%0)\n1:" : "+r"(address) : : "ra", "a0", "memory");
}

void cairn_ready(void)
{
    if (!atomic_exchange_explicit(&cairn_serves, 1, memory_order_release))
        touch(CAIRN_READY_SAID);
}

/* A call may come in, or the error that it answers. */
int64_t cairn_await_ready(void)
{
    touch(0);
    return atomic_load_explicit(&cairn_serves, memory_order_acquire) ? 0 : CAIRN_ERROR_NOT_READY;
}
