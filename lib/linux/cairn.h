/* What a program of Linux on Cairn needs to call components, and to serve them: the headers of interfaces, which are the same for it as for
 * components in C, include this in place of theirs. docs/linux.md shows both.
 *
 * A call goes through the kernel to another thread of Linux' component, so Linux and its other programs go on while it takes its time. */
#ifndef CAIRN_H
#define CAIRN_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cairn_abi.h"
#include "cairn_device.h"
#include "cairn_reply.h" /* what calls return: 0, the method's own positive error code, or a CAIRN_ERROR_* */

/* What the C convention does not preserve, but for arguments. */
#define CAIRN_CLOBBERED \
	"ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "memory", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11", "fa0", \
		"fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7"

/* ------------------------------------------------------------------------------- a component's service */

static inline int64_t cairn_device_error(void)
{
	switch (errno) {
	case EFAULT:
		return CAIRN_ERROR_BAD_POINTER;
	case EBADF:
	case ENOTTY:
		return CAIRN_ERROR_NO_PORTAL;
	case ENOENT:
	case ENODEV:
		return CAIRN_ERROR_NOT_SUPPORTED;
	case EACCES:
	case EPERM:
		return CAIRN_ERROR_NOT_ALLOWED;
	case EEXIST:
		return CAIRN_ERROR_VERSION_MISMATCH;
	case EBUSY:
		return CAIRN_ERROR_BUSY;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		return CAIRN_ERROR_EXHAUSTED;
	case EINTR:
		return CAIRN_ERROR_CANCELLED;
	case E2BIG:
		return CAIRN_ERROR_TOO_LARGE;
	case EINVAL:
		return CAIRN_ERROR_BAD_ARGUMENT;
	default:
		return CAIRN_ERROR_UNKNOWN;
	}
}

/* Opens the device; a file, or an error of Cairn's. */
static inline int64_t cairn_device_open(void)
{
	int file = open("/dev/cairn", O_RDWR | O_CLOEXEC);
	return file < 0 ? cairn_device_error() : file;
}

static inline int64_t cairn_device_service(int file, unsigned long request, const char *name, const char *policy, uint64_t version, const char *letters)
{
	struct cairn_device_service service;
	memset(&service, 0, sizeof service);
	service.version = version;
	if (strlen(name) >= sizeof service.name || strlen(policy) >= sizeof service.policy || strlen(letters) >= sizeof service.letters)
		return CAIRN_ERROR_TOO_LARGE;
	strcpy(service.name, name);
	strcpy(service.policy, policy);
	strcpy(service.letters, letters);
	return ioctl(file, request, &service) < 0 ? cairn_device_error() : service.status;
}

/* What the number of a first portal has: behind the method's eight bits those of a file, and from there on what calls it directly, or zero. */
#define CAIRN_FILES 0xffff
#define CAIRN_DIRECT_SHIFT 24

/* Opens the export `name` (`instance.export`), of the interface with this version and letters: `cairn_open("greeter.echo", ECHO_VERSION,
 * ECHO_LETTERS, &echo)`. What it gives is the first argument of the interface's functions. The description has to let Linux open it. */
static inline int64_t cairn_open(const char *name, uint64_t version, const char *letters, uint32_t *first_portal)
{
	int64_t file = cairn_device_open();
	if (file < 0)
		return file;
	int64_t status = CAIRN_ERROR_EXHAUSTED;
	if (file <= CAIRN_FILES)
		status = cairn_device_service((int)file, CAIRN_DEVICE_OPEN, name, "", version, letters);
	if (status != 0)
		close((int)file);
	else
		*first_portal = (uint32_t)file << 8;
	return status;
}

static inline void cairn_close(uint32_t first_portal)
{
	close((int)(first_portal >> 8 & CAIRN_FILES));
}

/* From now on methods without buffers, of at most six words, are called without another thread, in a twelfth of the instructions; but Linux and all of its
 * programs stand still until the component has answered. So it is for what answers at once. It holds for this process, not for those that it forks,
 * and as long as the process lives. */
static inline int64_t cairn_call_directly(uint32_t *first_portal)
{
	uint32_t file = *first_portal >> 8 & CAIRN_FILES;
	int first = ioctl((int)file, CAIRN_DEVICE_DIRECT);
	if (first < 0)
		return cairn_device_error();
	*first_portal = (uint32_t)(first + 1) << CAIRN_DIRECT_SHIFT | file << 8;
	return 0;
}

static inline struct cairn_wide_reply cairn_wide_call(uint32_t portal, uint64_t word1, uint64_t word2, uint64_t word3,
						      uint64_t word4, uint64_t word5, uint64_t word6, uint64_t word7)
{
	if (portal >> CAIRN_DIRECT_SHIFT) {
		register uint64_t a0 __asm__("a0") = 0;
		register uint64_t a1 __asm__("a1") = word1;
		register uint64_t a2 __asm__("a2") = word2;
		register uint64_t a3 __asm__("a3") = word3;
		register uint64_t a4 __asm__("a4") = word4;
		register uint64_t a5 __asm__("a5") = word5;
		register uint64_t a6 __asm__("a6") = word6;
		register int64_t a7 __asm__("a7") = (int64_t)(portal >> CAIRN_DIRECT_SHIFT) - 1 + (portal & 0xff) - CAIRN_DEVICE_DIRECTS;
		__asm__ volatile("ecall"
				 : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a5), "+r"(a6), "+r"(a7)
				 :
				 : CAIRN_CLOBBERED);
		if (a7 == 0)
			return (struct cairn_wide_reply){ (int64_t)a0, { a1, a2, a3, a4 } };
	}
	struct cairn_device_call call = { portal & 0xff, { 0, word1, word2, word3, word4, word5, word6, word7 }, 0, { 0, 0, 0, 0 } };
	struct cairn_wide_reply reply;
	if (ioctl((int)(portal >> 8 & CAIRN_FILES), CAIRN_DEVICE_CALL, &call) < 0)
		call.status = cairn_device_error();
	reply.status = call.status;
	memcpy(reply.words, call.values, sizeof reply.words);
	return reply;
}

static inline struct cairn_reply cairn_call(uint32_t portal, uint64_t word1, uint64_t word2, uint64_t word3,
					    uint64_t word4, uint64_t word5, uint64_t word6, uint64_t word7)
{
	struct cairn_wide_reply wide = cairn_wide_call(portal, word1, word2, word3, word4, word5, word6, word7);
	struct cairn_reply reply = { wide.status, wide.words[0] };
	return reply;
}

/* ------------------------------------------------------------------------------- a service of Linux' */

/* A server's function, whatever its parameters are: the registers are the same for all. */
typedef void (*cairn_entry)(void);

#define CAIRN_ENTERING(name)
#define CAIRN_ENTRY(name) (cairn_entry)name

/* As in components, where other threads may write what is copied. */
static inline size_t cairn_copy_in(void *to, const volatile void *from, size_t count)
{
	memcpy(to, (const void *)from, count);
	return count;
}

static inline size_t cairn_copy_out(volatile void *to, const void *from, size_t count)
{
	memcpy((void *)to, from, count);
	return count;
}

static inline void cairn_enter(cairn_entry entry, struct cairn_device_call *call)
{
	register uint64_t a0 __asm__("a0") = call->words[0];
	register uint64_t a1 __asm__("a1") = call->words[1];
	register uint64_t a2 __asm__("a2") = call->words[2];
	register uint64_t a3 __asm__("a3") = call->words[3];
	register uint64_t a4 __asm__("a4") = call->words[4];
	register uint64_t a5 __asm__("a5") = call->words[5];
	register uint64_t a6 __asm__("a6") = call->words[6];
	register uint64_t a7 __asm__("a7") = call->words[7];
	__asm__ volatile("jalr %8"
			 : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a5), "+r"(a6), "+r"(a7)
			 : "r"(entry)
			 : CAIRN_CLOBBERED);
	call->status = (int64_t)a0;
	call->values[0] = a1;
	call->values[1] = a2;
	call->values[2] = a3;
	call->values[3] = a4;
}

/* Serves an interface under the name `instance.name` to those whom the policy names (`*`: to all), until that is not possible; the error.
 * `cairn_serve("echo", "*", ECHO_VERSION, ECHO_LETTERS, entries)` with `static const cairn_entry entries[] = ECHO_ENTRIES(mine);`.
 * One call at a time; who wants to serve several opens the service once and begins a thread for each, with `cairn_serve_on`. */
static inline int64_t cairn_serve_on(int file, const cairn_entry *entries)
{
	unsigned char bytes[CAIRN_DEVICE_BYTES] __attribute__((aligned(CAIRN_DEVICE_PAGE)));
	struct cairn_device_request request;
	memset(&request, 0, sizeof request);
	request.bytes = (uint64_t)bytes;
	for (;;) {
		if (ioctl(file, CAIRN_DEVICE_NEXT, &request) == 0)
			cairn_enter(entries[request.call.method], &request.call);
		else if (errno == EINTR)
			request.number = 0;
		else
			return cairn_device_error();
	}
}

/* The file of a service that is begun; or an error of Cairn's. */
static inline int64_t cairn_serve_begin(const char *name, const char *policy, uint64_t version, const char *letters)
{
	int64_t file = cairn_device_open();
	if (file < 0)
		return file;
	int64_t status = cairn_device_service((int)file, CAIRN_DEVICE_SERVE, name, policy, version, letters);
	if (status != 0)
		close((int)file);
	return status == 0 ? file : status;
}

static inline int64_t cairn_serve(const char *name, const char *policy, uint64_t version, const char *letters, const cairn_entry *entries)
{
	int64_t file = cairn_serve_begin(name, policy, version, letters);
	if (file < 0)
		return file;
	int64_t status = cairn_serve_on((int)file, entries);
	close((int)file);
	return status;
}

#endif
