/* Attacks as C can and safe Rust cannot, whichever its caller asks for; `add` answers how often an attack got further than
 * it may. */
#include "echo.h"

enum { VICTIM = CAIRN_PORTAL_FIRST_IMPORT, BEHIND = VICTIM + ECHO_METHODS };
enum { ADD, SAY, FILL };

ECHO_SERVER(attacker)

static uint64_t next(uint64_t *chance)
{
    *chance ^= *chance << 13;
    *chance ^= *chance >> 7;
    *chance ^= *chance << 17;
    return *chance;
}

/* Indexes that were never given to it: those of privileged portals, of objects of others, out of range. */
static uint64_t forged(void)
{
    uint64_t chance = 88172645463325252, wrong = 0;
    for (uint64_t round = 0; round < 20000; round++) {
        uint64_t index = round < 8192 ? round : next(&chance) >> (next(&chance) % 64);
        if (index <= CAIRN_PORTAL_TIME || (index >= CAIRN_PORTAL_FIRST_IMPORT && index < BEHIND))
            continue;
        struct cairn_reply reply = cairn_call(index, next(&chance), next(&chance), next(&chance), next(&chance),
                                              next(&chance), next(&chance), next(&chance));
        wrong += reply.status != CAIRN_ERROR_NO_PORTAL;
    }
    return wrong;
}

/* Buffers that are none, or not its own: for a copy, for a window, round the end of all addresses. */
static uint64_t buffers(uint64_t foreign)
{
    static const uint64_t lengths[] = { 1, 64, 65, 4096, 16384, 16385, UINT64_MAX / 2, UINT64_MAX };
    const uint64_t places[] = { 0, 8, foreign, foreign + 4096, UINT64_C(0xffffffc000000000), UINT64_MAX & ~UINT64_C(4095),
                                UINT64_MAX - 7, UINT64_C(1) << 38 };
    uint64_t wrong = 0;
    for (unsigned place = 0; place < sizeof places / sizeof *places; place++)
        for (unsigned length = 0; length < sizeof lengths / sizeof *lengths; length++) {
            wrong += cairn_call(VICTIM + SAY, places[place], lengths[length], 0, 0, 0, 0, 0).status >= 0;
            wrong += cairn_call(VICTIM + FILL, places[place], lengths[length], 0, 0, 0, 0, 0).status >= 0;
        }
    /* Code of its own may be read, but not filled. */
    wrong += cairn_call(VICTIM + FILL, (uint64_t)forged & ~UINT64_C(4095), 4096, 0, 0, 0, 0, 0).status >= 0;
    return wrong;
}

/* Windows of all lengths, the victim's own affair; and a stack pointer that no C function has. */
static uint64_t windows(void)
{
    static _Alignas(4096) char pages[16384];
    for (uint64_t length = 0; length <= sizeof pages; length += 509) {
        cairn_call(VICTIM + SAY, (uint64_t)pages, length, 0, 0, 0, 0, 0);
        cairn_call(VICTIM + FILL, (uint64_t)pages, length, 0, 0, 0, 0, 0);
    }
    return 0;
}

static uint64_t with_stack(uint64_t stack)
{
    register uint64_t t0 __asm__("t0") = VICTIM + ADD;
    register uint64_t a0 __asm__("a0") = 0;
    register uint64_t a1 __asm__("a1") = 40;
    register uint64_t a2 __asm__("a2") = 2;
    __asm__ volatile("mv s2, sp\n mv sp, %4\n call cairn_portal_call\n mv sp, s2"
                     : "+r"(t0), "+r"(a0), "+r"(a1), "+r"(a2)
                     : "r"(stack)
                     : "ra", "s2", "t1", "t2", "t3", "t4", "t5", "t6", "a3", "a4", "a5", "a6", "a7", "memory");
    return a0 != 0 || a1 != 42;
}

static uint64_t deeper(uint64_t depth)
{
    volatile uint64_t page[64] = { depth };
    if (page[0] == UINT64_MAX)
        return 0;
    return deeper(page[0] + 1) + page[0];
}

void cairn_portal_call(void);
void cairn_return_stub(void);

static void jump(uint64_t to)
{
    ((void (*)(void))to)();
}

struct cairn_reply attacker_add(uint64_t control, uint64_t attack, uint64_t foreign)
{
    (void)control;
    uint64_t wrong = 0;
    switch (attack) {
    case 0: wrong = forged(); break;
    case 1: wrong = buffers(foreign); break;
    case 2: wrong = windows(); break;
    case 3: wrong = with_stack(0) + with_stack(1) + with_stack(UINT64_MAX) + with_stack(foreign | 3); break;
    case 4: jump(foreign); break;
    case 5: jump((uint64_t)cairn_portal_call + 2); break; /* half of the ecall */
    case 6: jump(UINT64_C(0xffffffc000000000)); break;
    case 7: wrong = deeper(0); break;
    case 8: *(volatile uint64_t *)foreign = 0; break;
    case 9: *(volatile uint64_t *)forged = 0; break;
    case 10: jump((uint64_t)cairn_return_stub); break; /* leaves, in the middle of its functions */
    }
    return (struct cairn_reply){ 0, wrong };
}

struct cairn_reply attacker_say(uint64_t control, const volatile void *text, size_t length)
{
    (void)control;
    /* The window is read-only. */
    if (length > 64)
        *(volatile char *)text = 0;
    return (struct cairn_reply){ 0, 0 };
}

struct cairn_reply attacker_fill(uint64_t control, volatile void *buffer, size_t size)
{
    (void)control;
    /* Behind the window. */
    ((volatile char *)buffer)[(size + 4095) / 4096 * 4096] = 0;
    /* More than there is room for. */
    return (struct cairn_reply){ 0, size + 1 };
}

CAIRN_COMPONENT(
    .name = "c-attacker",
    .import_count = 1,
    .imports = { { "victim", VICTIM, ECHO_INTERFACE } },
    .export_count = 1,
    .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(attacker) } });
