/* Executes an instruction of floating point, which it does not say. */
#include "echo.h"

ECHO_SERVER(undeclared)

struct cairn_reply undeclared_add(uint64_t control, uint64_t left, uint64_t right)
{
    (void)control, (void)left, (void)right;
    /* fadd.d fa0, fa0, fa0: no assembler makes it without the unit. */
    __asm__ volatile(".word 0x02a57553");
    return (struct cairn_reply){ 0, 0 };
}

struct cairn_reply undeclared_say(uint64_t control, const volatile void *text, size_t length)
{
    (void)control, (void)text, (void)length;
    return (struct cairn_reply){ 0, 0 };
}

struct cairn_reply undeclared_fill(uint64_t control, volatile void *buffer, size_t size)
{
    (void)control, (void)buffer, (void)size;
    return (struct cairn_reply){ 0, 0 };
}

CAIRN_COMPONENT(
    .name = "undeclared",
    .export_count = 1,
    .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(undeclared) } });
