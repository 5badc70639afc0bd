/* Why a thread was refused, for people: the status says only that there is no more. */
#define CAIRN_LOG_TARGET "refused"
#include "cairn_log.h"
#include "cairn_startup.h"

#include <inttypes.h>

int64_t cairn_thread_refused(int64_t status)
{
    static int told;
    if (!__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED))
        cairn_log(CAIRN_LOG_WARN, "%s gets no thread: it has all %" PRIu64 " of `threads` in its description", cairn_name(),
                  cairn_startup()->thread_limit);
    return status;
}
