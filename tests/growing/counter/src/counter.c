/* `malloc` on a heap that is empty at first and grows to 64 KiB. */
#include "cairn_library.h"
#include "console.h"
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONSOLE = CAIRN_PORTAL_FIRST_IMPORT,
    MEMORY = CONSOLE + CONSOLE_METHODS,
};
CAIRN_STDIO(CONSOLE);

enum { SIZE = 1024, MOST = 100 };
static unsigned char *blocks[MOST];

/* Blocks until there are no more; how many. */
static int fill(void)
{
    int count = 0;
    while (count < MOST && (blocks[count] = malloc(SIZE)) != NULL) {
        memset(blocks[count], count + 1, SIZE);
        count++;
    }
    return count;
}

static void counter(void)
{
    errno = 0;
    int count = fill(), is_error = errno == ENOMEM, wrong = 0;
    for (int block = 0; block < count; block++) {
        for (int at = 0; at < SIZE; at++)
            wrong += blocks[block][at] != block + 1;
        free(blocks[block]);
    }
    printf("counter: nearly all of 64 KiB: %d, %d wrong; then an error: %d; the same again: %d\n", count >= 58 && count < 64,
           wrong, is_error, fill() == count);
}

CAIRN_COMPONENT(
    .name = "growing-counter",
    .main = counter,
    .import_count = 2,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE }, { "memory", MEMORY, MEMORY_INTERFACE } });
