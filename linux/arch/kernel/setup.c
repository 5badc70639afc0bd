// SPDX-License-Identifier: GPL-2.0-only
#include <linux/console.h>
#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/initrd.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/panic_notifier.h>
#include <linux/random.h>
#include <linux/screen_info.h>
#include <linux/seq_file.h>
#include <asm/cairn.h>
#include <asm/cacheinfo.h>
#include <asm/sections.h>
#include <asm/setup.h>
#include <asm/switch_to.h>
#include <uapi/asm/hwcap.h>

unsigned long elf_hwcap;

static void early_write(struct console *console, const char *text, unsigned int count)
{
	cairn_say(text, count);
}

static struct console early = {
	.name = "cairn",
	.write = early_write,
	.flags = CON_PRINTBUFFER | CON_BOOT,
	.index = -1,
};

/* Behind all others that are told. */
static int end_of_panic(struct notifier_block *block, unsigned long event, void *text)
{
	cairn_end(CAIRN_END_PANIC);
}

static struct notifier_block panic_end = { .notifier_call = end_of_panic, .priority = INT_MIN };

void __init setup_arch(char **command_line)
{
	atomic_notifier_chain_register(&panic_notifier_list, &panic_end);
	register_console(&early);
	/* What was executed before is in the first process' environment. */
	snprintf(boot_command_line, COMMAND_LINE_SIZE, "%s entered=%lu", cairn_given.command_line, cairn_given.executed);
	*command_line = boot_command_line;
	setup_initial_init_mm(_stext, _etext, _edata, _end);
	parse_early_param();
	elf_hwcap = COMPAT_HWCAP_ISA_I | COMPAT_HWCAP_ISA_M | COMPAT_HWCAP_ISA_A | COMPAT_HWCAP_ISA_C;
	if (has_fpu())
		elf_hwcap |= COMPAT_HWCAP_ISA_F | COMPAT_HWCAP_ISA_D;
	add_bootloader_randomness(cairn_given.seed, cairn_given.seed_size);
	paging_init();
	initrd_start = cairn_given.initramfs;
	initrd_end = cairn_given.initramfs + cairn_given.initramfs_size;
}

/* It lies where it is read, and stays. */
void __init free_initrd_mem(unsigned long start, unsigned long end)
{
}

/* The kernel's image is no memory that could be given back. */
void free_initmem(void)
{
}

uintptr_t get_cache_size(u32 level, enum cache_type type)
{
	return 0;
}

uintptr_t get_cache_geometry(u32 level, enum cache_type type)
{
	return 0;
}

static void *first_cpu(struct seq_file *file, loff_t *place)
{
	return *place ? NULL : (void *)1;
}

static void *next_cpu(struct seq_file *file, void *cpu, loff_t *place)
{
	++*place;
	return NULL;
}

static void last_cpu(struct seq_file *file, void *cpu)
{
}

static int show_cpu(struct seq_file *file, void *cpu)
{
	seq_printf(file, "processor\t: 0\nhart\t\t: 0\nisa\t\t: rv64ima%sc\nmmu\t\t: sv39\n", has_fpu() ? "fd" : "");
	return 0;
}

const struct seq_operations cpuinfo_op = {
	.start = first_cpu,
	.next = next_cpu,
	.stop = last_cpu,
	.show = show_cpu,
};
