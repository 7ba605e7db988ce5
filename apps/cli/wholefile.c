/* wholefile.c - writes a file under another name beside its place and renames
 * it when it is complete. See wholefile.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "wholefile.h"

struct whole_file {                  /* a file being written */
    char place[PATH_MAX];       /* where links lead to */
    char name[PATH_MAX + 16];   /* what it is called meanwhile */
    int fd;
};

static int trouble(const char *path)
{
    return complain(EXIT_TROUBLE, "%s: %s", path, strerror(errno));
}

/* /dev/stdout may lead to a regular file, which is not ours to replace. */
static bool is_special(const char *path)
{
    struct stat st;

    if (stat(path, &st) || S_ISDIR(st.st_mode)) return false;
    return !S_ISREG(st.st_mode) || !strncmp(path, "/dev/", 5);
}

static mode_t usual_mode(void)
{
    mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

static int draft_open(struct whole_file *d, const char *path)
{
    struct stat st;

    if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return trouble(path);
    }
    if (!realpath(path, d->place)
        && snprintf(d->place, sizeof d->place, "%s", path)
           >= (int)sizeof d->place) {
        errno = ENAMETOOLONG;
        return trouble(path);
    }
    snprintf(d->name, sizeof d->name, "%s.XXXXXX", d->place);
    d->fd = mkostemp(d->name, O_CLOEXEC);
    if (d->fd < 0) return trouble(path);
    fchmod(d->fd, usual_mode());
    return EXIT_DONE;
}

int whole_file_check(const char *path)
{
    struct whole_file d;
    int status;

    if (is_special(path))
        return access(path, W_OK) ? trouble(path) : EXIT_DONE;
    if ((status = draft_open(&d, path))) return status;
    close(d.fd);
    unlink(d.name);
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
    int status = ok ? EXIT_DONE : trouble(path);

    if (fd >= 0) close(fd);
    return status;
}

int whole_file_write(const char *path, const struct textbuf *text)
{
    struct whole_file d;
    int status;

    if (text->failed) return complain(EXIT_TROUBLE, "out of memory");
    if (is_special(path)) return write_special(path, text);
    if ((status = draft_open(&d, path))) return status;
    if (!wholefile_write_all(d.fd, text) || fsync(d.fd)) status = trouble(path);
    if (close(d.fd) && !status) status = trouble(path);
    if (!status && rename(d.name, d.place)) status = trouble(path);
    if (status) unlink(d.name);
    return status;
}
