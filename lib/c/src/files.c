/* There are no files: what opens one fails as for a name that does not exist. Everything else about files is told that
 * it has none. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(int error)
{
    errno = error;
    return -1;
}

int open(const char *name, int flags, ...)
{
    (void)name, (void)flags;
    return fail(ENOENT);
}

int close(int file)
{
    (void)file;
    return fail(EBADF);
}

ssize_t read(int file, void *bytes, size_t count)
{
    (void)file, (void)bytes, (void)count;
    return fail(EBADF);
}

ssize_t write(int file, const void *bytes, size_t count)
{
    (void)file, (void)bytes, (void)count;
    return fail(EBADF);
}

off_t lseek(int file, off_t offset, int from)
{
    (void)file, (void)offset, (void)from;
    return fail(EBADF);
}

int fstat(int file, struct stat *state)
{
    (void)file, (void)state;
    return fail(EBADF);
}

int unlink(const char *name)
{
    (void)name;
    return fail(ENOENT);
}

int rename(const char *from, const char *to)
{
    (void)from, (void)to;
    return fail(ENOENT);
}
