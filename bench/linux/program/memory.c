/* Page faults, and what Appel and Li (1991) ask of virtual memory. */
#include "measure.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096
#define PAGES 500

static volatile char *map(size_t pages)
{
    void *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(memory != MAP_FAILED);
    return memory;
}

static void measure_fault(const char *name, int writes)
{
    for (unsigned round = 0; round < SAMPLES / PAGES; round++) {
        volatile char *memory = map(PAGES);
        for (size_t page = 0; page < PAGES; page++) {
            if (writes)
                MEASURE(memory[page * PAGE] = 1);
            else
                MEASURE((void)memory[page * PAGE]);
        }
        EXPECT(munmap((void *)memory, PAGES * PAGE) == 0);
    }
    report(name, 1);
}

void measure_faults(void)
{
    measure_fault("fault.anonymous", 1);
    measure_fault("fault.zero", 0);
}

/* ---------------------------------------------------------------------------------------- Appel and Li */

#define MANY 100

static void protect(volatile char *memory, size_t pages, int protection)
{
    EXPECT(mprotect((void *)memory, pages * PAGE, protection) == 0);
}

/* Behind the store, which is an instruction of four bytes. */
static void skip(int number, siginfo_t *information, void *context)
{
    (void)number, (void)information;
    ((ucontext_t *)context)->uc_mcontext.__gregs[REG_PC] += 4;
}

static void unprotect(int number, siginfo_t *information, void *context)
{
    (void)number, (void)context;
    mprotect((void *)((uintptr_t)information->si_addr & ~(uintptr_t)(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE);
}

static void on_fault(void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
    EXPECT(sigaction(SIGSEGV, &action, NULL) == 0);
}

static inline void store(volatile char *to)
{
    __asm__ volatile(".option push\n.option norvc\nsb zero, 0(%0)\n.option pop" ::"r"(to) : "memory");
}

void measure_appel(void)
{
    volatile char *memory = map(MANY), *middle = memory + MANY / 2 * PAGE;
    for (size_t page = 0; page < MANY; page++)
        memory[page * PAGE] = 1;

    for (unsigned round = 0; round < SAMPLES; round++) {
        MEASURE(protect(middle, 1, PROT_READ));
        protect(middle, 1, PROT_READ | PROT_WRITE);
    }
    report("appel.prot1", 1);
    for (unsigned round = 0; round < SAMPLES / 5; round++) {
        MEASURE(protect(memory, MANY, PROT_READ));
        protect(memory, MANY, PROT_READ | PROT_WRITE);
        for (size_t page = 0; page < MANY; page++)
            memory[page * PAGE] = 1;
    }
    report("appel.prot100", 1);
    for (unsigned round = 0; round < SAMPLES / 5; round++) {
        protect(memory, MANY, PROT_READ);
        MEASURE(protect(memory, MANY, PROT_READ | PROT_WRITE));
    }
    report("appel.unprot100", 1);

    on_fault(skip);
    protect(middle, 1, PROT_READ);
    ROW("appel.trap", 1, SAMPLES, store(middle));
    on_fault(unprotect);
    for (unsigned round = 0; round < SAMPLES; round++) {
        protect(middle, 1, PROT_READ);
        MEASURE(store(middle));
    }
    report("appel.fault", 1);
    EXPECT(munmap((void *)memory, MANY * PAGE) == 0);
}
