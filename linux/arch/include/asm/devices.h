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

/* -------------------------------------------------------------------------------------- services */

/* Calls of components that are on their way at a time; most services of Linux' own. */
#define CAIRN_CALLS 16
#define CAIRN_SERVICES 8
/* Most threads that call components, and calls of Linux' own services at a time. */
#define CAIRN_CALLERS 4
/* Most methods of a service, words and buffers of a call, words of a value; bytes of a call's buffers, each rounded up to pages. */
#define CAIRN_METHODS 24
#define CAIRN_METHOD_LETTERS 12
#define CAIRN_CALL_WORDS 8
#define CAIRN_CALL_BUFFERS 3
#define CAIRN_CALL_VALUES 4
#define CAIRN_CALL_BYTES 16384

/* What the letters of a method say: which words are addresses of buffers, with lengths behind them, a bit for each that the callee writes, and how many
 * words the value has. */
struct cairn_method_form {
	unsigned int count;
	unsigned int written;
	unsigned int words[CAIRN_CALL_BUFFERS];
	unsigned int length; /* words of a call */
	unsigned int values;
};

/* Reads them, up to a space or the end; false: Linux does not know them, or there are more buffers. */
static inline int cairn_read_letters(const char *letters, struct cairn_method_form *form)
{
	unsigned int word = 0;

	form->count = form->written = 0;
	form->values = 1;
	for (; *letters && *letters != ' '; letters++) {
		switch (*letters) {
		case 'c':
		case 'i':
		case 'a':
		case 't':
		case 'h':
		case '=':
			word++;
			break;
		case 'w':
		case 'r':
			if (form->count == CAIRN_CALL_BUFFERS)
				return 0;
			if (*letters == 'w')
				form->written |= 1 << form->count;
			form->words[form->count++] = word;
			word += 2;
			break;
		case '2':
		case '3':
		case '4':
			form->values = *letters - '0';
			break;
		default:
			return 0;
		}
	}
	form->length = word;
	return word > 0 && word <= CAIRN_CALL_WORDS;
}

/* What a thread of the component calls for the kernel. */
enum cairn_service_kind { CAIRN_SERVICE_OPEN, CAIRN_SERVICE_CALL, CAIRN_SERVICE_CLOSE, CAIRN_SERVICE_SERVE };

struct cairn_service_call {
	enum cairn_service_kind kind;
	unsigned int number; /* of a portal, or of a service of Linux' own */
	const char *name, *policy, *letters; /* to open, to serve */
	unsigned long version;
	struct cairn_method_form method; /* to call, and its words */
	unsigned long words[CAIRN_CALL_WORDS];
	long status; /* afterwards: 0, or an error of Cairn's or the method's */
	unsigned long values[CAIRN_CALL_VALUES]; /* of what was opened: the first portal */
	int is_done; /* last of all */
};

/* Of the kernel's thread: has it called; there is room for CAIRN_CALLS. The interrupt says that some are done. */
void cairn_service_begin(struct cairn_service_call *call);

/* What a component calls Linux for. */
struct cairn_gate {
	unsigned int service;
	unsigned int method;
	struct cairn_method_form form;
	unsigned long words[CAIRN_CALL_WORDS]; /* of a buffer: where in `bytes` */
	unsigned int used; /* of `bytes` */
	long status; /* to be filled in, as `values`, and what is written of `bytes` */
	unsigned long values[CAIRN_CALL_VALUES];
	unsigned char bytes[CAIRN_CALL_BYTES];
};

/*
 * Of the kernel's thread. What has been served is known to others until Linux ends, by portals that were made for its letters: a number is
 * never that of another service. Calls are taken from now on; or answered as by a dead one.
 */
void cairn_gate_open(unsigned int service);
void cairn_gate_shut(unsigned int service);
/* The next call of a service that nobody has taken, or none: the interrupt comes with it. It is to be answered. */
struct cairn_gate *cairn_gate_next(unsigned int service);
void cairn_gate_answer(struct cairn_gate *gate);

#endif
