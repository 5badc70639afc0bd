/* The disk as bytes. One thread at a time. */
#ifndef DISK_H
#define DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a block, which a disk writes whole or not at all. */
enum { BLOCK = 512 };

/* Another caller's thread begins. One that is called home is answered CAIRN_ERROR_CANCELLED from then on. */
void disk_begin(void);
bool disk_is_called_home(void);
/* Its bytes, and whether they can be written. A status is zero or a CAIRN_ERROR_*. */
int64_t disk_size(uint64_t *size, bool *writable);
int64_t disk_read(uint64_t at, void *to, size_t count);
int64_t disk_write(uint64_t at, const void *from, size_t count);
/* What was written before lasts. */
int64_t disk_flush(void);
/* Waits; an error: this thread is called home. */
int64_t disk_pause(uint64_t microseconds);

#endif
