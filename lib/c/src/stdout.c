/* stdout and stderr: each thread's text goes to the console when its line ends, when 64 bytes have come together, with
 * `fflush`, and when the thread leaves the component. The console keeps a thread's lines whole. Nothing is shared here,
 * so there is no lock. */
#include "cairn.h"
#include "console.h"
#include "stdout.h"

#include <stdio.h>

/* As much as a portal copies: more would have to lie in pages of its own. */
enum { PIECE = 64 };

static _Thread_local char piece[PIECE];
static _Thread_local uint32_t length;

void cairn_leave(void)
{
    if (length > 0)
        console_write(cairn_import(cairn_library_console), piece, length);
    length = 0;
}

static int put(char byte, FILE *stream)
{
    (void)stream;
    piece[length++] = byte;
    if (byte == '\n' || length == PIECE)
        cairn_leave();
    return (unsigned char)byte;
}

static int flush(FILE *stream)
{
    (void)stream;
    cairn_leave();
    return 0;
}

static FILE output = FDEV_SETUP_STREAM(put, NULL, flush, _FDEV_SETUP_WRITE);

FILE *const stdout = &output;
FILE *const stderr = &output;
