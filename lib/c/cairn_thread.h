/* Threads of a component. `component.toml` has to name the interface Threads. */
#ifndef CAIRN_THREAD_H
#define CAIRN_THREAD_H

#include "threads.h"

/* Where threads begin whose stack's top has the function and its argument (lib/c/enter.S). */
CAIRN_C void cairn_thread_begin(void);

/* Says in the component's log, once for each reason, why one thread more is refused; the status. */
CAIRN_C __attribute__((cold)) int64_t cairn_thread_refused(int64_t status, uint64_t priority);

/* Where the first word of a page without access leads (lib/cairn/component.ld). */
extern const char cairn_stack_guard;

/* The type of a stack for a thread, of whole pages. Below a static one that begins as CAIRN_GUARDED, in an array each of them,
 * lies a page without access, which is no memory. Its `bytes` are what cairn_spawn takes. */
#define CAIRN_STACK(SIZE)                                                                          \
    struct __attribute__((aligned(4096))) {                                                        \
        const char *guard;                                                                         \
        char nothing[4096 - sizeof(const char *)];                                                 \
        unsigned char bytes[((SIZE) + 4095) / 4096 * 4096];                                        \
    }
#define CAIRN_GUARDED { &cairn_stack_guard, { 0 }, { 0 } }

/* Starts a thread that runs `function(argument)` on the stack, until that returns; `threads` is the import. `*thread` is
 * what `threads_join` takes; before that has come back, nothing else may use the stack. */
static inline int64_t cairn_spawn(uint32_t threads, void (*function)(uint64_t), uint64_t argument, void *stack,
                                  size_t stack_size, uint64_t priority, uint64_t *thread)
{
    uint64_t *top = (uint64_t *)(((uintptr_t)stack + stack_size) & ~(uintptr_t)15);
#ifdef CAIRN_ENTERED
    top -= 2;
    top[0] = (uint64_t)function;
    top[1] = argument;
    int64_t status = threads_spawn(threads, (uint64_t)cairn_thread_begin, (uint64_t)top, (uint64_t)top, priority, thread);
#else
    int64_t status = threads_spawn(threads, (uint64_t)function, (uint64_t)top, argument, priority, thread);
#endif
    return status == 0 ? 0 : cairn_thread_refused(status, priority);
}

#endif
