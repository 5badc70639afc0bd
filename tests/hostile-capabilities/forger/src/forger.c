/* Tries for what others hold, in C: words, indexes and registers that no safe program has. `add` answers how often it got something; its
 * second word is of a grant that is meant for another. */
#include "echo.h"
#include "grants.h"
#include <stdbool.h>

enum { GRANTS = CAIRN_PORTAL_FIRST_IMPORT };
enum { GRANT, ACCEPT, REVOKE, HOLD, FILL };
enum { INSTANCES = 24, INDEXES = 600 };

ECHO_SERVER(forger)

static uint64_t next(uint64_t *chance)
{
    *chance ^= *chance << 13;
    *chance ^= *chance >> 7;
    *chance ^= *chance << 17;
    return *chance;
}

static uint64_t instance(uint64_t number)
{
    return UINT64_C(1) << 32 | number;
}

/* A call; the register of the caller's name is the portal's, whatever is there. */
static int64_t ask(uint64_t method, const uint64_t word[6])
{
    return cairn_call(GRANTS + method, instance(word[0]), word[0], word[1], word[2], word[3], word[4], word[5]).status;
}

static bool got(uint64_t method, uint64_t word1, uint64_t word2, uint64_t word3)
{
    return ask(method, (const uint64_t[6]){ word1, word2, word3 }) >= 0;
}

/* Whether there was anything to accept, of whatever interface. */
static bool found(uint64_t from, uint64_t word)
{
    int64_t status = ask(ACCEPT, (const uint64_t[6]){ from, word });
    return status != CAIRN_ERROR_NOT_FOUND && status != CAIRN_ERROR_NO_PORTAL;
}

/* The other's word, and those around it, as everybody's. */
static uint64_t words(uint64_t meant)
{
    uint64_t count = 0;
    for (uint64_t number = 0; number < INSTANCES; number++) {
        for (uint64_t near = 0; near < 8; near++) {
            uint64_t word = meant + near - 4;
            count += found(instance(number), word);
            count += got(FILL, number, GRANTS, word);
            count += got(FILL, number, word, meant);
        }
        count += found(number, meant);
    }
    for (uint64_t near = 0; near < 4096; near++)
        count += got(REVOKE, meant + near - 2048, 0, 0);
    return count;
}

/* Whatever index it has or has not: it holds nothing that it could pass on, and one import. */
static uint64_t indexes(void)
{
    uint64_t count = 0;
    for (uint64_t index = 0; index < INDEXES; index++) {
        for (uint64_t number = 0; number < INSTANCES; number++)
            count += got(GRANT, index, instance(number), UINT32_MAX);
        count += index != GRANTS && got(HOLD, index, 0, 0);
    }
    return count;
}

/* All registers by chance, most of them small. What it imports it may hold. */
static uint64_t registers(void)
{
    uint64_t chance = 88172645463325252, count = 0;
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t word[6];
        for (unsigned place = 0; place < 6; place++) {
            uint64_t any = next(&chance);
            word[place] = any >> next(&chance) % 64;
        }
        uint64_t method = next(&chance) % GRANTS_METHODS;
        count += !(method == HOLD && word[0] == GRANTS) && ask(method, word) >= 0;
    }
    return count;
}

/* What it holds by right it passes on, with rights that there are not, and to whom it may not. */
static uint64_t rights(void)
{
    uint64_t held, count = 0;
    if (grants_hold(GRANTS, GRANTS, &held) != 0)
        return 1;
    for (uint64_t bit = GRANTS_METHODS; bit < 64; bit++)
        count += got(GRANT, held, instance(1), UINT64_C(1) << bit);
    count += got(GRANT, held, instance(1) + (UINT64_C(1) << 16), UINT32_MAX);
    count += got(GRANT, held, UINT64_MAX, UINT32_MAX);
    for (uint64_t index = held + 1; index < held + GRANTS_METHODS; index++)
        count += got(GRANT, index, instance(1), UINT32_MAX) + got(HOLD, index, 0, 0);
    /* What it has already is no import, though it leads there. */
    return count + got(HOLD, held, 0, 0);
}

struct cairn_reply forger_add(uint64_t control, uint64_t attack, uint64_t word)
{
    (void)control;
    uint64_t count = 0;
    switch (attack) {
    case 0: count = words(word); break;
    case 1: count = indexes(); break;
    case 2: count = registers(); break;
    case 3: count = rights(); break;
    }
    return (struct cairn_reply){ 0, count };
}

struct cairn_reply forger_say(uint64_t control, const volatile void *text, size_t length)
{
    (void)control, (void)text, (void)length;
    return (struct cairn_reply){ CAIRN_ERROR_NOT_SUPPORTED, 0 };
}

struct cairn_reply forger_fill(uint64_t control, volatile void *buffer, size_t size)
{
    (void)control, (void)buffer, (void)size;
    return (struct cairn_reply){ CAIRN_ERROR_NOT_SUPPORTED, 0 };
}

CAIRN_COMPONENT(
    .name = "c-forger",
    .import_count = 1,
    .imports = { { "grants", GRANTS, GRANTS_INTERFACE } },
    .export_count = 1,
    .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(forger) } });
