/* Programs: what compresses, what compiles, and hackbench, groups of senders and receivers that all talk to each other. */
#include "measure.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------- gzip */

#define BUSYBOX "/bin/busybox"
#define TEXT "/tmp/text"

/* A megabyte of words in an order that is the same each time. */
static void write_text(void)
{
    static const char *const words[] = { "portal ", "domain ",  "thread ", "component ", "kernel ", "is ",     "calls ", "of ",
                                         "the ",    "a ",       "and ",    "memory ",    "page ",   "region ", "in ",    "one.\n" };
    static char text[4096];
    int file = open(TEXT, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    uint32_t random = 1;
    EXPECT(file >= 0);
    for (unsigned block = 0; block < 256; block++) {
        for (size_t length = 0; length < sizeof text;) {
            random = random * 1664525 + 1013904223;
            const char *word = words[random >> 28];
            size_t size = strlen(word);
            size = size < sizeof text - length ? size : sizeof text - length;
            memcpy(text + length, word, size);
            length += size;
        }
        EXPECT(write(file, text, sizeof text) == (ssize_t)sizeof text);
    }
    close(file);
}

static void compress(void)
{
    char *arguments[] = { BUSYBOX, "gzip", "-k", "-f", TEXT, NULL };
    run(arguments);
}

/* A shell that starts programs. */
static void script(void)
{
    char *arguments[] = { BUSYBOX, "sh", "-c", "i=0; while [ $i -lt 20 ]; do i=$((i+1)); " BUSYBOX " true; done", NULL };
    run(arguments);
}

/* ---------------------------------------------------------------------------------------- tcc */

#define TCC "/bin/tcc"

/* Three files are compiled and linked, and what comes of that says whether it is right. */
static void build(void)
{
    static char *const steps[][8] = {
        { TCC, "-c", "/built/start.c", "-o", "/tmp/start.o", NULL },
        { TCC, "-c", "/built/parts.c", "-o", "/tmp/parts.o", NULL },
        { TCC, "-c", "/built/main.c", "-o", "/tmp/main.o", NULL },
        { TCC, "-nostdlib", "-static", "-o/tmp/built", "/tmp/start.o", "/tmp/parts.o", "/tmp/main.o", NULL },
        { "/tmp/built", NULL },
    };
    for (unsigned step = 0; step < sizeof steps / sizeof steps[0]; step++)
        run(steps[step]);
}

/* ---------------------------------------------------------------------------------------- hackbench */

#define MEMBERS 10
#define MESSAGES 50
#define SIZE 100

static int pairs[MEMBERS][2];

static void receive(unsigned member)
{
    char message[SIZE];
    for (unsigned each = 0; each < MEMBERS * MESSAGES; each++)
        for (size_t length = 0; length < SIZE;) {
            ssize_t more = read(pairs[member][0], message + length, SIZE - length);
            if (more <= 0)
                _exit(1);
            length += (size_t)more;
        }
    _exit(0);
}

static void send_to_all(void)
{
    static const char message[SIZE];
    for (unsigned each = 0; each < MESSAGES; each++)
        for (unsigned to = 0; to < MEMBERS; to++)
            if (write(pairs[to][1], message, SIZE) != SIZE)
                _exit(1);
    _exit(0);
}

static void hackbench(void)
{
    int status;
    for (unsigned member = 0; member < MEMBERS; member++) {
        EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[member]) == 0);
        if (fork() == 0)
            receive(member);
    }
    for (unsigned member = 0; member < MEMBERS; member++)
        if (fork() == 0)
            send_to_all();
    for (unsigned each = 0; each < 2 * MEMBERS; each++)
        EXPECT(wait(&status) > 0 && status == 0);
    for (unsigned member = 0; member < MEMBERS; member++) {
        close(pairs[member][0]);
        close(pairs[member][1]);
    }
}

/* Three times; what is read for the first time is left out. */
static void measure(const char *name, void (*macro)(void))
{
    macro();
    for (unsigned round = 0; round < 3; round++)
        MEASURE(macro());
    report(name, 1);
}

void measure_macros(void)
{
    measure("macro.hackbench", hackbench);
    if (access(BUSYBOX, X_OK) != 0)
        return;
    write_text();
    measure("macro.gzip", compress);
    measure("macro.shell", script);
    if (access(TCC, X_OK) == 0)
        measure("macro.tcc", build);
}
