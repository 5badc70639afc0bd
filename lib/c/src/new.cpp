// `new` and `delete` over malloc. There are no exceptions: without memory, `new` is a panic.
#include "cairn.h"

#include <stdlib.h>

void *operator new(size_t size)
{
    void *block = malloc(size == 0 ? 1 : size);
    if (!block)
        cairn_panic("new: no memory");
    return block;
}

void *operator new[](size_t size)
{
    return operator new(size);
}

void operator delete(void *block) noexcept
{
    free(block);
}

void operator delete[](void *block) noexcept
{
    free(block);
}

void operator delete(void *block, size_t) noexcept
{
    free(block);
}

void operator delete[](void *block, size_t) noexcept
{
    free(block);
}
