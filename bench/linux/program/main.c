/*
 * Measures the Linux that it is the init of, in executed instructions: a line for each row, in the form of all benchmarks. With an
 * argument, only one of the groups; then it ends instead of the machine.
 */
#include "measure.h"

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

const char *program;

static const struct group {
    const char *name;
    void (*measure)(void);
} groups[] = {
    { "calls", measure_calls },       { "signals", measure_signals },     { "faults", measure_faults },
    { "appel", measure_appel },       { "processes", measure_processes }, { "channels", measure_channels },
    { "sockets", measure_sockets },   { "switches", measure_switches },   { "macros", measure_macros },
    { "services", measure_services },
};

/* What an init does first: devices, the loopback one, and room for files. */
static void prepare(void)
{
    struct ifreq loopback = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
    int socket_of_any_kind = socket(AF_INET, SOCK_DGRAM, 0);
    EXPECT(socket_of_any_kind >= 0 && ioctl(socket_of_any_kind, SIOCSIFFLAGS, &loopback) == 0);
    close(socket_of_any_kind);
    mkdir("/tmp", 0777);
    EXPECT(mount("dev", "/dev", "devtmpfs", 0, NULL) == 0);
}

/* From the kernel's first instruction, whose count whoever starts it says on the command line, to the first of this program. */
static void report_boot(uint64_t now)
{
    const char *entered = getenv("entered");
    if (!entered)
        return;
    note(now - strtoull(entered, NULL, 10));
    report("boot", 1);
}

int main(int count, char **arguments)
{
    uint64_t now = instructions();
    program = arguments[0];
    if (count > 1 && strcmp(arguments[1], "exit") == 0)
        return 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    begin_measuring();
    if (getpid() == 1) {
        prepare();
        report_boot(now);
    }
    for (const struct group *group = groups; group < groups + sizeof groups / sizeof groups[0]; group++)
        if (count < 2 || strcmp(arguments[1], group->name) == 0)
            group->measure();
    printf("BENCH-END\n");
    if (getpid() == 1) {
        reboot(RB_POWER_OFF);
        pause();
    }
    return 0;
}
