/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of `/dev/cairn` have in common. */
#ifndef CAIRN_SERVICES_H
#define CAIRN_SERVICES_H

#include <linux/refcount.h>
#include <asm/cairn.h>
#include <asm/cairn_device.h>
#include <asm/devices.h>

struct job;

/* A call of Linux' own that a process is working at. Its number does not come again, and is 0 until the process knows it. */
struct taken {
	struct cairn_gate *gate;
	u64 number;
};

/* What a file is, and calls for it that are on their way: a process that is killed does not wait for its own. */
struct service {
	refcount_t users;
	struct cairn_device_service is;
	bool is_own; /* of Linux' own; else of another component */
	unsigned int number; /* of the first portal; or of the service of Linux' own */
	unsigned int method_count;
	struct cairn_method_form methods[CAIRN_METHODS];
	/* Of another component: */
	bool is_open;
	struct job *end; /* there is memory for that whenever it comes */
	/* Of Linux' own: */
	struct taken taken[CAIRN_CALLERS];
	u64 last;
};

/* A process serves from now on: finds the number for that. A name has one as long as others may know it, and with it all that was said. */
int begin_serving(struct service *service);
void end_serving(struct service *service);
/* Whether others know it. */
bool is_known(const struct service *service);
void set_known(const struct service *service);
/* Answers a call, and waits for the next one. */
long take_next(struct service *service, void __user *argument);
/* There may be one. */
void wake_servers(void);

/* Has the process call methods of another component's service itself: the first number of these. */
long make_direct(struct service *service);
/* One user less. */
void drop(struct service *service);

#endif
