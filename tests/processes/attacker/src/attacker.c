/* A server of processes that asks for anything, and looks through its page tables as the hardware does: none leads out of them but to its
 * processes' memory. `add` answers how often one does. */
#include "echo.h"

enum { BEGIN = 4, SELECT, MAP, LINK = 8, CLEAR, FENCE, INTERRUPT, FLOAT, MAP_SEVERAL };

/* What several entries become: the end of the status page, which ends with the addresses. */
enum { SEVERAL = 16 };
#define ENTRIES ((volatile uint64_t *)-(int64_t)(SEVERAL * 8))

ECHO_SERVER(attacker)

static uint64_t next(void)
{
    static uint64_t chance = 88172645463325252;
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return chance;
}

static int64_t request(uint64_t index, uint64_t first, uint64_t second)
{
    register uint64_t t0 __asm__("t0") = index;
    register uint64_t a0 __asm__("a0") = first;
    register uint64_t a1 __asm__("a1") = second;
    __asm__ volatile("call cairn_portal_call"
                     : "+r"(t0), "+r"(a0), "+r"(a1)
                     :
                     : "ra", "t1", "t2", "t3", "t4", "t5", "t6", "a2", "a3", "a4", "a5", "a6", "a7", "memory");
    return (int64_t)a0;
}

/* A word of any kind: a number that is there or just not, a page of its memory with any rights, anything. */
static uint64_t word(const struct cairn_processes *given, uint64_t tables)
{
    uint64_t any = next();
    switch (next() % 6) {
    case 0: return any;
    case 1: return any >> next() % 64;
    case 2: return any % (tables + 2);
    case 3: return any % (tables * 512 + 2);
    case 4: return (given->memory + any % given->memory_size / 4096 * 4096) >> 2 | next() % 1024;
    default: return ((given->tables + any % (tables * 4096)) >> 12 << 10) | next() % 1024;
    }
}

/* Pages for the most part: one that is refused ends the request. */
static uint64_t several(const struct cairn_processes *given, uint64_t tables)
{
    for (int number = 0; number < SEVERAL; number++) {
        uint64_t page = (given->memory + next() % given->memory_size / 4096 * 4096) >> 2 | next() % 1024;
        ENTRIES[number] = next() % 64 ? page : word(given, tables);
    }
    return next() % 8 ? next() % (SEVERAL + 2) : next();
}

static uint64_t look(const struct cairn_processes *given)
{
    uint64_t first_leaf = given->spaces + given->directories, tables = first_leaf + given->leaves, wrong = 0;
    const volatile uint64_t *pool = (const volatile uint64_t *)(CAIRN_PROCESS_MEMORY + given->tables);
    for (uint64_t at = 0; at < tables * 512; at++) {
        uint64_t entry = pool[at], table = at / 512, target = entry >> 10 << 12 & ((UINT64_C(1) << 56) - 1);
        if (!(entry & 1) || (table < given->spaces && at % 512 >= 256))
            continue;
        uint64_t lower = (target - given->tables) / 4096;
        if (table < given->spaces)
            wrong += lower < given->spaces || lower >= first_leaf || (entry & 0x3fe);
        else if (table < first_leaf)
            wrong += lower < first_leaf || lower >= tables || (entry & 0x3fe);
        else
            wrong += target - given->memory >= given->memory_size || (entry & 0x30) != 0x10 || entry >> 54;
    }
    return wrong;
}

struct cairn_reply attacker_add(uint64_t control, uint64_t rounds, uint64_t unused)
{
    (void)control, (void)unused;
    static const uint64_t portals[] = { BEGIN, SELECT, MAP, MAP_SEVERAL, LINK, LINK, LINK, CLEAR, FENCE, INTERRUPT, FLOAT };
    const struct cairn_processes *given = &cairn_startup()->processes;
    uint64_t tables = given->spaces + given->directories + given->leaves, wrong = 0, done = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t portal = portals[next() % (sizeof portals / sizeof *portals)];
        uint64_t first = word(given, tables);
        uint64_t second = portal == MAP_SEVERAL ? several(given, tables) : word(given, tables);
        done += request(portal, first, second) == 0;
        if (round % 4096 == 0)
            wrong += look(given);
    }
    wrong += look(given);
    /* It has to be let do what it may. */
    wrong += done < rounds / 50;
    return (struct cairn_reply){ 0, wrong };
}

struct cairn_reply attacker_say(uint64_t control, const volatile void *text, size_t length)
{
    (void)control, (void)text, (void)length;
    return (struct cairn_reply){ 0, 0 };
}

struct cairn_reply attacker_fill(uint64_t control, volatile void *buffer, size_t length)
{
    (void)control, (void)buffer, (void)length;
    return (struct cairn_reply){ 0, 0 };
}

CAIRN_COMPONENT(.name = "c-attacker", .export_count = 1,
                .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(attacker) } });
