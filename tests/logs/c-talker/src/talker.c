/* Logs what it is told, at two levels. */
#include "echo.h"
#define CAIRN_LOG_TARGET "in C"
#include "cairn_log.h"
#include "cairn_thread.h"

enum { THREADS = CAIRN_PORTAL_FIRST_IMPORT };
ECHO_SERVER(talker)

/* How often a text was computed that only the level `trace` shows. */
static uint64_t computed;

struct cairn_reply talker_add(uint64_t control, uint64_t left, uint64_t right)
{
    (void)control;
    cairn_log(CAIRN_LOG_TRACE, "computed %d", (int)++computed);
    return (struct cairn_reply){ 0, left + right + computed };
}

/* The text, and under it one that is two bytes longer than a record. */
struct cairn_reply talker_say(uint64_t control, const volatile void *text, size_t length)
{
    char copy[64];
    (void)control;
    length = cairn_copy_in(copy, text, length < sizeof copy ? length : sizeof copy);
    cairn_log(CAIRN_LOG_ERROR, "says %.*s and %5.2f\n%0177d.", (int)length, copy, 1.5, 7);
    cairn_log(CAIRN_LOG_DEBUG, "and says %.*s", (int)length, copy);
    return (struct cairn_reply){ 0, 0 };
}

static void nothing(uint64_t argument)
{
    (void)argument;
}

/* Begins a thread, for which its description has none, after one that is more urgent than its description says. */
struct cairn_reply talker_fill(uint64_t control, volatile void *buffer, size_t length)
{
    static _Alignas(16) unsigned char stack[1024];
    uint64_t thread;
    (void)control, (void)buffer, (void)length;
    if (cairn_spawn(THREADS, nothing, 0, stack, sizeof stack, 200, &thread) != CAIRN_ERROR_NOT_ALLOWED)
        cairn_panic("its description says nothing of such a priority");
    return (struct cairn_reply){ cairn_spawn(THREADS, nothing, 0, stack, sizeof stack, 10, &thread), 0 };
}

CAIRN_COMPONENT(
    .name = "c-talker",
    .import_count = 1,
    .imports = { { "threads", THREADS, THREADS_INTERFACE } },
    .export_count = 1,
    .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(talker) } });
