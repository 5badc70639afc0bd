/* What the C library works with. Each is said once in a component, at a file's top level, and only if the library is to
 * use it: CAIRN_STDIO(CONSOLE); */
#ifndef CAIRN_LIBRARY_H
#define CAIRN_LIBRARY_H

#include "cairn.h"

#ifdef __cplusplus
#define CAIRN_LIBRARY(name, portal)              \
    extern "C" {                                 \
    extern const uint32_t cairn_library_##name;  \
    const uint32_t cairn_library_##name = portal; \
    }
#else
#define CAIRN_LIBRARY(name, portal) const uint32_t cairn_library_##name = portal
#endif

/* The import `Console` behind stdin, stdout and stderr. */
#define CAIRN_STDIO(portal) CAIRN_LIBRARY(console, portal)
/* The import `Portals` that makes locks for `malloc` and stdin: where several threads use them, callers' threads too.
 * They are made before any other code of the component runs, so that no two threads make one: ahead of its constructors,
 * of which it has one by this. */
#define CAIRN_LOCKS(portal)                                             \
    CAIRN_C int64_t cairn_make_locks(void);                             \
    __attribute__((constructor(101))) static void cairn_with_locks(void) \
    {                                                                   \
        cairn_make_locks();                                             \
    }                                                                   \
    CAIRN_LIBRARY(portals, portal)
/* The import `Clock` behind `sleep`, `usleep` and `nanosleep`. */
#define CAIRN_SLEEP(portal) CAIRN_LIBRARY(clock, portal)
/* The import `WallClock` behind `time`, `gettimeofday` and `clock_gettime`, which fail without it. */
#define CAIRN_TIME(portal) CAIRN_LIBRARY(wall_clock, portal)

#endif
