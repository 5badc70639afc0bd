// SPDX-License-Identifier: GPL-2.0-only
/*
 * `/dev/cairn`: processes call other components, and serve them (serving.c). A process waits for a thread of the component that calls for it.
 * An open file is one service.
 */
#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <asm/cairn.h>
#include <asm/snapshot.h>
#include "services.h"

/* A call on its way. */
struct job {
	struct cairn_service_call call;
	struct list_head list;
	struct completion done;
	struct service *service;
	void *bytes; /* of its buffers */
	bool is_begun;
	bool is_left; /* nobody waits for it */
};

static DEFINE_SPINLOCK(lock); /* of all that follows */
static LIST_HEAD(waiting); /* until there is room */
static LIST_HEAD(begun);
static LIST_HEAD(left); /* done, and nobody waits */
static unsigned int count; /* of those that have begun */

static struct job *new_job(struct service *service, enum cairn_service_kind kind)
{
	struct job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (!job)
		return NULL;
	job->call.kind = kind;
	job->service = service;
	init_completion(&job->done);
	return job;
}

static void free_job(struct job *job)
{
	if (job)
		kfree(job->bytes);
	kfree(job);
}

static void begin_waiting(void)
{
	while (count < CAIRN_CALLS && !list_empty(&waiting)) {
		struct job *job = list_first_entry(&waiting, struct job, list);

		list_move_tail(&job->list, &begun);
		job->is_begun = true;
		count++;
		cairn_service_begin(&job->call);
	}
}

/* The call is one of its service's users. */
static void begin(struct job *job)
{
	spin_lock_irq(&lock);
	list_add_tail(&job->list, &waiting);
	begin_waiting();
	spin_unlock_irq(&lock);
}

void drop(struct service *service)
{
	struct job *end = service->end;

	if (!refcount_dec_and_test(&service->users))
		return;
	if (service->is_own) {
		end_serving(service);
	} else if (service->is_open) {
		service->is_open = false;
		service->end = NULL;
		refcount_set(&service->users, 1);
		end->is_left = true;
		end->call.number = service->number;
		begin(end);
		return;
	}
	free_job(end);
	kfree(service);
}

/* A service is open from now on, or known to others, or is not. */
static void opened(struct job *job)
{
	struct service *service = job->service;

	if (job->call.status)
		return;
	if (service->is_own) {
		set_known(service);
	} else {
		service->is_open = true;
		service->number = job->call.values[0];
	}
}

/* What is done for those that do not wait any more. */
static void take_left(struct work_struct *work)
{
	for (;;) {
		struct job *job;
		struct service *service;

		spin_lock_irq(&lock);
		job = list_first_entry_or_null(&left, struct job, list);
		if (job)
			list_del(&job->list);
		spin_unlock_irq(&lock);
		if (!job)
			return;
		service = job->service;
		if (job->call.kind == CAIRN_SERVICE_OPEN || job->call.kind == CAIRN_SERVICE_SERVE)
			opened(job);
		free_job(job);
		drop(service);
	}
}
static DECLARE_WORK(taking_left, take_left);

static irqreturn_t take(int irq, void *data)
{
	struct job *job, *next;

	spin_lock(&lock);
	list_for_each_entry_safe(job, next, &begun, list) {
		if (!smp_load_acquire(&job->call.is_done))
			continue;
		count--;
		if (job->is_left) {
			list_move_tail(&job->list, &left);
			schedule_work(&taking_left);
		} else {
			list_del(&job->list);
			complete(&job->done);
		}
	}
	begin_waiting();
	spin_unlock(&lock);
	wake_servers();
	return IRQ_HANDLED;
}

/* Has it called. If the process is killed meanwhile, the call is not its own any more; else it frees it, and drops the service. */
static int call_and_wait(struct job *job)
{
	struct service *service = job->service;
	bool has_begun;

	refcount_inc(&service->users);
	begin(job);
	if (!wait_for_completion_killable(&job->done))
		return 0;
	spin_lock_irq(&lock);
	if (completion_done(&job->done)) {
		spin_unlock_irq(&lock);
		return 0;
	}
	has_begun = job->is_begun;
	if (has_begun)
		job->is_left = true;
	else
		list_del(&job->list);
	spin_unlock_irq(&lock);
	if (!has_begun) {
		free_job(job);
		drop(service);
	}
	return -EINTR;
}

/* Takes the letters apart; false: they are none that Linux knows. */
static bool read_methods(struct service *service)
{
	const char *letters = service->is.letters;

	while (*letters) {
		size_t length = strcspn(letters, " ");

		if (service->method_count == CAIRN_METHODS || length > CAIRN_METHOD_LETTERS || *letters != 'c' ||
		    !cairn_read_letters(letters, &service->methods[service->method_count++]))
			return false;
		letters += length + (letters[length] == ' ');
	}
	return service->method_count > 0;
}

/* Makes what stands behind a text zeros; false: it does not end. */
static bool is_text(char *text, size_t size)
{
	size_t length = strnlen(text, size);

	memset(text + length, 0, size - length);
	return length < size;
}

/* A service as a process describes it. */
static struct service *new_service(const void __user *argument, bool is_own)
{
	struct service *service = kzalloc(sizeof(*service), GFP_KERNEL);
	int error = -ENOMEM;

	if (!service)
		return ERR_PTR(error);
	refcount_set(&service->users, 1);
	if (!is_own) {
		service->end = new_job(service, CAIRN_SERVICE_CLOSE);
		if (!service->end)
			goto free;
	}
	error = -EFAULT;
	if (copy_from_user(&service->is, argument, sizeof(service->is)))
		goto free;
	error = -EINVAL;
	if (!is_text(service->is.name, CAIRN_DEVICE_NAME) || !is_text(service->is.policy, CAIRN_DEVICE_NAME) ||
	    !is_text(service->is.letters, CAIRN_DEVICE_LETTERS) || !read_methods(service))
		goto free;
	if (!is_own)
		return service;
	error = begin_serving(service);
	if (!error)
		return service;
free:
	free_job(service->end);
	kfree(service);
	return ERR_PTR(error);
}

static long make_service(struct file *file, void __user *argument, bool is_own)
{
	struct cairn_device_service __user *answer = argument;
	struct service *service;
	struct job *job;
	long status = 0;
	int error = 0;

	if (file->private_data)
		return -EBUSY;
	service = new_service(argument, is_own);
	if (IS_ERR(service))
		return PTR_ERR(service);
	if (is_own && is_known(service))
		goto known;
	job = new_job(service, is_own ? CAIRN_SERVICE_SERVE : CAIRN_SERVICE_OPEN);
	if (!job) {
		drop(service);
		return -ENOMEM;
	}
	job->call.number = service->number;
	job->call.name = service->is.name;
	job->call.policy = service->is.policy;
	job->call.letters = service->is.letters;
	job->call.version = service->is.version;
	error = call_and_wait(job);
	if (error)
		goto drop;
	opened(job);
	status = job->call.status;
	free_job(job);
	drop(service);
known:
	if (put_user(status, &answer->status)) {
		error = -EFAULT;
	} else if (!status) {
		if (!cmpxchg(&file->private_data, NULL, service))
			return 0;
		error = -EBUSY;
	}
drop:
	drop(service);
	return error;
}

/* Takes the buffers of a call to where other threads reach them. */
static int take_buffers(struct job *job)
{
	struct cairn_service_call *call = &job->call;
	size_t size = 0, pages = 0;
	unsigned int buffer;

	for (buffer = 0; buffer < call->method.count; buffer++) {
		unsigned long length = call->words[call->method.words[buffer] + 1];

		if (length > CAIRN_CALL_BYTES)
			return -E2BIG;
		size += length;
		pages += PAGE_ALIGN(length);
	}
	if (pages > CAIRN_CALL_BYTES)
		return -E2BIG;
	job->bytes = kmalloc(size, GFP_KERNEL);
	if (!job->bytes)
		return -ENOMEM;
	size = 0;
	for (buffer = 0; buffer < call->method.count; buffer++) {
		unsigned long *word = &call->words[call->method.words[buffer]];

		if (copy_from_user(job->bytes + size, (void __user *)word[0], word[1]))
			return -EFAULT;
		word[0] = (unsigned long)job->bytes + size;
		size += word[1];
	}
	return 0;
}

static int give_buffers(const struct cairn_service_call *call, const u64 *words)
{
	unsigned int buffer;

	for (buffer = 0; buffer < call->method.count; buffer++) {
		unsigned int word = call->method.words[buffer];

		if (call->method.written & 1 << buffer &&
		    copy_to_user((void __user *)words[word], (void *)call->words[word], words[word + 1]))
			return -EFAULT;
	}
	return 0;
}

static long call_method(struct service *service, void __user *argument)
{
	struct cairn_device_call call;
	struct job *job;
	int error;

	if (service->is_own)
		return -ENOTTY;
	if (copy_from_user(&call, argument, sizeof(call)))
		return -EFAULT;
	if (call.method >= service->method_count)
		return -ENOTTY;
	job = new_job(service, CAIRN_SERVICE_CALL);
	if (!job)
		return -ENOMEM;
	job->call.method = service->methods[call.method];
	job->call.number = service->number + call.method;
	memcpy(job->call.words, call.words, sizeof(call.words));
	error = take_buffers(job);
	if (error) {
		free_job(job);
		return error;
	}
	error = call_and_wait(job);
	if (error)
		return error;
	call.status = job->call.status;
	memset(call.values, 0, sizeof(call.values));
	memcpy(call.values, job->call.values, job->call.method.values * sizeof(call.values[0]));
	error = give_buffers(&job->call, call.words);
	free_job(job);
	drop(service);
	return error || !copy_to_user(argument, &call, sizeof(call)) ? error : -EFAULT;
}

static int open_file(struct inode *inode, struct file *file)
{
	/* What is served stays known to others. */
	cairn_forbid_snapshots("`/dev/cairn` is, or was,");
	file->private_data = NULL;
	return nonseekable_open(inode, file);
}

static int close_file(struct inode *inode, struct file *file)
{
	if (file->private_data)
		drop(file->private_data);
	return 0;
}

static long control(struct file *file, unsigned int command, unsigned long address)
{
	void __user *argument = (void __user *)address;
	struct service *service = READ_ONCE(file->private_data);

	switch (command) {
	case CAIRN_DEVICE_OPEN:
		return make_service(file, argument, false);
	case CAIRN_DEVICE_SERVE:
		return make_service(file, argument, true);
	case CAIRN_DEVICE_CALL:
		return service ? call_method(service, argument) : -ENOTTY;
	case CAIRN_DEVICE_DIRECT:
		return service ? make_direct(service) : -ENOTTY;
	case CAIRN_DEVICE_NEXT:
		return service ? take_next(service, argument) : -ENOTTY;
	default:
		return -ENOTTY;
	}
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = open_file,
	.release = close_file,
	.unlocked_ioctl = control,
	.llseek = no_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "cairn",
	.fops = &operations,
	.mode = 0600,
};

static int __init services_init(void)
{
	int error;

	BUILD_BUG_ON(CAIRN_DEVICE_METHODS != CAIRN_METHODS || CAIRN_DEVICE_WORDS != CAIRN_CALL_WORDS);
	BUILD_BUG_ON(CAIRN_DEVICE_VALUES != CAIRN_CALL_VALUES || CAIRN_DEVICE_BYTES != CAIRN_CALL_BYTES);
	if (!cairn_given.callers)
		return 0;
	error = request_irq(CAIRN_IRQ_SERVICES, take, 0, "services", NULL);
	return error ? error : misc_register(&device);
}
device_initcall(services_init);
