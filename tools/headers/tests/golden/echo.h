/* The interface Echo. Made from its descriptor; do not edit. */
#ifndef CAIRN_INTERFACE_ECHO_H
#define CAIRN_INTERFACE_ECHO_H

#include "cairn.h"

/* Portals that an import of it takes. */
#define ECHO_METHODS 3

/* What a client of it knows, for portals_open (the letters) and portals_reserve (all of it). */
#define ECHO_VERSION UINT64_C(0x905da1afa5b05355)
#define ECHO_LETTERS "cii cr cw "
#define ECHO_SIGNATURE "Echo " ECHO_LETTERS

/* What a component's descriptor says of it. */
#define ECHO_INTERFACE { \
    "Echo", ECHO_VERSION, ECHO_METHODS, { \
        { "add", "cii", CAIRN_VALUE_UNSIGNED }, \
        { "say", "cr", CAIRN_VALUE_NONE }, \
        { "fill", "cw", CAIRN_VALUE_UNSIGNED } \
    } \
}

/* Calls. They return zero, a positive error code of the method, or a negative CAIRN_ERROR_*. */

/* Letters: cii. */
static inline int64_t echo_add(uint32_t first_portal, uint64_t word1, uint64_t word2, uint64_t *value)
{
    struct cairn_reply reply = cairn_call(first_portal + 0, word1, word2, 0, 0, 0, 0, 0);
    if (reply.status == 0)
        *value = (uint64_t)reply.value;
    return reply.status;
}

/* Letters: cr. */
static inline int64_t echo_say(uint32_t first_portal, const void *bytes1, size_t length1)
{
    struct cairn_reply reply = cairn_call(first_portal + 1, (uint64_t)bytes1, length1, 0, 0, 0, 0, 0);
    return reply.status;
}

/* Letters: cw. */
static inline int64_t echo_fill(uint32_t first_portal, void *bytes1, size_t length1, uint64_t *value)
{
    struct cairn_reply reply = cairn_call(first_portal + 2, (uint64_t)bytes1, length1, 0, 0, 0, 0, 0);
    if (reply.status == 0)
        *value = (uint64_t)reply.value;
    return reply.status;
}

/* A server's entry points, named SERVER_METHOD: their prototypes, and their list for the
   component's descriptor. Other threads may write the memory of a parameter at any time. */
#define ECHO_SERVER(server) \
    CAIRN_C struct cairn_reply server##_add(uint64_t control, uint64_t word1, uint64_t word2); CAIRN_ENTERING(server##_add) \
    CAIRN_C struct cairn_reply server##_say(uint64_t control, const volatile void *bytes1, size_t length1); CAIRN_ENTERING(server##_say) \
    CAIRN_C struct cairn_reply server##_fill(uint64_t control, volatile void *bytes1, size_t length1); CAIRN_ENTERING(server##_fill)
#define ECHO_ENTRIES(server) { CAIRN_ENTRY(server##_add), CAIRN_ENTRY(server##_say), CAIRN_ENTRY(server##_fill) }

#endif
