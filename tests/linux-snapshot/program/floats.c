/*
 * Has a value of its own in every floating-point register, all the time: `floats FIRST FILE`. Each time when it has looked at them often it writes
 * one more byte to the file.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 20000 };

#define EACH(what)                                                                                                      \
    what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7) what(8) what(9) what(10) what(11) what(12) what(13) \
    what(14) what(15) what(16) what(17) what(18) what(19) what(20) what(21) what(22) what(23) what(24) what(25)        \
    what(26) what(27) what(28) what(29) what(30) what(31)

#define SET(number) "fmv.d.x f" #number ", %[first]\n addi %[first], %[first], 1\n"
#define LOOK(number) "fmv.x.d t0, f" #number "\n xor t0, t0, t1\n or %[wrong], %[wrong], t0\n addi t1, t1, 1\n"

int main(int count, char **arguments)
{
    uint64_t first = count > 2 ? strtoull(arguments[1], NULL, 10) << 32 : 0, at = first, wrong = 0;
    int file = open(arguments[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
    __asm__ volatile(EACH(SET) : [first] "+r"(at));
    for (;;) {
        /* Between the instructions that set and look, nothing else uses them. */
        for (int round = 0; round < ROUNDS; round++)
            __asm__ volatile("mv t1, %[first]\n" EACH(LOOK) : [wrong] "+r"(wrong) : [first] "r"(first) : "t0", "t1");
        if (wrong != 0 || write(file, "x", 1) != 1) {
            printf("WRONG: floating-point registers are another's\n");
            return 1;
        }
    }
}
