/* Calls on, without the floating-point unit. Now and then it uses the unit all the same, and ends. */
#include "echo.h"

enum { NEXT = CAIRN_PORTAL_FIRST_IMPORT, ADD = 0 };

ECHO_SERVER(soft)

struct cairn_reply soft_add(uint64_t control, uint64_t depth, uint64_t word)
{
    (void)control;
    if (word % 61 == 0)
        __asm__ volatile(".word 0x02a57553"); /* fadd.d fa0, fa0, fa0 */
    if (depth == 0)
        return (struct cairn_reply){ 0, 0 };
    struct cairn_reply reply =
        cairn_call(NEXT + ADD, depth - 1, word * 6364136223846793005u + 1442695040888963407u, 0, 0, 0, 0, 0);
    return (struct cairn_reply){ 0, reply.status == 0 ? reply.value : 0 };
}

struct cairn_reply soft_say(uint64_t control, const volatile void *text, size_t length)
{
    (void)control, (void)text, (void)length;
    return (struct cairn_reply){ 0, 0 };
}

struct cairn_reply soft_fill(uint64_t control, volatile void *buffer, size_t size)
{
    (void)control, (void)buffer, (void)size;
    return (struct cairn_reply){ 0, 0 };
}

CAIRN_COMPONENT(
    .name = "soft",
    .import_count = 1,
    .imports = { { "next", NEXT, ECHO_INTERFACE } },
    .export_count = 1,
    .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(soft) } });
