/* picolibc's locks, of `malloc` among others: locks of the scheduler, so that who holds one runs at least with the
 * priority of those who wait for it. A component of one thread does without (CAIRN_LOCKS in cairn_library.h). */
#include "lock.h"
#include "portals.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/lock.h>

extern const uint32_t cairn_library_portals __attribute__((weak));
__attribute__((noreturn)) void cairn_return_stub(int64_t status, uint64_t value);

#pragma weak stdin

struct __lock {
    uint32_t portal; /* the first of the lock's; 0 where threads have none */
    uint32_t depth; /* how often its owner has it more than once */
    _Atomic uint64_t owner; /* the index of its thread, and one; 0: nobody's */
};

struct __lock __lock___libc_recursive_mutex;
/* Of stdin.c: who waits for input keeps nobody from `malloc`. */
struct __lock __lock_cairn_stdin;

static uint64_t own_thread(void)
{
    return cairn_call(CAIRN_PORTAL_OWN_THREAD, 0, 0, 0, 0, 0, 0, 0).value + 1;
}

/* At a lock's first moment, when no other thread can know of it. What is not 0 is why this thread cannot make it now: it is called
 * home, say, or as deep in calls as a thread can be. That the description has too few is the component's own fault. */
static int64_t make(_LOCK_T lock)
{
    uint64_t portal;
    if (!&cairn_library_portals || lock->portal != 0)
        return 0;
    int64_t status = portals_make_lock(cairn_import(cairn_library_portals), &portal);
    if (status == CAIRN_ERROR_EXHAUSTED)
        cairn_panic("no lock for the C library: it takes `locks = 2` in the description, 1 without stdin");
    if (status == 0)
        lock->portal = (uint32_t)portal;
    return status;
}

/* Before constructors, by CAIRN_LOCKS; stdin has a lock where it is used. Those that are there already stay. */
int64_t cairn_make_locks(void)
{
    int64_t status = make(&__lock___libc_recursive_mutex);
    return status == 0 && &stdin ? make(&__lock_cairn_stdin) : status;
}

static void acquire(_LOCK_T lock, bool recursive)
{
    uint64_t thread = own_thread(), nobody = 0;
    if (atomic_load(&lock->owner) == thread) {
        if (!recursive)
            cairn_panic("a thread takes a lock of the C library twice");
        lock->depth++;
        return;
    }
    if (!&cairn_library_portals) {
        if (!atomic_compare_exchange_strong(&lock->owner, &nobody, thread))
            cairn_panic("two threads are in the C library: CAIRN_LOCKS(PORTALS);");
        return;
    }
    int64_t status = lock_lock(lock->portal);
    /* A positive status is the method's own: the lock is taken. Others end the wait because this thread is called home:
     * its call ends, since C has no way to say so. */
    if (status < 0)
        cairn_return_stub(status, 0);
    /* Whoever ended with it may have had it several times. */
    lock->depth = 0;
    atomic_store(&lock->owner, thread);
}

static void release(_LOCK_T lock)
{
    if (lock->depth > 0) {
        lock->depth--;
        return;
    }
    atomic_store(&lock->owner, 0);
    if (&cairn_library_portals)
        lock_unlock(lock->portal);
}

void __retarget_lock_init(_LOCK_T *lock)
{
    *lock = calloc(1, sizeof **lock);
    if (!*lock)
        cairn_panic("no memory for a lock of the C library");
    int64_t status = make(*lock);
    if (status != 0) {
        free(*lock);
        cairn_return_stub(status, 0);
    }
}

void __retarget_lock_close(_LOCK_T lock)
{
    if (lock->portal != 0)
        portals_close(cairn_import(cairn_library_portals), lock->portal);
    free(lock);
}

void __retarget_lock_init_recursive(_LOCK_T *lock)
{
    __retarget_lock_init(lock);
}

void __retarget_lock_close_recursive(_LOCK_T lock)
{
    __retarget_lock_close(lock);
}

void __retarget_lock_acquire(_LOCK_T lock)
{
    acquire(lock, false);
}

void __retarget_lock_acquire_recursive(_LOCK_T lock)
{
    acquire(lock, true);
}

void __retarget_lock_release(_LOCK_T lock)
{
    release(lock);
}

void __retarget_lock_release_recursive(_LOCK_T lock)
{
    release(lock);
}
