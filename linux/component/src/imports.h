/* SPDX-License-Identifier: GPL-2.0-only */
/* What the threads of the component have in common: whom they call, and how they reach the kernel. */
#ifndef IMPORTS_H
#define IMPORTS_H

#include "blocks.h"
#include "cairn.h"
#include "console.h"
#include "frames.h"
#include "portals.h"
#include "random.h"
#include "threads.h"
#include "wall_clock.h"

enum {
    CONSOLE = CAIRN_PORTAL_FIRST_IMPORT,
    THREADS = CONSOLE + CONSOLE_METHODS,
    PORTALS = THREADS + THREADS_METHODS,
    DISK = PORTALS + PORTALS_METHODS,
    NETWORK = DISK + BLOCKS_METHODS,
    CLOCK = NETWORK + FRAMES_METHODS,
    RANDOM = CLOCK + WALL_CLOCK_METHODS,
};
/* Their places in the descriptor. */
enum { CONSOLE_PLACE, THREADS_PLACE, PORTALS_PLACE, DISK_PLACE, NETWORK_PLACE, CLOCK_PLACE, RANDOM_PLACE };

uint32_t make_semaphore(void);
/* Starts a thread that waits for others, on a stack of its own of 8 KiB. */
void begin_thread(void (*function)(uint64_t), uint64_t argument, void *stack);
/* Has the kernel take an interrupt; of any thread but the kernel's. */
void raise(unsigned interrupt);
/* Lets a while pass before somebody who did not answer is asked again. */
void wait_a_while(void);

/* Each begins its threads, if the description connects it. */
void begin_disk(void);
void begin_network(void);
/* A thread for each interrupt of a device. */
void begin_devices(void);
/* So many threads that call for processes; 0: none. */
void begin_services(uint64_t callers);
/* Nobody serves any more. */
void end_services(void);

#endif
