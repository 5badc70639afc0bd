/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Devices that other components serve. The kernel hands requests over and never waits: threads of the component call the others, and
 * set the device's interrupt. What the two sides share lies in memory that both reach.
 */
#ifndef _ASM_CAIRN_DEVICES_H
#define _ASM_CAIRN_DEVICES_H

/* ------------------------------------------------------------------------------------------ disk */

/* Most requests at a time; bytes of a block, of a request, and so the most pieces of memory that one has. */
#define CAIRN_DISK_REQUESTS 32
#define CAIRN_DISK_BLOCK 512
#define CAIRN_DISK_BYTES 16384
#define CAIRN_DISK_PIECES (CAIRN_DISK_BYTES / CAIRN_DISK_BLOCK)

enum cairn_disk_kind { CAIRN_DISK_READ, CAIRN_DISK_WRITE, CAIRN_DISK_FLUSH };

struct cairn_disk_request {
	enum cairn_disk_kind kind;
	unsigned int count; /* of pieces */
	unsigned long first; /* block */
	long status; /* afterwards: 0 or a negative error of Cairn's */
	struct {
		void *bytes;
		unsigned long size;
	} pieces[CAIRN_DISK_PIECES];
};

/* Of the kernel's thread: 0, or how many blocks there are, once that is known, and whether they cannot be written. */
unsigned long cairn_disk_size(int *read_only);
/* Has a request served; gives one that was, or none. */
void cairn_disk_begin(struct cairn_disk_request *request);
struct cairn_disk_request *cairn_disk_done(void);

/* --------------------------------------------------------------------------------------- network */

/* Bytes of a frame with its header, and frames that wait for the kernel, or for the network. */
#define CAIRN_FRAME_BYTES 1514
#define CAIRN_FRAMES 32

/* Of the kernel's thread: the address, the first byte in the lowest eight bits, once that is known; 0 before. */
unsigned long cairn_network_address(void);
/* Sends a frame, if there is room; the interrupt comes when there is some again. */
int cairn_network_has_room(void);
void cairn_network_send(const void *frame, unsigned long size);
/* The size of the frame that has come first, and where it is until it is taken; 0: there is none. */
unsigned long cairn_network_first(const void **frame);
void cairn_network_taken(void);

#endif
