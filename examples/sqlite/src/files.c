/* What SQLite takes for its operating system (https://sqlite.org/vfs.html): a database and its journal, each at a fixed place of
 * the disk. How long they are is in the first block, which a disk writes whole or not at all. */
#include "files.h"
#include "disk.h"
#include "imports.h"

#include <sqlite3.h>

/* The first block of the disk, and where files can begin. */
struct first_block {
    char mark[16];
    uint64_t sizes[2]; /* of the database, and of the journal; one of 0 is none */
    unsigned char rest[BLOCK - 32];
};
_Static_assert(sizeof(struct first_block) == BLOCK, "one block");
enum { FILES_BEGIN = 4096 };
static const char MARK[16] = "cairn-sqlite 1\n";

/* The database, then the journal. */
static struct file {
    const char *name;
    uint64_t first, room; /* bytes of the disk */
    uint64_t size;
    uint64_t lasting; /* the size that the first block shall say */
    bool is_there, is_open;
} files[2] = { { .name = DATABASE }, { .name = DATABASE "-journal" } };
static struct file *const journal = &files[1];

static struct first_block first_block;
static bool has_begun;

struct opened {
    sqlite3_file base;
    struct file *file;
};

static struct file *file_of(sqlite3_file *opened)
{
    return ((struct opened *)opened)->file;
}

static struct file *find(const char *name)
{
    for (int at = 0; name && at < 2; at++)
        if (strcmp(files[at].name, name) == 0)
            return &files[at];
    return NULL;
}

int64_t files_begin(void)
{
    static const struct first_block empty;
    uint64_t size;
    bool writable;
    if (has_begun)
        return 0;
    int64_t status = disk_size(&size, &writable);
    if (status == 0 && !writable)
        status = CAIRN_ERROR_NOT_ALLOWED;
    if (status == 0 && size < 2 * FILES_BEGIN)
        status = CAIRN_ERROR_MALFORMED;
    if (status == 0)
        status = disk_read(0, &first_block, sizeof first_block);
    if (status != 0)
        return status;
    if (memcmp(&first_block, &empty, sizeof empty) == 0)
        memcpy(first_block.mark, MARK, sizeof MARK);
    if (memcmp(first_block.mark, MARK, sizeof MARK) != 0)
        return CAIRN_ERROR_MALFORMED;
    /* A journal of all pages is a little longer than the database: each page has its number and a sum there. */
    files[0].first = FILES_BEGIN;
    files[0].room = (size - FILES_BEGIN) / 32 * 15 / BLOCK * BLOCK;
    journal->first = FILES_BEGIN + files[0].room;
    journal->room = size - journal->first;
    for (int at = 0; at < 2; at++) {
        files[at].size = files[at].lasting = first_block.sizes[at];
        files[at].is_there = files[at].size > 0;
        if (files[at].size > files[at].room)
            return CAIRN_ERROR_MALFORMED;
    }
    has_begun = true;
    return 0;
}

/* The sizes that shall last do. */
static int note_sizes(int error)
{
    if (first_block.sizes[0] == files[0].lasting && first_block.sizes[1] == files[1].lasting)
        return SQLITE_OK;
    for (int at = 0; at < 2; at++)
        first_block.sizes[at] = files[at].lasting;
    if (disk_write(0, &first_block, sizeof first_block) == 0 && disk_flush() == 0)
        return SQLITE_OK;
    /* What the disk has now nobody knows: it is written again. */
    first_block.sizes[0] = UINT64_MAX;
    return error;
}

/* --------------------------------------------------------------------------------------- open files */

static int file_close(sqlite3_file *opened)
{
    file_of(opened)->is_open = false;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *opened, void *to, int count, sqlite3_int64 at)
{
    struct file *file = file_of(opened);
    uint64_t left = (uint64_t)at < file->size ? file->size - (uint64_t)at : 0;
    size_t found = left < (uint64_t)count ? left : (size_t)count;
    if (disk_read(file->first + (uint64_t)at, to, found) != 0)
        return SQLITE_IOERR_READ;
    memset((char *)to + found, 0, (size_t)count - found);
    return found < (size_t)count ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int file_write(sqlite3_file *opened, const void *from, int count, sqlite3_int64 at)
{
    static const unsigned char zeros[4096];
    struct file *file = file_of(opened);
    uint64_t end = (uint64_t)at + (uint64_t)count;
    if (end > file->room)
        return SQLITE_FULL;
    /* What is between reads as zeros, whatever the disk had there. */
    while (file->size < (uint64_t)at) {
        uint64_t gap = (uint64_t)at - file->size;
        size_t part = gap < sizeof zeros ? gap : sizeof zeros;
        if (disk_write(file->first + file->size, zeros, part) != 0)
            return SQLITE_IOERR_WRITE;
        file->size += part;
    }
    if (disk_write(file->first + (uint64_t)at, from, (size_t)count) != 0)
        return SQLITE_IOERR_WRITE;
    if (end > file->size)
        file->size = end;
    return SQLITE_OK;
}

static int file_truncate(sqlite3_file *opened, sqlite3_int64 size)
{
    struct file *file = file_of(opened);
    if ((uint64_t)size < file->size)
        file->size = (uint64_t)size;
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *opened, int flags)
{
    struct file *file = file_of(opened);
    (void)flags;
    if (disk_flush() != 0)
        return SQLITE_IOERR_FSYNC;
    /* Not before what is in it lasts. */
    file->lasting = file->size;
    return note_sizes(SQLITE_IOERR_FSYNC);
}

static int file_size(sqlite3_file *opened, sqlite3_int64 *size)
{
    *size = (sqlite3_int64)file_of(opened)->size;
    return SQLITE_OK;
}

/* A file is opened once at a time, so nobody is kept out. */
static int file_lock(sqlite3_file *opened, int kind)
{
    (void)opened, (void)kind;
    return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *opened, int *is_reserved)
{
    (void)opened;
    *is_reserved = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *opened, int operation, void *argument)
{
    (void)opened, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *opened)
{
    (void)opened;
    return BLOCK;
}

static int file_characteristics(sqlite3_file *opened)
{
    (void)opened;
    return 0;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
};

/* ------------------------------------------------------------------------------------ files by name */

static int files_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *opened, int flags, int *given)
{
    struct file *file = find(name);
    (void)vfs;
    opened->pMethods = NULL;
    if (!file || file->is_open || (!file->is_there && !(flags & SQLITE_OPEN_CREATE)))
        return SQLITE_CANTOPEN;
    file->is_there = file->is_open = true;
    ((struct opened *)opened)->file = file;
    opened->pMethods = &methods;
    if (given)
        *given = flags;
    return SQLITE_OK;
}

/* Without its journal a transaction is committed, so this lasts before it answers. */
static int files_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    struct file *file = find(name);
    (void)vfs, (void)sync;
    if (!file || !file->is_there)
        return SQLITE_IOERR_DELETE_NOENT;
    const struct file before = *file;
    file->size = file->lasting = 0;
    file->is_there = false;
    int result = note_sizes(SQLITE_IOERR_DELETE);
    /* On the disk it may be there still: nothing else may be written in its place. */
    if (result != SQLITE_OK)
        *file = before;
    return result;
}

static int files_access(sqlite3_vfs *vfs, const char *name, int flags, int *answer)
{
    struct file *file = find(name);
    (void)vfs, (void)flags;
    *answer = file && file->is_there;
    return SQLITE_OK;
}

static int files_full_path(sqlite3_vfs *vfs, const char *name, int size, char *to)
{
    (void)vfs;
    sqlite3_snprintf(size, to, "%s", name);
    return SQLITE_OK;
}

/* For what has to differ from one time to the next; no secret. */
static int files_randomness(sqlite3_vfs *vfs, int count, char *to)
{
    static uint64_t state;
    (void)vfs;
    for (int at = 0; at < count; at++) {
        state = (state ^ cairn_ticks()) * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        to[at] = (char)(state >> 56);
    }
    return count;
}

static int files_sleep(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    disk_pause((uint64_t)microseconds);
    return microseconds;
}

/* There is no time of day. */
static int files_time(sqlite3_vfs *vfs, double *time)
{
    (void)vfs;
    *time = 0;
    return SQLITE_ERROR;
}

static int files_last_error(sqlite3_vfs *vfs, int size, char *to)
{
    (void)vfs, (void)size, (void)to;
    return 0;
}

int sqlite3_os_init(void)
{
    static sqlite3_vfs vfs = {
        .iVersion = 1,
        .szOsFile = sizeof(struct opened),
        .mxPathname = 32,
        .zName = "blocks",
        .xOpen = files_open,
        .xDelete = files_delete,
        .xAccess = files_access,
        .xFullPathname = files_full_path,
        .xRandomness = files_randomness,
        .xSleep = files_sleep,
        .xCurrentTime = files_time,
        .xGetLastError = files_last_error,
    };
    return sqlite3_vfs_register(&vfs, 1);
}

int sqlite3_os_end(void)
{
    return SQLITE_OK;
}
