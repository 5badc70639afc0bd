/* Processes in a ring of pipes, of which this one is the first: each has a pipe that it reads, and writes into the next one's. */
#include "measure.h"

#include <unistd.h>

unsigned members, member;

int pipes[RING_MAXIMUM][2];
static pid_t processes[RING_MAXIMUM];

void open_ring(unsigned count)
{
    members = count;
    for (unsigned each = 0; each < members; each++)
        EXPECT(pipe(pipes[each]) == 0);
}

void start_ring(void (*function)(void))
{
    for (member = 1; member < members; member++)
        processes[member] = start(function);
}

void end_ring(void)
{
    for (unsigned each = 1; each < members; each++)
        end(processes[each]);
    for (unsigned each = 0; each < members; each++) {
        close(pipes[each][0]);
        close(pipes[each][1]);
    }
}
