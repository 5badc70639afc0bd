// SPDX-License-Identifier: GPL-2.0-only
/*
 * Methods that a process calls itself, without another thread: its registers go to the component as they are, and Linux stands still until it is
 * back (arch/cairn/kernel/entry.S). Those without buffers, whose words leave a7 free.
 */
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <asm/mmu_context.h>
#include "services.h"

/* Of an address space, until it ends: portals that it calls stay what they are. */
struct direct {
	u32 portals[CAIRN_DIRECT]; /* 0: not to be called so */
	unsigned int count;
	struct {
		struct service *service;
		unsigned int first;
	} services[CAIRN_DIRECT];
	unsigned int service_count;
};

static DEFINE_MUTEX(lock);

static struct direct *direct_of(struct mm_struct *mm)
{
	struct direct *direct = container_of(mm->context.direct, struct direct, portals[0]);

	if (mm->context.direct)
		return direct;
	direct = kzalloc(sizeof(*direct), GFP_KERNEL);
	if (direct)
		WRITE_ONCE(mm->context.direct, direct->portals);
	return direct;
}

static long add(struct direct *direct, struct service *service)
{
	unsigned int each, first = direct->count;

	for (each = 0; each < direct->service_count; each++)
		if (direct->services[each].service == service)
			return direct->services[each].first;
	/* The last number is no system call's for those who skip one. */
	if (service->method_count > CAIRN_DIRECT - 1 - first)
		return -ENOMEM;
	refcount_inc(&service->users);
	direct->services[direct->service_count].service = service;
	direct->services[direct->service_count++].first = first;
	for (each = 0; each < service->method_count; each++) {
		const struct cairn_method_form *form = &service->methods[each];

		if (!form->count && form->length < CAIRN_CALL_WORDS)
			WRITE_ONCE(direct->portals[first + each], service->number + each);
	}
	direct->count += service->method_count;
	return first;
}

long make_direct(struct service *service)
{
	struct direct *direct;
	long first;

	BUILD_BUG_ON(CAIRN_DIRECT != CAIRN_DEVICE_DIRECTS);
	if (service->is_own)
		return -ENOTTY;
	mutex_lock(&lock);
	direct = direct_of(current->mm);
	first = direct ? add(direct, service) : -ENOMEM;
	mutex_unlock(&lock);
	return first;
}

void cairn_end_direct(struct mm_struct *mm)
{
	struct direct *direct = container_of(mm->context.direct, struct direct, portals[0]);

	if (!mm->context.direct)
		return;
	mm->context.direct = NULL;
	while (direct->service_count > 0)
		drop(direct->services[--direct->service_count].service);
	kfree(direct);
}
