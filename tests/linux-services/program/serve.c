/* Serves two interfaces to components, one of them with two threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "echo.h"
#include "mixed.h"

ECHO_SERVER(mine)
MIXED_SERVER(mine)

static char text[64];
static size_t length;

struct cairn_reply mine_add(uint64_t control, uint64_t left, uint64_t right)
{
	(void)control;
	if (left + right < left)
		return (struct cairn_reply){ CAIRN_ERROR_BAD_ARGUMENT, 0 };
	return (struct cairn_reply){ 0, left + right };
}

struct cairn_reply mine_say(uint64_t control, const volatile void *bytes, size_t size)
{
	(void)control;
	length = size < sizeof text ? size : sizeof text;
	cairn_copy_in(text, bytes, length);
	return (struct cairn_reply){ 0, 0 };
}

struct cairn_reply mine_fill(uint64_t control, volatile void *bytes, size_t size)
{
	(void)control;
	size_t count = length < size ? length : size;
	cairn_copy_out(bytes, text, count);
	return (struct cairn_reply){ 0, count };
}

struct cairn_wide_reply mine_mix(uint64_t control, const volatile void *left, size_t left_length, volatile void *sums, size_t sums_length,
				 const volatile void *right, size_t right_length)
{
	struct cairn_wide_reply reply = { 0 };
	(void)control;
	if (sums_length == 0)
		return reply;
	if (left_length < sums_length || right_length < sums_length)
		return (struct cairn_wide_reply){ .status = CAIRN_ERROR_BAD_ARGUMENT };
	for (size_t at = 0; at < sums_length; at++) {
		unsigned char l = ((const volatile unsigned char *)left)[at], r = ((const volatile unsigned char *)right)[at];
		volatile unsigned char *sum = (volatile unsigned char *)sums + at;
		reply.words[0] += l;
		reply.words[1] += r;
		reply.words[2] += *sum != 0;
		*sum = (unsigned char)(l + r);
	}
	return reply;
}

struct cairn_reply mine_stay(uint64_t control, uint64_t microseconds)
{
	(void)control;
	if (microseconds == UINT64_MAX)
		_exit(1);
	usleep((useconds_t)microseconds);
	return (struct cairn_reply){ 0, microseconds };
}

static const cairn_entry echo[] = ECHO_ENTRIES(mine), mixed[] = MIXED_ENTRIES(mine);

static void *serve_mixed(void *file)
{
	cairn_serve_on((int)(intptr_t)file, mixed);
	return NULL;
}

static void *serve_echo(void *unused)
{
	while (!unused) {
		cairn_serve("echo", "judge", ECHO_VERSION, ECHO_LETTERS, echo);
		usleep(1000);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int64_t file;
	/* Whoever served before may not be gone yet. */
	while ((file = cairn_serve_begin("mixed", "judge", MIXED_VERSION, MIXED_LETTERS)) < 0)
		usleep(1000);
	pthread_create(&thread, NULL, serve_mixed, (void *)(intptr_t)file);
	pthread_create(&thread, NULL, serve_echo, NULL);
	serve_mixed((void *)(intptr_t)file);
	return 1;
}
