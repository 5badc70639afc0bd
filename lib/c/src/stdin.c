/* stdin: lines of the console, for whichever thread reads first. */
#include "cairn.h"
#include "console.h"
#include "stdout.h"

#include <stdio.h>
#include <sys/lock.h>

/* A page, which the console's server sees while it fills it. */
enum { PAGE = 4096 };
static _Alignas(PAGE) char line[PAGE];
static uint64_t length, next;

__LOCK_INIT(cairn_stdin)

static int get(FILE *stream)
{
    int byte = EOF;
    (void)stream;
    cairn_leave();
    __lock_acquire(&__lock_cairn_stdin);
    if (next == length) {
        next = length = 0;
        /* The end of the line is not part of what it answers. */
        if (console_read_line(cairn_import(cairn_library_console), line, PAGE - 1, &length) == 0)
            line[length++] = '\n';
    }
    if (next < length)
        byte = (unsigned char)line[next++];
    __lock_release(&__lock_cairn_stdin);
    return byte;
}

static FILE input = FDEV_SETUP_STREAM(NULL, get, NULL, _FDEV_SETUP_READ);

FILE *const stdin = &input;
