/* What a component in C or C++ needs: calling portals, its descriptor, error numbers.
 *
 * The layouts are those of the Rust crate `cairn-abi`, and change with its version; its numbers are in
 * `cairn_abi.h`, which the build makes of it (`./cairn headers abi` prints it).
 *
 * docs/c-components.md says how to build. */
#ifndef CAIRN_H
#define CAIRN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn_abi.h" /* CAIRN_ERROR_*, why a call failed; CAIRN_PORTAL_*, portals that every domain has */

#include "cairn_reply.h"

#ifdef __cplusplus
#define _Static_assert static_assert
#endif

/* ------------------------------------------------------------------------------- calling a portal */

/* Calls the portal at `index`. The portal fills in a0, the control word. A buffer of more than 64
 * bytes must begin at a page boundary: the callee sees whole pages, the last one to its end. */
static inline struct cairn_wide_reply cairn_wide_call(uint64_t index, uint64_t word1, uint64_t word2, uint64_t word3,
                                                      uint64_t word4, uint64_t word5, uint64_t word6, uint64_t word7)
{
    register uint64_t t0 __asm__("t0") = index;
    register int64_t a0 __asm__("a0");
    register uint64_t a1 __asm__("a1") = word1;
    register uint64_t a2 __asm__("a2") = word2;
    register uint64_t a3 __asm__("a3") = word3;
    register uint64_t a4 __asm__("a4") = word4;
    register uint64_t a5 __asm__("a5") = word5;
    register uint64_t a6 __asm__("a6") = word6;
    register uint64_t a7 __asm__("a7") = word7;
    /* A portal call is a call by the C convention: it destroys what that does not preserve. If the compiler knows the
     * index, the call has a stub of its own, in the form that calls have, noted for the host tool. */
    if (__builtin_constant_p(index))
        __asm__ volatile(".pushsection .text.cairn_stub, \"ax\"\n"
                         ".balign 16\n"
                         ".option push\n"
                         ".option norvc\n"
                         "1: li t0, %9\n"
                         "ecall\n"
                         "j .\n"
                         ".option pop\n"
                         ".balign 16\n"
                         ".popsection\n"
                         ".pushsection .cairn.stubs, \"\", @progbits\n"
                         ".dword 1b\n"
                         ".popsection\n"
                         "call 1b"
                         : "=r"(a0), "=r"(t0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a5), "+r"(a6), "+r"(a7)
                         : "i"(__builtin_constant_p(index) ? index : 0)
                         : "ra", "t1", "t2", "t3", "t4", "t5", "t6", "memory");
    else
        __asm__ volatile("call cairn_portal_call"
                         : "=r"(a0), "+r"(t0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a5), "+r"(a6), "+r"(a7)
                         :
                         : "ra", "t1", "t2", "t3", "t4", "t5", "t6", "memory");
    return (struct cairn_wide_reply){ a0, { a1, a2, a3, a4 } };
}

/* The same for a method whose value is one word. */
static inline struct cairn_reply cairn_call(uint64_t index, uint64_t word1, uint64_t word2, uint64_t word3,
                                            uint64_t word4, uint64_t word5, uint64_t word6, uint64_t word7)
{
    struct cairn_wide_reply reply = cairn_wide_call(index, word1, word2, word3, word4, word5, word6, word7);
    return (struct cairn_reply){ reply.status, reply.words[0] };
}

/* How the functions of a server are entered. A program with thread-local variables or constructors, or that calls `cairn_ready`,
 * is compiled with CAIRN_ENTERED, which the build defines: a function by which each is entered sees to them first (lib/c/enter.S). */
#ifdef CAIRN_ENTERED
#define CAIRN_ENTERING(name)                                 \
    static void name##_entry(void) __asm__(#name "_entry"); \
    __attribute__((naked, used)) static void name##_entry(void) \
    {                                                        \
        __asm__("lla t0, " #name "\n\ttail cairn_enter");    \
    }
#define CAIRN_ENTRY(name) name##_entry
#else
#define CAIRN_ENTERING(name)
#define CAIRN_ENTRY(name) (cairn_entry)name
#endif

/* The first portal of what `portals_reserve` answered. */
static inline uint32_t cairn_place_portal(uint64_t place)
{
    return (uint32_t)(place & 0xffff);
}

/* The library's one copy routine (lib/cairn/src/arch/riscv64/copy.S); answers how many bytes it copied: none
 * in the kernel domain, if the caller may not read or write there. */
CAIRN_C size_t cairn_copy(volatile void *to, const volatile void *from, size_t count);

/* Copies out of a window: another thread may write it meanwhile, so each byte is read once. */
static inline size_t cairn_copy_in(void *to, const volatile void *from, size_t count)
{
    return cairn_copy(to, from, count);
}

/* Copies into a window. */
static inline size_t cairn_copy_out(volatile void *to, const void *from, size_t count)
{
    return cairn_copy(to, from, count);
}

/* --------------------------------------------------------------------- the component's descriptor */

struct cairn_method {
    char name[CAIRN_NAME_SIZE];
    char letters[CAIRN_LETTERS_SIZE];
    uint32_t value; /* CAIRN_VALUE_* */
};

struct cairn_interface {
    char name[CAIRN_NAME_SIZE];
    uint64_t version;
    uint32_t method_count;
    struct cairn_method methods[CAIRN_METHODS_MAXIMUM];
};

struct cairn_import {
    char name[CAIRN_NAME_SIZE];
    uint32_t first_portal;
    struct cairn_interface interface;
    uint16_t minimal; /* 0: a call in C does not save the registers that the convention preserves */
    uint16_t optional; /* 1: a description may leave it out; a call answers CAIRN_ERROR_NO_PORTAL then */
};

/* A server's entry point, whatever its parameters are: the registers are the same for all. */
typedef void (*cairn_entry)(void);

struct cairn_export {
    char name[CAIRN_NAME_SIZE];
    uint32_t is_object; /* 0: a service. 1: an object interface. */
    struct cairn_interface interface;
    cairn_entry entries[CAIRN_METHODS_MAXIMUM];
};

/* An argument of the component's instances. The description gives it as a number, a text or `true`; the last has kind 0. */
struct cairn_argument {
    char name[CAIRN_NAME_SIZE];
    uint32_t kind; /* CAIRN_ARGUMENT_* */
    uint32_t has_default;
    uint64_t default_value;
};

struct cairn_component {
    uint64_t magic;
    uint32_t abi_version;
    uint32_t import_count;
    uint32_t export_count;
    char name[CAIRN_NAME_SIZE];
    uint32_t says_ready; /* left out: it does if it calls `cairn_ready` */
    void (*main)(void);
    struct cairn_import imports[CAIRN_IMPORTS_MAXIMUM];
    struct cairn_export exports[CAIRN_EXPORTS_MAXIMUM];
    struct cairn_argument arguments[CAIRN_ARGUMENTS_MAXIMUM];
};

_Static_assert(sizeof(struct cairn_method) == CAIRN_SIZE_OF_METHOD, "as in cairn-abi");
_Static_assert(sizeof(struct cairn_interface) == CAIRN_SIZE_OF_INTERFACE, "as in cairn-abi");
_Static_assert(sizeof(struct cairn_import) == CAIRN_SIZE_OF_IMPORT, "as in cairn-abi");
_Static_assert(sizeof(struct cairn_export) == CAIRN_SIZE_OF_EXPORT, "as in cairn-abi");
_Static_assert(sizeof(struct cairn_argument) == CAIRN_SIZE_OF_ARGUMENT, "as in cairn-abi");
_Static_assert(sizeof(struct cairn_component) == CAIRN_SIZE_OF_COMPONENT, "as in cairn-abi");

/* This component serves from now on: its first thread has prepared what it serves. If that calls this at all, calls wait until then, or
 * answer CAIRN_ERROR_NOT_READY. Again, it does nothing. */
CAIRN_C void cairn_ready(void);

/* The descriptor, once in a component, at the file's top level:
 *
 *   enum { CONSOLE = CAIRN_PORTAL_FIRST_IMPORT, CLOCK = CONSOLE + CONSOLE_METHODS };
 *   ECHO_SERVER(greeter)
 *   CAIRN_COMPONENT(
 *       .name = "greeter",
 *       .main = greet,
 *       .import_count = 2,
 *       .imports = { { "console", CONSOLE, CONSOLE_INTERFACE }, { "clock", CLOCK, CLOCK_INTERFACE } },
 *       .export_count = 1,
 *       .exports = { { "echo", 0, ECHO_INTERFACE, ECHO_ENTRIES(greeter) } });
 *
 * The linker script finds it by its section's name. In C++ the members stand in the order of the structure. */
#define CAIRN_COMPONENT(...)                                                                           \
    CAIRN_FIRST_THREAD(__VA_ARGS__)                                                                    \
    __attribute__((used, section(".data.rel.ro.CAIRN_COMPONENT"))) struct cairn_component CAIRN_COMPONENT = { \
        .magic = CAIRN_DESCRIPTOR_MAGIC,                                                              \
        .abi_version = CAIRN_ABI_VERSION,                                                             \
        __VA_ARGS__                                                                                   \
    }

/* Where the first thread begins instead of its main function, as the functions of a server. */
#ifdef CAIRN_ENTERED
#define CAIRN_FIRST_THREAD(...)                                                   \
    static const struct cairn_component cairn_declared = { __VA_ARGS__ };         \
    CAIRN_C __attribute__((used)) bool cairn_has_first_thread(void)               \
    {                                                                             \
        return cairn_declared.main;                                               \
    }                                                                             \
    CAIRN_C __attribute__((used)) void cairn_main(void)                           \
    {                                                                             \
        if (cairn_declared.main)                                                  \
            cairn_declared.main();                                                \
    }                                                                             \
    CAIRN_C __attribute__((naked, used)) void cairn_first_thread(void)            \
    {                                                                             \
        __asm__("lla t0, cairn_main\n\ttail cairn_enter_own");                    \
    }
#else
#define CAIRN_FIRST_THREAD(...)
#endif

#include "cairn_startup.h"

#endif
