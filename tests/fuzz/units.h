/* units.h - for the fuzzers of file formats: reads units, checks them, writes
 * them and compares what is read back. */
#ifndef FUZZ_UNITS_H
#define FUZZ_UNITS_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "formats/reader.h"
#include "formats/writer.h"
#include "text/utf8.h"

struct kept {                   /* the texts of one unit */
    char *source, *target;
    size_t n_source, n_target;
};
struct units {
    struct kept *at;
    size_t n;
    char *extra;                /* of the file */
    uint64_t bad;
};

static inline void must(int ok)
{
    if (!ok) abort();
}

static inline char *keep(struct str s)
{
    char *p = malloc(s.n + 1);

    if (s.n) memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return p;
}

static inline void must_be_text(struct str s)
{
    must(utf8_check(s.p, s.n) == s.n);
    must(!s.n || !memchr(s.p, '\0', s.n));
}

static inline void must_be_json(struct str s)
{
    json_t *o = s.n ? json_loadb(s.p, s.n, 0, NULL) : NULL;

    must(!s.n || json_is_object(o));
    json_decref(o);
}

static inline void must_be_good(const struct unit *u)
{
    must(u->source.n && u->target.n && u->line);
    must_be_text(u->source);
    must_be_text(u->target);
    must_be_text(u->source_lang);
    must_be_text(u->target_lang);
    must_be_text(u->document);
    must_be_json(u->extra);
}

/* Returns the path of a temporary file, in a memory file system if possible. */
static inline const char *scratch_file(int which)
{
    static char path[2][80];

    if (!path[0][0])
        for (int i = 0; i < 2; i++)
            snprintf(path[i], sizeof path[i], "%s/skmt-fuzz-%ld-%d",
                     access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
                     (long)getpid(), i);
    return path[which];
}

/* Reads all units. Each one is also written to w, which may be NULL. */
static inline enum status units_read(struct units *us, struct reader *r,
                                     struct writer *w)
{
    const struct unit *u;
    struct reader_counts counts;
    enum status st;

    while (!(st = reader_next(r, &u, NULL)) && u) {
        must_be_good(u);
        us->at = realloc(us->at, (us->n + 1) * sizeof *us->at);
        us->at[us->n++] = (struct kept){ keep(u->source), keep(u->target),
                                         u->source.n, u->target.n };
        if (w) must(!writer_put(w, u, NULL));
    }
    reader_counts(r, &counts);
    us->bad = counts.bad;
    must_be_json(reader_extra(r));
    us->extra = keep(reader_extra(r));
    return st;
}

static inline void units_free(struct units *us)
{
    for (size_t i = 0; i < us->n; i++) {
        free(us->at[i].source);
        free(us->at[i].target);
    }
    free(us->at);
    free(us->extra);
    *us = (struct units){ 0 };
}

static inline void must_be_same(const struct units *a, const struct units *b)
{
    must(a->n == b->n);
    for (size_t i = 0; i < a->n; i++) {
        const struct kept *x = &a->at[i], *y = &b->at[i];

        must(x->n_source == y->n_source && x->n_target == y->n_target &&
             !memcmp(x->source, y->source, x->n_source) &&
             !memcmp(x->target, y->target, x->n_target));
    }
}

/* Reads the bytes, writes the units and reads them back. Both times the pairs
 * must be the same, and none may be bad the second time. */
static inline void round_trip(struct str bytes, struct str target,
                              const struct reader_options *o,
                              const struct reader_options *back)
{
    struct writer_options wo = { .format = o->format };
    struct units first = { 0 }, second = { 0 }, again = { 0 };
    struct reader_options bo = *back;
    struct reader *r;
    struct writer *w;

    if (reader_open_memory(&r, "fuzz", bytes, target, o, NULL)) return;
    units_read(&first, r, NULL);
    reader_close(r);
    if (o->format == FORMAT_PARALLEL)
        wo.target_path = bo.target_path = scratch_file(1);
    wo.extra = str_of(first.extra);
    must(!writer_open(&w, scratch_file(0), &wo, NULL));
    must(!reader_open_memory(&r, "fuzz", bytes, target, o, NULL));
    units_read(&again, r, w);
    reader_close(r);
    must(!writer_commit(w, NULL));
    writer_close(w);
    must_be_same(&first, &again);
    must(!reader_open(&r, scratch_file(0), &bo, NULL));
    must(!units_read(&second, r, NULL));
    must(!second.bad);
    reader_close(r);
    must_be_same(&first, &second);
    unlink(scratch_file(0));
    unlink(scratch_file(1));
    units_free(&first);
    units_free(&second);
    units_free(&again);
}

#endif
