/* What the C library offers, and thread-local variables over calls, waits and switches. */
#include "cairn_library.h"
#include "cairn_thread.h"
#include "console.h"
#include "echo.h"
#include "portals.h"
#include "semaphore.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    CONSOLE = CAIRN_PORTAL_FIRST_IMPORT,
    PORTALS = CONSOLE + CONSOLE_METHODS,
    THREADS = PORTALS + PORTALS_METHODS,
    ECHO = THREADS + THREADS_METHODS,
};
CAIRN_STDIO(CONSOLE);
CAIRN_LOCKS(PORTALS);

/* One with a first value, one without, one whose first value is an address. */
static int there;
static _Thread_local long first = 7;
static _Thread_local long second;
static _Thread_local int *third = &there;

enum { THREADS_BESIDE = 3, ROUNDS = 200 };

static uint32_t turn, done;
static _Atomic long wrong, blocks;

static void check(bool is_right)
{
    if (!is_right)
        wrong++;
}

/* Its own variables keep what it puts there, whoever runs in between; memory is one's own, too. */
static void beside(uint64_t number)
{
    check(first == 7 && second == 0 && third == &there && errno == 0);
    for (long round = 1; round <= ROUNDS; round++) {
        first = (long)number * 1000 + round;
        second = -first;
        errno = (int)number + 100;
        long *block = malloc(sizeof *block * (size_t)(1 + round % 9));
        check(block != NULL);
        if (block) {
            *block = first;
            blocks++;
        }
        semaphore_v(turn);
        semaphore_p(turn);
        threads_yield_now(THREADS);
        uint64_t sum = 0;
        check(echo_add(ECHO, number, (uint64_t)round, &sum) == 0 && sum == number + (uint64_t)round + 40);
        check(first == (long)number * 1000 + round && second == -first && errno == (int)number + 100);
        check(block && *block == first);
        free(block);
    }
    semaphore_v(done);
}

static void threads(void)
{
    static CAIRN_STACK(8192) stacks[THREADS_BESIDE] = { CAIRN_GUARDED, CAIRN_GUARDED, CAIRN_GUARDED };
    uint64_t portal = 0, thread[THREADS_BESIDE];
    if (portals_make_semaphore(PORTALS, 0, &portal) != 0)
        return;
    turn = (uint32_t)portal;
    if (portals_make_semaphore(PORTALS, 0, &portal) != 0)
        return;
    done = (uint32_t)portal;
    for (uint64_t number = 0; number < THREADS_BESIDE; number++)
        check(cairn_spawn(THREADS, beside, number, stacks[number].bytes, sizeof stacks[number].bytes, 10, &thread[number]) == 0);
    for (int number = 0; number < THREADS_BESIDE; number++)
        check(semaphore_p(done) == 0);
    for (int number = 0; number < THREADS_BESIDE; number++)
        check(threads_join(THREADS, thread[number]) == 0);
    printf("%s: %ld blocks in %d threads, %ld wrong\n", cairn_name(), (long)blocks, THREADS_BESIDE, (long)wrong);
}

static void last(void)
{
    printf("tour: told atexit, ");
}

static jmp_buf back;

static void tour(void)
{
    if (cairn_name()[0] == 'n') {
        threads();
        return;
    }

    errno = 0;
    unsigned long large = strtoul("99999999999999999999", NULL, 10);
    printf("tour: strtoul says %lu, errno is ERANGE: %d\n", large, errno == ERANGE);

    char *end;
    double number = strtod("2.718281828459045e2 and more", &end);
    printf("tour: %.10f %g %e%s\n", number, 1.0 / 3.0, sqrt(2.0), end);

    srand(42);
    int one = rand(), other = rand();
    srand(42);
    printf("tour: rand again the same: %d, not one number: %d\n", rand() == one && rand() == other, one != other);

    int came = setjmp(back);
    if (came == 0)
        longjmp(back, 5);
    printf("tour: back by longjmp with %d\n", came);

    char *text = malloc(20000), *more = realloc(text, 40000);
    printf("tour: the heap: %d, too much is an error: %d %d\n", more != NULL, malloc(1 << 20) == NULL, errno == ENOMEM);
    free(more);

    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    clock_gettime(CLOCK_MONOTONIC, &after);
    time_t day = 86400;
    struct tm date;
    printf("tour: time goes on: %d, 86400 is %04d-%02d-%02d\n",
           after.tv_sec > before.tv_sec || after.tv_nsec >= before.tv_nsec, gmtime_r(&day, &date)->tm_year + 1900,
           date.tm_mon + 1, date.tm_mday);
    printf("tour: no clock of the day: %d %d\n", time(NULL) == (time_t)-1, fopen("file", "r") == NULL);

    const char *argument;
    size_t length = cairn_argument_string(&argument);
    printf("tour: I am %s, of life %d, told `%.*s`\n", cairn_name(), (int)cairn_startup()->generation, (int)length, argument);

    const struct cairn_mapping *board = cairn_section("board");
    volatile uint64_t *word = board ? (volatile uint64_t *)board->address : NULL;
    if (word)
        *word = 0x1122334455667788;
    printf("tour: a section of %d bytes holds %llx, no other is there: %d\n", board ? (int)board->size : 0,
           word ? (unsigned long long)*word : 0, cairn_section("boards") == NULL && cairn_device(0) == NULL);

    threads();

    printf("tour: what is your name? ");
    char line[64];
    if (fgets(line, sizeof line, stdin))
        printf("hello, %s", line);
    atexit(last);
    exit(0);
}

CAIRN_COMPONENT(
    .name = "c-tour",
    .main = tour,
    .import_count = 4,
    .imports = { { "console", CONSOLE, CONSOLE_INTERFACE },
                 { "portals", PORTALS, PORTALS_INTERFACE },
                 { "threads", THREADS, THREADS_INTERFACE },
                 { "echo", ECHO, ECHO_INTERFACE } });
