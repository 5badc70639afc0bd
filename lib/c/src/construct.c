/* Global constructors, which run before any other code of the component: in the first thread or the first call. */
#include "cairn.h"

#include <stdatomic.h>

typedef void (*constructor)(void);
extern const constructor cairn_constructors[], cairn_constructors_end[];

/* 0: not yet; 1: they run; 2: done. */
atomic_int cairn_constructed;

/* Runs them, or says that another thread does. That one may be less urgent, so nobody waits for it here. */
int64_t cairn_construct(void)
{
    int state = 0;
    if (!atomic_compare_exchange_strong(&cairn_constructed, &state, 1))
        return state == 2 ? 0 : CAIRN_ERROR_BUSY;
    for (const constructor *next = cairn_constructors; next < cairn_constructors_end; next++)
        (*next)();
    atomic_store(&cairn_constructed, 2);
    return 0;
}
