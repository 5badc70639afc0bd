/* What a component is given: its startup page, arguments, devices, sections, heap; the time; panics.
 * `cairn.h` includes this. */
#ifndef CAIRN_STARTUP_H
#define CAIRN_STARTUP_H

#include <string.h>

/* ------------------------------------------------------------------------------------------ panics */

/* A fault of this component whose report has the text, cut after 128 bytes. `abort` and `assert` end so, too. */
CAIRN_C __attribute__((noreturn)) void cairn_panic(const char *text);

/* ---------------------------------------------------------------------------------- the startup page */

/* Registers of a device, or a section. */
struct cairn_mapping {
    char name[CAIRN_NAME_SIZE]; /* of the description */
    uint64_t address;
    uint64_t size;
    uint64_t interrupt_portal; /* of the first interrupt's semaphore, then what acknowledges it, then the next; 0: none */
    uint64_t interrupt_count;
    uint64_t writable;
    uint64_t device_portal; /* of a virtio device of a known kind: the first of its portals (abi/src/device.rs); else 0 */
    uint64_t device_address; /* where the device finds the instance's memory for DMA; 0: it reaches no memory */
    uint64_t queues; /* the pages of such a device's queues, and how many queues */
    uint64_t queue_count;
};

/* What a server of processes has; all zero: it is none (abi/src/process.rs). Physical addresses: it has what lies at one
 * CAIRN_PROCESS_MEMORY further. */
struct cairn_processes {
    uint64_t memory;
    uint64_t memory_size;
    uint64_t tables; /* page tables, to be read: of spaces, directories and leaves */
    uint64_t spaces;
    uint64_t directories;
    uint64_t leaves;
};

struct cairn_startup {
    uint64_t magic;
    uint16_t instance;
    uint16_t domain;
    uint16_t portals_before;
    uint16_t imports_left_out; /* a bit for each, by its place */
    char name[CAIRN_NAME_SIZE]; /* of the instance */
    uint64_t time_base; /* ticks in a second */
    uint64_t heap;
    uint64_t heap_size;
    uint64_t generation; /* how often it was started before */
    uint32_t device_count;
    uint32_t section_count;
    uint64_t dma; /* memory for DMA, zeroed at the start */
    uint64_t dma_size;
    struct cairn_mapping devices[CAIRN_DEVICES_MAXIMUM];
    struct cairn_mapping sections[CAIRN_SECTIONS_MAXIMUM];
    uint64_t run_to_completion;
    uint64_t run_time_memory; /* where pages of `memory_allocate` can lie */
    uint64_t run_rate;
    uint64_t portal_manager; /* the first portal of the import of `Portals`; 0: none */
    uint64_t threads; /* of `Threads` */
    uint64_t thread_limit; /* the description's `threads` */
    uint64_t log_words; /* of its log; 0: it has none */
    struct cairn_processes processes;
    uint64_t heap_limit; /* as many bytes of addresses from `heap` on has the heap to grow into */
    uint64_t memory_manager; /* the first portal of the import of `Memory`; 0: none */
    uint64_t argument_length;
    char argument[CAIRN_ARGUMENT_SIZE];
    uint64_t values[CAIRN_ARGUMENTS_MAXIMUM];
};

_Static_assert(sizeof(struct cairn_mapping) == CAIRN_SIZE_OF_MAPPING, "as in cairn-abi");
_Static_assert(sizeof(struct cairn_startup) == CAIRN_SIZE_OF_STARTUP, "as in cairn-abi");
_Static_assert(offsetof(struct cairn_startup, devices) == CAIRN_STARTUP_DEVICES, "as in cairn-abi");
_Static_assert(offsetof(struct cairn_startup, argument) == CAIRN_STARTUP_ARGUMENT, "as in cairn-abi");
_Static_assert(offsetof(struct cairn_startup, values) == CAIRN_STARTUP_VALUES, "as in cairn-abi");

/* First address of the component's region: it follows from any address of its own. */
static inline uintptr_t cairn_region(void)
{
    return (uintptr_t)&cairn_copy & ~((uintptr_t)CAIRN_REGION_SIZE - 1);
}

static inline const struct cairn_startup *cairn_startup(void)
{
    return (const struct cairn_startup *)(cairn_region() + CAIRN_STARTUP_OFFSET);
}

/* The instance's name in the description; a zero ends it. */
static inline const char *cairn_name(void)
{
    return cairn_startup()->name;
}

/* The description's `argument`: how many bytes it has, and where they are; no zero ends them. */
static inline size_t cairn_argument_string(const char **text)
{
    *text = cairn_startup()->argument;
    return (size_t)cairn_startup()->argument_length;
}

/* The value of an argument of the description's `arguments`, by its place in the descriptor. */
static inline uint64_t cairn_argument(unsigned place)
{
    return cairn_startup()->values[place];
}

/* The same of text: how many bytes it has, and where they are; no zero ends them. */
static inline size_t cairn_argument_text(unsigned place, const char **text)
{
    uint64_t value = cairn_argument(place);
    *text = (const char *)(cairn_region() + (uint32_t)value);
    return (size_t)(value >> 32);
}

/* The first portal of an import whose number is in a variable. Where it is a constant, the host tool finds the call and
 * sees to this: in a domain that several instances share, the portals of those before it come first. */
static inline uint32_t cairn_import(uint32_t first_portal)
{
    return first_portal + cairn_startup()->portals_before;
}

/* Whether the description leaves out an import that is `optional`, by its place in the descriptor. */
static inline bool cairn_is_left_out(unsigned place)
{
    return cairn_startup()->imports_left_out >> place & 1;
}

/* ------------------------------------------------------------------------------- devices and sections */

static inline const struct cairn_mapping *cairn_find(const struct cairn_mapping *mappings, uint32_t count,
                                                     const char *name)
{
    for (uint32_t at = 0; at < count; at++)
        if (strncmp(mappings[at].name, name, CAIRN_NAME_SIZE) == 0)
            return &mappings[at];
    return NULL;
}

/* The device at `position` of the description's list; NULL if there is none. */
static inline const struct cairn_mapping *cairn_device(unsigned position)
{
    return position < cairn_startup()->device_count ? &cairn_startup()->devices[position] : NULL;
}

/* The device that the description calls `name`: `rtc0`, if it stands as `devices = ["rtc0"]`. A panic says so if there is
 * none. */
static inline const struct cairn_mapping *cairn_required_device(const char *name)
{
    const struct cairn_mapping *device = cairn_find(cairn_startup()->devices, cairn_startup()->device_count, name);
    if (!device) {
        char line[128] = "the description's `devices`: expected one called ";
        strncat(line, name, CAIRN_NAME_SIZE);
        cairn_panic(line);
    }
    return device;
}

/* The shared section called `name`; NULL if there is none. Others may write it at any time: read it as `volatile`, each
 * word once. */
static inline const struct cairn_mapping *cairn_section(const char *name)
{
    return cairn_find(cairn_startup()->sections, cairn_startup()->section_count, name);
}

/* A register of a device by its offset. One outside, or one that is not aligned, is a panic. */
#define CAIRN_REGISTER(bits)                                                                        \
    static inline volatile uint##bits##_t *cairn_register##bits(const struct cairn_mapping *device, \
                                                                size_t offset)                      \
    {                                                                                               \
        if (offset % (bits / 8) != 0 || offset >= device->size || device->size - offset < bits / 8) \
            cairn_panic("no such register");                                                        \
        return (volatile uint##bits##_t *)(device->address + offset);                               \
    }                                                                                               \
    static inline uint##bits##_t cairn_read##bits(const struct cairn_mapping *device, size_t offset) \
    {                                                                                               \
        return *cairn_register##bits(device, offset);                                               \
    }                                                                                               \
    static inline void cairn_write##bits(const struct cairn_mapping *device, size_t offset,         \
                                         uint##bits##_t value)                                      \
    {                                                                                               \
        *cairn_register##bits(device, offset) = value;                                              \
    }
CAIRN_REGISTER(8)
CAIRN_REGISTER(16)
CAIRN_REGISTER(32)
CAIRN_REGISTER(64)

/* -------------------------------------------------------------------------------------------- time */

/* Ticks of the board's time base (`cairn_startup()->time_base` a second), from the hart's counter. */
static inline uint64_t cairn_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("rdtime %0" : "=r"(ticks));
    return ticks;
}

#endif
