/* A panic is a fault of the component, a breakpoint, with the message in registers: the supervisor finds it in the trap
 * frame without access to the component's memory (lib/cairn/src/panic.rs). */
#include "cairn.h"

void cairn_panic(const char *text)
{
    uint64_t words[16] = { 0 };
    size_t length = strnlen(text, sizeof words);
    memcpy(words, text, length);
    register uint64_t mark __asm__("t0") = CAIRN_PANIC_MARK;
    register uint64_t *from __asm__("t1") = words;
    __asm__ volatile("ld a0, 0(t1)\n\tld a1, 8(t1)\n\tld a2, 16(t1)\n\tld a3, 24(t1)\n\t"
                     "ld a4, 32(t1)\n\tld a5, 40(t1)\n\tld a6, 48(t1)\n\tld a7, 56(t1)\n\t"
                     "ld s2, 64(t1)\n\tld s3, 72(t1)\n\tld s4, 80(t1)\n\tld s5, 88(t1)\n\t"
                     "ld s6, 96(t1)\n\tld s7, 104(t1)\n\tld s8, 112(t1)\n\tld s9, 120(t1)\n\t"
                     "ebreak"
                     :
                     : "r"(mark), "r"(from)
                     : "memory");
    __builtin_unreachable();
}
