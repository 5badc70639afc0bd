/* Panics by hand, with a message and in a function whose name would clear the terminal and recolour what follows:
 * C and the assembler allow both, `forbid(unsafe_code)` would not. */
#include "cairn.h"

/* What an attacker wants to reach the terminal: controls of ASCII, the same as one character of C1 (whose second
 * byte is also what a terminal that is not set to UTF-8 takes for it), a change of the writing direction, a line
 * that looks like the supervisor's own. */
#define CLEAR "\033[2J"
#define CLEAR_C1 "\302\2332J"
#define RIGHT_TO_LEFT "\342\200\256"

static const char message[] =
    "go" CLEAR CLEAR_C1 RIGHT_TO_LEFT "\nsupervisor: all is well\r\007\177\\ \303\233[2J\377.";

void evil(void) __asm__("\"evil" CLEAR CLEAR_C1 RIGHT_TO_LEFT "\"");

/* As lib/cairn/src/panic.rs does. */
__attribute__((noinline, used, section(".text.evil"))) void evil(void)
{
    /* The second instance, domain 10, has no mark: its fault is no panic. */
    uint64_t domain = cairn_call(CAIRN_PORTAL_OWN_DOMAIN, 0, 0, 0, 0, 0, 0, 0).value;
    register uint64_t mark __asm__("t0") = domain == 10 ? 0 : CAIRN_PANIC_MARK;
    register const char *text __asm__("a0") = message;
    register size_t length __asm__("a1") = sizeof message - 1;
    __asm__ volatile("ebreak" : : "r"(mark), "r"(text), "r"(length) : "memory");
}

CAIRN_COMPONENT(.name = "writer", .main = evil);
