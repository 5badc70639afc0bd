/* `c-rng`, with some time before each signal, in which the one for whom it is can be called home. */
#include "semaphore.h"

static inline int64_t late_v(uint32_t portal)
{
    for (volatile int turns = 0; turns < 5000; turns++)
        ;
    return semaphore_v(portal);
}
#define semaphore_v late_v
#include "../../../../examples/c-rng/src/rng.c"
