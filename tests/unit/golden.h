/* golden.h - the model and lines of the reference files, for tests of both.
 *
 * The f32 model made from the full sets, or the shipped one without them. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <jansson.h>
#include <skmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/convert.h"
#include "nn/net.h"
#include "test.h"

struct fixture {
    struct weights *w;
    struct net *net;
    bool exact;                 /* f32 and the full sets */
};

static inline bool newer(const char *a, const char *b)
{
    struct stat x, y;

    return !stat(a, &x) && !stat(b, &y) && x.st_mtime >= y.st_mtime;
}

/* The f32 model, in the build folder; made again whenever its source or this
 * program, and with it the converter, is newer. */
static inline const char *f32_model(void)
{
    const char *src = test_shared("model/model.safetensors");
    const char *build = getenv("BUILD");
    static char file[4096];
    char dir[4096];
    struct err e;

    if (!src) return NULL;
    snprintf(dir, sizeof dir, "%s", src);
    *strrchr(dir, '/') = '\0';
    snprintf(file, sizeof file, "%s/golden-f32.skmt", build ? build : "build");
    if (newer(file, src) && newer(file, "/proc/self/exe")) return file;
    return CHECK_OK(convert_model(dir, DT_F32, file, NULL, NULL, &e), &e)
        ? file : NULL;
}

static inline bool fixture_open(struct fixture *f)
{
    const char *path = f32_model();
    struct err e;

    memset(f, 0, sizeof *f);
    f->exact = path != NULL;
    return CHECK_OK(weights_open(&f->w, path ? path : "models/de-en.skmt", &e),
                    &e) &&
           CHECK_OK(net_open(&f->net, f->w, NULL, &e), &e);
}

static inline void fixture_close(struct fixture *f)
{
    net_close(f->net);
    weights_close(f->w);
}

/* How many lines of a file to read. */
static inline int line_limit(int enough)
{
    return strcmp(skmt_isa(), "ref") ? 1000000 : enough;
}

/* One JSON object per line of a golden file; the full one when it is there. */
static inline FILE *golden_open(const char *name)
{
    char path[256];
    const char *full;

    snprintf(path, sizeof path, "golden/%s", name);
    full = test_shared(path);
    return fopen(full ? full : test_data(name), "r");
}

static inline json_t *golden_line(FILE *f)
{
    char *line = NULL;
    size_t cap = 0;
    json_t *j = getline(&line, &cap, f) > 0 ? json_loads(line, 0, NULL) : NULL;

    free(line);
    return j;
}

static inline int ids_of(const json_t *a, int32_t *out)
{
    int n = (int)json_array_size(a);

    for (int i = 0; i < n; i++)
        out[i] = (int32_t)json_integer_value(json_array_get(a, (size_t)i));
    return n;
}

#endif
