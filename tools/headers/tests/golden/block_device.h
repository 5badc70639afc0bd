/* The interface BlockDevice. Made from its descriptor; do not edit. */
#ifndef CAIRN_INTERFACE_BLOCK_DEVICE_H
#define CAIRN_INTERFACE_BLOCK_DEVICE_H

#include "cairn.h"

/* Portals that an import of it takes. */
#define BLOCK_DEVICE_METHODS 6

/* What a client of it knows, for portals_open (the letters) and portals_reserve (all of it). */
#define BLOCK_DEVICE_VERSION UINT64_C(0x0000000000000001)
#define BLOCK_DEVICE_LETTERS "ciiiiiii crwr c=ath caii ci4 cw "
#define BLOCK_DEVICE_SIGNATURE "BlockDevice " BLOCK_DEVICE_LETTERS

/* What a component's descriptor says of it. */
#define BLOCK_DEVICE_INTERFACE { \
    "BlockDevice", BLOCK_DEVICE_VERSION, BLOCK_DEVICE_METHODS, { \
        { "words", "ciiiiiii", CAIRN_VALUE_SIGNED }, \
        { "bytes", "crwr", CAIRN_VALUE_BOOL }, \
        { "context", "c=ath", CAIRN_VALUE_SIGNED }, \
        { "object", "caii", CAIRN_VALUE_OBJECT }, \
        { "packed", "ci4", CAIRN_VALUE_WORDS }, \
        { "nothing", "cw", CAIRN_VALUE_NONE } \
    } \
}

/* Calls. They return zero, a positive error code of the method, or a negative CAIRN_ERROR_*. */

/* Letters: ciiiiiii. */
static inline int64_t block_device_words(uint32_t first_portal, uint64_t word1, uint64_t word2, uint64_t word3, uint64_t word4, uint64_t word5, uint64_t word6, uint64_t word7, int64_t *value)
{
    struct cairn_reply reply = cairn_call(first_portal + 0, word1, word2, word3, word4, word5, word6, word7);
    if (reply.status == 0)
        *value = (int64_t)reply.value;
    return reply.status;
}

/* Letters: crwr. */
static inline int64_t block_device_bytes(uint32_t first_portal, const void *bytes1, size_t length1, void *bytes2, size_t length2, const void *bytes3, size_t length3, bool *value)
{
    struct cairn_reply reply = cairn_call(first_portal + 1, (uint64_t)bytes1, length1, (uint64_t)bytes2, length2, (uint64_t)bytes3, length3, 0);
    if (reply.status == 0)
        *value = (bool)reply.value;
    return reply.status;
}

/* Letters: c=ath. */
static inline int64_t block_device_context(uint32_t first_portal, int64_t *value)
{
    struct cairn_reply reply = cairn_call(first_portal + 2, 0, 0, 0, 0, 0, 0, 0);
    if (reply.status == 0)
        *value = (int64_t)reply.value;
    return reply.status;
}

/* Letters: caii. */
static inline int64_t block_device_object(uint32_t first_portal, uint64_t place, uint64_t word3)
{
    struct cairn_reply reply = cairn_call(first_portal + 3, 0, place, word3, 0, 0, 0, 0);
    return reply.status;
}

/* Letters: ci4. */
static inline int64_t block_device_packed(uint32_t first_portal, uint64_t word1, uint64_t value[4])
{
    struct cairn_wide_reply reply = cairn_wide_call(first_portal + 4, word1, 0, 0, 0, 0, 0, 0);
    if (reply.status == 0) {
        value[0] = reply.words[0];
        value[1] = reply.words[1];
        value[2] = reply.words[2];
        value[3] = reply.words[3];
    }
    return reply.status;
}

/* Letters: cw. */
static inline int64_t block_device_nothing(uint32_t first_portal, void *bytes1, size_t length1)
{
    struct cairn_reply reply = cairn_call(first_portal + 5, (uint64_t)bytes1, length1, 0, 0, 0, 0, 0);
    return reply.status;
}

/* A server's entry points, named SERVER_METHOD: their prototypes, and their list for the
   component's descriptor. Other threads may write the memory of a parameter at any time. */
#define BLOCK_DEVICE_SERVER(server) \
    CAIRN_C struct cairn_reply server##_words(uint64_t control, uint64_t word1, uint64_t word2, uint64_t word3, uint64_t word4, uint64_t word5, uint64_t word6, uint64_t word7); CAIRN_ENTERING(server##_words) \
    CAIRN_C struct cairn_reply server##_bytes(uint64_t control, const volatile void *bytes1, size_t length1, volatile void *bytes2, size_t length2, const volatile void *bytes3, size_t length3); CAIRN_ENTERING(server##_bytes) \
    CAIRN_C struct cairn_reply server##_context(uint64_t control, uint64_t portal_says1, uint64_t portal_says2, uint64_t portal_says3, uint64_t portal_says4); CAIRN_ENTERING(server##_context) \
    CAIRN_C struct cairn_reply server##_object(uint64_t control, uint64_t portal_says1, uint64_t place, uint64_t word3); CAIRN_ENTERING(server##_object) \
    CAIRN_C struct cairn_wide_reply server##_packed(uint64_t control, uint64_t word1); CAIRN_WIDE_ENTRY(server##_packed) CAIRN_ENTERING(server##_packed_wide) \
    CAIRN_C struct cairn_reply server##_nothing(uint64_t control, volatile void *bytes1, size_t length1); CAIRN_ENTERING(server##_nothing)
#define BLOCK_DEVICE_ENTRIES(server) { CAIRN_ENTRY(server##_words), CAIRN_ENTRY(server##_bytes), CAIRN_ENTRY(server##_context), CAIRN_ENTRY(server##_object), CAIRN_ENTRY(server##_packed_wide), CAIRN_ENTRY(server##_nothing) }

#endif
