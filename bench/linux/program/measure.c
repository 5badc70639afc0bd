/* Samples, and processes that take part. */
#include "measure.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static uint32_t samples[SAMPLES];
static unsigned count;
static uint64_t reading = UINT64_MAX;

void expect(int holds, const char *condition, const char *file, int line)
{
    if (holds)
        return;
    printf("%s:%d: expected %s: %s\n", file, line, condition, strerror(errno));
    exit(1);
}

void begin_measuring(void)
{
    for (unsigned round = 0; round < WARMING; round++) {
        uint64_t from = instructions(), cost = instructions() - from;
        if (cost < reading)
            reading = cost;
    }
}

void note(uint64_t cost)
{
    cost -= reading;
    if (count < SAMPLES)
        samples[count++] = cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
}

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

uint64_t median(void)
{
    EXPECT(count > 0);
    qsort(samples, count, sizeof samples[0], compare);
    return samples[count / 2];
}

void forget(void)
{
    count = 0;
}

void report_without(const char *name, unsigned divisor, uint64_t less)
{
    int64_t middle = (int64_t)(median() - less), minimum = samples[0] - (int64_t)less,
            most = samples[count - 1] - (int64_t)less,
            nearly = samples[count * 99 / 100] - (int64_t)less;
    printf("BENCH %s instructions %u %ld %ld %ld %ld %u\n", name, divisor, minimum, middle, nearly, most, count);
    forget();
}

void report(const char *name, unsigned divisor)
{
    report_without(name, divisor, 0);
}

pid_t start(void (*function)(void))
{
    pid_t process = fork();
    EXPECT(process >= 0);
    if (process == 0) {
        function();
        _exit(1);
    }
    return process;
}

void end(pid_t process)
{
    kill(process, SIGKILL);
    EXPECT(waitpid(process, NULL, 0) == process);
}

void run(char *const arguments[])
{
    pid_t process = vfork();
    int status;
    EXPECT(process >= 0);
    if (process == 0) {
        execv(arguments[0], arguments);
        _exit(127);
    }
    EXPECT(waitpid(process, &status, 0) == process && status == 0);
}
