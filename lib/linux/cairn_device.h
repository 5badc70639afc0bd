/* What Linux on Cairn and its programs say to each other through the device `/dev/cairn`. `cairn.h`, beside this file, does it for programs.
 *
 * An open file is nothing at first. OPEN makes it a service of a component, whose methods CALL calls; SERVE makes it a service of Linux',
 * whose calls NEXT takes and answers. */
#ifndef CAIRN_DEVICE_H
#define CAIRN_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CAIRN_DEVICE_NAME 64 /* bytes of a name, with the zero behind it */
#define CAIRN_DEVICE_METHODS 24
#define CAIRN_DEVICE_LETTERS (CAIRN_DEVICE_METHODS * 13 + 1)
#define CAIRN_DEVICE_WORDS 8
#define CAIRN_DEVICE_VALUES 4
#define CAIRN_DEVICE_PAGE 4096
/* Of the buffers of a call, each rounded up to whole pages, together. */
#define CAIRN_DEVICE_BYTES (4 * CAIRN_DEVICE_PAGE)

struct cairn_device_service {
	char name[CAIRN_DEVICE_NAME]; /* of a component's: `instance.export`; of Linux' own: what stands behind `instance.` */
	char policy[CAIRN_DEVICE_NAME]; /* of Linux' own: who may open it, as instances' names with spaces between them, or `*` */
	__u64 version; /* of its interface */
	char letters[CAIRN_DEVICE_LETTERS]; /* of the methods, a space behind each */
	__s64 status; /* afterwards: 0, or an error of Cairn's */
};

/* A call of a component. */
struct cairn_device_call {
	__u64 method;
	__u64 words[CAIRN_DEVICE_WORDS]; /* a0 to a7; the first is nothing */
	__s64 status; /* afterwards, as the component, or Cairn, answers */
	__u64 values[CAIRN_DEVICE_VALUES];
};

/* A call by a component: the answer to the one before, if there was one, and afterwards the next. */
struct cairn_device_request {
	__u64 number; /* of the one that is answered, as it came; 0: none */
	struct cairn_device_call call; /* buffers lie in what follows: `words` say where */
	__u64 bytes; /* the address of CAIRN_DEVICE_BYTES, at a page */
};

#define CAIRN_DEVICE_OPEN _IOWR('C', 0, struct cairn_device_service)
#define CAIRN_DEVICE_CALL _IOWR('C', 1, struct cairn_device_call)
#define CAIRN_DEVICE_SERVE _IOWR('C', 2, struct cairn_device_service)
#define CAIRN_DEVICE_NEXT _IOWR('C', 3, struct cairn_device_request)
/* Of what OPEN has opened: the number of its first method. A system call by method's number - CAIRN_DEVICE_DIRECTS in a7 calls it, with words in a1 to
 * a6; a7 is zero afterwards, or else that method has to be called by CALL. */
#define CAIRN_DEVICE_DIRECT _IO('C', 4)
#define CAIRN_DEVICE_DIRECTS 64

#endif
