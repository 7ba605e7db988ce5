/* skmt_files.c - the part of include/skmt.h for importing and exporting pairs.
 * The work is done in exchange/import.c and exchange/export.c. */
#include <errno.h>
#include <stdlib.h>

#include "api/tm_handle.h"
#include "exchange/export.h"
#include "exchange/import.h"

/* ---- settings of an import ----------------------------------------------- */

struct skmt_import {
    struct reader_options reader;
    char *source_lang, *target_lang, *target_file, *origin;
    struct import_counts counts;
    skmt_reject_fn *reject;
    void *user;
};

enum key_kind { KEY_TEXT, KEY_COLUMN, KEY_FLAG };

static const struct import_key {
    const char *name;
    enum key_kind kind;
    size_t offset;
} keys[] = {
#define AT(field) offsetof(skmt_import, field)
    { "source-lang", KEY_TEXT, AT(source_lang) },
    { "target-lang", KEY_TEXT, AT(target_lang) },
    { "target-file", KEY_TEXT, AT(target_file) },
    { "origin", KEY_TEXT, AT(origin) },
    { "source-column", KEY_COLUMN, AT(reader.source_column) },
    { "target-column", KEY_COLUMN, AT(reader.target_column) },
    { "document-column", KEY_COLUMN, AT(reader.document_column) },
    { "header", KEY_FLAG, AT(reader.header) },
    { "no-header", KEY_FLAG, AT(reader.no_header) },
    { "fuzzy", KEY_FLAG, AT(reader.fuzzy) },
    { "skip-bad", KEY_FLAG, AT(reader.skip_bad) },
#undef AT
};

skmt_import *skmt_import_new(void) { return calloc(1, sizeof(skmt_import)); }

void skmt_import_free(skmt_import *i)
{
    if (!i) return;
    free(i->source_lang);
    free(i->target_lang);
    free(i->target_file);
    free(i->origin);
    free(i);
}

void skmt_import_rejects(skmt_import *i, skmt_reject_fn *fn, void *user)
{
    i->reject = fn;
    i->user = user;
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
    return err_set(e, ST_ARGUMENT, "format: \"%.60s\" is not one of tmx, "
                   "xliff, po, tsv, csv and text", name);
}

skmt_status skmt_import_set(skmt_import *i, const char *key,
                            const char *value, skmt_error *err)
{
    struct err *e = inner(err);

    err_clear(e);
    if (!key || !value)
        return (skmt_status)err_set(e, ST_ARGUMENT, "the name or the value of "
                                    "an import setting is NULL");
    if (!strcmp(key, "format"))
        return (skmt_status)set_format(&i->reader.format, value, e);
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        void *field = (char *)i + keys[k].offset;

        if (strcmp(keys[k].name, key)) continue;
        if (keys[k].kind == KEY_TEXT)
            return (skmt_status)set_text(field, value, e);
        if (keys[k].kind == KEY_COLUMN)
            return (skmt_status)set_column(field, key, value, e);
        return (skmt_status)set_flag(field, key, value, e);
    }
    return (skmt_status)err_set(e, ST_ARGUMENT, "there is no import setting "
                                "\"%.60s\"", key);
}

int64_t skmt_import_count(const skmt_import *i, const char *what)
{
    const struct { const char *name; int64_t n; } counts[] = {
        { "pairs", i->counts.pairs }, { "texts", i->counts.texts },
        { "empty", i->counts.empty },
        { "other-language", i->counts.other_language },
        { "unfinished", i->counts.unfinished }, { "bad", i->counts.bad },
        { "headers", i->counts.headers },
    };

    for (size_t k = 0; what && k < sizeof counts / sizeof *counts; k++)
        if (!strcmp(counts[k].name, what)) return counts[k].n;
    return -1;
}

/* ---- importing and exporting --------------------------------------------- */

static int on_reject(void *user, const struct reject *r)
{
    const skmt_import *i = user;

    return i->reject ? i->reject(i->user, r->file, r->line, r->column, r->why,
                                 r->raw.n ? r->raw.p : "", r->raw.n) : 0;
}

skmt_status skmt_tm_import(skmt_tm *tm, const char *memory,
                           const char *const *paths, int n, skmt_import *how,
                           skmt_error *err)
{
    struct import_options o = { 0 };
    struct import_counts counts;
    enum status st;

    err_clear(inner(err));
    if (how) {
        o.reader = how->reader;
        o.reader.source_lang = how->source_lang;
        o.reader.target_lang = how->target_lang;
        o.reader.target_path = how->target_file;
        o.reader.reject = on_reject;
        o.reader.user = how;
        o.origin = how->origin;
    }
    st = tm_import(tm->f, memory, paths, n > 0 ? (size_t)n : 0, &o, &counts,
                   inner(err));
    if (how) how->counts = counts;
    return (skmt_status)st;
}

skmt_status skmt_tm_export(skmt_tm *tm, const char *memory, const char *path,
                           const char *format, const char *target_path,
                           int64_t *n, skmt_error *err)
{
    struct export_options o = { .target_path = target_path };
    enum status st = ST_OK;
    int64_t written = 0;

    err_clear(inner(err));
    if (n) *n = 0;
    if (!path)
        st = err_set(inner(err), ST_ARGUMENT, "the name of the file to write "
                     "is missing");
    if (!st && format) st = set_format(&o.format, format, inner(err));
    if (!st)
        st = tm_export(tm->f, memory, path, &o, &written, inner(err));
    if (!st && n) *n = written;
    return (skmt_status)st;
}
