/* Sleeping, by the import that CAIRN_SLEEP names. */
#include "cairn.h"
#include "clock.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

/* If the linker does not find this: CAIRN_SLEEP(CLOCK); in cairn_library.h. */
extern const uint32_t cairn_library_clock;

static int rest(uint64_t nanoseconds)
{
    if (clock_sleep(cairn_import(cairn_library_clock), nanoseconds) == 0)
        return 0;
    errno = EINTR;
    return -1;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= 1000000000) {
        errno = EINVAL;
        return -1;
    }
    if (left)
        *left = (struct timespec){ 0 };
    if (time->tv_sec >= (time_t)(UINT64_MAX / 1000000000))
        return rest(UINT64_MAX);
    return rest((uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec);
}

int usleep(useconds_t microseconds)
{
    return rest((uint64_t)microseconds * 1000);
}

unsigned sleep(unsigned seconds)
{
    return rest((uint64_t)seconds * 1000000000) == 0 ? 0 : seconds;
}
