/* A panic is a fault of the component, a breakpoint, with registers that say where the message is: the supervisor reads it
 * there (lib/cairn/src/panic.rs). */
#include "cairn.h"

void cairn_panic(const char *text)
{
    /* A call changes these registers. */
    size_t bytes = strnlen(text, CAIRN_PANIC_MESSAGE_MAXIMUM);
    register uint64_t mark __asm__("t0") = CAIRN_PANIC_MARK;
    register const char *message __asm__("a0") = text;
    register size_t length __asm__("a1") = bytes;
    __asm__ volatile("ebreak" : : "r"(mark), "r"(message), "r"(length) : "memory");
    __builtin_unreachable();
}
