/* Calls a component whose first thread has not run yet, because this one is more urgent, and again when it has. */
#include "cairn_library.h"
#include "clock.h"
#include "console.h"
#include "echo.h"

#include <stdio.h>
#include <unistd.h>

enum {
    CONSOLE = CAIRN_PORTAL_FIRST_IMPORT,
    CLOCK = CONSOLE + CONSOLE_METHODS,
    ECHO = CLOCK + CLOCK_METHODS,
};
CAIRN_STDIO(CONSOLE);
CAIRN_SLEEP(CLOCK);

static void call(void)
{
    uint64_t sum = 0;
    int64_t first = echo_add(ECHO, 1, 1, &sum);
    while (echo_add(ECHO, 20, 20, &sum) != 0 || sum != 1042)
        usleep(1000);
    printf("early: before its first thread it is busy: %d, later: %d\n", first == CAIRN_ERROR_BUSY, (int)sum);
}

CAIRN_COMPONENT(
    .name = "c-early",
    .main = call,
    .import_count = 3,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE },
                 { "clock", CLOCK, CLOCK_INTERFACE },
                 { "echo", ECHO, ECHO_INTERFACE } });
