// SPDX-License-Identifier: GPL-2.0-only
/* Services of Linux' own: a component that calls one waits in its own thread until a process has taken the call and answered it. */
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include "services.h"

static DEFINE_SPINLOCK(lock); /* of what is served, and of the calls that services have taken */
/* What is served, or has been, by its number: others know it until Linux ends. */
static struct own {
	struct cairn_device_service is; /* no name: nothing */
	bool is_known;
	struct service *server;
} own[CAIRN_SERVICES];
static DECLARE_WAIT_QUEUE_HEAD(asked);

void wake_servers(void)
{
	wake_up_all(&asked);
}

/* Finds the number of a service of Linux' own: that which it had, since others may know it, or a new one. */
static int find_own(struct service *service)
{
	struct own *found = NULL, *each;

	for (each = own; each < own + CAIRN_SERVICES; each++) {
		if (!strcmp(each->is.name, service->is.name)) {
			found = each;
			break;
		}
		if (!each->is.name[0] && !found)
			found = each;
	}
	if (!found)
		return -EMFILE;
	if (found->server)
		return -EBUSY;
	if (found->is.name[0] && memcmp(&found->is, &service->is, offsetofend(struct cairn_device_service, letters)))
		return -EEXIST;
	found->is = service->is;
	found->server = service;
	service->is_own = true;
	service->number = found - own;
	return 0;
}

int begin_serving(struct service *service)
{
	int error;

	if (!service->is.name[0] || strchr(service->is.name, '.'))
		return -EINVAL;
	spin_lock_irq(&lock);
	error = find_own(service);
	spin_unlock_irq(&lock);
	/* Whoever calls as soon as it is known waits for this process. */
	if (!error)
		cairn_gate_open(service->number);
	return error;
}

bool is_known(const struct service *service)
{
	return own[service->number].is_known;
}

void set_known(const struct service *service)
{
	own[service->number].is_known = true;
}

/* Nobody serves it any more: its calls are answered as by a dead one. */
void end_serving(struct service *service)
{
	struct taken *taken;

	for (taken = service->taken; taken < service->taken + CAIRN_CALLERS; taken++)
		if (taken->gate)
			cairn_gate_answer(taken->gate);
	cairn_gate_shut(service->number);
	spin_lock_irq(&lock);
	own[service->number].server = NULL;
	if (!own[service->number].is_known)
		own[service->number].is.name[0] = 0;
	spin_unlock_irq(&lock);
}

/* Where a call is kept that nobody had taken, and the number that it gets; none: there is no such call. */
static struct taken *take_call(struct service *service, u64 *number)
{
	struct taken *taken = service->taken;
	struct cairn_gate *gate;

	spin_lock_irq(&lock);
	gate = cairn_gate_next(service->number);
	if (gate) {
		while (taken->gate)
			taken++;
		taken->gate = gate;
		*number = ++service->last;
	}
	spin_unlock_irq(&lock);
	return gate ? taken : NULL;
}

/* The call of this number, which is the caller's alone from now on. */
static struct cairn_gate *find_taken(struct service *service, u64 number)
{
	struct cairn_gate *gate = NULL;
	struct taken *taken;

	spin_lock_irq(&lock);
	for (taken = service->taken; taken < service->taken + CAIRN_CALLERS; taken++) {
		if (taken->number == number) {
			gate = taken->gate;
			*taken = (struct taken){};
		}
	}
	spin_unlock_irq(&lock);
	return gate;
}

static int answer(struct service *service, const struct cairn_device_request *request)
{
	struct cairn_gate *gate = find_taken(service, request->number);
	int error = 0;
	unsigned int buffer;

	if (!gate)
		return -EINVAL;
	for (buffer = 0; buffer < gate->form.count && !error; buffer++) {
		unsigned int word = gate->form.words[buffer];
		unsigned long place = gate->words[word];

		if (gate->form.written & 1 << buffer &&
		    copy_from_user(gate->bytes + place, (void __user *)request->bytes + place, gate->words[word + 1]))
			error = -EFAULT;
	}
	/* What it says otherwise is that the callee has died. */
	if (!error) {
		gate->status = request->call.status;
		memcpy(gate->values, request->call.values, gate->form.values * sizeof(gate->values[0]));
	}
	cairn_gate_answer(gate);
	return error;
}

long take_next(struct service *service, void __user *argument)
{
	struct cairn_device_request request;
	struct cairn_gate *gate;
	struct taken *taken;
	unsigned int buffer;
	int error;

	if (!service->is_own)
		return -ENOTTY;
	if (copy_from_user(&request, argument, sizeof(request)))
		return -EFAULT;
	if (request.number) {
		error = answer(service, &request);
		if (error)
			return error;
	}
	error = wait_event_interruptible(asked, (taken = take_call(service, &request.number)));
	if (error)
		return -EINTR;
	gate = taken->gate;
	memset(&request.call, 0, sizeof(request.call));
	request.call.method = gate->method;
	memcpy(request.call.words, gate->words, sizeof(gate->words));
	for (buffer = 0; buffer < gate->form.count; buffer++)
		request.call.words[gate->form.words[buffer]] += request.bytes;
	if (copy_to_user((void __user *)request.bytes, gate->bytes, gate->used) || copy_to_user(argument, &request, sizeof(request)))
		error = -EFAULT;
	if (error) {
		/* Its place is free before it can come again. */
		WRITE_ONCE(taken->gate, NULL);
		barrier();
		cairn_gate_answer(gate);
	} else {
		/* Nobody answers it before it is there. */
		WRITE_ONCE(taken->number, request.number);
	}
	return error;
}
