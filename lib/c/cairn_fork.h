/* A copy of a component, which stands between the copy and all that it calls. `component.toml` has to name the interface Loader. */
#ifndef CAIRN_FORK_H
#define CAIRN_FORK_H

#include "loader.h"

/* What cairn_domain_fork returns in the copy. */
enum { CAIRN_CHILD = 1 };

/* What a copy may have, a part of what its parent has. */
struct cairn_quotas {
    uint64_t pages, threads, semaphores, locks, children;
};

/* A call of the copy's on its way: its registers, but for the first, which says where it goes on. */
struct cairn_passing {
    uint64_t words[8];
};

/* The index by which the copy called. */
static inline uint32_t cairn_passing_portal(const struct cairn_passing *call)
{
    return (uint32_t)(call->words[0] >> CAIRN_CLIENT_INDEX_SHIFT);
}

/* Calls whom the copy called, on its behalf. */
static inline struct cairn_wide_reply cairn_pass_on(const struct cairn_passing *call)
{
    const uint64_t *words = call->words;
    return cairn_wide_call(words[0] & ((1u << CAIRN_CLIENT_INDEX_SHIFT) - 1), words[1], words[2], words[3], words[4],
                           words[5], words[6], words[7]);
}

#ifdef CAIRN_ENTERED
#define CAIRN_INTERCEPT_CALL(name) "lla t0, " #name "\n\tcall cairn_enter\n\t"
#else
#define CAIRN_INTERCEPT_CALL(name) "call " #name "\n\t"
#endif

/* Declares NAME, and the entry point NAME_intercept by which the copy's calls enter it. */
#define CAIRN_INTERCEPT(name)                                               \
    CAIRN_C struct cairn_wide_reply name(const struct cairn_passing *call); \
    static void name##_intercept(void);                                    \
    __attribute__((naked, used)) static void name##_intercept(void)        \
    {                                                                      \
        __asm__("addi sp, sp, -112\n\t"                                    \
                "sd a0, 0(sp)\n\t"                                         \
                "sd a1, 8(sp)\n\t"                                         \
                "sd a2, 16(sp)\n\t"                                        \
                "sd a3, 24(sp)\n\t"                                        \
                "sd a4, 32(sp)\n\t"                                        \
                "sd a5, 40(sp)\n\t"                                        \
                "sd a6, 48(sp)\n\t"                                        \
                "sd a7, 56(sp)\n\t"                                        \
                "sd ra, 104(sp)\n\t"                                       \
                "addi a0, sp, 64\n\t"                                      \
                "mv a1, sp\n\t"                                            \
                CAIRN_INTERCEPT_CALL(name)                                 \
                "ld a0, 64(sp)\n\t"                                        \
                "ld a1, 72(sp)\n\t"                                        \
                "ld a2, 80(sp)\n\t"                                        \
                "ld a3, 88(sp)\n\t"                                        \
                "ld a4, 96(sp)\n\t"                                        \
                "ld ra, 104(sp)\n\t"                                       \
                "addi sp, sp, 112\n\t"                                     \
                "ret");                                                    \
    }

/* Calls `make(context, stack pointer)`, and returns 0; in a copy of all memory a thread that begins at cairn_fork_begins with this
 * stack pointer returns from here, too, with CAIRN_CHILD. */
static int64_t cairn_fork_part(void (*make)(void *, uint64_t), void *context);
__attribute__((naked, used)) static int64_t cairn_fork_part(__attribute__((unused)) void (*make)(void *, uint64_t),
                                                            __attribute__((unused)) void *context)
{
    __asm__("addi sp, sp, -112\n\t"
            "sd ra, 0(sp)\n\t"
            "sd s0, 8(sp)\n\t"
            "sd s1, 16(sp)\n\t"
            "sd s2, 24(sp)\n\t"
            "sd s3, 32(sp)\n\t"
            "sd s4, 40(sp)\n\t"
            "sd s5, 48(sp)\n\t"
            "sd s6, 56(sp)\n\t"
            "sd s7, 64(sp)\n\t"
            "sd s8, 72(sp)\n\t"
            "sd s9, 80(sp)\n\t"
            "sd s10, 88(sp)\n\t"
            "sd s11, 96(sp)\n\t"
            "sd tp, 104(sp)\n\t"
            "mv t0, a0\n\t"
            "mv a0, a1\n\t"
            "mv a1, sp\n\t"
            "jalr t0\n\t"
            "ld ra, 0(sp)\n\t"
            "addi sp, sp, 112\n\t"
            "li a0, 0\n\t"
            "ret");
}

__attribute__((naked, used)) static void cairn_fork_begins(void)
{
    __asm__("ld ra, 0(sp)\n\t"
            "ld s0, 8(sp)\n\t"
            "ld s1, 16(sp)\n\t"
            "ld s2, 24(sp)\n\t"
            "ld s3, 32(sp)\n\t"
            "ld s4, 40(sp)\n\t"
            "ld s5, 48(sp)\n\t"
            "ld s6, 56(sp)\n\t"
            "ld s7, 64(sp)\n\t"
            "ld s8, 72(sp)\n\t"
            "ld s9, 80(sp)\n\t"
            "ld s10, 88(sp)\n\t"
            "ld s11, 96(sp)\n\t"
            "ld tp, 104(sp)\n\t"
            "addi sp, sp, 112\n\t"
            "li a0, 1\n\t"
            "ret");
}

/* What is passed through cairn_fork_part. */
struct cairn_forking {
    uint32_t loader;
    const char *name;
    size_t length;
    uint64_t intercept, quotas, child;
    int64_t status;
};

static void cairn_fork_make(void *context, uint64_t stack)
{
    struct cairn_forking *forking = (struct cairn_forking *)context;
    forking->status = loader_fork(forking->loader, forking->name, forking->length, forking->intercept,
                                  (uint64_t)cairn_fork_begins, stack, forking->quotas, &forking->child);
}

/* Makes a copy of this component called `name`, all of whose calls come by `intercept` first (CAIRN_INTERCEPT). It returns twice: here
 * with 0, and `*child` is the copy's number, and in the copy with CAIRN_CHILD; or with an error. `loader` is the import. */
static inline int64_t cairn_domain_fork(uint32_t loader, const char *name, void (*intercept)(void), struct cairn_quotas quotas,
                                        uint64_t *child)
{
    struct cairn_forking forking = { loader, name, __builtin_strlen(name), (uint64_t)intercept, 0, 0, CAIRN_ERROR_UNKNOWN };
    forking.quotas = quotas.pages | quotas.threads << 20 | quotas.semaphores << 32 | quotas.locks << 44 | quotas.children << 56;
    if (cairn_fork_part(cairn_fork_make, &forking) == CAIRN_CHILD)
        return CAIRN_CHILD;
    *child = forking.child;
    return forking.status;
}

#endif
