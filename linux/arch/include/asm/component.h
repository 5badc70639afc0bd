/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel and the rest of the component say to each other. Neither includes the other's headers: both have a C library of
 * their own, of which this one needs nothing.
 */
#ifndef _ASM_CAIRN_COMPONENT_H
#define _ASM_CAIRN_COMPONENT_H

/* Most page tables of a kind. */
#define CAIRN_TABLES_MAXIMUM 4096

/* Interrupts of the kernel, by their bits. */
#define CAIRN_IRQ_TIMER 0
#define CAIRN_IRQ_CONSOLE 1
#define CAIRN_IRQ_DISK 2
#define CAIRN_IRQ_NETWORK 3
#define CAIRN_IRQ_SERVICES 4
#define CAIRN_IRQ_DEVICES 8 /* and more */

/* Most devices of the component's own, and interrupts of all of them. */
#define CAIRN_DEVICES 4
#define CAIRN_DEVICE_INTERRUPTS 4

/* A device that the component has. */
struct cairn_given_device {
	const char *name; /* of the description */
	unsigned long address; /* where its registers are */
	unsigned long size;
	unsigned int first_interrupt; /* by numbers from CAIRN_IRQ_DEVICES on */
	unsigned int interrupts;
};

/* What the kernel has been given. */
struct cairn_given {
	unsigned long memory; /* physical address of its memory and its processes', and bytes */
	unsigned long memory_size;
	unsigned long tables; /* physical address of the pool of page tables, and how many of each kind are in it */
	unsigned long spaces;
	unsigned long directories;
	unsigned long leaves;
	unsigned long initramfs; /* where it is read, and bytes; 0: there is none */
	unsigned long initramfs_size;
	unsigned long time_base; /* ticks of the clock in a second */
	unsigned long wall_time; /* nanoseconds since 1970, when the clock said `wall_ticks`; 0: nobody knows */
	unsigned long wall_ticks;
	unsigned char seed[32]; /* random, so many bytes */
	unsigned long seed_size;
	unsigned long has_float;
	unsigned long has_disk; /* the description connects one */
	unsigned long has_network;
	const struct cairn_given_device *devices;
	unsigned long device_count;
	unsigned long callers; /* threads that call other components for processes */
	const char *command_line;
	unsigned long executed; /* instructions before the kernel */
	unsigned long snapshot; /* physical address of memory that the kernel has for that, which the next life finds as it was, and bytes */
	unsigned long snapshot_size;
};
extern struct cairn_given cairn_given;

/* The kernel's first instruction, and where processes enter it: by a call, a fault, an interrupt. */
void cairn_start_kernel(void);
void cairn_enter_call(void);
void cairn_enter_fault(void);
void cairn_enter_interrupt(void);

/* Of the kernel's thread: shows text, as much as there is room for; gives what was typed; both answer how many bytes. */
unsigned long cairn_say(const char *text, unsigned long count);
unsigned long cairn_hear(char *text, unsigned long room);
/* Waits for an interrupt; has the timer's at a time, instead of any before. */
void cairn_idle(void);
void cairn_set_timer(unsigned long time);

/* Opens the source of a device's interrupt, which is shut when that comes, and in the beginning. */
void cairn_open_interrupt(unsigned number);

/* The first process has a program. Until then calls of the component wait. */
void cairn_begun(void);

/* The component ends. */
#define CAIRN_END_OFF 0
#define CAIRN_END_RESTART 1
#define CAIRN_END_PANIC 2
__attribute__((noreturn)) void cairn_end(int how);

#endif
