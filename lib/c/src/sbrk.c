/* What `malloc` divides: the heap that the description gives the instance (`heap = "64K"`). */
#include "cairn.h"

#include <errno.h>
#include <unistd.h>

/* Bytes of the heap that are in use. `malloc` holds its lock when it calls this. */
static uint64_t used;

void *sbrk(ptrdiff_t more)
{
    const struct cairn_startup *startup = cairn_startup();
    uint64_t after = used + (uint64_t)more;
    if (after > startup->heap_size) {
        errno = ENOMEM;
        return (void *)-1;
    }
    void *block = (void *)(startup->heap + used);
    used = after;
    return block;
}
