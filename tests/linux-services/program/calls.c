/* Calls components: as one should, and in all ways that one should not. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "echo.h"
#include "mixed.h"

static void expect(const char *what, int64_t found, int64_t expected)
{
	if (found != expected)
		printf("FAILED %s: %" PRId64 ", expected %" PRId64 "\n", what, found, expected);
}

static uint32_t open_echo(void)
{
	uint32_t echo = 0;
	expect("it opens", cairn_open("greeter.echo", ECHO_VERSION, ECHO_LETTERS, &echo), 0);
	return echo;
}

static uint32_t open_mixed(void)
{
	uint32_t mixed = 0;
	expect("the judge's opens", cairn_open("judge.mixed", MIXED_VERSION, MIXED_LETTERS, &mixed), 0);
	return mixed;
}

static void sums_and_texts(uint32_t echo)
{
	uint64_t sum = 0, length = 0;
	char text[64] = { 0 };
	expect("a sum", echo_add(echo, 40, 2, &sum), 0);
	expect("the sum", (int64_t)sum, 42);
	expect("an error", echo_add(echo, UINT64_MAX, 1, &sum), CAIRN_ERROR_BAD_ARGUMENT);
	expect("a text", echo_say(echo, "said by Linux", 13), 0);
	expect("it comes back", echo_fill(echo, text, sizeof text, &length), 0);
	expect("its length", (int64_t)length, 13);
	expect("the text", strcmp(text, "said by Linux"), 0);
	expect("no text", echo_say(echo, "\xff\xfe", 2), CAIRN_ERROR_MALFORMED);
}

static void forms(void)
{
	static _Alignas(4096) unsigned char left[16384], right[4096], sums[4096];
	uint32_t echo = open_echo(), mixed = open_mixed();
	uint64_t sum = 0, totals[3];

	sums_and_texts(echo);
	for (size_t size = 0; size <= 4096; size = size * 3 + 1) {
		int64_t expected[3] = { 0, 0, (int64_t)size / 2 };
		memset(sums, 0, sizeof sums);
		for (size_t at = 0; at < size; at++) {
			left[at] = (unsigned char)(at * 3);
			right[at] = (unsigned char)(at * 5 + 1);
			sums[at] = at < size / 2;
			expected[0] += left[at];
			expected[1] += right[at];
		}
		expect("sums", mixed_mix(mixed, left, size, sums, size, right, size, totals), 0);
		for (int which = 0; which < 3; which++)
			expect("a total", (int64_t)totals[which], expected[which]);
		for (size_t at = 0; at < sizeof sums; at++)
			if (sums[at] != (at < size ? (unsigned char)(left[at] + right[at]) : 0))
				expect("each sum", (int64_t)at, -1);
	}
	/* Lines that lie anywhere. */
	expect("apart", mixed_mix(mixed, left + 5, 100, sums + 7, 100, right + 9, 100, totals), 0);
	expect("most", mixed_mix(mixed, left, sizeof left, NULL, 0, NULL, 0, totals), 0);
	expect("more", mixed_mix(mixed, left, sizeof left, NULL, 0, right, 1, totals), CAIRN_ERROR_TOO_LARGE);
	expect("much more", mixed_mix(mixed, left, UINT64_MAX, sums, 1, right, 1, totals), CAIRN_ERROR_TOO_LARGE);
	expect("from nowhere", mixed_mix(mixed, (void *)8, 16, sums, 16, right, 16, totals), CAIRN_ERROR_BAD_POINTER);
	expect("to nowhere", mixed_mix(mixed, left, 16, (void *)8, 16, right, 16, totals), CAIRN_ERROR_BAD_POINTER);
	expect("from the kernel", mixed_mix(mixed, (void *)0x2000000000, 16, sums, 16, right, 16, totals), CAIRN_ERROR_BAD_POINTER);
	expect("to what cannot be written", mixed_mix(mixed, left, 16, (void *)"text", 4, right, 16, totals), CAIRN_ERROR_BAD_POINTER);
	expect("no such method", cairn_call(echo + ECHO_METHODS, 0, 0, 0, 0, 0, 0, 0).status, CAIRN_ERROR_NO_PORTAL);
	cairn_close(echo);
	expect("closed", echo_add(echo, 1, 1, &sum), CAIRN_ERROR_NO_PORTAL);
	cairn_close(mixed);
	printf("ok forms\n");
}

/* A system call by any number; 0 in a7 afterwards: a component has answered. Whether the registers are there that Linux leaves alone. */
static uint64_t raw_call(int64_t number, uint64_t word, bool *kept)
{
	register uint64_t a0 __asm__("a0") = word;
	register uint64_t a1 __asm__("a1") = word;
	register uint64_t a2 __asm__("a2") = 7;
	register int64_t a7 __asm__("a7") = number;
	register uint64_t t1 __asm__("t1") = 11;
	register uint64_t t2 __asm__("t2") = 12;
	register uint64_t s1 __asm__("s1") = 13;
	register uint64_t s11 __asm__("s11") = 14;
	__asm__ volatile("ecall"
			 : "+r"(a0), "+r"(a1), "+r"(a7), "+r"(t1), "+r"(t2), "+r"(s1), "+r"(s11)
			 : "r"(a2)
			 : "ra", "t0", "t3", "t4", "t5", "t6", "a3", "a4", "a5", "a6", "memory");
	*kept = s1 == 13 && s11 == 14 && (a7 == 0 || (t1 == 11 && t2 == 12 && a1 == word && a7 == number && (int64_t)a0 == -ENOSYS));
	return a1;
}

static void all_numbers(const char *what, int expected)
{
	int answered = 0;
	for (int64_t number = -70; number < 0; number++) {
		bool kept;
		/* Of `add`: 35 and 7. */
		answered += raw_call(number, 35, &kept) == 42;
		expect(what, kept, true);
	}
	expect(what, answered, expected);
}

static volatile int alarms;

static void count_alarm(int signal)
{
	(void)signal;
	alarms++;
}

static void directly(void)
{
	struct itimerval interval = { { 0, 1000 }, { 0, 1000 } }, none = { { 0, 0 }, { 0, 0 } };
	uint32_t echo = open_echo(), mixed = open_mixed(), others[22];
	uint64_t sum = 0, turn = 0;
	all_numbers("of none", 0);
	expect("directly", cairn_call_directly(&echo), 0);
	expect("again", cairn_call_directly(&echo), 0);
	expect("the judge's, too", cairn_call_directly(&mixed), 0);
	all_numbers("of its own", 1);
	sums_and_texts(echo);
	expect("Linux stands still", mixed_stay(mixed, 3000, &turn), 0);
	fflush(stdout);
	if (fork() == 0) {
		all_numbers("of a child", 0);
		sums_and_texts(echo);
		_exit(0);
	}
	wait(NULL);
	/* What interrupts in a component is taken behind it. */
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = count_alarm }, NULL);
	setitimer(ITIMER_REAL, &interval, NULL);
	for (uint64_t number = 0; alarms < 20; number++) {
		expect("one of many", echo_add(echo, number, 7, &sum), 0);
		if (sum != number + 7)
			expect("the one's sum", (int64_t)sum, (int64_t)number + 7);
	}
	setitimer(ITIMER_REAL, &none, NULL);
	/* 63 methods at most. */
	for (int other = 0; other < 22; other++) {
		others[other] = open_echo();
		expect("another one", cairn_call_directly(&others[other]), other < 19 ? 0 : CAIRN_ERROR_EXHAUSTED);
		sums_and_texts(others[other]);
	}
	for (int other = 0; other < 22; other++)
		cairn_close(others[other]);
	expect("a service", cairn_device_open() >= 0, true);
	_exit(0);
}

static void refused(void)
{
	uint32_t none;
	expect("nobody", cairn_open("nobody.echo", ECHO_VERSION, ECHO_LETTERS, &none), CAIRN_ERROR_NOT_FOUND);
	expect("not for Linux", cairn_open("supervisor.supervisor", ECHO_VERSION, ECHO_LETTERS, &none), CAIRN_ERROR_NOT_ALLOWED);
	expect("another version", cairn_open("greeter.echo", ECHO_VERSION + 1, ECHO_LETTERS, &none), CAIRN_ERROR_VERSION_MISMATCH);
	expect("other letters", cairn_open("greeter.echo", ECHO_VERSION, "cii cr cr ", &none), CAIRN_ERROR_VERSION_MISMATCH);
	expect("no letters", cairn_open("greeter.echo", ECHO_VERSION, "", &none), CAIRN_ERROR_BAD_ARGUMENT);
	expect("letters that are none", cairn_open("greeter.echo", ECHO_VERSION, "cii cQ ", &none), CAIRN_ERROR_BAD_ARGUMENT);
	expect("too many words", cairn_open("greeter.echo", ECHO_VERSION, "crrrr ", &none), CAIRN_ERROR_BAD_ARGUMENT);
	expect("a name of others", cairn_serve_begin("keyboard", "*", ECHO_VERSION, ECHO_LETTERS), CAIRN_ERROR_BUSY);
	expect("for nobody", cairn_serve_begin("strange", "nobody", ECHO_VERSION, ECHO_LETTERS), CAIRN_ERROR_NOT_FOUND);
	expect("what another one serves", cairn_serve_begin("mixed", "judge", MIXED_VERSION, MIXED_LETTERS), CAIRN_ERROR_BUSY);
	int64_t file = cairn_serve_begin("first", "judge", ECHO_VERSION, ECHO_LETTERS);
	expect("a service", file < 0, 0);
	close((int)file);
	/* Whoever has opened it was promised these letters, and that name. */
	expect("of other letters", cairn_serve_begin("first", "judge", ECHO_VERSION, MIXED_LETTERS), CAIRN_ERROR_VERSION_MISMATCH);
	expect("for others", cairn_serve_begin("first", "*", ECHO_VERSION, ECHO_LETTERS), CAIRN_ERROR_VERSION_MISMATCH);
	file = cairn_serve_begin("first", "judge", ECHO_VERSION, ECHO_LETTERS);
	expect("the same again", file < 0, 0);
	close((int)file);
	expect("no name", cairn_serve_begin("", "judge", ECHO_VERSION, ECHO_LETTERS), CAIRN_ERROR_BAD_ARGUMENT);
	expect("a name with a dot", cairn_serve_begin("linux.mixed", "judge", MIXED_VERSION, MIXED_LETTERS), CAIRN_ERROR_BAD_ARGUMENT);
	printf("ok refused\n");
}

/* A process of its own; how it ends. */
static int in_process(void (*function)(void), unsigned milliseconds)
{
	int status;
	fflush(stdout);
	pid_t process = fork();
	if (process == 0) {
		function();
		_exit(0);
	}
	if (milliseconds) {
		usleep(milliseconds * 1000);
		kill(process, SIGKILL);
	}
	waitpid(process, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void add_often(void)
{
	uint32_t echo = open_echo();
	for (uint64_t number = 0; number < 40; number++) {
		uint64_t sum = 0;
		expect("one of many", echo_add(echo, number, 7, &sum), 0);
		expect("the one's sum", (int64_t)sum, (int64_t)number + 7);
	}
	fflush(stdout);
}

static void at_once(void)
{
	fflush(stdout);
	for (int process = 0; process < 8; process++) {
		if (fork() == 0) {
			add_often();
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	printf("ok at once\n");
}

static void stay(void)
{
	uint64_t time;
	mixed_stay(open_mixed(), 50000, &time);
}

/* Processes are killed while they call: they end at once, and what they had opened is closed behind the call. */
static void killed(void)
{
	struct timespec begin, end;
	for (int round = 0; round < 6; round++) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		expect("it is killed", in_process(stay, 5), SIGKILL);
		clock_gettime(CLOCK_MONOTONIC, &end);
		int64_t time = (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec;
		if (time > 40000000)
			expect("it ends at once", time, 0);
	}
	/* All threads are with them: who comes waits until one is back. */
	uint32_t echo = open_echo();
	uint64_t sum = 0;
	expect("after them", echo_add(echo, 1, 1, &sum), 0);
	cairn_close(echo);
	printf("ok killed\n");
}

/* ---------------------------------------------------------------------------------------------- anything */

static uint64_t state = 1;

static uint64_t random_word(void)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return state >> 16;
}

static uint64_t strange_word(void *memory)
{
	static const uint64_t words[] = { 0, 1, 8, 24, 64, 4096, 16384, 16385, UINT64_MAX, UINT64_C(1) << 63, 0x2000000000, 0x400000000000 };
	switch (random_word() % 4) {
	case 0:
		return words[random_word() % (sizeof words / sizeof words[0])];
	case 1:
		return random_word() % 64;
	case 2:
		return (uint64_t)memory + random_word() % 4096;
	default:
		return random_word() << random_word() % 48;
	}
}

static void nothing(int signal)
{
	(void)signal;
}

static void strange_calls(void)
{
	static const char *names[] = { "greeter.echo", "judge.mixed", "x", "y", "linux.mixed", "", "....", "supervisor.supervisor" };
	static const char *letters[] = { ECHO_LETTERS, MIXED_LETTERS, "c", "ci c", "crwr3 ci", "c4", "cwwww", " ", "ciiiiiiii" };
	static const unsigned long requests[] = { CAIRN_DEVICE_OPEN, CAIRN_DEVICE_CALL, CAIRN_DEVICE_SERVE, CAIRN_DEVICE_NEXT, CAIRN_DEVICE_DIRECT, CAIRN_DEVICE_CALL, 0x1234 };
	static _Alignas(4096) unsigned char memory[65536];
	int files[4] = { -1, -1, -1, -1 };
	struct itimerval interval = { { 0, 2000 }, { 0, 2000 } };
	/* Who waits for a call that does not come is woken. */
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = nothing }, NULL);
	setitimer(ITIMER_REAL, &interval, NULL);
	for (int round = 0; round < 3000; round++) {
		int *file = &files[random_word() % 4];
		bool kept;
		union {
			struct cairn_device_service service;
			struct cairn_device_call call;
			struct cairn_device_request request;
			uint64_t words[80];
		} any;
		if (*file < 0)
			*file = open("/dev/cairn", O_RDWR);
		for (size_t word = 0; word < sizeof any.words / sizeof any.words[0]; word++)
			any.words[word] = strange_word(memory);
		unsigned long request = requests[random_word() % 7];
		if (request == CAIRN_DEVICE_OPEN || request == CAIRN_DEVICE_SERVE) {
			memset(&any, 0, sizeof any);
			strcpy(any.service.name, names[random_word() % 8]);
			strcpy(any.service.letters, letters[random_word() % 9]);
			any.service.version = random_word() % 2 ? ECHO_VERSION : MIXED_VERSION;
			strcpy(any.service.policy, random_word() % 3 ? "judge" : "*");
		} else if (random_word() % 4) {
			any.call.method = random_word() % 4;
			if (any.call.words[1] > 1000)
				any.call.words[1] = (uint64_t)memory;
		}
		/* Whoever stays long keeps all of Linux. */
		if (random_word() % 4 == 0)
			raw_call(-(int64_t)(random_word() % 66), random_word() % 1000, &kept);
		ioctl(*file, request, random_word() % 16 ? (void *)&any : (void *)strange_word(memory));
		if (random_word() % 8 == 0) {
			close(*file);
			*file = -1;
		}
	}
}

static void strange(void)
{
	for (int round = 0; round < 8; round++) {
		state += (uint64_t)round * 977;
		/* The last ones are killed at it. */
		in_process(strange_calls, round < 5 ? 0 : (unsigned)round);
		add_often();
	}
	printf("ok strange\n");
}

int main(void)
{
	uint64_t turn = 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	uint32_t judge = open_mixed();
	while (mixed_stay(judge, UINT64_MAX, &turn) != 0)
		;
	if (turn != 1)
		return 0;
	forms();
	expect("the process with calls of its own", in_process(directly, 0), 0);
	printf("ok directly\n");
	refused();
	at_once();
	killed();
	strange();
	printf("ok calls\n");
	mixed_stay(judge, UINT64_MAX - 1, &turn);
	return 0;
}
