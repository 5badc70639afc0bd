/* Threads of a component. `component.toml` has to name the interface Threads. */
#ifndef CAIRN_THREAD_H
#define CAIRN_THREAD_H

#include "threads.h"

/* Where threads begin whose stack's top has the function and its argument (lib/c/enter.S). */
CAIRN_C void cairn_thread_begin(void);

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
    return threads_spawn(threads, (uint64_t)cairn_thread_begin, (uint64_t)top, (uint64_t)top, priority, thread);
#else
    return threads_spawn(threads, (uint64_t)function, (uint64_t)top, argument, priority, thread);
#endif
}

#endif
