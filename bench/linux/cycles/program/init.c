/*
 * Measures the Linux that it is the init of on a simulated core, in cycles and executed instructions: what bench/linux/program measures, of which a
 * simulation has the time for, by a program that any core executes. It has no C library: it calls Linux itself.
 */
#include <stddef.h>
#include <stdint.h>

/* Linux' numbers of system calls, and what else its interface has numbers for. */
enum {
    CLOSE = 57,
    PIPE2 = 59,
    READ = 63,
    WRITE = 64,
    EXIT = 93,
    KILL = 129,
    REBOOT = 142,
    GETPPID = 173,
    CLONE = 220,
    MMAP = 222,
    WAIT4 = 260,
    PROT_READ_WRITE = 3,
    MAP_PRIVATE_ANONYMOUS = 0x22,
    SIGKILL = 9,
    SIGCHLD = 17,
};

#define PAGE 4096
#define SAMPLES 100
#define WARMING 20
#define MEMBERS_MAXIMUM 8

static long call(long number, long first, long second, long third, long fourth, long fifth, long sixth)
{
    register long a0 __asm__("a0") = first;
    register long a1 __asm__("a1") = second;
    register long a2 __asm__("a2") = third;
    register long a3 __asm__("a3") = fourth;
    register long a4 __asm__("a4") = fifth;
    register long a5 __asm__("a5") = sixth;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7) : "memory");
    return a0;
}

static inline long call3(long number, long first, long second, long third)
{
    return call(number, first, second, third, 0, 0, 0);
}

/* The compiler makes calls of it. */
void *memset(void *memory, int byte, size_t size)
{
    for (size_t at = 0; at < size; at++)
        ((volatile char *)memory)[at] = (char)byte;
    return memory;
}

/* ------------------------------------------------------------------------------------------ what is said */

static char line[160];
static size_t length;

static void say(const char *text)
{
    while (*text)
        line[length++] = *text++;
}

static void say_number(int64_t number)
{
    char digits[20];
    size_t count = 0;
    if (number < 0) {
        line[length++] = '-';
        number = -number;
    }
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10));
    while (count > 0)
        line[length++] = digits[--count];
}

static void end_line(void)
{
    line[length++] = '\n';
    call3(WRITE, 1, (long)line, (long)length);
    length = 0;
}

static void expect(int holds, const char *what)
{
    if (holds)
        return;
    say("expected: ");
    say(what);
    end_line();
    call3(EXIT, 1, 0, 0);
}

/* ------------------------------------------------------------------------------------------ samples */

struct stamp {
    uint64_t cycles, instructions;
};

static inline struct stamp now(void)
{
    struct stamp stamp;
    __asm__ volatile("rdcycle %0\n\trdinstret %1" : "=r"(stamp.cycles), "=r"(stamp.instructions)::"memory");
    return stamp;
}

static struct samples {
    const char *unit;
    uint64_t reading; /* what reading the counters adds */
    int64_t of[SAMPLES];
} cycles = { .unit = " cycles ", .reading = UINT64_MAX }, executed = { .unit = " instructions ", .reading = UINT64_MAX };
static unsigned count;

/* Takes a sample of an operation. */
#define MEASURE(operation)            \
    do {                              \
        struct stamp from = now();    \
        operation;                    \
        note(from, now());            \
    } while (0)

static void note(struct stamp from, struct stamp to)
{
    cycles.of[count] = (int64_t)(to.cycles - from.cycles - cycles.reading);
    executed.of[count] = (int64_t)(to.instructions - from.instructions - executed.reading);
    count++;
}

static void begin_measuring(void)
{
    for (unsigned round = 0; round < WARMING; round++) {
        struct stamp from = now(), to = now();
        if (to.cycles - from.cycles < cycles.reading)
            cycles.reading = to.cycles - from.cycles;
        if (to.instructions - from.instructions < executed.reading)
            executed.reading = to.instructions - from.instructions;
    }
}

static int64_t median(struct samples *samples)
{
    for (unsigned next = 1; next < count; next++)
        for (unsigned at = next; at > 0 && samples->of[at - 1] > samples->of[at]; at--) {
            int64_t larger = samples->of[at - 1];
            samples->of[at - 1] = samples->of[at];
            samples->of[at] = larger;
        }
    return samples->of[count / 2];
}

static void report_unit(const char *name, unsigned divisor, struct samples *samples, int64_t less)
{
    int64_t middle = median(samples);
    say("BENCH ");
    say(name);
    say(samples->unit);
    say_number(divisor);
    const int64_t numbers[] = { samples->of[0], middle, samples->of[count * 99 / 100], samples->of[count - 1] };
    for (unsigned each = 0; each < sizeof numbers / sizeof numbers[0]; each++) {
        say(" ");
        say_number(numbers[each] - less);
    }
    say(" ");
    say_number(count);
    end_line();
}

/* Prints the samples, in parts of what `divisor` operations take, less what is in each of them but not meant, and forgets them. */
static void report(const char *name, unsigned divisor, struct stamp less)
{
    report_unit(name, divisor, &cycles, (int64_t)less.cycles);
    report_unit(name, divisor, &executed, (int64_t)less.instructions);
    count = 0;
}

static const struct stamp nothing;

/* ------------------------------------------------------------------------------------------ calls and faults */

static void measure_null(void)
{
    for (unsigned round = 0; round < WARMING; round++)
        call3(GETPPID, 0, 0, 0);
    for (unsigned round = 0; round < SAMPLES; round++)
        MEASURE(call3(GETPPID, 0, 0, 0));
    report("null", 1, nothing);
}

static void measure_fault(void)
{
    volatile char *memory = (volatile char *)call(MMAP, 0, (WARMING + SAMPLES) * PAGE, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0);
    expect((long)memory > 0, "memory");
    for (unsigned page = 0; page < WARMING; page++)
        memory[page * PAGE] = 1;
    for (unsigned page = WARMING; page < WARMING + SAMPLES; page++)
        MEASURE(memory[page * PAGE] = 1);
    report("fault.anonymous", 1, nothing);
}

/* ------------------------------------------------------------------------------------------ pipes, and switches */

static int pipes[MEMBERS_MAXIMUM][2];
static long processes[MEMBERS_MAXIMUM];
static unsigned members, member;

static int take_token(unsigned from)
{
    char token;
    return call3(READ, pipes[from][0], (long)&token, 1) == 1;
}

static int put_token(unsigned to)
{
    char token = 1;
    return call3(WRITE, pipes[to][1], (long)&token, 1) == 1;
}

static void open_ring(unsigned count_of_members)
{
    members = count_of_members;
    for (unsigned each = 0; each < members; each++)
        expect(call3(PIPE2, (long)pipes[each], 0, 0) == 0, "a pipe");
}

/* The others pass the token on as long as they live. */
static void start_ring(void)
{
    for (unsigned each = 1; each < members; each++) {
        processes[each] = call(CLONE, SIGCHLD, 0, 0, 0, 0, 0);
        expect(processes[each] >= 0, "a process");
        for (member = each; processes[each] == 0;)
            if (!take_token(member) || !put_token((member + 1) % members))
                call3(EXIT, 1, 0, 0);
    }
}

static void end_ring(void)
{
    for (unsigned each = 1; each < members; each++) {
        call3(KILL, processes[each], SIGKILL, 0);
        expect(call(WAIT4, processes[each], 0, 0, 0, 0, 0) == processes[each], "its end");
    }
    for (unsigned each = 0; each < members; each++) {
        call3(CLOSE, pipes[each][0], 0, 0);
        call3(CLOSE, pipes[each][1], 0, 0);
    }
}

static void around(void)
{
    expect(put_token(1 % members) && take_token(0), "the token");
}

static void pass_alone(void)
{
    for (unsigned from = 0; from < members; from++)
        expect(take_token(from) && put_token((from + 1) % members), "the token");
}

static void measure_pipe(void)
{
    open_ring(2);
    start_ring();
    for (unsigned round = 0; round < WARMING; round++)
        around();
    for (unsigned round = 0; round < SAMPLES; round++)
        MEASURE(around());
    report("pipe", 2, nothing);
    end_ring();
}

/* A token goes around, less the same in one process that has all pipes (lmbench's `lat_ctx`). */
static void measure_switch(const char *name, unsigned count_of_members)
{
    unsigned rounds = 2 * SAMPLES / count_of_members;
    struct stamp passing;
    open_ring(count_of_members);
    expect(put_token(0), "the token");
    for (unsigned round = 0; round < WARMING; round++)
        pass_alone();
    for (unsigned round = 0; round < rounds; round++)
        MEASURE(pass_alone());
    expect(take_token(0), "the token");
    passing = (struct stamp){ (uint64_t)median(&cycles), (uint64_t)median(&executed) };
    count = 0;
    start_ring();
    for (unsigned round = 0; round < WARMING; round++)
        around();
    for (unsigned round = 0; round < rounds; round++)
        MEASURE(around());
    report(name, count_of_members, passing);
    end_ring();
}

void begin(void)
{
    begin_measuring();
    measure_null();
    measure_fault();
    measure_pipe();
    measure_switch("switch.0.2", 2);
    measure_switch("switch.0.8", 8);
    say("BENCH-END");
    end_line();
    /* Power off. */
    call3(REBOOT, 0xfee1dead, 672274793, 0x4321fedc);
    for (;;)
        ;
}

__asm__(".globl _start\n_start:\n\tandi sp, sp, -16\n\ttail begin\n");
