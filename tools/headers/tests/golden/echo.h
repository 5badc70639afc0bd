/* The interface Echo. Made from its descriptor; do not edit. */
#ifndef CAIRN_INTERFACE_ECHO_H
#define CAIRN_INTERFACE_ECHO_H

#include "cairn.h"

/* Answers what it is told. */

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

/* The sum; [`Error::BadArgument`] if it does not fit into a word.
 * Letters: cii. */
static inline int64_t echo_add(uint32_t first_portal, uint64_t left, uint64_t right, uint64_t *value)
{
    struct cairn_reply reply = cairn_call(first_portal + 0, left, right, 0, 0, 0, 0, 0);
    if (reply.status == 0)
        *value = (uint64_t)reply.value;
    return reply.status;
}

/* Takes a line of text.
 * Letters: cr. */
static inline int64_t echo_say(uint32_t first_portal, const void *text, size_t text_length)
{
    struct cairn_reply reply = cairn_call(first_portal + 1, (uint64_t)text, text_length, 0, 0, 0, 0, 0);
    return reply.status;
}

/* Fills the buffer with the text said last and returns its length.
 * Letters: cw. */
static inline int64_t echo_fill(uint32_t first_portal, void *buffer, size_t buffer_length, uint64_t *value)
{
    struct cairn_reply reply = cairn_call(first_portal + 2, (uint64_t)buffer, buffer_length, 0, 0, 0, 0, 0);
    if (reply.status == 0)
        *value = (uint64_t)reply.value;
    return reply.status;
}

/* A server's entry points, named SERVER_METHOD: their prototypes, and their list for the
   component's descriptor. Other threads may write the memory of a parameter at any time. */
#define ECHO_SERVER(server) \
    CAIRN_C struct cairn_reply server##_add(uint64_t control, uint64_t left, uint64_t right); CAIRN_ENTERING(server##_add) \
    CAIRN_C struct cairn_reply server##_say(uint64_t control, const volatile void *text, size_t text_length); CAIRN_ENTERING(server##_say) \
    CAIRN_C struct cairn_reply server##_fill(uint64_t control, volatile void *buffer, size_t buffer_length); CAIRN_ENTERING(server##_fill)
#define ECHO_ENTRIES(server) { CAIRN_ENTRY(server##_add), CAIRN_ENTRY(server##_say), CAIRN_ENTRY(server##_fill) }

#endif
