/* Panics by hand, with a message and in a function whose name would clear the terminal and recolour what follows:
 * C and the assembler allow both, `forbid(unsafe_code)` would not. */
#include "cairn.h"

/* What an attacker wants to reach the terminal: controls of ASCII, the same as one character of C1 (whose second
 * byte is also what a terminal that is not set to UTF-8 takes for it), a change of the writing direction, a line
 * that looks like the supervisor's own. */
#define CLEAR "\033[2J"
#define CLEAR_C1 "\302\2332J"
#define RIGHT_TO_LEFT "\342\200\256"

static const char message[128] __attribute__((aligned(8))) =
    "go" CLEAR CLEAR_C1 RIGHT_TO_LEFT "\nsupervisor: all is well\r\007\177\\ \303\233[2J\377.";

void evil(void) __asm__("\"evil" CLEAR CLEAR_C1 RIGHT_TO_LEFT "\"");

/* As lib/cairn/src/panic.rs does: the message in a0 to a7 and s2 to s9. */
__attribute__((noinline, used, section(".text.evil"))) void evil(void)
{
    /* The second instance, domain 10, has no mark: its fault is no panic. */
    uint64_t domain = cairn_call(CAIRN_PORTAL_OWN_DOMAIN, 0, 0, 0, 0, 0, 0, 0).value;
    register const char *text __asm__("t1") = message;
    register uint64_t mark __asm__("t0") = domain == 10 ? 0 : 0x44454b43494e4150; /* PANICKED */
    __asm__ volatile("ld a0, 0(t1)\n ld a1, 8(t1)\n ld a2, 16(t1)\n ld a3, 24(t1)\n"
                     "ld a4, 32(t1)\n ld a5, 40(t1)\n ld a6, 48(t1)\n ld a7, 56(t1)\n"
                     "ld s2, 64(t1)\n ld s3, 72(t1)\n ld s4, 80(t1)\n ld s5, 88(t1)\n"
                     "ld s6, 96(t1)\n ld s7, 104(t1)\n ld s8, 112(t1)\n ld s9, 120(t1)\n"
                     "ebreak"
                     :
                     : "r"(text), "r"(mark)
                     : "memory", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7");
}

CAIRN_COMPONENT(.name = "writer", .main = evil);
