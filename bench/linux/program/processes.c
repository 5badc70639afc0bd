/* Processes and threads that begin and end, and switches between processes. */
#include "measure.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void fork_and_wait(void)
{
    pid_t process = fork();
    if (process == 0)
        _exit(0);
    EXPECT(process > 0 && waitpid(process, NULL, 0) == process);
}

static void execute_and_wait(void)
{
    pid_t process = fork();
    if (process == 0) {
        execl(program, program, "exit", (char *)NULL);
        _exit(127);
    }
    EXPECT(process > 0 && waitpid(process, NULL, 0) == process);
}

static void *nothing(void *argument)
{
    return argument;
}

static void create_and_join(void)
{
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, nothing, NULL) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
}

void measure_processes(void)
{
    ROW("fork", 1, SAMPLES / 10, fork_and_wait());
    ROW("exec", 1, SAMPLES / 10, execute_and_wait());
    ROW("pthread", 1, SAMPLES / 2, create_and_join());
}

/* ---------------------------------------------------------------------------------------- lmbench's lat_ctx */

/* A token goes around a ring; each process sums up an array of its own when it comes by. */
static unsigned words;
static volatile unsigned array[16 * 1024 / sizeof(unsigned)];

static void sum(void)
{
    unsigned total = 0;
    for (unsigned word = 0; word < words; word++)
        total += array[word];
    array[0] = total;
}

static void pass(unsigned from, unsigned to)
{
    if (!take_token(from))
        _exit(1);
    sum();
    if (!put_token(to))
        _exit(1);
}

static void take_part(void)
{
    /* An array of its own, not that of all. */
    for (unsigned word = 0; word < words; word += 1024)
        array[word] = member;
    for (;;)
        pass(member, (member + 1) % members);
}

static void around(void)
{
    EXPECT(put_token(1));
    EXPECT(take_token(0));
    sum();
}

/* The same without a switch: one process has all pipes. */
static uint64_t cost_of_passing(unsigned rounds)
{
    EXPECT(put_token(0));
    for (unsigned round = 0; round < rounds; round++)
        MEASURE(for (unsigned from = 0; from < members; from++) pass(from, (from + 1) % members));
    EXPECT(take_token(0));
    uint64_t cost = median();
    forget();
    return cost;
}

static void measure_switch(unsigned kib, unsigned count)
{
    char name[32];
    unsigned rounds = 4000 / count;
    words = kib * 1024 / sizeof array[0];
    open_ring(count);
    uint64_t passing = cost_of_passing(rounds);
    start_ring(take_part);
    for (unsigned round = 0; round < 3; round++)
        around();
    for (unsigned round = 0; round < rounds; round++)
        MEASURE(around());
    snprintf(name, sizeof name, "switch.%u.%u", kib, count);
    report_without(name, count, passing);
    end_ring();
}

void measure_switches(void)
{
    static const unsigned counts[] = { 2, 4, 8, 16, 24, 32, 64, 96 };
    for (unsigned kib = 0; kib <= 16; kib += 16)
        for (unsigned each = 0; each < sizeof counts / sizeof counts[0]; each++)
            measure_switch(kib, counts[each]);
}
