/* What `malloc` divides: the heap that the description gives the instance (`heap = "64K"`), and what it may grow into
 * (`heap_limit`), if the component imports `Memory`. */
#include "cairn.h"

#include <errno.h>
#include <unistd.h>

/* The place of `extend` in the interface `Memory`. */
#define EXTEND 6
#define PAGE 4096
/* As many bytes the heap grows by at least, if it may. */
#define STEP (4 * PAGE)

/* Bytes of the heap that are in use, and by which it has grown. `malloc` holds its lock when it calls this. */
static uint64_t used, grown;

/* Maps pages behind the heap's. */
static bool extend(const struct cairn_startup *startup, uint64_t more)
{
    if (grown + more > startup->heap_limit - startup->heap_size)
        return false;
    uint64_t end = startup->heap + startup->heap_size + grown;
    uint32_t manager = (uint32_t)startup->memory_manager;
    if (cairn_call(manager + EXTEND, 0, end, more / PAGE, 0, 0, 0, 0).status != 0)
        return false;
    grown += more;
    return true;
}

void *sbrk(ptrdiff_t more)
{
    const struct cairn_startup *startup = cairn_startup();
    uint64_t after = used + (uint64_t)more, size = startup->heap_size + grown;
    if (after > size) {
        uint64_t lack = (after - size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        bool may = after <= startup->heap_limit && startup->memory_manager != 0;
        if (!may || (!(lack < STEP && extend(startup, STEP)) && !extend(startup, lack))) {
            errno = ENOMEM;
            return (void *)-1;
        }
    }
    void *block = (void *)(startup->heap + used);
    used = after;
    return block;
}
