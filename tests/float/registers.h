/* The floating-point registers, for tests: `every` does something to each of them, by the name of a macro that takes its number. */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <stdint.h>

/* `store_all(words)`: f0 to f31 and fcsr. */
__asm__(".macro every instruction\n"
        ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n"
        "\\instruction \\n\n"
        ".endr\n"
        ".endm\n"
        ".macro store n\n fsd f\\n, 8*\\n(a0)\n .endm\n"
        ".text\n"
        "store_all: every store\n frcsr t0\n sd t0, 256(a0)\n ret\n");

void store_all(uint64_t words[33]);

#endif
