/* The two files that SQLite has here: the database and its journal. */
#ifndef FILES_H
#define FILES_H

#include <stdint.h>

/* What the database is called. */
#define DATABASE "database"

/* Finds them on the disk, the first time, or begins them on one that begins with zeros. A status is zero or a CAIRN_ERROR_*:
 * CAIRN_ERROR_MALFORMED if something else is on the disk, CAIRN_ERROR_NOT_ALLOWED if it cannot be written. */
int64_t files_begin(void);

#endif
