/* Serves the clock of day that a driver of Linux' has: the time, and its alarm, which is an interrupt. */
#include <linux/rtc.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "wall_clock.h"

#define SECOND UINT64_C(1000000000)

WALL_CLOCK_SERVER(rtc)

static int device;

struct cairn_reply rtc_now(uint64_t control)
{
	struct rtc_time read;
	(void)control;
	if (ioctl(device, RTC_RD_TIME, &read) < 0)
		return (struct cairn_reply){ CAIRN_ERROR_NOT_READY, 0 };
	struct tm time = { .tm_sec = read.tm_sec, .tm_min = read.tm_min, .tm_hour = read.tm_hour, .tm_mday = read.tm_mday, .tm_mon = read.tm_mon, .tm_year = read.tm_year };
	return (struct cairn_reply){ 0, (uint64_t)timegm(&time) * SECOND };
}

struct cairn_reply rtc_wait_until(uint64_t control, uint64_t time)
{
	time_t seconds = (time_t)((time + SECOND - 1) / SECOND);
	struct tm at;
	unsigned long data;
	(void)control;
	if (time == UINT64_MAX) {
		/* Linux is switched off while somebody waits. */
		if (fork() == 0)
			execl("/bin/busybox", "poweroff", "-f", NULL);
		for (;;)
			pause();
	}
	if (rtc_now(0).value >= time)
		return (struct cairn_reply){ 0, 0 };
	gmtime_r(&seconds, &at);
	struct rtc_wkalrm alarm = { .enabled = 1, .time = { .tm_sec = at.tm_sec, .tm_min = at.tm_min, .tm_hour = at.tm_hour, .tm_mday = at.tm_mday, .tm_mon = at.tm_mon, .tm_year = at.tm_year } };
	if (ioctl(device, RTC_WKALM_SET, &alarm) < 0 || read(device, &data, sizeof data) != sizeof data)
		return (struct cairn_reply){ CAIRN_ERROR_NOT_READY, 0 };
	return (struct cairn_reply){ 0, 0 };
}

int main(void)
{
	static const cairn_entry entries[] = WALL_CLOCK_ENTRIES(rtc);
	device = open("/dev/rtc0", O_RDONLY);
	if (device < 0)
		perror("clock: /dev/rtc0");
	printf("clock: serves\n");
	fflush(stdout);
	return (int)cairn_serve("clock", "judge", WALL_CLOCK_VERSION, WALL_CLOCK_LETTERS, entries);
}
