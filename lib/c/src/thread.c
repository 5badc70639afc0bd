/* Why a thread was refused, for people: the status does not name the key of the description. */
#define CAIRN_LOG_TARGET "refused"
#include "cairn_log.h"
#include "cairn_startup.h"

#include <inttypes.h>

int64_t cairn_thread_refused(int64_t status, uint64_t priority)
{
    static int told[2];
    bool is_priority = status == CAIRN_ERROR_NOT_ALLOWED;
    if ((!is_priority && status != CAIRN_ERROR_EXHAUSTED) || __atomic_exchange_n(&told[is_priority], 1, __ATOMIC_RELAXED))
        return status;
    if (is_priority)
        cairn_log(CAIRN_LOG_WARN,
                  "%s gets no thread of priority %" PRIu64 ": `priority` in its description is less, or it is in the kernel domain without the scheduler",
                  cairn_name(), priority);
    else
        cairn_log(CAIRN_LOG_WARN, "%s gets no thread: it has all %" PRIu64 " of `threads` in its description", cairn_name(),
                  cairn_startup()->thread_limit);
    return status;
}
