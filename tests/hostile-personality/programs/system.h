/* What a program of Linux without any library needs: its calls, and a few lines of text. */
#include <stddef.h>
#include <stdint.h>

enum {
    GETCWD = 17, DUP = 23, FCNTL = 25, IOCTL = 29, MKDIRAT = 34, UNLINKAT = 35, SYMLINKAT = 36, OPENAT = 56, CLOSE = 57, PIPE2 = 59, GETDENTS = 61,
    READ = 63, WRITE = 64, READV = 65, FSTAT = 80, EXIT = 93, SLEEP = 101, SETITIMER = 103, KILL = 129, TGKILL = 131, SIGALTSTACK = 132, SIGACTION = 134,
    SIGPROCMASK = 135, SIGRETURN = 139, SETPGID = 154, GETPID = 172, BRK = 214, MUNMAP = 215, CLONE = 220, EXECVE = 221, MMAP = 222, MPROTECT = 226, WAIT = 260,
};

enum { ENOENT_ = 2, E2BIG_ = 7, ENOEXEC_ = 8, EBADF_ = 9, ECHILD_ = 10, EAGAIN_ = 11, ENOMEM_ = 12, EFAULT_ = 14, EINVAL_ = 22, EMFILE_ = 24, ENOSPC_ = 28, ENOSYS_ = 38 };

static inline int64_t call(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
    register uint64_t a7 __asm__("a7") = number;
    register uint64_t a0 __asm__("a0") = a;
    register uint64_t a1 __asm__("a1") = b;
    register uint64_t a2 __asm__("a2") = c;
    register uint64_t a3 __asm__("a3") = d;
    register uint64_t a4 __asm__("a4") = e;
    register uint64_t a5 __asm__("a5") = f;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a7) : "memory");
    return (int64_t)a0;
}

#define CALL(number, a, b, c, d) call(number, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d), 0, 0)

static inline int64_t fork_(void) { return CALL(CLONE, 17, 0, 0, 0); }
static inline void exit_(int status) { CALL(94, status, 0, 0, 0); }
static inline int64_t wait_(int64_t whom, int *status, int options) { return CALL(WAIT, whom, status, options, 0); }
static inline int64_t map(uint64_t bytes, int rights, int flags) { return call(MMAP, 0, bytes, (uint64_t)rights, (uint64_t)flags, ~0ull, 0); }
static inline int64_t open_(const char *path, int flags) { return CALL(OPENAT, -100, path, flags, 0755); }

static inline void pause_(uint64_t milliseconds)
{
    uint64_t time[2] = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
    CALL(SLEEP, time, 0, 0, 0);
}

static inline size_t length(const char *text)
{
    size_t count = 0;
    while (text[count]) count++;
    return count;
}

static inline void say(const char *text) { CALL(WRITE, 1, text, length(text), 0); }

static inline void say_number(const char *text, int64_t number)
{
    char digits[24], *at = digits + sizeof digits;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    *--at = 0;
    *--at = '\n';
    do *--at = (char)('0' + rest % 10); while (rest /= 10);
    if (number < 0) *--at = '-';
    say(text);
    say(" ");
    say(at);
}

/* What has to hold; else the whole test fails. */
static inline void expect(int holds, const char *what)
{
    if (holds) return;
    say("FAILED: ");
    say(what);
    say("\n");
    exit_(1);
}

static inline void equals(const char *what, int64_t found, int64_t expected)
{
    if (found == expected) return;
    say_number(what, found);
    say_number("FAILED: expected", expected);
    exit_(1);
}

static uint64_t chance_state = 88172645463325252;
static inline uint64_t chance(void)
{
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 7;
    chance_state ^= chance_state << 17;
    return chance_state;
}

/* The compiler may use them for structs. */
void *memcpy(void *to, const void *from, size_t count)
{
    for (size_t place = 0; place < count; place++) ((char *)to)[place] = ((const char *)from)[place];
    return to;
}

void *memset(void *to, int byte, size_t count)
{
    for (size_t place = 0; place < count; place++) ((char *)to)[place] = (char)byte;
    return to;
}

__asm__(".globl _start\n_start:\n.option push\n.option norelax\nla gp, __global_pointer$\n.option pop\nmv a0, sp\nandi sp, sp, -16\ncall start\n");
