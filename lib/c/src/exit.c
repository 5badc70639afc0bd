/* The end of a thread from anywhere in it. */
#include "cairn.h"

__attribute__((noreturn)) void cairn_return_stub(int64_t status, uint64_t value);
__attribute__((weak)) void cairn_leave(void);
__attribute__((weak)) void __call_exitprocs(int status, void *object);
__attribute__((noreturn)) void _exit(int status);

/* Runs what `atexit` was told, if anything was. */
void exit(int status)
{
    if (__call_exitprocs)
        __call_exitprocs(status, NULL);
    _exit(status);
}

/* `exit(0)` ends the thread as the return from its first function does, with others of the component as they are;
 * `exit` of another number is a panic. */
void _exit(int status)
{
    static char text[] = "exit(   )";
    if (cairn_leave)
        cairn_leave();
    if (status != 0) {
        text[5] = (char)('0' + (status & 0xff) / 100);
        text[6] = (char)('0' + (status & 0xff) / 10 % 10);
        text[7] = (char)('0' + (status & 0xff) % 10);
        cairn_panic(text);
    }
    cairn_return_stub(0, 0);
}
