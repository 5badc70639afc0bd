/* A transparent sandbox, the program of the appendix of Pebble's paper of 1999: it forks, its child measures how two of its threads wake
 * each other, and each of the child's calls comes by here, is counted, and goes on to its server. */
#include "cairn_fork.h"
#include "cairn_startup.h"
#include "console.h"
#include "portals.h"
#include "semaphore.h"
#include "threads.h"

#include <stdio.h>

enum {
    CONSOLE = CAIRN_PORTAL_FIRST_IMPORT,
    THREADS = CONSOLE + CONSOLE_METHODS,
    PORTALS = THREADS + THREADS_METHODS,
    LOADER = PORTALS + PORTALS_METHODS,
    NPORTALS = 128,
    N = 1000,
};

static unsigned count[NPORTALS];
static uint32_t sem_id1, sem_id2;

static void say(const char *format, unsigned one, unsigned other)
{
    char line[64];
    int length = snprintf(line, sizeof line, format, one, other);
    console_write(CONSOLE, line, (size_t)length);
}

CAIRN_INTERCEPT(intercept)

/* The parent intercepts a call of the child's. */
struct cairn_wide_reply intercept(const struct cairn_passing *call)
{
    uint32_t id = cairn_passing_portal(call);
    if (id < NPORTALS)
        count[id]++;
    return cairn_pass_on(call);
}

static uint32_t sem_create(void)
{
    uint64_t first = 0;
    portals_make_semaphore(PORTALS, 0, &first);
    return (uint32_t)first;
}

/* The child's second thread wakes the first. */
static void wake(uint64_t unused)
{
    (void)unused;
    for (;;) {
        semaphore_p(sem_id1);
        semaphore_v(sem_id2);
    }
}

/* The child domain runs this. */
static void measure(void)
{
    static _Alignas(16) unsigned char stack[4096];
    uint64_t thread;
    sem_id1 = sem_create();
    sem_id2 = sem_create();
    if (threads_spawn(THREADS, (uint64_t)wake, (uint64_t)(stack + sizeof stack), 0, 40, &thread) != 0)
        return;
    /* Until the other one waits. */
    threads_yield_now(THREADS);
    uint64_t start = cairn_ticks();
    for (int i = 0; i < N; i++) {
        semaphore_v(sem_id1);
        semaphore_p(sem_id2);
    }
    uint64_t elapsed = cairn_ticks() - start;
    say("each iteration: %u ns\n", (unsigned)(elapsed * (1000000000 / cairn_startup()->time_base) / N), 0);
}

static void dump_counters(void)
{
    for (unsigned i = 1; i < NPORTALS; i++)
        if (count[i] != 0)
            say("portal %u called %u times\n", i, count[i]);
}

static void run(void)
{
    /* The child has it at the same index. */
    uint32_t done = sem_create();
    struct cairn_quotas quotas = { .pages = 128, .threads = 2, .semaphores = 4, .locks = 2 };
    uint64_t child = 0;
    int64_t status = cairn_domain_fork(LOADER, "child", intercept_intercept, quotas, &child);
    if (status == CAIRN_CHILD) {
        measure();
        semaphore_v(done);
        return;
    }
    if (status != 0) {
        say("sandbox: no child, error %u\n", (unsigned)-status, 0);
        return;
    }
    semaphore_p(done);
    dump_counters();
    loader_unload(LOADER, "child", 5);
    say("sandbox: done\n", 0, 0);
}

CAIRN_COMPONENT(
    .name = "sandbox",
    .main = run,
    .import_count = 4,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE },
                 { "threads", THREADS, THREADS_INTERFACE },
                 { "portals", PORTALS, PORTALS_INTERFACE },
                 { "loader", LOADER, LOADER_INTERFACE } });
