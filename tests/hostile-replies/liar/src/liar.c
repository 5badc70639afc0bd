/* Answers with more words than its methods have, with words that are no values, and not at all. */
#include "scheduler_statistics.h"
#include "threads.h"

enum { THREADS = CAIRN_PORTAL_FIRST_IMPORT, SLEEP_UNTIL = THREADS + 1 };

SCHEDULER_STATISTICS_SERVER(liar)

/* All registers hold a secret when it answers, faults or waits: which of them, its parameter says. */
__attribute__((naked)) static void lie(void)
{
    __asm__("mv t1, a1\n\t"
            "mv s0, ra\n\t"
            "li a1, 0x5ec2\n\t"
            "mv a2, a1\n\t mv a3, a1\n\t mv a4, a1\n\t mv a5, a1\n\t mv a6, a1\n\t mv a7, a1\n\t"
            "mv s1, a1\n\t mv s2, a1\n\t mv s3, a1\n\t mv s4, a1\n\t mv s5, a1\n\t mv s6, a1\n\t mv s7, a1\n\t"
            "mv s8, a1\n\t mv s9, a1\n\t mv s10, a1\n\t mv s11, a1\n\t mv gp, a1\n\t mv tp, a1\n\t"
            "mv t3, a1\n\t mv t4, a1\n\t mv t5, a1\n\t mv t6, a1\n\t"
            "mv a0, t1\n\t"
            "li t2, 1\n\t"
            "beq t1, t2, 1f\n\t"
            "li t2, 2\n\t"
            "bne t1, t2, 2f\n\t"
            "li t0, %0\n\t"
            "li a3, -1\n\t"
            "call cairn_portal_call\n\t"
            "li a1, 0x5ec2\n\t mv a2, a1\n\t mv a3, a1\n\t mv a4, a1\n\t mv a5, a1\n\t"
            "2: mv ra, s0\n\t"
            "mv sp, a1\n\t mv t1, a1\n\t mv t2, a1\n\t mv s0, a1\n\t"
            "ret\n\t"
            "1: mv ra, a1\n\t mv sp, a1\n\t"
            "ebreak"
            :
            : "i"(SLEEP_UNTIL));
}

/* What is no thread: a word of its state is too large. */
struct cairn_wide_reply liar_thread(uint64_t control, uint64_t place)
{
    (void)control;
    struct cairn_wide_reply reply = { 0, { 1, 9, 5, 30 } };
    static const uint64_t wrong[] = { 1, UINT64_C(1) << 16, 8, 256 };
    if (place < 4)
        reply.words[place] = wrong[place];
    if (place == 5)
        reply.words[1] = UINT64_MAX;
    return reply;
}

struct cairn_reply liar_thread_time(uint64_t control, uint64_t status)
{
    (void)control;
    return (struct cairn_reply){ (int64_t)status, 7 };
}

struct cairn_wide_reply liar_held(uint64_t control, uint64_t place)
{
    return liar_thread(control, place);
}

CAIRN_COMPONENT(
    .name = "c-liar",
    .import_count = 1,
    .imports = { { "threads", THREADS, THREADS_INTERFACE } },
    .export_count = 2,
    .exports = { { "lies", 0, SCHEDULER_STATISTICS_INTERFACE, { lie, lie, lie, lie, lie } },
                 { "words", 0, SCHEDULER_STATISTICS_INTERFACE,
                   { (cairn_entry)liar_thread_wide, (cairn_entry)liar_thread_time, lie, (cairn_entry)liar_held_wide, lie } } });
