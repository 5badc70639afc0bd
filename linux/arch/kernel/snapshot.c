// SPDX-License-Identifier: GPL-2.0-only
/*
 * A snapshot: the kernel and all processes as they are when somebody writes to `/sys/kernel/cairn/snapshot`, in memory behind the kernel's own, which
 * stays when the component ends. Its next life goes on behind that write, instead of booting.
 *
 * What others have made for this life is no part of it: portals, windows, what a device knows. So who has any of it has no snapshot.
 */
#include <linux/capability.h>
#include <linux/cacheflush.h>
#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>
#include <asm/cairn.h>
#include <asm/sections.h>
#include <asm/snapshot.h>
#include <asm/switch_to.h>
#include <asm/timex.h>
#include "../../../kernel/time/timekeeping.h"

#define GOOD 0x746f6873706e6173 /* anything else: there is none, or it is not to be used */

/* How long a life that has begun here must last until another may. */
#define TRIAL HZ

/* In the component's memory, followed by bytes that later lives copy: nothing of it is believed before the sum is right. */
struct snapshot {
	unsigned long state;
	unsigned long lives; /* how many have begun here */
	unsigned long sum; /* of all words behind it */
	unsigned long words; /* how many these are, but for this one */
	unsigned long identity; /* of the kernel, and of what it was given */
	unsigned long registers[14]; /* ra, sp, s0 to s11 */
	unsigned long space; /* the current process' */
	unsigned long entries; /* of page tables */
	unsigned long pieces; /* of memory */
	unsigned long content[]; /* place and word of each entry; address and bytes of each piece, and what is there */
};

/* entry.S: answers 0, and 1 where a later life goes on. */
asmlinkage int cairn_keep_registers(unsigned long *registers) __attribute__((returns_twice));
asmlinkage void cairn_go_on(const unsigned long *registers) __noreturn;

/* Those who have the disk open, and what somebody has for good: a later life would not have it. */
static atomic_t holders;
static const char *held_for_good;

void cairn_hold_snapshot(void)
{
	atomic_inc(&holders);
}

void cairn_release_snapshot(void)
{
	atomic_dec(&holders);
}

void cairn_forbid_snapshots(const char *what)
{
	held_for_good = what;
}

static bool is_held(void)
{
	const char *what = held_for_good ?: atomic_read(&holders) ? "the disk is" : NULL;

	if (what)
		pr_err("cairn: no snapshot: %s in use, which a later life would not have\n", what);
	return what;
}

static struct snapshot *place(void)
{
	return __va(cairn_given.snapshot);
}

static unsigned long sum(const void *begin, const void *end, unsigned long sum)
{
	const unsigned long *word = begin, *last = end;

	for (; last - word >= 8; word += 8)
		sum += word[0] + word[1] + word[2] + word[3] + word[4] + word[5] + word[6] + word[7];
	while (word < last)
		sum += *word++;
	return sum;
}

static unsigned long sum_of_content(const struct snapshot *snapshot)
{
	return sum(&snapshot->words, &snapshot->identity + snapshot->words, 0);
}

/* A life with another kernel, other files, more memory, begins anew. */
static unsigned long identity(void)
{
	const unsigned long given[] = {
		(unsigned long)_stext, cairn_given.memory, cairn_given.memory_size, cairn_given.tables, cairn_given.spaces, cairn_given.directories,
		cairn_given.leaves, cairn_given.initramfs, cairn_given.initramfs_size, cairn_given.time_base, cairn_given.has_float, cairn_given.has_disk,
		cairn_given.has_network, cairn_given.callers, cairn_given.device_count
	};
	unsigned long number, all = 0;
	const char *letter;

	for (number = 0; number < ARRAY_SIZE(given); number++)
		all = all * 31 + given[number];
	for (letter = cairn_given.command_line; *letter; letter++)
		all = all * 31 + *letter;
	all = sum(PTR_ALIGN_DOWN((void *)_stext, 8), PTR_ALIGN_DOWN((void *)_einittext, 8), all);
	all = sum(PTR_ALIGN_DOWN((void *)__start_rodata, 8), PTR_ALIGN_DOWN((void *)__end_rodata, 8), all);
	return sum((void *)cairn_given.initramfs, (void *)cairn_given.initramfs + cairn_given.initramfs_size, all);
}

/* ------------------------------------------------------------------------------------------ a later life */

static bool is_good(const struct snapshot *snapshot)
{
	unsigned long room = (cairn_given.snapshot_size - offsetof(struct snapshot, identity)) / sizeof(long);

	return cairn_given.snapshot_size && snapshot->state == GOOD && snapshot->words <= room && snapshot->identity == identity() &&
	       snapshot->sum == sum_of_content(snapshot);
}

/* False: Cairn refuses one, which the sum should have told. */
static bool put_entries(const unsigned long *entry, unsigned long count)
{
	unsigned long leaves = (cairn_given.spaces + cairn_given.directories) * PTRS_PER_PTE;

	for (; count-- > 0; entry += 2) {
		unsigned long word = entry[1];

		if (entry[0] >= leaves ? cairn_map(entry[0] - leaves, word) :
					 cairn_link(entry[0], (word >> _PAGE_PFN_SHIFT) - PFN_DOWN(cairn_given.tables)))
			return false;
	}
	return true;
}

/*
 * The kernel's first words, on a stack of the component's other part: returns if it is to boot. Nothing of the kernel's data is there before it is
 * copied.
 */
asmlinkage void cairn_go_on_if_possible(void)
{
	struct snapshot *snapshot = place();
	const unsigned long *content = snapshot->content;
	unsigned long piece;

	if (!is_good(snapshot))
		return;
	snapshot->state = 0;
	cairn_clear_tables();
	if (!put_entries(content, snapshot->entries))
		return;
	content += 2 * snapshot->entries;
	for (piece = 0; piece < snapshot->pieces; piece++) {
		memcpy((void *)content[0], content + 2, content[1]);
		content += 2 + content[1] / sizeof(long);
	}
	snapshot->lives++;
	cairn_forget_pages();
	cairn_select(snapshot->space, 0);
	local_flush_icache_all();
	cairn_go_on(snapshot->registers);
}

/* ------------------------------------------------------------------------------------------ taking it */

/* What is written so far; `at` is beyond the end if there was no room. */
struct writer {
	unsigned long *at, *end;
};

static void put_words(struct writer *writer, const void *words, unsigned long count)
{
	if (writer->at + count <= writer->end)
		memcpy(writer->at, words, count * sizeof(long));
	writer->at += count;
}

static void put_piece(struct writer *writer, struct snapshot *snapshot, const void *begin, const void *end)
{
	unsigned long header[2] = { (unsigned long)begin, end - begin };

	put_words(writer, header, 2);
	put_words(writer, begin, header[1] / sizeof(long));
	snapshot->pieces++;
}

static void put_tables(struct writer *writer, struct snapshot *snapshot)
{
	unsigned long spaces = cairn_given.spaces * PTRS_PER_PGD, number;
	unsigned long count = spaces + (cairn_given.directories + cairn_given.leaves) * PTRS_PER_PTE;

	for (number = 0; number < count; number++) {
		unsigned long entry[2] = { number, pte_val(cairn_tables[number]) };

		/* The upper half of a root is Cairn's. */
		if (!entry[1] || (number < spaces && number % PTRS_PER_PGD >= PTRS_PER_PGD / 2))
			continue;
		put_words(writer, entry, 2);
		snapshot->entries++;
	}
}

static void put_memory(struct writer *writer, struct snapshot *snapshot)
{
	unsigned long frame = min_low_pfn, first;

	while (frame < max_low_pfn) {
		if (PageBuddy(pfn_to_page(frame))) {
			frame += 1UL << page_private(pfn_to_page(frame));
			continue;
		}
		for (first = frame; frame < max_low_pfn && !PageBuddy(pfn_to_page(frame)); frame++)
			;
		put_piece(writer, snapshot, pfn_to_virt(first), pfn_to_virt(frame));
	}
}

static long write_all(struct snapshot *snapshot)
{
	struct writer writer = { snapshot->content, (void *)snapshot + cairn_given.snapshot_size };
	long missing;

	snapshot->lives = snapshot->entries = snapshot->pieces = 0;
	snapshot->identity = identity();
	snapshot->space = cairn_space(current->active_mm);
	put_tables(&writer, snapshot);
	put_piece(&writer, snapshot, _sdata, _edata);
	put_piece(&writer, snapshot, __bss_start, __bss_stop);
	put_piece(&writer, snapshot, (void *)CAIRN_USER_SP, (void *)CAIRN_DIRECT_T2 + sizeof(long));
	put_memory(&writer, snapshot);
	missing = writer.at - writer.end;
	if (missing > 0)
		return missing;
	snapshot->words = writer.at - &snapshot->identity;
	snapshot->sum = sum_of_content(snapshot);
	snapshot->state = GOOD;
	return 0;
}

/* 0: it is there; 1: a later life goes on; or a negative error. With nothing running beside it: the kernel is not interrupted. */
static int take(void)
{
	struct snapshot *snapshot = place();
	int is_later;
	long missing = 0;

	drain_local_pages(NULL);
	local_irq_disable();
	if (is_held()) {
		local_irq_enable();
		return -EBUSY;
	}
	snapshot->state = 0;
	cairn_collect_float();
	sched_clock_suspend();
	timekeeping_suspend();
	is_later = cairn_keep_registers(snapshot->registers);
	if (!is_later)
		missing = write_all(snapshot);
	timekeeping_resume();
	sched_clock_resume();
	if (is_later)
		/* Who has something for the kernel, or room for something of it, has not said so to this life. */
		atomic_long_or(1 << CAIRN_IRQ_CONSOLE | 1 << CAIRN_IRQ_DISK | 1 << CAIRN_IRQ_NETWORK, (atomic_long_t *)CAIRN_PENDING);
	local_irq_enable();
	if (missing > 0) {
		pr_err("cairn: a snapshot takes %lu KiB, and the argument `snapshot` of the component says %lu\n",
		       (cairn_given.snapshot_size + missing * sizeof(long)) / 1024 + 1, DIV_ROUND_UP(cairn_given.snapshot_size, 1024));
		return -ENOSPC;
	}
	return is_later;
}

/* ------------------------------------------------------------------------------------------ its file */

static void trust(struct work_struct *work)
{
	place()->state = GOOD;
}
static DECLARE_DELAYED_WORK(trusting, trust);

/* What the others have given this life. The kernel keeps its code of the boot, and that code's data. */
static void __ref begin_later_life(void)
{
	unsigned long now = get_cycles64();

	/*
	 * The seed is believed, as at a boot. The time is not, so that it has an effect by the last of these: that is refused before the generator is
	 * ready, and uses nothing of a file. Who is here may administer the system.
	 */
	add_bootloader_randomness(cairn_given.seed, cairn_given.seed_size);
	add_device_randomness(&now, sizeof(now));
	random_fops.unlocked_ioctl(NULL, RNDRESEEDCRNG, 0);
	cairn_show_disk_again();
	cairn_begun();
	pr_info("cairn: life %lu of the snapshot\n", place()->lives);
	schedule_delayed_work(&trusting, TRIAL);
}

static int take_or_go_on(void)
{
	int error;

	/* It is looked at again when nobody can come any more: one that is refused leaves the former one as it is. */
	if (is_held())
		return -EBUSY;
	if (!rng_is_initialized())
		pr_warn("cairn: random bytes may be the same in each life of this snapshot: nobody has given a seed (`random` among the imports)\n");
	cancel_delayed_work_sync(&trusting);
	error = take();
	if (error <= 0)
		return error;
	begin_later_life();
	return 0;
}

static ssize_t snapshot_store(struct kobject *object, struct kobj_attribute *attribute, const char *text, size_t size)
{
	static DEFINE_MUTEX(alone);
	bool is_wanted;
	int error = kstrtobool(text, &is_wanted);

	if (error)
		return error;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	/* A later life has it, too, and lets it go. */
	mutex_lock(&alone);
	if (is_wanted) {
		error = take_or_go_on();
	} else {
		cancel_delayed_work_sync(&trusting);
		place()->state = 0;
	}
	mutex_unlock(&alone);
	return error ?: size;
}

/* How many lives have begun with it. */
static ssize_t snapshot_show(struct kobject *object, struct kobj_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%lu\n", place()->lives);
}

static struct kobj_attribute file = __ATTR(snapshot, 0600, snapshot_show, snapshot_store);

static int __init snapshot_init(void)
{
	struct kobject *folder;

	if (!cairn_given.snapshot_size)
		return 0;
	/* It has booted: what a former life has left is of no use. */
	place()->state = place()->lives = 0;
	folder = kobject_create_and_add("cairn", kernel_kobj);
	return folder ? sysfs_create_file(folder, &file.attr) : -ENOMEM;
}
late_initcall(snapshot_init);
