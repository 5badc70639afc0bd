/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linux among other components: its threads. One carries the kernel and its processes; the others wait for it, for the time and for what is
 * typed, so that it never waits itself, and set bits of its pending word.
 */
#include "../../arch/include/asm/component.h"

#include "imports.h"
#include "keyboard.h"
#include "semaphore.h"

#include "cairn_startup.h"
#include "cairn_thread.h"

#include <stdatomic.h>

enum { COMMAND_LINE, PRIORITY, READS_CONSOLE, CALLERS, SNAPSHOT };

KEYBOARD_SERVER(linux)

#define PAGE_SIZE 4096

/* For so long the console may take to show what is still to be said at the end. */
enum { LAST_WORDS_SECONDS = 1 };

/* What the processes' portals are called by (abi/src/privileged.rs). */
enum { BEGIN = 4, INTERRUPT = 11, FLOAT = 12 };

#define PENDING ((_Atomic uint64_t *)-2016)

struct cairn_given cairn_given;

static uint32_t events, idle, output; /* semaphores */
static volatile bool is_idle, is_off;
static volatile uint64_t deadline = UINT64_MAX, waiting_until;

static CAIRN_STACK(8192) stacks[3] = { CAIRN_GUARDED, CAIRN_GUARDED, CAIRN_GUARDED };

static uint64_t now(void)
{
    uint64_t time;
    __asm__ volatile("rdtime %0" : "=r"(time));
    return time;
}

uint32_t make_semaphore(void)
{
    uint64_t portal;
    if (portals_make_semaphore(PORTALS, 0, &portal) != 0)
        cairn_panic("no semaphore: it takes more `semaphores` in the description");
    return (uint32_t)portal;
}

static void spawn(void (*function)(uint64_t), uint64_t argument, void *stack, uint64_t priority)
{
    uint64_t thread;
    if (cairn_spawn(THREADS, function, argument, stack, sizeof stacks[0].bytes, priority, &thread) != 0)
        cairn_panic("no thread: it takes more `threads` in the description, and its argument `priority` is at most the instance's");
}

void begin_thread(void (*function)(uint64_t), uint64_t argument, void *stack)
{
    spawn(function, argument, stack, cairn_argument(PRIORITY) - 1);
}

void wait_a_while(void)
{
    threads_sleep_until(THREADS, now() + cairn_startup()->time_base / 50);
}

void raise(unsigned interrupt)
{
    atomic_fetch_or_explicit(PENDING, UINT64_C(1) << interrupt, memory_order_relaxed);
    /* The kernel's thread alone says that it is not: this one may be of less priority, and stopped here while others have interrupts for it. */
    if (is_idle) {
        semaphore_v(idle);
    } else {
        /* It comes by itself where no process runs. */
        cairn_call(INTERRUPT, 0, 0, 0, 0, 0, 0, 0);
    }
}

void cairn_idle(void)
{
    is_idle = true;
    if (atomic_load_explicit(PENDING, memory_order_relaxed) == 0)
        semaphore_p(idle);
    is_idle = false;
}

/* ---------------------------------------------------------------------------------------------- time */

void cairn_set_timer(unsigned long time)
{
    deadline = time;
    if (time < waiting_until)
        semaphore_v(events);
}

static void wait_for_time(void)
{
    for (;;) {
        waiting_until = deadline;
        semaphore_p_until(events, waiting_until);
        if (now() >= deadline) {
            deadline = UINT64_MAX;
            raise(CAIRN_IRQ_TIMER);
        }
    }
}

/* ---------------------------------------------------------------------------------------------- console */

/* What one thread writes at a time and another reads; `from` and `to` only grow. */
static struct ring {
    _Atomic uint32_t from, to;
    char bytes[8192];
} said, typed, typed_by_others;

static uint32_t put(struct ring *ring, const char *bytes, uint32_t count)
{
    uint32_t to = ring->to, room = sizeof ring->bytes - (to - ring->from);
    if (count > room)
        count = room;
    for (uint32_t byte = 0; byte < count; byte++)
        ring->bytes[(to + byte) % sizeof ring->bytes] = bytes[byte];
    ring->to = to + count;
    return count;
}

static uint32_t get(struct ring *ring, char *bytes, uint32_t room)
{
    uint32_t from = ring->from, count = ring->to - from;
    if (count > room)
        count = room;
    for (uint32_t byte = 0; byte < count; byte++)
        bytes[byte] = ring->bytes[(from + byte) % sizeof ring->bytes];
    ring->from = from + count;
    return count;
}

unsigned long cairn_say(const char *text, unsigned long count)
{
    uint32_t taken = put(&said, text, count > 4096 ? 4096 : (uint32_t)count);
    if (taken > 0)
        semaphore_v(output);
    return taken;
}

unsigned long cairn_hear(char *text, unsigned long room)
{
    uint32_t count = get(&typed, text, (uint32_t)room);
    return count + get(&typed_by_others, text + count, (uint32_t)room - count);
}

static void write_what_is_said(uint64_t unused)
{
    (void)unused;
    for (;;) {
        static char text[256];
        uint32_t count;
        semaphore_p(output);
        while ((count = get(&said, text, 64)) > 0)
            console_write(CONSOLE, text, count);
    }
}

/* Of other components, which may be of less priority than Linux, and stopped at any place: nobody but them waits for that. */
static void type(const char *bytes, uint32_t count)
{
    static atomic_int is_typing;
    while (atomic_exchange(&is_typing, 1))
        wait_a_while();
    put(&typed_by_others, bytes, count);
    is_typing = 0;
}

struct cairn_reply linux_type_text(uint64_t control, const volatile void *text, size_t length)
{
    (void)control;
    char bytes[64];
    if (is_off)
        return (struct cairn_reply){ CAIRN_ERROR_DEAD, 0 };
    for (size_t done = 0; done < length; done += sizeof bytes) {
        size_t count = length - done < sizeof bytes ? length - done : sizeof bytes;
        cairn_copy_in(bytes, (const volatile char *)text + done, count);
        type(bytes, (uint32_t)count);
    }
    raise(CAIRN_IRQ_CONSOLE);
    return (struct cairn_reply){ 0, 0 };
}

static void read_what_is_typed(uint64_t unused)
{
    (void)unused;
    for (;;) {
        char text[64];
        uint64_t count;
        if (console_read(CONSOLE, text, sizeof text, &count) != 0)
            return;
        /* What the kernel does not fetch in time is lost, as by any serial line. */
        put(&typed, text, (uint32_t)count);
        raise(CAIRN_IRQ_CONSOLE);
    }
}

/* ---------------------------------------------------------------------------------------------- beginning and end */

void cairn_begun(void)
{
    cairn_ready();
}

void cairn_end(int how)
{
    /* The last words are shown first, if the console takes them: others wait for the end, who are inside. */
    uint64_t until = now() + LAST_WORDS_SECONDS * cairn_startup()->time_base;
    while (said.from != said.to && now() < until)
        threads_sleep_until(THREADS, now() + cairn_startup()->time_base / 1000);
    if (how == CAIRN_END_PANIC)
        cairn_panic("Linux panicked");
    if (how == CAIRN_END_RESTART)
        cairn_panic("Linux restarts");
    end_services();
    is_off = true;
    for (;;)
        threads_sleep_until(THREADS, UINT64_MAX);
}

static void begin(uint64_t unused)
{
    (void)unused;
    register uint64_t t0 __asm__("t0") = BEGIN;
    register uint64_t a0 __asm__("a0") = (uint64_t)cairn_enter_call;
    register uint64_t a1 __asm__("a1") = (uint64_t)cairn_enter_fault;
    register uint64_t a2 __asm__("a2") = (uint64_t)cairn_enter_interrupt;
    __asm__ volatile("call cairn_portal_call"
                     : "+r"(t0), "+r"(a0), "+r"(a1), "+r"(a2)
                     :
                     : "ra", "t1", "t2", "t3", "t4", "t5", "t6", "memory");
    if (a0 != 0)
        cairn_panic("no carrier of processes: it takes `processes` in the description");
    cairn_start_kernel();
}

/* A section of the description; NULL: there is none of this name. */
static const struct cairn_mapping *section(const char *name)
{
    const struct cairn_startup *startup = cairn_startup();
    for (uint32_t number = 0; number < startup->section_count; number++)
        if (strcmp(startup->sections[number].name, name) == 0)
            return &startup->sections[number];
    return NULL;
}

/* Bytes of a section without the zeros at its end, which Linux would look at one by one. */
static uint64_t content(const struct cairn_mapping *section)
{
    const uint64_t *words = (const uint64_t *)section->address;
    uint64_t count = section->size / sizeof *words;
    while (count > 0 && words[count - 1] == 0)
        count--;
    return count * sizeof *words;
}

/* What the kernel would have of devices. Who does not answer has nothing. */
static void ask_for_time_and_seed(void)
{
    /* Whoever fills it sees the page. */
    static _Alignas(4096) unsigned char page[4096];
    uint64_t time = 0, size = 0;
    if (!cairn_is_left_out(CLOCK_PLACE) && wall_clock_now(CLOCK, &time) == 0)
        cairn_given.wall_time = time;
    cairn_given.wall_ticks = now();
    while (!cairn_is_left_out(RANDOM_PLACE) && cairn_given.seed_size < sizeof cairn_given.seed &&
           random_fill(RANDOM, page + cairn_given.seed_size, sizeof cairn_given.seed - cairn_given.seed_size, &size) == 0 && size > 0 &&
           size <= sizeof cairn_given.seed - cairn_given.seed_size)
        cairn_given.seed_size += size;
    memcpy(cairn_given.seed, page, cairn_given.seed_size);
    memset(page, 0, sizeof page);
}

/*
 * The last word of memory, which is never Linux', says how large the life before had its snapshot. What lies where one of another size begins was
 * memory of that life's processes, and says what they like; before the first life, whatever there was.
 */
static void keep_snapshot(uint64_t generation, uint64_t size, uint64_t end)
{
    volatile uint64_t *before = (volatile uint64_t *)(end + CAIRN_PROCESS_MEMORY) - 1;
    if (size > 0 && (generation == 0 || *before != size))
        *(volatile uint64_t *)(end - size + CAIRN_PROCESS_MEMORY) = 0;
    *before = size;
}

static void start(void)
{
    const struct cairn_startup *startup = cairn_startup();
    const struct cairn_processes *processes = &startup->processes;
    const struct cairn_mapping *initramfs = section("initramfs");
    const char *command_line;
    static char line[CAIRN_ARGUMENT_SIZE + 1];
    size_t length = cairn_argument_text(COMMAND_LINE, &command_line);
    uint64_t executed, priority = cairn_argument(PRIORITY), snapshot = cairn_argument(SNAPSHOT) << 20;
    uint64_t own = snapshot > 0 ? snapshot : PAGE_SIZE, end = processes->memory + processes->memory_size;

    __asm__ volatile("rdinstret %0" : "=r"(executed));
    memcpy(line, command_line, length);
    if (snapshot > 0 && cairn_argument(SNAPSHOT) >= processes->memory_size >> 20)
        cairn_panic("`snapshot`: expected fewer MiB than the `memory` of `processes`, which they are part of");
    cairn_given = (struct cairn_given){
        .memory = processes->memory,
        .memory_size = processes->memory_size - own,
        .tables = processes->tables,
        .spaces = processes->spaces,
        .directories = processes->directories,
        .leaves = processes->leaves,
        .initramfs = initramfs ? initramfs->address : 0,
        .initramfs_size = initramfs ? content(initramfs) : 0,
        .time_base = startup->time_base,
        .has_float = cairn_call(FLOAT, 0, 0, 0, 0, 0, 0, 0).status != CAIRN_ERROR_NO_PORTAL,
        .has_disk = !cairn_is_left_out(DISK_PLACE),
        .has_network = !cairn_is_left_out(NETWORK_PLACE),
        .callers = cairn_argument(CALLERS),
        .command_line = line,
        .executed = executed,
        .snapshot = end - own,
        .snapshot_size = snapshot > 0 ? snapshot - sizeof end : 0,
    };
    if (processes->memory_size > 0)
        keep_snapshot(startup->generation, snapshot, end);
    ask_for_time_and_seed();
    *PENDING = 0;
    begin_devices();
    events = make_semaphore();
    idle = make_semaphore();
    output = make_semaphore();
    spawn(begin, 0, stacks[0].bytes, priority - 2);
    begin_thread(write_what_is_said, 0, stacks[1].bytes);
    if (cairn_argument(READS_CONSOLE))
        begin_thread(read_what_is_typed, 0, stacks[2].bytes);
    begin_disk();
    begin_network();
    begin_services(cairn_argument(CALLERS));
    wait_for_time();
}

CAIRN_COMPONENT(.name = "linux", .main = start,
                .import_count = 7,
                .imports = { { "console", CONSOLE, CONSOLE_INTERFACE },
                             { "threads", THREADS, THREADS_INTERFACE },
                             { "portals", PORTALS, PORTALS_INTERFACE },
                             { "disk", DISK, BLOCKS_INTERFACE, .optional = 1 },
                             { "network", NETWORK, FRAMES_INTERFACE, .optional = 1 },
                             { "clock", CLOCK, WALL_CLOCK_INTERFACE, .optional = 1 },
                             { "random", RANDOM, RANDOM_INTERFACE, .optional = 1 } },
                .export_count = 1,
                .exports = { { "keyboard", 0, KEYBOARD_INTERFACE, KEYBOARD_ENTRIES(linux) } },
                .arguments = { { "command_line", CAIRN_ARGUMENT_TEXT, 0, 0 },
                               { "priority", CAIRN_ARGUMENT_UNSIGNED, 0, 0 },
                               { "reads_console", CAIRN_ARGUMENT_BOOL, 1, 1 },
                               { "callers", CAIRN_ARGUMENT_UNSIGNED, 1, 0 },
                               { "snapshot", CAIRN_ARGUMENT_UNSIGNED, 1, 0 } });
