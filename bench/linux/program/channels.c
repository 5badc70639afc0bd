/* Two processes, or a ring of them, that wait for each other. */
#include "measure.h"

#include <linux/futex.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------- pipes */

static void pass_on(void)
{
    while (take_token(member) && put_token((member + 1) % members)) {
    }
}

static void go_around(void)
{
    EXPECT(put_token(1));
    EXPECT(take_token(0));
}

static void measure_ring(const char *name, unsigned count, unsigned rounds)
{
    open_ring(count);
    start_ring(pass_on);
    ROW(name, members, rounds, go_around());
    end_ring();
}

/* ---------------------------------------------------------------------------------------- a word that both see */

static volatile int *turn;

static void give_to(int whom)
{
    *turn = whom;
    syscall(SYS_futex, turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void wait_for(int who)
{
    int other = 1 - who;
    while (*turn == other)
        syscall(SYS_futex, turn, FUTEX_WAIT, other, NULL, NULL, 0);
}

static void answer_futex(void)
{
    for (;;) {
        wait_for(1);
        give_to(0);
    }
}

static void ask_futex(void)
{
    give_to(1);
    wait_for(0);
}

/* ---------------------------------------------------------------------------------------- semaphores */

static int semaphores;

static void change(unsigned short which, short by)
{
    struct sembuf operation = { .sem_num = which, .sem_op = by };
    if (semop(semaphores, &operation, 1) != 0)
        _exit(1);
}

static void answer_semaphore(void)
{
    for (;;) {
        change(1, -1);
        change(0, 1);
    }
}

static void ask_semaphore(void)
{
    change(1, 1);
    change(0, -1);
}

void measure_channels(void)
{
    pid_t other;
    measure_ring("pipe", 2, SAMPLES);
    measure_ring("pipe.ring.2", 2, SAMPLES / 2);
    measure_ring("pipe.ring.4", 4, SAMPLES / 4);
    measure_ring("pipe.ring.8", 8, SAMPLES / 8);

    turn = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(turn != MAP_FAILED);
    other = start(answer_futex);
    ROW("futex", 2, SAMPLES, ask_futex());
    end(other);
    munmap((void *)turn, 4096);

    semaphores = semget(IPC_PRIVATE, 2, 0600);
    EXPECT(semaphores >= 0);
    other = start(answer_semaphore);
    ROW("semaphore", 2, SAMPLES, ask_semaphore());
    end(other);
    semctl(semaphores, 0, IPC_RMID);
}
