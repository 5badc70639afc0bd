/* A component that `make` builds. */
#include "cairn_library.h"
#include "console.h"
#include "numbers.h"

#include <stdio.h>

enum { CONSOLE = CAIRN_PORTAL_FIRST_IMPORT };
CAIRN_STDIO(CONSOLE);

static void hello(void)
{
    larger(20);
    printf("c-make: built by make, %lu\n", larger(20));
}

CAIRN_COMPONENT(
    .name = "c-make",
    .main = hello,
    .import_count = 1,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE } });
