/* wholefile.c - writes a file under a temporary name in the same folder and
 * renames it when it is complete and on disk. A file that is replaced keeps its
 * permissions. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/program.h"
#include "common/wholefile.h"

struct whole_file {             /* a file being written */
    char final_path[PATH_MAX];  /* with symbolic links resolved */
    char temp_path[PATH_MAX + 16];
    int fd;
};

static int file_error(const char *path)
{
    return complain(EXIT_TROUBLE, "%s: %s", path, strerror(errno));
}

/* Return whether a file must be written directly. /dev/stdout may be a link to
 * a regular file, which must not be replaced. */
static bool is_special(const char *path)
{
    struct stat st;

    if (stat(path, &st) || S_ISDIR(st.st_mode)) return false;
    return !S_ISREG(st.st_mode) || !strncmp(path, "/dev/", 5);
}

/* Return the permissions that a newly created file gets. */
static mode_t default_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

static int temp_file_open(struct whole_file *f, const char *path)
{
    struct stat st;
    bool exists = !stat(path, &st);

    if (exists && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return file_error(path);
    }
    if (!realpath(path, f->final_path)
        && snprintf(f->final_path, sizeof f->final_path, "%s", path)
           >= (int)sizeof f->final_path) {
        errno = ENAMETOOLONG;
        return file_error(path);
    }
    snprintf(f->temp_path, sizeof f->temp_path, "%s.XXXXXX", f->final_path);
    f->fd = mkostemp(f->temp_path, O_CLOEXEC);
    if (f->fd < 0) return file_error(path);
    fchmod(f->fd, exists ? st.st_mode & 0777 : default_mode());
    return EXIT_DONE;
}

int whole_file_check(const char *path)
{
    struct whole_file f;
    int status;

    if (is_special(path))
        return access(path, W_OK) ? file_error(path) : EXIT_DONE;
    if ((status = temp_file_open(&f, path))) return status;
    close(f.fd);
    unlink(f.temp_path);
    return EXIT_DONE;
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

static int write_special(const char *path, const struct textbuf *text)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    bool ok = fd >= 0 && wholefile_write_all(fd, text);
    int status = ok ? EXIT_DONE : file_error(path);

    if (fd >= 0) close(fd);
    return status;
}

int whole_file_write(const char *path, const struct textbuf *text)
{
    struct whole_file f;
    int status;

    if (text->failed) return complain(EXIT_TROUBLE, "out of memory");
    if (is_special(path)) return write_special(path, text);
    if ((status = temp_file_open(&f, path))) return status;
    if (!wholefile_write_all(f.fd, text) || fsync(f.fd))
        status = file_error(path);
    if (close(f.fd) && !status) status = file_error(path);
    if (!status && rename(f.temp_path, f.final_path))
        status = file_error(path);
    if (status) unlink(f.temp_path);
    return status;
}
