/* Sleeps for 50 microseconds, again and again: how many were much longer. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { SLEEPS = 10000, LIMIT = 200000 };

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(void)
{
    long late = 0, most = 0;
    for (int sleep = 0; sleep < SLEEPS; sleep++) {
        long before = now(), took;
        usleep(50);
        took = now() - before;
        late += took > LIMIT;
        most = took > most ? took : most;
    }
    printf("%s: %ld of %d sleeps were late, at most %ld us\n", late ? "FAILED" : "ok", late, SLEEPS, most / 1000);
    return 0;
}
