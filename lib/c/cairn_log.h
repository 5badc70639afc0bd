/* Logging: what a component says of what it does. Records lie in a ring of the instance's (docs/logging.md).
 *
 *   cairn_log(CAIRN_LOG_WARN, "%u degrees", degrees);
 */
#ifndef CAIRN_LOG_H
#define CAIRN_LOG_H

#include "cairn.h"

/* How much a record matters. */
enum cairn_log_level { CAIRN_LOG_ERROR = 1, CAIRN_LOG_WARN, CAIRN_LOG_INFO, CAIRN_LOG_DEBUG, CAIRN_LOG_TRACE };

/* What the records of a file are about, up to 64 bytes: defined before this is included, or nothing. */
#ifndef CAIRN_LOG_TARGET
#define CAIRN_LOG_TARGET ""
#endif

/* The first word of the ring, which others write as well. */
static inline uint64_t *cairn_log_ring(void)
{
    return (uint64_t *)(cairn_region() + CAIRN_LOG_OFFSET);
}

/* Whether records of this level are written. */
static inline bool cairn_log_is_on(enum cairn_log_level level)
{
    return level >= CAIRN_LOG_ERROR && level <= __atomic_load_n(cairn_log_ring() + CAIRN_LOG_LEVEL, __ATOMIC_RELAXED);
}

/* Writes a record, for the macro; of text with several lines, or that is longer than a record, several. */
CAIRN_C __attribute__((cold, format(printf, 3, 4))) void cairn_log_write(enum cairn_log_level level,
                                                                         const char *target, const char *format, ...);

/* Writes a record, with the arguments of `printf`, which are not computed if the level is off. */
#define cairn_log(level, ...)                                        \
    do {                                                             \
        if (__builtin_expect(cairn_log_is_on(level), 0))              \
            cairn_log_write((level), CAIRN_LOG_TARGET, __VA_ARGS__); \
    } while (0)

#endif
