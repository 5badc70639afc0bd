/* What all measurements share. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* Most samples of one row, and how many one has that is neither long nor in a ring. */
#define SAMPLES 10000
/* Repetitions before samples are taken. */
#define WARMING 32

static inline uint64_t instructions(void)
{
    uint64_t count;
    __asm__ volatile("rdinstret %0" : "=r"(count)::"memory");
    return count;
}

/* A sample: the instructions that an operation takes, in all processes. */
#define MEASURE(operation)               \
    do {                                 \
        uint64_t from = instructions();  \
        operation;                       \
        note(instructions() - from);     \
    } while (0)

/* Takes samples of an operation, after it was warmed up, and reports them. */
#define ROW(name, divisor, samples, operation)                    \
    do {                                                          \
        for (unsigned round = 0; round < WARMING; round++)        \
            operation;                                            \
        for (unsigned round = 0; round < (samples); round++)      \
            MEASURE(operation);                                   \
        report(name, divisor);                                    \
    } while (0)

/* Finds what reading the counter adds. */
void begin_measuring(void);
void note(uint64_t count);
/* The median of the samples since the last report. */
uint64_t median(void);
/* Forgets them. */
void forget(void);
/* Prints the samples, less what is in each of them but not meant, in parts of what `divisor` operations take; forgets them. */
void report_without(const char *name, unsigned divisor, uint64_t less);
void report(const char *name, unsigned divisor);

/* Ends with a message if the condition does not hold. */
#define EXPECT(condition) expect((condition), #condition, __FILE__, __LINE__)
void expect(int holds, const char *condition, const char *file, int line);

/* Starts a process of a function that does not return; ends it. */
pid_t start(void (*function)(void));
void end(pid_t process);
/* Runs a program, or what this one does for an argument, until it ends. */
void run(char *const arguments[]);

/* Most processes of a ring, how many this one has, and which of them runs here. */
#define RING_MAXIMUM 96
extern unsigned members, member;
extern int pipes[RING_MAXIMUM][2];
/* Makes its pipes; starts all but the first process; ends those, and the pipes. */
void open_ring(unsigned count);
void start_ring(void (*function)(void));
void end_ring(void);
/* Reads a byte of a member's pipe, or writes one; whether that was possible. Both are in samples: a call would be, too. */
static inline int take_token(unsigned from)
{
    char token;
    return read(pipes[from][0], &token, 1) == 1;
}

static inline int put_token(unsigned to)
{
    char token = 1;
    return write(pipes[to][1], &token, 1) == 1;
}

/* Where this program is. */
extern const char *program;

void measure_calls(void);
void measure_signals(void);
void measure_faults(void);
void measure_appel(void);
void measure_processes(void);
void measure_channels(void);
void measure_sockets(void);
void measure_switches(void);
void measure_macros(void);
void measure_services(void);

#endif
