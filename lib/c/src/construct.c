/* Global constructors, which run before any other code of the component: in its first thread, or in the first call of a
 * component without one. */
#include "cairn.h"

#include <stdatomic.h>

typedef void (*constructor)(void);
extern const constructor cairn_constructors[], cairn_constructors_end[];

/* 0: not yet; 1: they run; 2: done. */
atomic_int cairn_constructed;

bool cairn_has_first_thread(void);
/* Of lock.c, by CAIRN_LOCKS. */
__attribute__((weak)) int64_t cairn_make_locks(void);

/* Runs them, or says that another thread does or will. That one may be less urgent, so nobody waits for it here; and a
 * first thread cannot be told, so where there is one no call is before it. */
int64_t cairn_construct(bool is_first_thread)
{
    int state = 0;
    if (cairn_has_first_thread() && !is_first_thread && atomic_load(&cairn_constructed) == 0)
        return CAIRN_ERROR_BUSY;
    if (!atomic_compare_exchange_strong(&cairn_constructed, &state, 1))
        return state == 2 ? 0 : CAIRN_ERROR_BUSY;
    /* A caller's thread may be unable to call others. That is its affair: the next one begins anew. */
    int64_t status = cairn_make_locks ? cairn_make_locks() : 0;
    if (status != 0) {
        if (is_first_thread)
            cairn_panic("no lock for the C library");
        atomic_store(&cairn_constructed, 0);
        return status;
    }
    for (const constructor *next = cairn_constructors; next < cairn_constructors_end; next++)
        (*next)();
    atomic_store(&cairn_constructed, 2);
    return 0;
}
