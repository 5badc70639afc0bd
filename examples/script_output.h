/* What a server of the interface Script has a script print: as much as its caller's buffer takes. */
#ifndef SCRIPT_OUTPUT_H
#define SCRIPT_OUTPUT_H

#include <stddef.h>
#include <string.h>

struct output {
    char *bytes;
    size_t length, size;
};

static inline void add(struct output *output, const char *bytes, size_t length)
{
    size_t room = output->size - output->length;
    if (length > room)
        length = room;
    memcpy(output->bytes + output->length, bytes, length);
    output->length += length;
}

#endif
