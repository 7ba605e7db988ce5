/* skmt_index.c - the part of include/skmt_tools.h that builds, uses and
 * inspects indexes of datastores. The work is done in knn/. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/datastore_handle.h"
#include "api/handles.h"
#include "api/sized.h"
#include "knn/datastore_file.h"
#include "knn/ivfpq.h"
#include "knn/ivfpq_build.h"

struct skmt_index {
    struct ivfpq_file file;
    char fact[24];              /* the text that skmt_index_fact returned */
};

static enum status build_index(const skmt_datastore *ds, const char *path,
                               const struct ivfpq_build_options *o,
                               struct err *e)
{
    if (datastore_file_info(ds->s).building)
        return err_set(e, ST_ARGUMENT, "the datastore is unfinished");
    return ivfpq_build(ds->s, path, o, e);
}

skmt_status skmt_index_build(const skmt_datastore *ds, const char *path,
                             const skmt_index_settings *settings,
                             skmt_tm_progress_fn *progress, void *user,
                             skmt_error *err)
{
    skmt_index_settings set;
    struct ivfpq_build_options o;
    enum status st;

    err_clear(err_of(err));
    st = sized_get(SIZED_skmt_index_settings, &set, settings, err_of(err));
    if (st) return (skmt_status)st;
    o = (struct ivfpq_build_options){
        .lists = set.lists, .subvectors = set.subvectors,
        .probes = set.probes, .sample = set.sample,
        .seed = set.seed ? set.seed : 1, .threads = set.threads,
        .progress = progress, .user = user };
    return (skmt_status)build_index(ds, path, &o, err_of(err));
}

skmt_status skmt_datastore_use_index(skmt_datastore *ds, const char *path,
                                     int probes, int rerank, skmt_error *err)
{
    struct ivfpq_options o = { probes, rerank };
    struct ivfpq *ix;
    enum status st;

    err_clear(err_of(err));
    /* Whoever holds the entries may be searching them. */
    if (atomic_load(&ds->s->holders) > 1)
        return (skmt_status)err_set(err_of(err), ST_ARGUMENT, "the datastore "
                                    "is in use; set its index before");
    st = ivfpq_open(&ix, path, ds->s, &o, err_of(err));
    if (st) return (skmt_status)st;
    ivfpq_close(ds->s->index);
    ds->s->index = ix;
    return SKMT_OK;
}

skmt_status skmt_index_open(skmt_index **out, const char *path,
                            skmt_error *err)
{
    skmt_index *ix = calloc(1, sizeof *ix);
    enum status st;

    err_clear(err_of(err));
    *out = NULL;
    if (!ix) return (skmt_status)err_nomem(err_of(err), path);
    st = ivfpq_file_open(&ix->file, path, err_of(err));
    if (st) skmt_index_close(ix);
    else *out = ix;
    return (skmt_status)st;
}

void skmt_index_close(skmt_index *ix)
{
    if (!ix) return;
    ivfpq_file_close(&ix->file);
    free(ix);
}

int skmt_index_is(const char *path) { return ivfpq_file_is(path); }

const char *skmt_index_stat(const skmt_index *ix, int i, int64_t *value)
{
    static const char *const names[] = {
        "entries", "stored", "bytes", "d", "lists", "subvectors", "probes",
        "sample" };
    const struct ivfpq_header *h = &ix->file.head;

    *value = 0;
    if (i < 0 || i >= (int)(sizeof names / sizeof *names)) return NULL;
    *value = (int64_t[]){ (int64_t)h->n, (int64_t)h->stored,
        (int64_t)h->size, h->d, h->lists, h->subvectors, h->probes,
        (int64_t)h->sample }[i];
    return names[i];
}

const char *skmt_index_fact(skmt_index *ix, int i, const char **value)
{
    *value = NULL;
    if (i < 0 || i > 1) return NULL;
    snprintf(ix->fact, sizeof ix->fact, "%016" PRIx64,
             i ? ix->file.head.store : ix->file.head.model);
    *value = ix->fact;
    return i ? "store" : "model";
}
