/* Looks for others' numbers in the floating-point registers: a server that finds them when it is called, and a thread that fills them
 * and looks whether they change. */
#include "../../registers.h"
#include "echo.h"

ECHO_SERVER(spy)

/* `load_all(word)`: the same word into all, its lowest byte into fcsr. `hold(word, turns)`: does that, waits, and returns how many
 * registers hold another one then. */
__asm__(".macro load n\n fmv.d.x f\\n, a0\n .endm\n"
        ".macro compare n\n fmv.x.d t0, f\\n\n xor t0, t0, a0\n snez t0, t0\n add t1, t1, t0\n .endm\n"
        ".text\n"
        "load_all: every load\n andi t0, a0, 0xff\n fscsr t0\n ret\n"
        "hold: every load\n"
        "1: addi a1, a1, -1\n bnez a1, 1b\n"
        " li t1, 0\n every compare\n mv a0, t1\n ret\n");

void load_all(uint64_t word);
uint64_t hold(uint64_t word, uint64_t turns);

static volatile uint64_t changed, rounds;

enum { FILL, FAULT, CHANGED, ROUNDS };

struct cairn_reply spy_add(uint64_t control, uint64_t command, uint64_t word)
{
    (void)control;
    uint64_t words[33], found = 0;
    store_all(words);
    for (int place = 0; place < 33; place++)
        found |= words[place];
    if (command == CHANGED || command == ROUNDS)
        return (struct cairn_reply){ 0, command == CHANGED ? changed : rounds };
    load_all(word);
    if (command == FAULT)
        __asm__ volatile("unimp");
    return (struct cairn_reply){ 0, found };
}

struct cairn_reply spy_say(uint64_t control, const volatile void *text, size_t length)
{
    (void)control, (void)text, (void)length;
    return (struct cairn_reply){ 0, 0 };
}

struct cairn_reply spy_fill(uint64_t control, volatile void *buffer, size_t size)
{
    (void)control, (void)buffer, (void)size;
    return (struct cairn_reply){ 0, 0 };
}

static void stay(void)
{
    for (uint64_t word = 1;; word = word * 6364136223846793005u + 1442695040888963407u) {
        changed += hold(word, 100);
        rounds++;
    }
}

CAIRN_COMPONENT(
    .name = "spy",
    .main = stay,
    .export_count = 1,
    .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(spy) } });
