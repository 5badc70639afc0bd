/* A server whose constructors run in its first call: they make the locks of the C library, and what it needs itself. */
#include "cairn_library.h"
#include "echo.h"
#include "portals.h"

#include <stdlib.h>

enum { PORTALS = CAIRN_PORTAL_FIRST_IMPORT };
CAIRN_LOCKS(PORTALS);
ECHO_SERVER(server)

static uint64_t *calls;

__attribute__((constructor)) static void begin(void)
{
    calls = calloc(1, sizeof *calls);
}

/* How often it was called; 0: its constructor has not run. */
struct cairn_reply server_add(uint64_t control, uint64_t left, uint64_t right)
{
    (void)control, (void)left, (void)right;
    return (struct cairn_reply){ 0, calls ? ++*calls : 0 };
}

struct cairn_reply server_say(uint64_t control, const volatile void *text, size_t length)
{
    (void)control, (void)text, (void)length;
    return (struct cairn_reply){ 0, 0 };
}

struct cairn_reply server_fill(uint64_t control, volatile void *buffer, size_t size)
{
    (void)control, (void)buffer, (void)size;
    return (struct cairn_reply){ 0, 0 };
}

CAIRN_COMPONENT(
    .name = "server",
    .import_count = 1,
    .imports = { { "portals", PORTALS, PORTALS_INTERFACE } },
    .export_count = 1,
    .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(server) } });
