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

#define MOST 96
/* A token goes around; each process sums up an array of its own when it comes by. */
static int pipes[MOST][2];
static unsigned members, member;
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
    char token;
    if (read(pipes[from][0], &token, 1) != 1)
        _exit(1);
    sum();
    if (write(pipes[to][1], &token, 1) != 1)
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
    char token = 1;
    EXPECT(write(pipes[1][1], &token, 1) == 1);
    EXPECT(read(pipes[0][0], &token, 1) == 1);
    sum();
}

/* The same without a switch: one process has all pipes. */
static uint64_t cost_of_passing(unsigned rounds)
{
    char token = 1;
    EXPECT(write(pipes[0][1], &token, 1) == 1);
    for (unsigned round = 0; round < rounds; round++)
        MEASURE(for (unsigned from = 0; from < members; from++) pass(from, (from + 1) % members));
    EXPECT(read(pipes[0][0], &token, 1) == 1);
    uint64_t cost = median();
    forget();
    return cost;
}

static void measure_switch(unsigned kib, unsigned count)
{
    pid_t processes[MOST];
    char name[32];
    unsigned rounds = 4000 / count;
    members = count;
    words = kib * 1024 / sizeof array[0];
    for (unsigned each = 0; each < members; each++)
        EXPECT(pipe(pipes[each]) == 0);
    uint64_t passing = cost_of_passing(rounds);
    for (member = 1; member < members; member++)
        processes[member] = start(take_part);
    for (unsigned round = 0; round < 3; round++)
        around();
    for (unsigned round = 0; round < rounds; round++)
        MEASURE(around());
    snprintf(name, sizeof name, "switch.%u.%u", kib, count);
    report_without(name, count, passing);
    for (unsigned each = 1; each < members; each++)
        end(processes[each]);
    for (unsigned each = 0; each < members; each++) {
        close(pipes[each][0]);
        close(pipes[each][1]);
    }
}

void measure_switches(void)
{
    static const unsigned counts[] = { 2, 4, 8, 16, 24, 32, 64, 96 };
    for (unsigned kib = 0; kib <= 16; kib += 16)
        for (unsigned each = 0; each < sizeof counts / sizeof counts[0]; each++)
            measure_switch(kib, counts[each]);
}
