/* skmt_files.c - the part of include/skmt.h for importing and exporting pairs,
 * and the part of include/skmt_tools.h that reads pairs. The work is done in
 * exchange/import.c, exchange/export.c and formats/reader.c. */
#include <errno.h>
#include <stdlib.h>

#include "api/tm_handle.h"
#include "exchange/export.h"
#include "exchange/import.h"
#include "pair/tags.h"
#include "skmt_tools.h"

/* ---- settings of an import ----------------------------------------------- */

struct skmt_import {
    struct reader_options reader;
    char *source_lang, *target_lang, *target_file, *origin;
    struct import_counts counts;
    skmt_reject_fn *reject;
    void *user;
    struct strbuf raw;          /* the bytes that `reject` gets */
};

enum setting_kind { SETTING_TEXT, SETTING_COLUMN, SETTING_FLAG };

static const struct import_setting {
    const char *name;
    enum setting_kind kind;
    size_t offset;              /* of the field in skmt_import */
} settings[] = {
#define AT(field) offsetof(skmt_import, field)
    { "source-lang", SETTING_TEXT, AT(source_lang) },
    { "target-lang", SETTING_TEXT, AT(target_lang) },
    { "target-file", SETTING_TEXT, AT(target_file) },
    { "origin", SETTING_TEXT, AT(origin) },
    { "source-column", SETTING_COLUMN, AT(reader.source_column) },
    { "target-column", SETTING_COLUMN, AT(reader.target_column) },
    { "document-column", SETTING_COLUMN, AT(reader.document_column) },
    { "header", SETTING_FLAG, AT(reader.header) },
    { "no-header", SETTING_FLAG, AT(reader.no_header) },
    { "fuzzy", SETTING_FLAG, AT(reader.fuzzy) },
    { "skip-bad", SETTING_FLAG, AT(reader.skip_bad) },
#undef AT
};

skmt_status skmt_import_new(skmt_import **out, skmt_error *err)
{
    err_clear(err_of(err));
    *out = calloc(1, sizeof **out);
    if (!*out) return (skmt_status)err_nomem(err_of(err), "an import");
    strbuf_init(&(*out)->raw, 0);
    return SKMT_OK;
}

void skmt_import_free(skmt_import *im)
{
    if (!im) return;
    free(im->source_lang);
    free(im->target_lang);
    free(im->target_file);
    free(im->origin);
    strbuf_release(&im->raw);
    free(im);
}

void skmt_import_on_reject(skmt_import *im, skmt_reject_fn *fn, void *user)
{
    im->reject = fn;
    im->user = user;
}

/* An empty value removes the setting. */
static enum status set_text(char **field, const char *value, struct err *e)
{
    char *copy = *value ? strdup(value) : NULL;

    if (*value && !copy) return err_nomem(e, "an import");
    free(*field);
    *field = copy;
    return ST_OK;
}

static enum status set_column(int *field, const char *name, const char *value,
                              struct err *e)
{
    char *end;
    long x;

    errno = 0;
    x = strtol(value, &end, 10);
    if (end == value || *end || errno || x < 1 || x > 10000)
        return err_set(e, ST_ARGUMENT, "%s: \"%.60s\" is not a whole number "
                       "from 1 to 10000", name, value);
    *field = (int)x;
    return ST_OK;
}

static enum status set_flag(bool *field, const char *name, const char *value,
                            struct err *e)
{
    bool yes = !strcmp(value, "yes") || !strcmp(value, "1");

    if (!yes && strcmp(value, "no") && strcmp(value, "0"))
        return err_set(e, ST_ARGUMENT, "%s: \"%.60s\" is not yes or no", name,
                       value);
    *field = yes;
    return ST_OK;
}

static enum status set_format(enum format *f, const char *name, struct err *e)
{
    if (format_parse(name, f)) return ST_OK;
    return err_set(e, ST_ARGUMENT, "format: \"%.60s\" is not a format; use "
                   "tmx, xliff, po, tsv, csv or text", name);
}

skmt_status skmt_import_set(skmt_import *im, const char *setting,
                            const char *value, skmt_error *err)
{
    struct err *e = err_of(err);

    err_clear(e);
    if (!setting || !value)
        return (skmt_status)err_set(e, ST_ARGUMENT, "the name or the value of "
                                    "an import setting is NULL");
    if (!strcmp(setting, "format"))
        return (skmt_status)set_format(&im->reader.format, value, e);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        void *field = (char *)im + settings[k].offset;

        if (strcmp(settings[k].name, setting)) continue;
        if (settings[k].kind == SETTING_TEXT)
            return (skmt_status)set_text(field, value, e);
        if (settings[k].kind == SETTING_COLUMN)
            return (skmt_status)set_column(field, setting, value, e);
        return (skmt_status)set_flag(field, setting, value, e);
    }
    return (skmt_status)err_set(e, ST_ARGUMENT, "there is no import setting "
                                "\"%.60s\"", setting);
}

const char *skmt_import_stat(const skmt_import *im, int i, int64_t *value)
{
    const struct { const char *name; int64_t n; } counts[] = {
        { "pairs", im->counts.pairs }, { "texts", im->counts.texts },
        { "empty", im->counts.empty },
        { "other_language", im->counts.other_language },
        { "unfinished", im->counts.unfinished }, { "bad", im->counts.bad },
        { "headers", im->counts.headers },
    };

    *value = 0;
    if (i < 0 || (size_t)i >= sizeof counts / sizeof *counts) return NULL;
    *value = counts[i].n;
    return counts[i].name;
}

/* ---- importing and exporting --------------------------------------------- */

static int on_reject(void *user, const struct reject *r)
{
    skmt_import *im = user;

    if (!im->reject) return 0;
    strbuf_reset(&im->raw);
    if (r->raw.n) strbuf_add(&im->raw, r->raw.p, r->raw.n);
    return im->reject(im->user, r->file, r->line, r->column, r->why,
                      im->raw.data, im->raw.len);
}

/* The settings of an import; im may be NULL. The strings are borrowed. */
static struct reader_options reader_options_of(skmt_import *im)
{
    struct reader_options o = { 0 };

    if (!im) return o;
    o = im->reader;
    o.source_lang = im->source_lang;
    o.target_lang = im->target_lang;
    o.target_path = im->target_file;
    o.reject = on_reject;
    o.user = im;
    return o;
}

skmt_status skmt_tm_import(skmt_tm *tm, const char *memory,
                           const char *const *paths, int n, skmt_import *im,
                           skmt_error *err)
{
    struct import_options o = { .reader = reader_options_of(im),
                                .origin = im ? im->origin : NULL };
    struct import_counts counts;
    enum status st;

    err_clear(err_of(err));
    st = tm_import(tm->f, memory, paths, n > 0 ? (size_t)n : 0, &o, &counts,
                   err_of(err));
    if (im) im->counts = counts;
    return (skmt_status)st;
}

skmt_status skmt_tm_export(skmt_tm *tm, const char *memory, const char *path,
                           const char *format, const char *target_path,
                           int64_t *n, skmt_error *err)
{
    struct export_options o = { .target_path = target_path };
    enum status st = ST_OK;
    int64_t written = 0;

    err_clear(err_of(err));
    if (n) *n = 0;
    if (!path)
        st = err_set(err_of(err), ST_ARGUMENT, "the name of the file to write "
                     "is missing");
    if (!st && format) st = set_format(&o.format, format, err_of(err));
    if (!st)
        st = tm_export(tm->f, memory, path, &o, &written, err_of(err));
    if (!st && n) *n = written;
    return (skmt_status)st;
}

/* ---- pairs of a file ----------------------------------------------------- */

struct skmt_pairs {
    struct reader *reader;
    const struct unit *unit;    /* read, but not returned yet; or NULL */
    bool at_end;
    uint64_t n_empty;           /* empty units that were returned */
    struct strbuf source, target;       /* without tags */
};

skmt_status skmt_pairs_open(skmt_pairs **out, const char *path,
                            skmt_import *how, skmt_error *err)
{
    struct reader_options o = reader_options_of(how);
    skmt_pairs *p = calloc(1, sizeof *p);
    enum status st;

    err_clear(err_of(err));
    *out = NULL;
    if (!p) return (skmt_status)err_nomem(err_of(err), path);
    strbuf_init(&p->source, 0);
    strbuf_init(&p->target, 0);
    st = reader_open(&p->reader, path, &o, err_of(err));
    if (st) skmt_pairs_close(p);
    else *out = p;
    return (skmt_status)st;
}

void skmt_pairs_close(skmt_pairs *p)
{
    if (!p) return;
    reader_close(p->reader);
    strbuf_release(&p->source);
    strbuf_release(&p->target);
    free(p);
}

/* Sets *plain to a text without its tags. */
static enum status plain_unit_text(struct str text, bool tagged,
                                   struct strbuf *room, struct str *plain,
                                   struct err *e)
{
    *plain = text;
    if (!tagged) return ST_OK;
    strbuf_reset(room);
    if (!tags_strip(text, room)) return err_nomem(e, "the text of a pair");
    *plain = strbuf_view(room);
    return ST_OK;
}

/* Reads the next unit, unless the last one was not returned yet. */
static enum status read_pairs_unit(skmt_pairs *p, struct err *e)
{
    enum status st;

    if (p->unit || p->at_end) return ST_OK;
    st = reader_next(p->reader, &p->unit, e);
    p->at_end = !st && !p->unit;
    return st;
}

/* The reader counts the empty units before a unit. They are returned first. */
static enum status next_texts(skmt_pairs *p, struct str *source,
                              struct str *target, struct err *e)
{
    struct reader_counts counts;
    enum status st = read_pairs_unit(p, e);

    *source = *target = (struct str){ NULL, 0 };
    if (st) return st;
    reader_counts(p->reader, &counts);
    if (p->n_empty < counts.empty) {
        p->n_empty++;
        *source = *target = str_of("");
        return ST_OK;
    }
    if (!p->unit) return ST_OK;
    st = plain_unit_text(p->unit->source, p->unit->tagged, &p->source, source,
                         e);
    if (!st)
        st = plain_unit_text(p->unit->target, p->unit->tagged, &p->target,
                             target, e);
    p->unit = NULL;
    return st;
}

skmt_status skmt_pairs_next(skmt_pairs *p, const char **source,
                            size_t *source_len, const char **target,
                            size_t *target_len, skmt_error *err)
{
    struct str s, t;
    enum status st;

    err_clear(err_of(err));
    st = next_texts(p, &s, &t, err_of(err));
    if (st) s.p = t.p = NULL;
    *source = s.p;
    *source_len = s.p ? s.n : 0;
    *target = t.p;
    *target_len = t.p ? t.n : 0;
    return (skmt_status)st;
}

uint64_t skmt_pairs_done(const skmt_pairs *p, uint64_t *total)
{
    *total = reader_total(p->reader);
    return reader_done(p->reader);
}
