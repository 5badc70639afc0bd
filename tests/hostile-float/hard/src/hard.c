/* Looks for others' numbers in the floating-point registers, fills them, calls on, and looks what has become of them. `add(depth, word)`
 * answers how many registers, here and in whom it called, did not hold what they have to. */
#include "../../../float/registers.h"
#include "echo.h"

enum { NEXT = CAIRN_PORTAL_FIRST_IMPORT, ADD = 0, REGISTERS = 33, CONTROL = 32 };

ECHO_SERVER(hard)

/* `load_all(words)`: f0 to f31 and fcsr, as `store_all` has them. `hold(turns)`: is preempted, perhaps. */
__asm__(".macro load n\n fld f\\n, 8*\\n(a0)\n .endm\n"
        ".text\n"
        "load_all: every load\n ld t0, 256(a0)\n fscsr t0\n ret\n"
        "hold: addi a0, a0, -1\n bgtz a0, hold\n ret\n");

void load_all(const uint64_t words[REGISTERS]);
void hold(int64_t turns);

static uint64_t next(uint64_t word)
{
    return word * 6364136223846793005u + 1442695040888963407u;
}

static bool is_preserved(int number)
{
    return number == 8 || number == 9 || (number >= 18 && number <= 27) || number == CONTROL;
}

/* Has the registers full of `word` and those after it while it calls on. */
static uint64_t visit(uint64_t depth, uint64_t word)
{
    uint64_t before[REGISTERS], after[REGISTERS], wrong = 0;
    for (int number = 0; number < REGISTERS; number++)
        before[number] = word = next(word);
    before[CONTROL] &= 0xff;
    load_all(before);
    hold((int64_t)(word >> 40) % 500);
    if (word % 67 == 0)
        __asm__ volatile("unimp");
    struct cairn_reply reply = { 0, 0 };
    if (depth > 0)
        reply = cairn_call(NEXT + ADD, depth - 1, word, 0, 0, 0, 0, 0);
    if ((word >> 20) % 4 == 0)
        hold((int64_t)(word >> 40) % 500);
    store_all(after);
    for (int number = 0; number < REGISTERS; number++) {
        bool is_gone = depth > 0 && !is_preserved(number) && after[number] == 0;
        wrong += after[number] != before[number] && !is_gone;
    }
    return wrong + (reply.status == 0 ? reply.value : 0);
}

struct cairn_reply hard_add(uint64_t control, uint64_t depth, uint64_t word)
{
    (void)control;
    uint64_t found[REGISTERS], wrong = 0;
    if (word % 3 != 0) {
        store_all(found);
        for (int number = 0; number < REGISTERS; number++)
            wrong += found[number] != 0;
    }
    wrong += visit(depth, word);
    if (word % 5 == 0)
        wrong += visit(depth, next(word));
    return (struct cairn_reply){ 0, wrong };
}

static volatile uint64_t own_wrong;

/* What its own thread found. */
struct cairn_reply hard_fill(uint64_t control, volatile void *buffer, size_t size)
{
    (void)control, (void)buffer, (void)size;
    return (struct cairn_reply){ 0, own_wrong };
}

struct cairn_reply hard_say(uint64_t control, const volatile void *text, size_t length)
{
    (void)control, (void)text, (void)length;
    return (struct cairn_reply){ 0, 0 };
}

static void stay(void)
{
    /* Not a fault in a row with those of calls. */
    for (uint64_t word = 1;; word = next(word))
        own_wrong += visit(word >> 60, word | 3);
}

CAIRN_COMPONENT(
    .name = "hard",
    .main = stay,
    .import_count = 1,
    .imports = { { "next", NEXT, ECHO_INTERFACE } },
    .export_count = 1,
    .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(hard) } });
