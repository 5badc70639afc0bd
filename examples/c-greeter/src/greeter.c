/* Serves the interface Echo, and says on the console what it is told. */
#include "console.h"
#include "echo.h"

#include <stdio.h>
#include <string.h>

enum { CONSOLE = CAIRN_PORTAL_FIRST_IMPORT };

ECHO_SERVER(greeter)

/* Longest text that it remembers: what a portal copies, so that callers need no pages of their own. */
enum { TEXT = 64 };

/* What was said last. Several callers can be inside at a time; they may mix their texts, but each
 * byte is some caller's, and the length fits. */
static volatile char said[TEXT];
static volatile size_t said_length;

struct cairn_reply greeter_add(uint64_t control, uint64_t left, uint64_t right)
{
    (void)control;
    uint64_t sum;
    if (__builtin_add_overflow(left, right, &sum))
        return (struct cairn_reply){ CAIRN_ERROR_BAD_ARGUMENT, 0 };
    return (struct cairn_reply){ 0, sum };
}

struct cairn_reply greeter_say(uint64_t control, const volatile void *text, size_t length)
{
    (void)control;
    if (length > TEXT)
        return (struct cairn_reply){ CAIRN_ERROR_TOO_LARGE, 0 };
    char copy[TEXT];
    if (cairn_copy_in(copy, text, length) < length)
        return (struct cairn_reply){ CAIRN_ERROR_BAD_POINTER, 0 };
    cairn_copy_out(said, copy, length);
    said_length = length;

    /* A console's line, in pieces of at most 64 bytes: more would have to be in pages of their own. */
    char start[TEXT];
    int start_length = snprintf(start, sizeof start, "c-greeter heard %u bytes: ", (unsigned)length);
    int64_t status = console_write(CONSOLE, start, (size_t)start_length);
    if (status == 0)
        status = console_write(CONSOLE, copy, length);
    if (status == 0)
        status = console_write(CONSOLE, "\n", 1);
    return (struct cairn_reply){ status, 0 };
}

struct cairn_reply greeter_fill(uint64_t control, volatile void *buffer, size_t size)
{
    (void)control;
    size_t count = said_length;
    if (count > size)
        count = size;
    char copy[TEXT];
    cairn_copy_in(copy, said, count);
    cairn_copy_out(buffer, copy, count);
    return (struct cairn_reply){ 0, count };
}

static void greet(void)
{
    static const char greeting[] = "c-greeter: hello from C\n";
    console_write(CONSOLE, greeting, strlen(greeting));
}

CAIRN_COMPONENT(
    .name = "c-greeter",
    .main = greet,
    .import_count = 1,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE } },
    .export_count = 1,
    .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(greeter) } });
