/* wholefile.c - writes a file under a temporary name in the same folder and
 * renames it when it is complete and on disk. A file that is replaced keeps its
 * permissions. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/program.h"
#include "common/wholefile.h"

struct whole_file {             /* a file being written */
    char final_path[PATH_MAX];  /* with symbolic links resolved */
    char temp_path[PATH_MAX + 40];
    int fd;
};

/* Return whether a file must be written directly. /dev/stdout may be a link to
 * a regular file, which must not be replaced. */
static bool is_special(const char *path)
{
    struct stat st;

    if (stat(path, &st) || S_ISDIR(st.st_mode)) return false;
    return !S_ISREG(st.st_mode) || !strncmp(path, "/dev/", 5);
}

/* Create a file with a new name in the same folder, with the permissions of a
 * new file. mkostemp() does not give them, and umask(), which tells them,
 * affects all threads. */
static bool temp_file_create(struct whole_file *f)
{
    static atomic_uint number;

    for (int tries = 0; tries < 100; tries++) {
        snprintf(f->temp_path, sizeof f->temp_path, "%s.%ld-%u", f->final_path,
                 (long)getpid(), atomic_fetch_add(&number, 1));
        f->fd = open(f->temp_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                     0666);
        if (f->fd >= 0 || errno != EEXIST) break;
    }
    return f->fd >= 0;
}

/* These functions set errno if they return false. */

static bool temp_file_open(struct whole_file *f, const char *path)
{
    struct stat st;
    bool exists = !stat(path, &st);

    if (exists && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return false;
    }
    if (!realpath(path, f->final_path)
        && snprintf(f->final_path, sizeof f->final_path, "%s", path)
           >= (int)sizeof f->final_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (!temp_file_create(f)) return false;
    if (exists) fchmod(f->fd, st.st_mode & 0777);
    return true;
}

static bool wholefile_write_all(int fd, const struct textbuf *text)
{
    for (size_t at = 0; at < text->len;) {
        ssize_t n = write(fd, text->data + at, text->len - at);

        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        at += (size_t)n;
    }
    return true;
}

/* Close a file, keeping the errno of an earlier failure. */
static bool wholefile_close(int fd, bool ok)
{
    int why = errno;
    bool closed = !close(fd);

    if (!ok) errno = why;
    return ok && closed;
}

static bool write_special(const char *path, const struct textbuf *text)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

    return fd >= 0 && wholefile_close(fd, wholefile_write_all(fd, text));
}

static bool write_regular(const char *path, const struct textbuf *text)
{
    struct whole_file f;
    bool ok;
    int why;

    if (!temp_file_open(&f, path)) return false;
    ok = wholefile_close(f.fd, wholefile_write_all(f.fd, text)
                                   && !fsync(f.fd))
         && !rename(f.temp_path, f.final_path);
    if (ok) return true;
    why = errno;
    unlink(f.temp_path);
    errno = why;
    return false;
}

bool whole_file_replace(const char *path, const struct textbuf *text,
                        char *why, size_t size)
{
    if (text->failed) {
        snprintf(why, size, "out of memory");
        return false;
    }
    if (is_special(path) ? write_special(path, text)
                         : write_regular(path, text)) return true;
    snprintf(why, size, "%s: %s", path, strerror(errno));
    return false;
}

int whole_file_write(const char *path, const struct textbuf *text)
{
    char why[PATH_MAX + 200];

    if (whole_file_replace(path, text, why, sizeof why)) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s", why);
}

int whole_file_check(const char *path)
{
    struct whole_file f;
    bool ok;

    if (is_special(path)) ok = !access(path, W_OK);
    else if ((ok = temp_file_open(&f, path))) {
        close(f.fd);
        unlink(f.temp_path);
    }
    if (ok) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s: %s", path, strerror(errno));
}
