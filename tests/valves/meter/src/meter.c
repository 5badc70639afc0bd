/* Asks the valves' server how far a valve is open that nobody has, and one that is not there. */
#include "console.h"
#include "valves.h"

#include <stdio.h>

enum { CONSOLE = CAIRN_PORTAL_FIRST_IMPORT, VALVES = CONSOLE + CONSOLE_METHODS };

static void measure(void)
{
    uint64_t percent = 100;
    int64_t status = valves_position(VALVES, 0, &percent);
    int64_t missing = valves_position(VALVES, 9, &percent);
    char line[64];
    int length = snprintf(line, sizeof line, "meter: status %d, %u percent; of valve 9 status %d\n", (int)status,
                          (unsigned)percent, (int)missing);
    console_write(CONSOLE, line, (size_t)length);
}

CAIRN_COMPONENT(
    .name = "meter",
    .main = measure,
    .import_count = 2,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE }, { "valves", VALVES, VALVES_INTERFACE } });
