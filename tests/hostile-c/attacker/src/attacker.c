/* Attacks as C can and safe Rust cannot, whichever its caller asks for; `add` answers how often an attack got further than
 * it may. */
#include "echo.h"
#include "portals.h"

enum {
    VICTIM = CAIRN_PORTAL_FIRST_IMPORT,
    PORTALS = VICTIM + ECHO_METHODS,
    BEHIND = PORTALS + PORTALS_METHODS
};
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

/* Windows of all lengths, the victim's own affair. */
static uint64_t windows(void)
{
    static _Alignas(4096) char pages[16384];
    for (uint64_t length = 0; length <= sizeof pages; length += 509) {
        cairn_call(VICTIM + SAY, (uint64_t)pages, length, 0, 0, 0, 0, 0);
        cairn_call(VICTIM + FILL, (uint64_t)pages, length, 0, 0, 0, 0, 0);
    }
    return 0;
}

/* A call with a stack pointer that no C function has: the answer comes all the same, and the pointer stays. */
static uint64_t call_with(uint64_t stack, uint64_t index, uint64_t word1, uint64_t word2, uint64_t expected)
{
    register uint64_t t0 __asm__("t0") = index;
    register uint64_t a0 __asm__("a0") = 0;
    register uint64_t a1 __asm__("a1") = word1;
    register uint64_t a2 __asm__("a2") = word2;
    register uint64_t s3 __asm__("s3") = stack;
    __asm__ volatile("mv s2, sp\n mv sp, s3\n call cairn_portal_call\n mv s3, sp\n mv sp, s2"
                     : "+r"(t0), "+r"(a0), "+r"(a1), "+r"(a2), "+r"(s3)
                     :
                     : "ra", "s2", "t1", "t2", "t3", "t4", "t5", "t6", "a3", "a4", "a5", "a6", "a7", "memory");
    return a0 != 0 || (expected != 0 && a1 != expected) || s3 != stack;
}

static uint64_t with_stack(uint64_t stack)
{
    return call_with(stack, VICTIM + ADD, 40, 2, 42);
}

/* Its own stack at every distance from where a stack pointer may be; the ends of it, of both halves, of all memory. */
static uint64_t misaligned(void)
{
    static const uint64_t ends[] = { 0, UINT64_C(1) << 38, UINT64_C(0xffffffc000000000), UINT64_MAX - 15 };
    static const char text[] = "still here";
    char room[512];
    uint64_t wrong = 0;
    for (uint64_t distance = 0; distance < 16; distance++) {
        wrong += call_with((uint64_t)room + distance, VICTIM + SAY, (uint64_t)text, sizeof text - 1, 0);
        for (unsigned round = 0; round < 100; round++)
            wrong += with_stack((uint64_t)room + distance);
        for (unsigned end = 0; end < sizeof ends / sizeof *ends; end++)
            wrong += with_stack(ends[end] + distance) + with_stack(ends[end] - distance);
    }
    return wrong;
}

/* Two that call each other, which they have opened by name, until no call goes deeper; how deep the last one was. At each
 * level their stack pointers are odd. */
static struct cairn_reply to_and_fro(uint64_t attack)
{
    static uint64_t other;
    int64_t status = 0;
    if (other == 0)
        status = portals_open(PORTALS, attack == 11 ? "partner.echo" : "attacker.echo", attack == 11 ? 12 : 13,
                              ECHO_VERSION, ECHO_LETTERS, sizeof ECHO_LETTERS - 1, &other);
    struct cairn_reply deeper = { status, 0 };
    if (status == 0)
        deeper = cairn_call(other + ADD, 23 - attack, 0, 0, 0, 0, 0, 0);
    if (deeper.status == CAIRN_ERROR_INVOCATION_OVERFLOW)
        return (struct cairn_reply){ 0, 1 };
    if (deeper.status == 0 && with_stack(deeper.value) != 0)
        deeper.status = CAIRN_ERROR_UNKNOWN;
    deeper.value++;
    return deeper;
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
    case 3: wrong = with_stack(0) + with_stack(1) + with_stack(UINT64_MAX) + with_stack(foreign | 3) + misaligned(); break;
    case 4: jump(foreign); break;
    case 5: jump((uint64_t)cairn_portal_call + 2); break; /* half of the ecall */
    case 6: jump(UINT64_C(0xffffffc000000000)); break;
    case 7: wrong = deeper(0); break;
    case 8: *(volatile uint64_t *)foreign = 0; break;
    case 9: *(volatile uint64_t *)forged = 0; break;
    case 10: jump((uint64_t)cairn_return_stub); break; /* leaves, in the middle of its functions */
    case 11:
    case 12: return to_and_fro(attack);
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
    .import_count = 2,
    .imports = { { "victim", VICTIM, ECHO_INTERFACE }, { "portals", PORTALS, PORTALS_INTERFACE } },
    .export_count = 1,
    .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(attacker) } });
