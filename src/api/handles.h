/* handles.h - the structs behind the public handles, and conversions between
 * public and internal types, for the files of api/. */
#ifndef API_HANDLES_H
#define API_HANDLES_H

#include <string.h>

#include "engine/engine.h"
#include "engine/options.h"
#include "skmt.h"

struct skmt_options {
    struct options o;
    char text[OPTION_TEXT];     /* what skmt_options_get or
                                   skmt_options_in_force returned last */
};

struct stream;
struct skmt_stream {
    struct stream *s;
    skmt_stream_fn *fn;
    void *user;
};

/* A skmt_error has the layout of struct err; skmt.c checks that. */
static inline struct err *err_of(skmt_error *e)
{
    return (struct err *)(void *)e;
}

/* A skmt_model is a struct engine. */
static inline const struct engine *engine_of(const skmt_model *m)
{
    return (const struct engine *)(const void *)m;
}

static inline size_t length_of(const char *text)
{
    return text ? strlen(text) : 0;
}

static inline struct options options_or_defaults(const skmt_options *o)
{
    struct options d;

    options_defaults(&d);
    return o ? o->o : d;
}

/* The statistics that sessions, streams and services have in common. */
enum { BATCH_STATS = 5 };
const char *batch_stat(const struct batch_counts *c, int i, int64_t *value);

#endif
