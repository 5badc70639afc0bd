/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel as one object file, whose sections have the names that the linker script of components places (lib/cairn/component.ld of
 * Cairn): what other architectures have in sections of their own is part of these.
 */
#define RO_EXCEPTION_TABLE_ALIGN 8

#include <asm/vmlinux.lds.h>
#include <asm/page.h>
#include <asm/cache.h>
#include <asm/thread_info.h>

OUTPUT_ARCH(riscv)

jiffies = jiffies_64;

SECTIONS
{
	.text : {
		_text = .;
		_stext = .;
		*(.text.cairn_entry)
		TEXT_TEXT
		SCHED_TEXT
		CPUIDLE_TEXT
		LOCK_TEXT
		KPROBES_TEXT
		ENTRY_TEXT
		IRQENTRY_TEXT
		SOFTIRQENTRY_TEXT
		_etext = .;
		_sinittext = .;
		INIT_TEXT
		_einittext = .;
		EXIT_TEXT
	}
	.rodata : {
		__start_rodata = .;
		SCHED_DATA
		*(.rodata) *(.rodata.*) *(.srodata .srodata.*)
		. = ALIGN(8);
		__start___tracepoints_ptrs = .;
		*(__tracepoints_ptrs)
		__stop___tracepoints_ptrs = .;
		*(__tracepoints_strings)
		. = ALIGN(8);
		__start___ex_table = .;
		__stop___ex_table = .;
		. = ALIGN(8);
		__start___param = .;
		*(__param)
		__stop___param = .;
		. = ALIGN(8);
		__start___modver = .;
		*(__modver)
		__stop___modver = .;
		__start_notes = .;
		__stop_notes = .;
		__end_rodata = .;
		. = ALIGN(8);
		INIT_CALLS
		CON_INITCALL
		. = ALIGN(8);
		KERNEL_CTORS()
		KERNEL_DTB()
		. = ALIGN(8);
		*(.init.rodata .init.rodata.*)
		EARLY_LSM_TABLE()
		LSM_TABLE()
		TIMER_OF_TABLES()
		__irf_start = .;
		. = ALIGN(8);
		__initramfs_start = .;
		KEEP(*(.init.ramfs))
		. = ALIGN(8);
		KEEP(*(.init.ramfs.info))
	}
	.data : {
		_sdata = .;
		_data = .;
		INIT_TASK_DATA(THREAD_ALIGN)
		NOSAVE_DATA
		PAGE_ALIGNED_DATA(PAGE_SIZE)
		CACHELINE_ALIGNED_DATA(L1_CACHE_BYTES)
		READ_MOSTLY_DATA(L1_CACHE_BYTES)
		DATA_DATA
		CONSTRUCTORS
		*(.sdata .sdata.*)
		RO_AFTER_INIT_DATA
		__init_begin = .;
		INIT_SETUP(16)
		EXIT_CALL
		*(.init.data .init.data.* .meminit.data*)
		*(.exit.data .exit.data.*)
		. = ALIGN(L1_CACHE_BYTES);
		PERCPU_INPUT(L1_CACHE_BYTES)
		__init_end = .;
		. = ALIGN(8);
		_edata = .;
	}
	.bss : {
		__bss_start = .;
		*(.sbss .sbss.* .scommon)
		*(.bss..page_aligned) *(.dynbss) *(.bss .bss.*) *(COMMON)
		. = ALIGN(8);
		__bss_stop = .;
		_end = .;
	}
	.cairn.stubs : { *(.note.cairn.stubs) }
	/DISCARD/ : {
		*(.discard .discard.*) *(.modinfo) *(.note .note.*) *(.comment) *(.riscv.attributes) *(.eh_frame*) *(.gnu.attributes)
		*(.export_symbol) *(___ksymtab*) *(__ksymtab*) *(___kcrctab*) *(__ex_table)
	}
}
