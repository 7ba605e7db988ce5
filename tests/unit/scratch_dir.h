/* scratch_dir.h - a folder for one test, and all in it gone afterwards. */
#ifndef SCRATCH_DIR_H
#define SCRATCH_DIR_H

#include <ftw.h>
#include <unistd.h>

#include "test.h"

struct scratch { char dir[40]; };

static inline bool scratch_make(struct scratch *s)
{
    strcpy(s->dir, "/tmp/skmt-test-XXXXXX");
    return CHECK(mkdtemp(s->dir) != NULL);
}

/* In memory where the system has such a folder: for few bytes, many times. */
static inline bool scratch_make_small(struct scratch *s)
{
    if (access("/dev/shm", W_OK)) return scratch_make(s);
    strcpy(s->dir, "/dev/shm/skmt-test-XXXXXX");
    return CHECK(mkdtemp(s->dir) != NULL);
}

/* A path in it; of the last four calls. */
static inline const char *scratch_path(const struct scratch *s,
                                       const char *name)
{
    static char path[4][256];
    static int turn;
    char *p = path[turn++ % 4];

    snprintf(p, sizeof path[0], "%s/%s", s->dir, name);
    return p;
}

static inline bool scratch_write(const struct scratch *s, const char *name,
                                 const char *text)
{
    FILE *f = fopen(scratch_path(s, name), "wb");

    if (!CHECK(f != NULL)) return false;
    fwrite(text, 1, strlen(text), f);
    return CHECK(!fclose(f));
}

static inline int scratch_unlink(const char *path, const struct stat *sb,
                                 int flag, struct FTW *w)
{
    (void)sb, (void)flag, (void)w;
    return remove(path);
}

static inline void scratch_remove(const struct scratch *s)
{
    nftw(s->dir, scratch_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
