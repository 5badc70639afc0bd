/* Serves the interface Clock by the clock that it imports. */
#include "clock.h"
#include "console.h"
#include "lock.h"
#include "portals.h"
#include "threads.h"
#include "timer.h"

#include <stdio.h>

enum {
    CONSOLE = CAIRN_PORTAL_FIRST_IMPORT,
    CLOCK = CONSOLE + CONSOLE_METHODS,
    THREADS = CLOCK + CLOCK_METHODS,
    PORTALS = THREADS + THREADS_METHODS,
};

CLOCK_SERVER(relay)
TIMER_SERVER(relay)

/* ------------------------------------------------------------------------------------- the server */

struct cairn_reply relay_uptime(uint64_t control)
{
    (void)control;
    uint64_t time = 0;
    int64_t status = clock_uptime(CLOCK, &time);
    return (struct cairn_reply){ status, time };
}

struct cairn_reply relay_time_base(uint64_t control)
{
    (void)control;
    uint64_t ticks = 0;
    int64_t status = clock_time_base(CLOCK, &ticks);
    return (struct cairn_reply){ status, ticks };
}

struct cairn_reply relay_sleep(uint64_t control, uint64_t nanoseconds)
{
    (void)control;
    return (struct cairn_reply){ clock_sleep(CLOCK, nanoseconds), 0 };
}

/* Opens a timer of the clock's: reserves its portals, and has the clock fill them. */
static int64_t open_timer(uint64_t period, uint32_t *timer)
{
    uint64_t place;
    int64_t status = portals_reserve(PORTALS, CLOCK, TIMER_VERSION, TIMER_SIGNATURE,
                                     sizeof TIMER_SIGNATURE - 1, &place);
    if (status != 0)
        return status;
    *timer = cairn_place_portal(place);
    status = clock_timer(CLOCK, place, period);
    if (status != 0)
        portals_close(PORTALS, *timer);
    return status;
}

/* Opens a timer, and makes an object of it where the caller wants it. */
struct cairn_reply relay_timer(uint64_t control, uint64_t caller, uint64_t place, uint64_t period)
{
    (void)control;
    uint32_t timer;
    int64_t status = open_timer(period, &timer);
    if (status != 0)
        return (struct cairn_reply){ status, 0 };
    static const char interface[] = "Timer";
    status = portals_make_object(PORTALS, caller, place, interface, sizeof interface - 1, timer);
    if (status != 0) {
        timer_close(timer);
        portals_close(PORTALS, timer);
    }
    return (struct cairn_reply){ status, 0 };
}

/* The portal vouches for the control word: it is what `relay_timer` said. */
struct cairn_reply relay_wait(uint64_t timer)
{
    uint64_t periods = 0;
    int64_t status = timer_wait((uint32_t)timer, &periods);
    return (struct cairn_reply){ status, periods };
}

struct cairn_reply relay_set_period(uint64_t timer, uint64_t period)
{
    return (struct cairn_reply){ timer_set_period((uint32_t)timer, period), 0 };
}

struct cairn_reply relay_close(uint64_t timer)
{
    int64_t status = timer_close((uint32_t)timer);
    portals_close(PORTALS, timer);
    return (struct cairn_reply){ status, 0 };
}

/* ------------------------------------------------------------------------------------- the client */

static void say(const char *text, long number)
{
    /* Longer than what a portal copies: it has to begin at a page, and have it for itself. */
    static _Alignas(4096) char line[4096];
    int length = snprintf(line, sizeof line, "relay: %s: %ld, which is longer than sixty-four bytes\n", text, number);
    console_write(CONSOLE, line, (size_t)length);
}

static uint32_t lock;
static long counted;

static void count(void)
{
    /* A positive status is the method's own: the lock is taken, but its last owner ended. */
    int64_t status = lock_lock(lock);
    if (status < 0)
        return;
    counted++;
    lock_unlock(lock);
}

/* A thread: it ends when this returns. */
static void beside(uint64_t times)
{
    while (times-- > 0)
        count();
}

static void run(void)
{
    static _Alignas(16) unsigned char stack[8192];
    uint64_t thread, periods = 0;
    uint32_t timer;
    uint64_t first;
    if (portals_make_lock(PORTALS, &first) != 0)
        return;
    lock = (uint32_t)first;
    int64_t status = threads_spawn(THREADS, (uint64_t)beside, (uint64_t)(stack + sizeof stack), 100, 10, &thread);
    for (int times = 0; times < 100; times++)
        count();
    if (status == 0)
        status = threads_join(THREADS, thread);
    say("counted by two threads", status == 0 ? counted : (long)status);

    status = open_timer(1000000, &timer);
    if (status == 0)
        status = timer_wait(timer, &periods);
    say("waited for a period", status == 0 ? periods > 0 : (long)status);
    status = open_timer(0, &timer);
    say("no period is an error", status == CAIRN_ERROR_BAD_ARGUMENT);
}

CAIRN_COMPONENT(
    .name = "c-relay",
    .main = run,
    .import_count = 4,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE },
                 { "clock", CLOCK, CLOCK_INTERFACE },
                 { "threads", THREADS, THREADS_INTERFACE },
                 { "portals", PORTALS, PORTALS_INTERFACE } },
    .export_count = 2,
    .exports = { { "clock", 0, CLOCK_INTERFACE, CLOCK_ENTRIES(relay) },
                 { "timer", 1, TIMER_INTERFACE, TIMER_ENTRIES(relay) } });
