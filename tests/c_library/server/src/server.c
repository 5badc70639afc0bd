/* A server with thread-local variables, which are new in each call, and a constructor, which the first call runs. */
#include "cairn_library.h"
#include "console.h"
#include "echo.h"

#include <stdio.h>

enum { CONSOLE = CAIRN_PORTAL_FIRST_IMPORT };
CAIRN_STDIO(CONSOLE);
ECHO_SERVER(server)

static _Thread_local uint64_t added = 30;
static uint64_t base;

__attribute__((constructor)) static void begin(void)
{
    base += 10;
}

struct cairn_reply server_add(uint64_t control, uint64_t left, uint64_t right)
{
    (void)control;
    added += base + left + right;
    return (struct cairn_reply){ 0, added };
}

/* Half a line: shown when the caller leaves. */
struct cairn_reply server_say(uint64_t control, const volatile void *text, size_t length)
{
    char copy[64] = { 0 };
    (void)control;
    length = cairn_copy_in(copy, text, length < sizeof copy ? length : sizeof copy);
    printf("server: %.*s", (int)length, copy);
    return (struct cairn_reply){ 0, 0 };
}

struct cairn_reply server_fill(uint64_t control, volatile void *buffer, size_t size)
{
    (void)control, (void)buffer, (void)size;
    return (struct cairn_reply){ CAIRN_ERROR_NOT_SUPPORTED, 0 };
}

CAIRN_COMPONENT(
    .name = "c-server",
    .import_count = 1,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE } },
    .export_count = 1,
    .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(server) } });
