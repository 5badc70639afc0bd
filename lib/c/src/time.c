/* The time. What is since the start comes from the hart's counter, what is of day from the import that CAIRN_TIME names. */
#include "cairn.h"
#include "wall_clock.h"

#include <errno.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

extern const uint32_t cairn_library_wall_clock __attribute__((weak));

static uint64_t since_start(void)
{
    return (uint64_t)((unsigned __int128)cairn_ticks() * 1000000000 / cairn_startup()->time_base);
}

int clock_gettime(clockid_t which, struct timespec *time)
{
    uint64_t nanoseconds = 0;
    switch (which) {
    case CLOCK_MONOTONIC:
        nanoseconds = since_start();
        break;
    case CLOCK_REALTIME:
        if (&cairn_library_wall_clock && wall_clock_now(cairn_import(cairn_library_wall_clock), &nanoseconds) == 0)
            break;
        /* Without one there is no such clock. */
        __attribute__((fallthrough));
    default:
        errno = EINVAL;
        return -1;
    }
    time->tv_sec = (time_t)(nanoseconds / 1000000000);
    time->tv_nsec = (long)(nanoseconds % 1000000000);
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

/* Since the start, not what one thread has run. */
clock_t clock(void)
{
    return (clock_t)(since_start() / (1000000000 / CLOCKS_PER_SEC));
}
