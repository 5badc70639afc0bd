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
struct cairn_direct {
	u32 portals[CAIRN_DIRECT]; /* where entry.S looks; 0: not to be called so */
	unsigned int count;
	struct {
		struct service *service;
		unsigned int first;
	} services[CAIRN_DIRECT];
	unsigned int service_count;
};

static DEFINE_MUTEX(lock);

static long add(struct cairn_direct *direct, struct service *service)
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
	struct mm_struct *mm = current->mm;
	long first = -ENOMEM;

	BUILD_BUG_ON(CAIRN_DIRECT != CAIRN_DEVICE_DIRECTS || offsetof(struct cairn_direct, portals));
	if (service->is_own)
		return -ENOTTY;
	mutex_lock(&lock);
	if (!mm->context.direct)
		mm->context.direct = kzalloc(sizeof(*mm->context.direct), GFP_KERNEL);
	if (mm->context.direct)
		first = add(mm->context.direct, service);
	mutex_unlock(&lock);
	return first;
}

void arch_exit_mmap(struct mm_struct *mm)
{
	struct cairn_direct *direct = mm->context.direct;

	if (!direct)
		return;
	mm->context.direct = NULL;
	while (direct->service_count > 0)
		drop(direct->services[--direct->service_count].service);
	kfree(direct);
}
