#include "cairn.h"

#include <stdlib.h>

void abort(void)
{
    cairn_panic("abort()");
}
