/* import.c - reads files of any supported format and gives their pairs to a
 * memory file, as one import (tm/tmfile_import.h). Reading the formats is the
 * job of formats/reader.h. */
#include "exchange/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/invariant.h"
#include "base/strbuf.h"
#include "text/language.h"
#include "tm/tmfile_import.h"

enum { PROGRESS_EVERY = 512 };

struct import_run {
    struct tmfile *t;
    const struct import_options *o;
    struct memory_info memory;
    struct tmfile_import *im;
    struct import_counts *counts;
    uint64_t done, total;       /* bytes of the files before this one, and of
                                   all files */
    bool learn_source, learn_target;    /* the language is not known yet */
    bool languages_unset;       /* one was not known at the beginning */
    struct strbuf extra;        /* the head of the last file that has one */
};

/* ---- names and sizes ----------------------------------------------------- */

static const char *import_origin(const struct import_run *i, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (i->o->origin) return i->o->origin;
    if (!strcmp(path, "-")) return "stdin";
    return slash && slash[1] ? slash + 1 : path;
}

/* Returns 0 when the size of one of them is not known. */
static uint64_t bytes_of_all(const char *const *paths, size_t n)
{
    uint64_t total = 0;
    struct stat sb;

    for (size_t i = 0; i < n; i++) {
        if (stat(paths[i], &sb) || !S_ISREG(sb.st_mode)) return 0;
        total += (uint64_t)sb.st_size;
    }
    return total;
}

/* ---- languages ----------------------------------------------------------- */

/* The language that the options name must be that of the memory. "de" and
 * "de-CH" agree. */
static enum status check_language(const struct import_run *i, const char *has,
                                  const char *asked, struct err *e)
{
    if (!asked || !has[0] || language_accepts(asked, str_of(has)) ||
        language_accepts(has, str_of(asked)))
        return ST_OK;
    return err_set(e, ST_ARGUMENT, "the memory \"%s\" is from %s to %s, not "
                   "%s: import into another memory, or leave the language out",
                   i->memory.name, i->memory.source_lang,
                   i->memory.target_lang, asked);
}

static void learn_language(char *to, size_t size, bool *wanted, struct str lang)
{
    if (!*wanted || !lang.n || lang.n >= size) return;
    memcpy(to, lang.p, lang.n);
    to[lang.n] = 0;
    *wanted = false;
}

static enum status choose_languages(struct import_run *i, struct err *e)
{
    const struct reader_options *r = &i->o->reader;
    struct memory_info *m = &i->memory;
    enum status st = check_language(i, m->source_lang, r->source_lang, e);

    if (!st) st = check_language(i, m->target_lang, r->target_lang, e);
    i->learn_source = !m->source_lang[0];
    i->learn_target = !m->target_lang[0];
    i->languages_unset = i->learn_source || i->learn_target;
    learn_language(m->source_lang, sizeof m->source_lang, &i->learn_source,
                   str_of(r->source_lang));
    learn_language(m->target_lang, sizeof m->target_lang, &i->learn_target,
                   str_of(r->target_lang));
    return st;
}

/* ---- one file ------------------------------------------------------------ */

static enum status import_put_unit(struct import_run *i, const struct unit *u,
                                   struct err *e)
{
    bool is_new;
    enum status st = tmfile_import_put(i->im, u, &is_new, e);

    if (st) return st;
    i->counts->pairs++;
    learn_language(i->memory.source_lang, sizeof i->memory.source_lang,
                   &i->learn_source, u->source_lang);
    learn_language(i->memory.target_lang, sizeof i->memory.target_lang,
                   &i->learn_target, u->target_lang);
    i->counts->texts += is_new;
    assert(i->counts->texts <= i->counts->pairs);
    return ST_OK;
}

static enum status import_report(const struct import_run *i,
                                 const struct reader *r, struct err *e)
{
    uint64_t done = i->done + reader_done(r);

    if (i->total && done > i->total) done = i->total;
    if (!tmfile_report(i->t, "importing", done, i->total,
                       (uint64_t)i->counts->pairs))
        return ST_OK;
    return err_set(e, ST_CANCELED, "the import was stopped");
}

static enum status import_units(struct import_run *i, struct reader *r,
                                struct err *e)
{
    const struct unit *u;
    enum status st;

    for (uint64_t n = 0;; n++) {
        st = n % PROGRESS_EVERY ? ST_OK : import_report(i, r, e);
        if (!st && reader_waits(r)) st = tmfile_import_pause(i->im, e);
        if (!st) st = reader_next(r, &u, e);
        if (st || !u) return st;
        st = import_put_unit(i, u, e);
        if (st) return st;
    }
}

static enum status copy_file_head(struct import_run *i, const struct reader *r,
                                  struct err *e)
{
    struct str extra = reader_extra(r);

    if (!extra.n) return ST_OK;
    strbuf_reset(&i->extra);
    if (!strbuf_add(&i->extra, extra.p, extra.n))
        return err_nomem(e, "the head of a file");
    return tmfile_import_format(i->im, format_name(reader_format(r)), e);
}

static void add_reader_counts(struct import_counts *sum, const struct reader *r)
{
    struct reader_counts c;

    reader_counts(r, &c);
    sum->empty += (int64_t)c.empty;
    sum->other_language += (int64_t)c.other_language;
    sum->unfinished += (int64_t)c.unfinished;
    sum->bad += (int64_t)c.bad;
    sum->headers += (int64_t)c.headers;
}

static enum status import_file(struct import_run *i, const char *path,
                               struct err *e)
{
    struct reader_options o = i->o->reader;
    struct reader *r = NULL;
    enum status st;

    if (!o.source_lang && i->memory.source_lang[0])
        o.source_lang = i->memory.source_lang;
    if (!o.target_lang && i->memory.target_lang[0])
        o.target_lang = i->memory.target_lang;
    st = reader_open(&r, path, &o, e);
    if (st) return st;
    st = import_units(i, r, e);
    if (!st) st = import_report(i, r, e);
    if (!st) st = copy_file_head(i, r, e);
    i->done += reader_done(r);
    add_reader_counts(i->counts, r);
    reader_close(r);
    return st;
}

/* ---- all files ----------------------------------------------------------- */

static enum status import_files(struct import_run *i, const char *const *paths,
                                size_t n, struct err *e)
{
    enum status st;

    assert(n > 0 && !i->im);
    st = tmfile_import_begin(&i->im, i->t, i->memory.id,
                             import_origin(i, paths[0]), e);
    for (size_t k = 0; !st && k < n; k++) {
        if (k) st = tmfile_import_origin(i->im, import_origin(i, paths[k]), e);
        if (!st) st = import_file(i, paths[k], e);
    }
    return st;
}

/* An import that stores nothing does not choose the languages of a memory: they
 * may be wrong, and other imports would be refused. */
static enum status import_publish(struct import_run *i, struct err *e)
{
    bool learned = i->languages_unset && i->counts->pairs > 0;
    int64_t joined;
    enum status st = tmfile_import_commit(i->im, strbuf_view(&i->extra),
                                          learned ? &i->memory : NULL, &joined,
                                          e);

    i->counts->texts -= joined;
    return st;
}

static enum status check_request(const struct tmfile *t, size_t n,
                                 const struct import_options *o,
                                 struct err *e)
{
    if (!n) return err_set(e, ST_ARGUMENT, "no file to import was named");
    if (n > 1 && o->reader.target_path)
        return err_set(e, ST_ARGUMENT, "a target file belongs to one source "
                       "file, not to %zu: import the files one by one", n);
    return tmfile_alone(t, "an import", e);
}

enum status tm_import(struct tmfile *t, const char *memory,
                      const char *const *paths, size_t n,
                      const struct import_options *o,
                      struct import_counts *out, struct err *e)
{
    struct import_run i = { .t = t, .o = o, .counts = out };
    bool made = false;
    enum status st = check_request(t, n, o, e);

    *out = (struct import_counts){ 0 };
    if (st) return st;
    strbuf_init(&i.extra, 0);
    i.total = bytes_of_all(paths, n);
    st = tmfile_find_or_make(t, memory, &i.memory, &made, e);
    if (!st) st = choose_languages(&i, e);
    if (!st) st = import_files(&i, paths, n, e);
    if (!st) st = import_publish(&i, e);
    tmfile_import_close(i.im);
    if (st && made) tmfile_drop_empty(t, i.memory.id);
    strbuf_release(&i.extra);
    return st;
}
