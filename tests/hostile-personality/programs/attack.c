/* Asks for all that there is, and more, in all ways that are wrong, while another process works beside it. */
#include "system.h"
#include "canary.h"

static struct canary canary;
/* Shared with all children. */
static volatile uint64_t *counted;
static uint8_t image[65536];
static char page[4096] __attribute__((aligned(4096)));

/* Ends a child with its whole group, when it has had so many milliseconds. Its status. */
static int end_after(int64_t child, int milliseconds)
{
    int status = -1;
    for (int passed = 0; passed < milliseconds; passed += 5) {
        if (wait_(child, &status, 1) == child) break;
        pause_(5);
    }
    CALL(KILL, -child, 9, 0, 0);
    if (status == -1) wait_(child, &status, 0);
    for (int tries = 0; tries < 100 && CALL(KILL, -child, 0, 0, 0) == 0; tries++) {
        CALL(KILL, -child, 9, 0, 0);
        pause_(5);
    }
    while (wait_(-1, 0, 1) > 0) {}
    return status;
}

static int64_t begin(void)
{
    int64_t child = fork_();
    expect(child >= 0, "fork");
    CALL(SETPGID, child, child, 0, 0);
    return child;
}

static int ended(int64_t child, int milliseconds) { return end_after(child, milliseconds); }

/* Addresses and numbers that are wrong, or just right. */
static uint64_t word(void)
{
    static const uint64_t words[] = { 0, 1, 2, 3, 7, 8, 63, 64, 65, 4095, 4096, 4097, 0x10000, 1ull << 31, (1ull << 31) - 1, 1ull << 32, 1ull << 37, 1ull << 38,
        (1ull << 38) - 1, (1ull << 38) - 4096, (1ull << 38) - 8, 1ull << 39, 1ull << 63, ~0ull, ~0ull - 7, ~0ull - 4095, -100ull, 0x5401, 0x5402, 0x22, 0x32, 0x21, 02102 };
    uint64_t kind = chance() % 8;
    if (kind < 3) return words[chance() % (sizeof words / sizeof *words)];
    if (kind == 3) return (uint64_t)page;
    if (kind == 4) return (uint64_t)page + chance() % 8192;
    if (kind == 5) return chance() % 128;
    if (kind == 6) return (uint64_t)"/tmp/x";
    return chance() >> chance() % 64;
}

static int is_left_out(uint64_t number)
{
    /* Those that reach others by right, end the attacker, or take it out of its group. */
    static const uint64_t numbers[] = { EXIT, 94, KILL, 130, TGKILL, SETPGID, 157, SIGRETURN };
    for (size_t place = 0; place < sizeof numbers / sizeof *numbers; place++)
        if (numbers[place] == number) return 1;
    return 0;
}

static void ask_anything(uint64_t seed)
{
    chance_state = seed * 0x9e3779b97f4a7c15 + 1;
    for (int number = 0; number < 3; number++) CALL(CLOSE, number, 0, 0, 0);
    for (int count = 0; count < 2000; count++) {
        uint64_t number = chance() % 8 ? chance() % 300 : chance() >> chance() % 64;
        if (is_left_out(number)) continue;
        call(number, word(), word(), word(), word(), word(), word());
        (*counted)++;
    }
    exit_(0);
}

static void chosen(void)
{
    const uint64_t bad[] = { 0, 8, 4096, 1ull << 38, (1ull << 38) - 4, 1ull << 63, ~0ull, ~0ull - 8 };
    for (size_t place = 0; place < sizeof bad / sizeof *bad; place++) {
        uint64_t at = bad[place];
        equals("write", CALL(WRITE, 1, at, 16, 0), -EFAULT_);
        equals("fstat", CALL(FSTAT, 1, at, 0, 0), -EFAULT_);
        equals("open", CALL(OPENAT, -100, at, 0, 0), -EFAULT_);
        equals("pipe", CALL(PIPE2, at, 0, 0, 0), -EFAULT_);
        equals("readv", CALL(READV, 0, at, 1, 0), -EFAULT_);
        equals("execve", CALL(EXECVE, "/bin/attack", at ? at : 8, 0, 0), -EFAULT_);
        if (at) equals("sigaction", CALL(SIGACTION, 10, at, 0, 8), -EFAULT_);
    }
    equals("unknown", CALL(4000, 0, 0, 0, 0), -ENOSYS_);
    equals("unknown", CALL(~0ull, 0, 0, 0, 0), -ENOSYS_);
    equals("close", CALL(CLOSE, ~0ull, 0, 0, 0), -EBADF_);
    equals("close", CALL(CLOSE, 1ull << 32, 0, 0, 0), -EBADF_);
    equals("unmap", CALL(MUNMAP, 1, 4096, 0, 0), -EINVAL_);
    equals("unmap", CALL(MUNMAP, 0, ~0ull, 0, 0), -EINVAL_);
    equals("map", map(1ull << 40, 3, 0x22), -ENOMEM_);
    equals("map", map(0, 3, 0x22), -EINVAL_);
    equals("protect", CALL(MPROTECT, 1ull << 30, 4096, 1, 0), -ENOMEM_);
    equals("signal", CALL(KILL, CALL(GETPID, 0, 0, 0, 0), 65, 0, 0), -EINVAL_);
    equals("wait", wait_(12345, 0, 0), -ECHILD_);
    equals("thread", CALL(CLONE, 0x10000 | 0x100, 0, 0, 0), -EINVAL_);
    /* What is not to be read, or written. */
    int64_t hidden = map(8192, 3, 0x22);
    *(char *)hidden = 'x';
    equals("protect", CALL(MPROTECT, hidden, 4096, 0, 0), 0);
    equals("write", CALL(WRITE, 1, hidden, 1, 0), -EFAULT_);
    equals("protect", CALL(MPROTECT, hidden, 4096, 1, 0), 0);
    equals("kept", *(char *)hidden, 'x');
    equals("read", CALL(FSTAT, 1, hidden, 0, 0), -EFAULT_);
    equals("protect", CALL(MPROTECT, hidden, 4096, 3, 0), 0);
    equals("read", CALL(FSTAT, 1, hidden, 0, 0), 0);
}

static void bomb(void)
{
    for (;;) fork_();
}

/* All memory: it is told that there is no more, and goes on. */
static void hog(void)
{
    uint64_t chunks = 0;
    int64_t at;
    while ((at = map(1 << 20, 3, 0x22)) > 0 || at < -4095) {
        for (uint64_t place = 0; place < 1 << 20; place += 4096) ((volatile char *)at)[place] = 1;
        chunks++;
    }
    exit_(at == -ENOMEM_ && chunks > 4 ? 0 : 1);
}

/* Promised to all, and then used by all. */
static void hogs(void)
{
    volatile char *at = (volatile char *)map(4 << 20, 3, 0x22);
    for (int count = 0; count < 4; count++) fork_();
    for (uint64_t place = 0; place < 4 << 20; place += 4096) at[place] = 1;
    for (;;) fork_();
}

/* A page in each range of 2 MiB, which needs a table of its own. */
static void scatter(void)
{
    for (;;)
        for (uint64_t at = 1ull << 30; at < 1ull << 36; at += 2 << 20) {
            if (call(MMAP, at, 4096, 3, 0x32, ~0ull, 0) != (int64_t)at) exit_(0);
            *(volatile char *)at = 1;
        }
}

static void pipes(void)
{
    int ends[2];
    int64_t answer;
    equals("pipe", CALL(PIPE2, ends, 04000, 0, 0), 0);
    uint64_t written = 0;
    while ((answer = CALL(WRITE, ends[1], page, 100, 0)) > 0) written += (uint64_t)answer;
    equals("full", answer, -EAGAIN_);
    expect(written <= 4096 && written > 3900, "a pipe of 4 KiB");
    while ((answer = CALL(PIPE2, ends, 0, 0, 0)) == 0) {}
    equals("pipes", answer, -EMFILE_);
    exit_(0);
}

static void many_pipes(void)
{
    int ends[2];
    for (int count = 0; count < 8; count++) {
        while (CALL(PIPE2, ends, 0, 0, 0) == 0) {}
        fork_();
        for (int number = 3; number < 64; number++) if (chance() % 2) CALL(CLOSE, number, 0, 0, 0);
    }
    pause_(200);
    exit_(0);
}

static void files(void)
{
    char path[] = "/tmp/f00000", long_path[5000];
    int64_t answer, file;
    uint64_t written = 0;
    file = open_("/tmp/large", 0102);
    while ((answer = CALL(WRITE, file, image, sizeof image, 0)) > 0) written += (uint64_t)answer;
    equals("full", answer, -ENOSPC_);
    expect(written > 1 << 20, "at least 1 MiB of files");
    CALL(UNLINKAT, -100, "/tmp/large", 0, 0);
    CALL(CLOSE, file, 0, 0, 0);
    for (int count = 0;; count++) {
        for (int digit = 0, rest = count; digit < 5; digit++, rest /= 10) path[10 - digit] = (char)('0' + rest % 10);
        answer = count % 2 ? CALL(SYMLINKAT, "x", -100, path, 0) : open_(path, 0101);
        if (answer < 0 && answer != -EMFILE_) break;
        if (answer > 0) CALL(CLOSE, answer, 0, 0, 0);
    }
    equals("names", answer, -ENOSPC_);
    for (int count = 0; count < 5000; count++) {
        for (int digit = 0, rest = count; digit < 5; digit++, rest /= 10) path[10 - digit] = (char)('0' + rest % 10);
        CALL(UNLINKAT, -100, path, 0, 0);
    }
    for (size_t place = 0; place < sizeof long_path - 1; place++) long_path[place] = place % 100 ? 'x' : '/';
    long_path[sizeof long_path - 1] = 0;
    equals("long", open_(long_path, 0), -36);
    /* Folders in folders, as deep as there are any. */
    while (CALL(MKDIRAT, -100, "deep", 0755, 0) == 0 && CALL(49, "deep", 0, 0, 0) == 0) {}
    for (int count = 0; count < 5000 && CALL(49, "..", 0, 0, 0) == 0; count++) CALL(UNLINKAT, -100, "deep", 0x200, 0);
    exit_(0);
}

struct action { void *handler; uint64_t flags, mask; };
static volatile int handled;

static void count_signal(int signal) { (void)signal; handled++; }

/* Skips the instruction that faulted, and changes what is in a register. */
static void mend(int signal, void *information, char *context)
{
    (void)signal;
    uint64_t *registers = (uint64_t *)(context + 176);
    expect(*(uint64_t *)((char *)information + 16) == 0x123456789000, "the address of the fault");
    registers[0] += 4;
    registers[10] = 77;
    handled++;
}

static void handle(int signal, void *handler, uint64_t flags)
{
    struct action action = { handler, flags, 0 };
    equals("sigaction", CALL(SIGACTION, signal, &action, 0, 8), 0);
}

static void signals(void)
{
    int64_t own = CALL(GETPID, 0, 0, 0, 0);
    handle(10, count_signal, 0);
    double before = 1.5;
    register uint64_t kept __asm__("s5") = 0x1122334455667788;
    for (int count = 0; count < 1000; count++) {
        CALL(KILL, own, 10, 0, 0);
        __asm__ volatile("" : "+r"(kept), "+f"(before));
    }
    expect(handled == 1000 && kept == 0x1122334455667788 && before == 1.5, "registers behind a handler");
    handled = 0;
    handle(11, mend, 4);
    register uint64_t a0 __asm__("a0") = 1;
    __asm__ volatile(".option push\n.option norvc\nli t0, 0x123456789000\nld t1, 0(t0)\n.option pop\n" : "+r"(a0) : : "t0", "t1", "memory");
    expect(handled == 1 && a0 == 77, "a fault that was mended");
    /* One waits while it is blocked. */
    uint64_t set = 1ull << 9, none = 0;
    handled = 0;
    CALL(SIGPROCMASK, 0, &set, 0, 8);
    CALL(KILL, own, 10, 0, 0);
    equals("blocked", handled, 0);
    CALL(SIGPROCMASK, 2, &none, 0, 8);
    equals("let through", handled, 1);
    /* A sleep ends by it. */
    uint64_t timer[4] = { 0, 0, 0, 20000 }, hour[2] = { 3600, 0 };
    handle(14, count_signal, 0);
    CALL(SETITIMER, 0, timer, 0, 0);
    equals("sleep", CALL(SLEEP, hour, 0, 0, 0), -4);
    exit_(0);
}

#pragma GCC diagnostic ignored "-Winfinite-recursion"
static void overflow(void)
{
    volatile char room[1024];
    room[0] = 1;
    overflow();
    room[1] = room[0];
}

static void leave(int signal) { exit_(signal); }

static void on_other_stack(void)
{
    uint64_t stack[3] = { (uint64_t)image, 0, sizeof image };
    equals("sigaltstack", CALL(SIGALTSTACK, stack, 0, 0, 0), 0);
    handle(11, leave, 0x08000000);
    overflow();
}

static void without_stack(void)
{
    handle(11, count_signal, 0);
    __asm__ volatile("li sp, -64\nld t0, 0(zero)\n" : : : "t0");
}

static void forged_frame(void)
{
    for (int count = 0; count < 200; count++) {
        int64_t child = fork_();
        if (child == 0) {
            for (size_t place = 0; place < 2048; place++) image[place] = (uint8_t)chance();
            chance_state += (uint64_t)count;
            uint64_t at = count % 3 ? (uint64_t)image : word();
            __asm__ volatile("mv sp, %0\nli a7, 139\necall\n" : : "r"(at) : "a7");
        }
        chance();
        if (child > 0) wait_(child, 0, 0);
    }
    exit_(0);
}

/* Its own file as it is in memory: how large it is. */
static int64_t read_image(void)
{
    int64_t file = open_("/bin/attack", 0), size = 0, part;
    while ((part = CALL(READ, file, image + size, sizeof image - (uint64_t)size, 0)) > 0) size += part;
    CALL(CLOSE, file, 0, 0, 0);
    expect(size > 1000, "its own file");
    return size;
}

static void write_image(int64_t size)
{
    int64_t file = open_("/tmp/program", 01101);
    for (int64_t done = 0, part; done < size; done += part)
        if ((part = CALL(WRITE, file, image + done, size - done, 0)) <= 0) exit_(1);
    CALL(CLOSE, file, 0, 0, 0);
}

/* The same as a program that can lie anywhere, which its code can. */
static void elsewhere(void)
{
    int64_t size = read_image();
    image[16] = 3;
    write_image(size);
    char *arguments[] = { "/tmp/program", "where", 0 };
    CALL(EXECVE, "/tmp/program", arguments, 0, 0);
    exit_(8);
}

/* Programs that are none, or almost. */
static void programs(void)
{
    int64_t size = read_image();
    for (int count = 0; count < 300; count++) {
        int64_t child = fork_();
        if (child == 0) {
            chance_state += (uint64_t)count * 77;
            for (uint64_t changes = 1 + chance() % 12; changes; changes--) image[chance() % 8 ? chance() % 288 : 24 + chance() % 8] = (uint8_t)chance();
            write_image(size);
            for (int number = 0; number < 3; number++) CALL(CLOSE, number, 0, 0, 0);
            char *arguments[] = { "/tmp/program", "quiet", 0 };
            CALL(EXECVE, "/tmp/program", arguments, 0, 0);
            exit_(8);
        }
        /* What became a program perhaps waits, or computes. */
        int status;
        for (int passed = 0; wait_(child, &status, 1) != child; passed++) {
            pause_(1);
            if (passed == 20) CALL(KILL, child, 9, 0, 0);
        }
    }
    exit_(0);
}

void start(uint64_t *stack)
{
    if (stack[0] > 1) {
        const char *argument = (const char *)stack[2];
        exit_(argument[0] == 'w' ? (int)((uint64_t)page >> 24) + 8 : 0);
    }
    counted = (uint64_t *)map(4096, 3, 0x21);
    make_canary(&canary);
    chosen();
    hear(&canary, "calls with addresses and numbers that are none");

    for (uint64_t seed = 1; *counted < 100000; seed++) {
        int64_t child = begin();
        if (child == 0) ask_anything(seed);
        end_after(child, 300);
    }
    say_number("calls by chance:", (int64_t)*counted);
    hear(&canary, "calls by chance");

    int64_t child = begin();
    if (child == 0) bomb();
    ended(child, 1000);
    hear(&canary, "processes without end");

    if ((child = begin()) == 0) hog();
    equals("a hog is told", ended(child, 20000), 0);
    if ((child = begin()) == 0) hogs();
    ended(child, 1000);
    if ((child = begin()) == 0) scatter();
    ended(child, 1000);
    hear(&canary, "memory without end");

    if ((child = begin()) == 0) pipes();
    equals("pipes", ended(child, 5000), 0);
    if ((child = begin()) == 0) many_pipes();
    ended(child, 3000);
    if ((child = begin()) == 0) files();
    equals("files", ended(child, 20000), 0);
    hear(&canary, "pipes that nobody reads, and files without end");

    if ((child = begin()) == 0) signals();
    equals("signals", ended(child, 5000), 0);
    if ((child = begin()) == 0) on_other_stack();
    equals("another stack", ended(child, 5000), 11 << 8);
    if ((child = begin()) == 0) without_stack();
    equals("no stack", ended(child, 5000), 11);
    if ((child = begin()) == 0) forged_frame();
    equals("forged frames", ended(child, 10000), 0);
    hear(&canary, "handlers, faults and forged frames");

    if ((child = begin()) == 0) elsewhere();
    equals("elsewhere", ended(child, 5000), 9 << 8);
    if ((child = begin()) == 0) programs();
    equals("programs", ended(child, 30000), 0);
    hear(&canary, "files that are no programs");

    CALL(KILL, canary.number, 9, 0, 0);
    equals("canary", wait_(canary.number, 0, 0), canary.number);
    say("attack: done\n");
    exit_(0);
}
