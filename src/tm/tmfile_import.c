/* tmfile_import.c - writes the pairs of an import to the store and the new
 * texts to index segments, and publishes both in one transaction. The store's
 * side is in store_import.c; files and formats are the caller's business.
 *
 * The order, which asserts check: begin, any number of pairs, commit, which
 * prepares the store, publishes the index and commits. Whatever fails, closing
 * removes what was written: index_build_unpublish makes sure that segment files
 * of a transaction that was rolled back do not stay. */
#include "tm/tmfile_import.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "pair/tags.h"
#include "tm/tmfile_internal.h"

struct tmfile_import {
    struct tmfile *t;
    int64_t memory;
    int64_t n_new;              /* texts so far */
    struct store_import *im;
    struct index_build *build;
    struct strbuf plain;        /* a source without its tags */
};

enum status tmfile_import_begin(struct tmfile_import **out, struct tmfile *t,
                                int64_t memory, const char *origin,
                                struct err *e)
{
    const struct analyzer standard = { 0 };
    struct tmfile_import *im = calloc(1, sizeof *im);
    enum status st = im ? tmfile_alone(t, "an import", e)
                        : err_nomem(e, "an import");

    *out = im;
    if (!im) return st;
    *im = (struct tmfile_import){ .t = t, .memory = memory };
    strbuf_init(&im->plain, 0);
    if (!st) st = store_import_begin(&im->im, t->store, memory, origin, e);
    if (!st)
        st = index_build_new(&im->build, t->store, memory, &standard, e);
    if (st) {
        tmfile_import_close(im);
        *out = NULL;
    }
    return st;
}

enum status tmfile_import_format(struct tmfile_import *im, const char *format,
                                 struct err *e)
{
    return store_import_format(im->im, format, e);
}

enum status tmfile_import_origin(struct tmfile_import *im, const char *origin,
                                 struct err *e)
{
    return store_import_origin(im->im, origin, e);
}

enum status tmfile_import_pause(struct tmfile_import *im, struct err *e)
{
    return store_import_pause(im->im, e);
}

enum status tmfile_import_put(struct tmfile_import *im, const struct unit *u,
                              bool *is_new, struct err *e)
{
    struct str plain = u->source;
    int64_t text;
    enum status st = store_import_put(im->im, u, &text, is_new, e);

    if (st || !*is_new) return st;
    im->n_new++;
    if (u->tagged) {
        strbuf_reset(&im->plain);
        if (!tags_strip(u->source, &im->plain)) return err_nomem(e, "a text");
        plain = strbuf_view(&im->plain);
    }
    return index_build_add(im->build, text, plain, e);
}

/* Stores the languages, unless the memory has got some meanwhile. */
static enum status set_languages(struct tmfile_import *im,
                                 const struct memory_info *from,
                                 struct err *e)
{
    struct memory_info *list = NULL, *m = NULL;
    size_t n = 0;
    enum status st = tmfile_list(im->t, &list, &n, e);

    for (size_t k = 0; k < n; k++)
        if (list[k].id == im->memory) m = &list[k];
    if (m && !m->source_lang[0])
        memcpy(m->source_lang, from->source_lang, sizeof m->source_lang);
    if (m && !m->target_lang[0])
        memcpy(m->target_lang, from->target_lang, sizeof m->target_lang);
    if (m) st = tmfile_update(im->t, m, e);
    free(list);
    return st;
}

enum status tmfile_import_commit(struct tmfile_import *im, struct str extra,
                                 const struct memory_info *languages,
                                 int64_t *n_joined, struct err *e)
{
    const int64_t *gone = NULL;
    size_t n_gone = 0;
    int64_t seq = 0;
    enum status st = store_import_prepare(im->im, &seq, &gone, &n_gone, e);

    assert(im->im && im->build);
    *n_joined = 0;
    if (!st) st = index_build_publish(im->build, seq,
                                      store_import_batch(im->im), gone, n_gone,
                                      e);
    if (st) return st;
    if (languages) st = set_languages(im, languages, e);
    if (!st) {
        *n_joined = (int64_t)n_gone;
        st = store_import_commit(im->im, extra, e);
    }
    if (st) index_build_unpublish(im->build);
    else tmfile_changed(im->t, im->memory, im->n_new - *n_joined);
    return st;
}

void tmfile_import_close(struct tmfile_import *im)
{
    if (!im) return;
    store_import_close(im->im);
    index_build_free(im->build);
    strbuf_release(&im->plain);
    free(im);
}
