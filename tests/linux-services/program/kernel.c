/* What a program may do to its own kernel, and what a debugger sees. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NONE 500 /* a system call that there is not */
#define NT_PRFPREG 2

/* Takes a page table of its own for each page. */
static void sparse(void)
{
	const size_t size = (size_t)64 << 30;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		_exit(1);
	for (size_t at = 0; at < size; at += 2 << 20)
		memory[at] = 1;
	_exit(2);
}

/* Stops at each system call, and uses the floating-point unit late. */
static void traced(void)
{
	double read;
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	syscall(NONE);
	__asm__ volatile("fmv.d %0, fs3" : "=f"(read));
	_exit((int)read);
}

static int of(void (*function)(void))
{
	fflush(stdout);
	pid_t process = fork();
	if (process == 0)
		function();
	return process;
}

int main(void)
{
	int status, stops = 0;
	uint64_t units[33];
	struct iovec part = { units, sizeof units };
	double written = 77;

	waitpid(of(sparse), &status, 0);
	printf(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? "ok tables\n" : "FAILED tables: %x\n", status);

	pid_t process = of(traced);
	waitpid(process, &status, 0);
	if (ptrace(PTRACE_GETREGSET, process, NT_PRFPREG, &part) != 0)
		printf("FAILED to read: %d\n", errno);
	__builtin_memcpy(&units[19], &written, sizeof written);
	if (ptrace(PTRACE_SETREGSET, process, NT_PRFPREG, &part) != 0)
		printf("FAILED to write: %d\n", errno);
	ptrace(PTRACE_SYSCALL, process, NULL, NULL);
	while (waitpid(process, &status, 0) == process && WIFSTOPPED(status)) {
		stops++;
		ptrace(PTRACE_SYSCALL, process, NULL, NULL);
	}
	/* Before and behind the one, and before the end. */
	printf(stops == 3 && WIFEXITED(status) && WEXITSTATUS(status) == 77 ? "ok traced\n" : "FAILED traced: %d stops, %x\n", stops, status);
	return 0;
}
