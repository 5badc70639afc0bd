/* Prepares what it serves behind the gate that its argument says, and then says that it serves. */
#include "member.h"
#include "threads.h"

enum { THREADS = CAIRN_PORTAL_FIRST_IMPORT };
enum { GATE };
/* Words of a gate in the section: tests/ready/components/member/src/lib.rs. */
enum { LIVES, OPEN, PASSED, WORDS };
enum { PAUSE_MICROSECONDS = 20 };

MEMBER_SERVER(prepared)

static uint64_t value;

static int64_t pause_for(uint64_t microseconds)
{
    return threads_sleep_until(THREADS, cairn_ticks() + cairn_startup()->time_base * microseconds / 1000000);
}

static void prepare(void)
{
    const struct cairn_mapping *gates = cairn_section("gates");
    volatile uint64_t *gate = (volatile uint64_t *)gates->address + WORDS * (cairn_argument(GATE) - 1);
    gate[LIVES]++;
    while (!gate[OPEN])
        pause_for(PAUSE_MICROSECONDS);
    gate[PASSED] = 1;
    value = 1;
    cairn_ready();
}

struct cairn_reply prepared_value(uint64_t control)
{
    (void)control;
    return (struct cairn_reply){ 0, value };
}

struct cairn_reply prepared_value_after(uint64_t control, uint64_t microseconds)
{
    (void)control;
    int64_t status = pause_for(microseconds);
    return (struct cairn_reply){ status, value };
}

CAIRN_COMPONENT(
    .name = "ready-c-member", .main = prepare,
    .import_count = 1,
    .imports = { { "threads", THREADS, THREADS_INTERFACE } },
    .export_count = 1,
    .exports = { { "member", 0, MEMBER_INTERFACE, MEMBER_ENTRIES(prepared) } },
    .arguments = { { "gate", CAIRN_ARGUMENT_UNSIGNED } });
