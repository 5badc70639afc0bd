/* Ends in the way that its argument says. */
#include "cairn.h"

#include <assert.h>
#include <stdlib.h>

static void fail(void)
{
    const char *how;
    size_t length = cairn_argument_string(&how);
    if (length == 5)
        abort();
    if (length == 4)
        exit(3);
    assert(length == 5 && "neither abort nor exit");
}

CAIRN_COMPONENT(.name = "c-failing", .main = fail);
