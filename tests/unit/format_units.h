/* format_units.h - reads all units of a text or file, and keeps, writes and
 * compares them. */
#ifndef FORMAT_UNITS_H
#define FORMAT_UNITS_H

#include <jansson.h>

#include "formats/reader.h"
#include "formats/writer.h"
#include "scratch_dir.h"

struct units {
    struct unit *at;
    size_t n;
    struct reader_counts counts;
    char *extra;                        /* of the file */
    struct err e;
    /* rejected units */
    size_t n_rejects;
    struct { uint64_t line, column; char why[200], raw[400]; } reject[8];
};

static inline struct str units_own(struct str s)
{
    return (struct str){ strndup(s.n ? s.p : "", s.n), s.n };
}

static inline int units_reject(void *user, const struct reject *r)
{
    struct units *u = user;

    if (u->n_rejects == COUNT(u->reject)) return 1;
    u->reject[u->n_rejects].line = r->line;
    u->reject[u->n_rejects].column = r->column;
    snprintf(u->reject[u->n_rejects].why, 200, "%s", r->why);
    snprintf(u->reject[u->n_rejects].raw, 400, "%.*s", (int)r->raw.n,
             r->raw.p);
    u->n_rejects++;
    return 0;
}

static inline void units_add(struct units *all, const struct unit *u)
{
    struct unit *to;

    all->at = realloc(all->at, (all->n + 1) * sizeof *all->at);
    to = &all->at[all->n++];
    *to = *u;
    to->source = units_own(u->source);
    to->target = units_own(u->target);
    to->source_lang = units_own(u->source_lang);
    to->target_lang = units_own(u->target_lang);
    to->id = units_own(u->id);
    to->document = units_own(u->document);
    to->author = units_own(u->author);
    to->extra = units_own(u->extra);
}

static inline enum status units_drain(struct units *all, struct reader *r)
{
    const struct unit *u;
    enum status st;
    struct str x;

    while (!(st = reader_next(r, &u, &all->e)) && u) units_add(all, u);
    reader_counts(r, &all->counts);
    x = reader_extra(r);
    all->extra = strndup(x.n ? x.p : "", x.n);
    reader_close(r);
    return st;
}

/* o may be NULL. */
static inline enum status units_read(struct units *all, const char *text,
                                     const struct reader_options *o)
{
    struct reader_options opt = { 0 };
    struct str none = { NULL, 0 };
    struct reader *r;
    enum status st;

    memset(all, 0, sizeof *all);
    if (o) opt = *o;
    opt.reject = units_reject;
    opt.user = all;
    st = reader_open_memory(&r, "f", str_of(text), none, &opt, &all->e);
    return st ? st : units_drain(all, r);
}

static inline enum status units_read_file(struct units *all,
                                          const char *path,
                                          const struct reader_options *o)
{
    struct reader_options opt = { 0 };
    struct reader *r;
    enum status st;

    memset(all, 0, sizeof *all);
    st = reader_open(&r, path, o ? o : &opt, &all->e);
    return st ? st : units_drain(all, r);
}

static inline enum status units_write(struct units *all, const char *path,
                                      const struct writer_options *o)
{
    struct writer_options opt = *o;
    struct writer *w;
    enum status st;

    if (!opt.extra.n && all->extra) opt.extra = str_of(all->extra);
    st = writer_open(&w, path, &opt, &all->e);
    for (size_t i = 0; !st && i < all->n; i++)
        st = writer_put(w, &all->at[i], &all->e);
    if (!st) st = writer_commit(w, &all->e);
    writer_close(w);
    return st;
}

static inline void units_free(struct units *all)
{
    for (size_t i = 0; i < all->n; i++) {
        struct unit *u = &all->at[i];
        struct str own[] = { u->source, u->target, u->source_lang,
                             u->target_lang, u->id, u->document, u->author,
                             u->extra };
        for (size_t k = 0; k < COUNT(own); k++)
            free((char *)(uintptr_t)own[k].p);
    }
    free(all->at);
    free(all->extra);
    memset(all, 0, sizeof *all);
}

/* Compares everything but the line numbers. */
static inline void units_compare(const struct units *got,
                                 const struct units *want)
{
    CHECK_INT(got->n, want->n);
    for (size_t i = 0; i < got->n && i < want->n; i++) {
        const struct unit *a = &got->at[i], *b = &want->at[i];

        CHECK_STR(a->source.p, b->source.p);
        CHECK_STR(a->target.p, b->target.p);
        CHECK_STR(a->source_lang.p, b->source_lang.p);
        CHECK_STR(a->target_lang.p, b->target_lang.p);
        CHECK_STR(a->id.p, b->id.p);
        CHECK_STR(a->document.p, b->document.p);
        CHECK_STR(a->author.p, b->author.p);
        CHECK_STR(a->extra.p, b->extra.p);
        CHECK_INT(a->tagged, b->tagged);
        CHECK_INT(a->created, b->created);
        CHECK_INT(a->changed, b->changed);
    }
}

/* Returns whether two JSON texts are equal, ignoring the order of keys. */
static inline bool units_same_json(const char *a, const char *b)
{
    json_t *x = json_loads(a, 0, NULL), *y = json_loads(b, 0, NULL);
    bool same = x && y && json_equal(x, y);

    json_decref(x);
    json_decref(y);
    return same;
}

/* Reads a file, writes it, reads it back and compares the units and the extra
 * data of the file. */
static inline void units_round_trip(const char *path, enum format f,
                                    const char *name)
{
    struct writer_options wo = { .format = f };
    struct reader_options ro = { .fuzzy = true };
    struct units first, second = { 0 };
    struct scratch dir;

    if (!CHECK_OK(units_read_file(&first, path, &ro), &first.e)) return;
    CHECK(first.n > 0);
    if (!scratch_make(&dir)) return;
    if (CHECK_OK(units_write(&first, scratch_path(&dir, name), &wo),
                 &first.e) &&
        CHECK_OK(units_read_file(&second, scratch_path(&dir, name), &ro),
                 &second.e)) {
        units_compare(&second, &first);
        if (!units_same_json(second.extra, first.extra))
            CHECK_STR(second.extra, first.extra);
        CHECK_INT(second.counts.empty + second.counts.other_language, 0);
    }
    units_free(&first);
    units_free(&second);
    scratch_remove(&dir);
}

#endif
