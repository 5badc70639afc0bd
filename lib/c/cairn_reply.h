/* What calls return, and how a function returns more than C does in registers: the same for components and for programs of Linux'. */
#ifndef CAIRN_REPLY_H
#define CAIRN_REPLY_H

#include <stdint.h>

#ifdef __cplusplus
#define CAIRN_C extern "C"
#else
#define CAIRN_C
#endif

/* What a call of a method returns whose value has several words, in a0 and from a1 on. */
struct cairn_wide_reply {
    int64_t status; /* 0, the method's own positive error code, or a CAIRN_ERROR_* */
    uint64_t words[4]; /* those that the method does not have, and all after an error, mean nothing */
};

/* What a call of any other method returns, in a0 and a1. */
struct cairn_reply {
    int64_t status;
    uint64_t value;
};

/* The entry point NAME_wide of a method with a wide reply: a C function returns two registers, and more by an address in a0, behind
 * which the parameters move up. So this calls `name` in that way, and takes the reply into registers. */
#define CAIRN_WIDE_ENTRY(name)                                    \
    static void name##_wide(void) __asm__(#name "_wide");         \
    __attribute__((naked, used)) static void name##_wide(void)    \
    {                                                    \
        __asm__("addi sp, sp, -64\n\t"                   \
                "sd ra, 56(sp)\n\t"                      \
                "sd a7, 0(sp)\n\t"                       \
                "mv a7, a6\n\t"                          \
                "mv a6, a5\n\t"                          \
                "mv a5, a4\n\t"                          \
                "mv a4, a3\n\t"                          \
                "mv a3, a2\n\t"                          \
                "mv a2, a1\n\t"                          \
                "mv a1, a0\n\t"                          \
                "addi a0, sp, 16\n\t"                    \
                "call " #name "\n\t"                      \
                "ld a0, 16(sp)\n\t"                      \
                "ld a1, 24(sp)\n\t"                      \
                "ld a2, 32(sp)\n\t"                      \
                "ld a3, 40(sp)\n\t"                      \
                "ld a4, 48(sp)\n\t"                      \
                "ld ra, 56(sp)\n\t"                      \
                "addi sp, sp, 64\n\t"                    \
                "ret");                                  \
    }

#endif
