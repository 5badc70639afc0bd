/* Numbers of the crate cairn-abi. Made from it; do not edit. */
#ifndef CAIRN_ABI_H
#define CAIRN_ABI_H

#include <stdint.h>

enum {
    CAIRN_ERROR_NO_PORTAL = -1, /* no such portal */
    CAIRN_ERROR_INVOCATION_OVERFLOW = -2, /* too many nested calls */
    CAIRN_ERROR_DEAD = -3, /* the callee died */
    CAIRN_ERROR_BAD_POINTER = -4, /* bad pointer */
    CAIRN_ERROR_TOO_LARGE = -5, /* too large for a window; share a section */
    CAIRN_ERROR_BAD_STACK = -6, /* stack pointer outside the shared stack group */
    CAIRN_ERROR_NOT_PAGE_ALIGNED = -7, /* buffer not page-aligned */
    CAIRN_ERROR_BAD_ARGUMENT = -8, /* argument out of range */
    CAIRN_ERROR_NOT_ALLOWED = -9, /* not allowed */
    CAIRN_ERROR_EXHAUSTED = -10, /* exhausted */
    CAIRN_ERROR_NOT_FOUND = -11, /* not found */
    CAIRN_ERROR_TIMED_OUT = -12, /* timed out */
    CAIRN_ERROR_WOULD_BLOCK = -13, /* would have to wait */
    CAIRN_ERROR_BUSY = -14, /* busy */
    CAIRN_ERROR_CANCELLED = -15, /* cancelled */
    CAIRN_ERROR_VERSION_MISMATCH = -16, /* interface versions differ */
    CAIRN_ERROR_NOT_SUPPORTED = -17, /* not supported */
    CAIRN_ERROR_MALFORMED = -18, /* malformed data */
    CAIRN_ERROR_UNKNOWN = -99, /* unknown error */
};

#define CAIRN_ABI_VERSION 2
#define CAIRN_PORTAL_OWN_DOMAIN 1
#define CAIRN_PORTAL_OWN_THREAD 2
#define CAIRN_PORTAL_TIME 3
#define CAIRN_PORTAL_FIRST_IMPORT 16
#define CAIRN_VALUE_NONE 0
#define CAIRN_VALUE_UNSIGNED 1
#define CAIRN_VALUE_SIGNED 2
#define CAIRN_VALUE_BOOL 3
#define CAIRN_VALUE_OBJECT 4
#define CAIRN_VALUE_WORDS 5
#define CAIRN_NAME_SIZE 32
#define CAIRN_LETTERS_SIZE 12
#define CAIRN_METHODS_MAXIMUM 24
#define CAIRN_IMPORTS_MAXIMUM 16
#define CAIRN_EXPORTS_MAXIMUM 10
#define CAIRN_ARGUMENTS_MAXIMUM 16
#define CAIRN_ARGUMENT_UNSIGNED 1
#define CAIRN_ARGUMENT_SIGNED 2
#define CAIRN_ARGUMENT_BOOL 3
#define CAIRN_ARGUMENT_DURATION 4
#define CAIRN_ARGUMENT_TEXT 5
#define CAIRN_REGION_SIZE 67108864
#define CAIRN_STARTUP_OFFSET 4096
#define CAIRN_PAGE_SIZE 4096
#define CAIRN_DEVICES_MAXIMUM 8
#define CAIRN_SECTIONS_MAXIMUM 16
#define CAIRN_ARGUMENT_SIZE 512
#define CAIRN_PANIC_MARK UINT64_C(0x44454b43494e4150)
#define CAIRN_DESCRIPTOR_MAGIC UINT64_C(0x504d434e52494143)
#define CAIRN_STARTUP_DEVICES 104
#define CAIRN_STARTUP_ARGUMENT 2632
#define CAIRN_STARTUP_VALUES 3144
#define CAIRN_SIZE_OF_MAPPING 104
#define CAIRN_SIZE_OF_STARTUP 3272
#define CAIRN_SIZE_OF_METHOD 48
#define CAIRN_SIZE_OF_INTERFACE 1200
#define CAIRN_SIZE_OF_IMPORT 1248
#define CAIRN_SIZE_OF_EXPORT 1432
#define CAIRN_SIZE_OF_ARGUMENT 48
#define CAIRN_SIZE_OF_COMPONENT 35120

#endif
