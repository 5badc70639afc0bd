/* System calls that return to who has called, and signals. */
#include "measure.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

void measure_calls(void)
{
    char byte = 0;
    int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
    EXPECT(zero >= 0 && null >= 0);
    ROW("null", 1, SAMPLES, getppid());
    ROW("read", 1, SAMPLES, read(zero, &byte, 1));
    ROW("write", 1, SAMPLES, write(null, &byte, 1));
    ROW("open", 1, SAMPLES, close(open("/dev/null", O_RDONLY)));
    close(zero);
    close(null);
}

static void handle(int number)
{
    (void)number;
}

void measure_signals(void)
{
    pid_t self = getpid();
    struct sigaction action = { .sa_handler = handle };
    EXPECT(sigaction(SIGUSR1, &action, NULL) == 0);
    ROW("signal", 1, SAMPLES, kill(self, SIGUSR1));
}
