/* A server with a first thread, in which its constructor runs whoever calls before. */
#include "cairn.h"
#include "echo.h"

ECHO_SERVER(late)

static _Atomic uint64_t base;

__attribute__((constructor)) static void begin(void)
{
    base += 2;
}

struct cairn_reply late_add(uint64_t control, uint64_t left, uint64_t right)
{
    (void)control;
    return (struct cairn_reply){ 0, base + left + right };
}

struct cairn_reply late_say(uint64_t control, const volatile void *text, size_t length)
{
    (void)control, (void)text, (void)length;
    return (struct cairn_reply){ CAIRN_ERROR_NOT_SUPPORTED, 0 };
}

struct cairn_reply late_fill(uint64_t control, volatile void *buffer, size_t size)
{
    (void)control, (void)buffer, (void)size;
    return (struct cairn_reply){ CAIRN_ERROR_NOT_SUPPORTED, 0 };
}

static void first(void)
{
    if (base == 2)
        base += 1000;
}

CAIRN_COMPONENT(
    .name = "c-late",
    .main = first,
    .export_count = 1,
    .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(late) } });
