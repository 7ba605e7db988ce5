/* skmt_datastore.c - the part of include/skmt_tools.h that makes and inspects
 * datastores. The work is done in knn/ and engine/. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/datastore_handle.h"
#include "api/handles.h"
#include "api/sized.h"
#include "api/tm_handle.h"
#include "engine/datastore_edit.h"
#include "engine/datastore_maker.h"
#include "engine/memory_check.h"
#include "knn/datastore_read.h"
#include "knn/datastore_reduce.h"

/* ---- reading ------------------------------------------------------------- */

skmt_status skmt_datastore_open(skmt_datastore **out, const char *path,
                                const skmt_model *model, skmt_error *err)
{
    skmt_datastore *ds = calloc(1, sizeof *ds);
    struct datastore_model m = { 0 };
    enum status st;

    *out = NULL;
    err_clear(err_of(err));
    if (!ds) return (skmt_status)err_nomem(err_of(err), path);
    if (model) {
        ds->en = engine_hold(engine_of(model));
        m = datastore_model_of(ds->en);
    }
    st = datastore_file_open(&ds->s, path, model ? &m : NULL, !model,
                             err_of(err));
    if (st) skmt_datastore_close(ds);
    else *out = ds;
    return (skmt_status)st;
}

void skmt_datastore_close(skmt_datastore *ds)
{
    if (!ds) return;
    entries_drop(ds->s);
    engine_close(ds->en);
    pieces_release(&ds->pieces);
    free(ds);
}

static int64_t source_tokens(const struct entries *s)
{
    int64_t n = 0;

    for (int i = 0; i < s->n_blocks; i++) n += s->blocks[i].n_src;
    return n;
}

const char *skmt_datastore_stat(const skmt_datastore *ds, int i,
                                int64_t *value)
{
    static const char *const names[] = {
        "pairs", "deleted", "entries", "stored", "bytes", "blocks", "d",
        "d_model", "vocabulary", "eos", "merged", "source_tokens",
        "unfinished" };
    const struct entries *s = ds->s;
    struct datastore_info info = datastore_file_info(s);

    *value = 0;
    if (i < 0 || i >= (int)(sizeof names / sizeof *names)) return NULL;
    *value = (int64_t[]){ info.pairs - info.deleted, info.deleted, s->n,
        info.entries, (int64_t)info.bytes, s->n_blocks, s->d, s->d_model,
        info.vocab, info.with_eos, info.has_weights, source_tokens(s),
        info.building }[i];
    return names[i];
}

const char *skmt_datastore_fact(skmt_datastore *ds, int i,
                                const char **value)
{
    static const char *const names[] = { "type", "key", "model", "memory",
                                         "store" };
    struct datastore_info info = datastore_file_info(ds->s);
    uint64_t number[] = { 0, 0, info.model, info.memory, info.store };

    *value = NULL;
    if (i < 0 || i >= (int)(sizeof names / sizeof *names)) return NULL;
    snprintf(ds->fact, sizeof ds->fact, "%016" PRIx64, number[i]);
    *value = ds->fact;
    if (i == 0) *value = ENUM_WORDS(ENTRY_TYPES)[ds->s->type];
    if (i == 1) *value = ENUM_WORDS(STATE_KINDS)[ds->s->kind];
    if (i == 3 && !info.memory) *value = "";
    return names[i];
}

/* Find out which bytes of the target the token of an entry covers. */
static void entry_piece(skmt_datastore *ds, struct str target,
                        skmt_entry *out)
{
    size_t at = (size_t)out->position;

    if (!ds->en) return;
    ds->pieces.n = 0;
    out->text = ds->en->tgt_pieces.text[out->token];
    out->begin = out->end = (int32_t)target.n;
    if (out->token == ds->en->backend->cfg->eos_id ||
        subword_encode(ds->en->w->tgt_subword, target.p, target.n, &ds->pieces,
                       NULL) || at >= ds->pieces.n)
        return;
    out->begin = (int32_t)ds->pieces.at[at].begin;
    out->end = (int32_t)ds->pieces.at[at].end;
}

int skmt_datastore_entry(skmt_datastore *ds, int64_t i, skmt_entry *out)
{
    skmt_entry found = { .source = "", .target = "", .text = "" };
    const struct entry_block *b = ds->s->blocks;
    const struct entry_block *end = b + ds->s->n_blocks;
    bool exists = false;

    for (; b < end && i >= b->n; b++) i -= b->n;
    if (b < end && i >= 0 && b->norm[i] < INFINITY) {
        int32_t pair = b->first_pair + b->pair[i];
        struct entry_pair texts = ds->s->ops->pair(ds->s, pair);

        found = (skmt_entry){
            .source = texts.source.p, .target = texts.target.p,
            .id = texts.id, .pair = pair, .position = b->pos[i],
            .tokens = (int32_t)b->span[b->pair[i]].n, .token = b->token[i],
            .text = "", .norm = sqrt((double)b->norm[i]),
            .weight = b->log_weight ? exp((double)b->log_weight[i]) : 1 };
        entry_piece(ds, texts.target, &found);
        exists = true;
    }
    return !sized_put(SIZED_skmt_entry, out, &found, NULL) && exists;
}

skmt_status skmt_datastore_check(const skmt_datastore *ds,
                                 skmt_problem_fn *fn, void *user,
                                 skmt_tm_progress_fn *progress,
                                 void *progress_user, int *n_problems,
                                 skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)datastore_file_check(ds->s, fn, user, progress,
                                             progress_user, n_problems,
                                             err_of(err));
}

/* ---- changing ------------------------------------------------------------ */

skmt_status skmt_datastore_compact(const skmt_datastore *ds, const char *path,
                                   skmt_tm_progress_fn *progress, void *user,
                                   skmt_error *err)
{
    err_clear(err_of(err));
    if (datastore_file_info(ds->s).building)
        return (skmt_status)err_set(err_of(err), ST_ARGUMENT, "the datastore "
                                    "is unfinished");
    return (skmt_status)datastore_copy(ds->s, path, progress, user,
                                       err_of(err));
}

/* Fill in the defaults, and make the threads. */
static enum status reduction_init(struct datastore_reduction *o,
                                  const skmt_reduction *how,
                                  skmt_tm_progress_fn *progress, void *user,
                                  struct err *e)
{
    skmt_reduction given;
    enum status st = sized_get(SIZED_skmt_reduction, &given, how, e);

    *o = datastore_reduction_defaults();
    o->progress = progress;
    o->user = user;
    if (st) return st;
    if (given.dims) o->dims = given.dims;
    if (given.k) o->k = given.k;
    if (given.seed) o->seed = given.seed;
    o->sample = given.sample;
    if (given.threads < 0 || given.threads > 256)
        return err_set(e, ST_ARGUMENT, "threads: %d is not a number from 1 to "
                       "256", given.threads);
    return pool_new(&o->pool, given.threads ? given.threads : 1, e);
}

skmt_status skmt_datastore_reduce(const skmt_datastore *ds, const char *path,
                                  const skmt_reduction *how,
                                  skmt_tm_progress_fn *progress, void *user,
                                  double *kept, skmt_error *err)
{
    struct datastore_reduction o;
    enum status st;

    err_clear(err_of(err));
    if (kept) *kept = 0;
    st = reduction_init(&o, how, progress, user, err_of(err));
    if (!st) st = datastore_reduce(ds->s, path, &o, kept, err_of(err));
    pool_free(o.pool);
    return (skmt_status)st;
}

skmt_status skmt_datastore_merge(const skmt_datastore *ds, const char *path,
                                 const skmt_reduction *how,
                                 skmt_tm_progress_fn *progress, void *user,
                                 int64_t *removed, skmt_error *err)
{
    struct datastore_reduction o;
    enum status st;

    err_clear(err_of(err));
    if (removed) *removed = 0;
    st = reduction_init(&o, how, progress, user, err_of(err));
    if (!st) st = datastore_merge(ds->s, path, &o, removed, err_of(err));
    pool_free(o.pool);
    return (skmt_status)st;
}

skmt_status skmt_datastore_delete(const char *path, const int64_t *ids,
                                  int n_ids, const char *source,
                                  const char *target, int64_t *n,
                                  skmt_error *err)
{
    struct datastore_filter f = { ids, n_ids > 0 ? (size_t)n_ids : 0, source,
                                  target };
    int64_t deleted;
    enum status st;

    err_clear(err_of(err));
    st = datastore_delete_where(path, &f, &deleted, err_of(err));
    if (n) *n = deleted;
    return (skmt_status)st;
}

skmt_status skmt_datastore_delete_missing(const char *path, skmt_tm *tm,
                                          int64_t *n, skmt_error *err)
{
    int64_t deleted;
    enum status st;

    err_clear(err_of(err));
    st = datastore_delete_missing(path, tmfile_source(tm->f), &deleted,
                                  err_of(err));
    if (n) *n = deleted;
    return (skmt_status)st;
}

/* ---- making -------------------------------------------------------------- */

struct skmt_datastore_maker {
    const struct engine *en;    /* held */
    struct datastore_maker_options o;
    skmt_datastore_progress_fn *fn;
    void *user;
    char **names;               /* [n_names] of memories */
    int n_names;
    struct align_model *align;  /* NULL: none */
    struct datastore_maker *open;       /* pairs are being added; or NULL */
    struct datastore_counts counts;
    struct datastore_info info;
};

/* Tell the function of the caller. */
static int tell_progress(void *user, const struct datastore_progress *p)
{
    skmt_datastore_maker *m = user;
    skmt_datastore_progress out = {
        sizeof out, p->seen, p->first, p->total, p->pairs, p->entries,
        (int64_t)p->bytes };

    return m->fn ? m->fn(m->user, &out) : 0;
}

skmt_status skmt_datastore_maker_new(skmt_datastore_maker **out,
                                     const skmt_model *model, skmt_error *err)
{
    skmt_datastore_maker *m = calloc(1, sizeof *m);

    err_clear(err_of(err));
    *out = m;
    if (!m) return (skmt_status)err_nomem(err_of(err), "datastore");
    m->en = engine_hold(engine_of(model));
    m->o = (struct datastore_maker_options){
        .threads = 1, .with_eos = true, .seed = 1, .progress = tell_progress,
        .user = m, .method = ALIGN_GROW_DIAG_FINAL_AND };
    return SKMT_OK;
}

void skmt_datastore_maker_free(skmt_datastore_maker *m)
{
    if (!m) return;
    datastore_maker_close(m->open);
    align_model_free(m->align);
    engine_close(m->en);
    for (int i = 0; i < m->n_names; i++) free(m->names[i]);
    free(m->names);
    free(m);
}

void skmt_datastore_maker_on_progress(skmt_datastore_maker *m,
                                      skmt_datastore_progress_fn *fn,
                                      void *user)
{
    m->fn = fn;
    m->user = user;
}

/* ---- settings ------------------------------------------------------------ */

static enum status set_choice(const char *key, const char *value,
                              const char *const *words, int n, int *out,
                              struct err *e)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(words[i], value)) {
            *out = i;
            return ST_OK;
        }
    return err_set(e, ST_ARGUMENT, "%s: \"%.40s\" is not %s or %s", key, value,
                   words[0], words[1]);
}

static enum status set_whole(const char *key, const char *value, int64_t low,
                             int64_t high, int64_t *out, struct err *e)
{
    char *end;
    long long n;

    errno = 0;
    n = strtoll(value, &end, 10);
    if (end == value || *end || errno || n < low || n > high)
        return err_set(e, ST_ARGUMENT, "%s: \"%.40s\" is not a whole number "
                       "from %" PRId64 " to %" PRId64, key, value, low, high);
    *out = n;
    return ST_OK;
}

static enum status set_name(skmt_datastore_maker *m, const char *value,
                            struct err *e)
{
    char **names = realloc(m->names,
                           ((size_t)m->n_names + 1) * sizeof *names);

    if (!names) return err_nomem(e, "datastore");
    m->names = names;
    names[m->n_names] = strdup(value);
    if (!names[m->n_names]) return err_nomem(e, "datastore");
    m->n_names++;
    return ST_OK;
}

static enum status set_alignment(skmt_datastore_maker *m, const char *path,
                                 struct err *e)
{
    struct word_splitter pieces = engine_splitter(m->en);
    struct align_model *align;
    enum status st = align_model_open(&align, path, e);

    if (!st) st = align_model_fits(align, &pieces, path, e);
    if (st) {
        align_model_free(align);
        return st;
    }
    align_model_free(m->align);
    m->align = align;
    m->o.align = align;
    return ST_OK;
}

static enum status set_number(skmt_datastore_maker *m, const char *key,
                              const char *value, struct err *e)
{
    static const struct { const char *name; int64_t low, high; } list[] = {
        { "threads", 1, 256 }, { "block", 1, 1 << 24 },
        { "limit", 0, INT32_MAX }, { "seed", 0, INT64_MAX } };
    int64_t n = 0;
    enum status st = err_set(e, ST_ARGUMENT, "there is no setting \"%.40s\"",
                             key);

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!strcmp(key, list[i].name))
            st = set_whole(key, value, list[i].low, list[i].high, &n, e);
    if (st) return st;
    err_clear(e);
    if (!strcmp(key, "threads")) m->o.threads = (int)n;
    else if (!strcmp(key, "block")) m->o.block = (int)n;
    else if (!strcmp(key, "limit")) m->o.limit = n;
    else m->o.seed = (uint64_t)n;
    return ST_OK;
}

static enum status maker_set(skmt_datastore_maker *m, const char *key,
                             const char *value, struct err *e)
{
    static const char *const yes_no[] = { "no", "yes" };
    int choice = 0;
    enum status st;

    if (!strcmp(key, "name")) return set_name(m, value, e);
    if (!strcmp(key, "alignment")) return set_alignment(m, value, e);
    if (!strcmp(key, "type")) {
        st = set_choice(key, value, ENUM_WORDS(ENTRY_TYPES), 2, &choice, e);
        if (!st) m->o.type = (enum entry_type)choice;
    } else if (!strcmp(key, "key")) {
        st = set_choice(key, value, ENUM_WORDS(STATE_KINDS), 2, &choice, e);
        if (!st) m->o.kind = (enum state_kind)choice;
    } else if (!strcmp(key, "eos")) {
        st = set_choice(key, value, yes_no, 2, &choice, e);
        if (!st) m->o.with_eos = choice;
    } else if (!strcmp(key, "any-language")) {
        st = set_choice(key, value, yes_no, 2, &choice, e);
        if (!st) m->o.any_language = choice;
    } else {
        st = set_number(m, key, value, e);
    }
    return st;
}

skmt_status skmt_datastore_maker_set(skmt_datastore_maker *m, const char *key,
                                     const char *value, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)maker_set(m, key, value, err_of(err));
}

/* ---- the work ------------------------------------------------------------ */

/* Use the memories that were named. Their names are a part of what is built. */
static enum status use_names(skmt_datastore_maker *m, skmt_tm *tm,
                             struct err *e)
{
    uint64_t hash = 0;
    enum status st = ST_OK;

    for (int i = 0; i < m->n_names; i++) {
        struct key_id id = key_id_of(m->names[i], strlen(m->names[i]));

        hash += id.lo;          /* the order does not matter */
    }
    m->o.names = hash;
    if (m->n_names)
        st = tmfile_use(tm->f, (const char *const *)m->names,
                        (size_t)m->n_names, e);
    return st ? st : engine_check_memories(m->en, m->o.any_language,
                                           tmfile_source(tm->f), e);
}

/* Keep the counts of a maker and close it. */
static void maker_done(skmt_datastore_maker *m, struct datastore_maker *work)
{
    if (work) {
        m->counts = datastore_maker_counts(work);
        m->info = datastore_maker_info(work);
    }
    datastore_maker_close(work);
}

skmt_status skmt_datastore_maker_build(skmt_datastore_maker *m,
                                       const char *path, skmt_tm *tm,
                                       skmt_error *err)
{
    struct datastore_maker *work = NULL;
    struct err *e = err_of(err);
    enum status st;

    err_clear(e);
    m->counts = (struct datastore_counts){ 0 };
    st = use_names(m, tm, e);
    if (!st)
        st = datastore_maker_create(&work, m->en, path, &m->o,
                                    tmfile_source(tm->f), e);
    if (!st) st = datastore_maker_add_all(work, tmfile_source(tm->f), e);
    if (!st) st = datastore_maker_finish(work, e);
    maker_done(m, work);
    return (skmt_status)st;
}

skmt_status skmt_datastore_maker_open(skmt_datastore_maker *m,
                                      const char *path, skmt_error *err)
{
    struct datastore_maker_options o = m->o;

    err_clear(err_of(err));
    o.limit = 0;
    datastore_maker_close(m->open);
    m->counts = (struct datastore_counts){ 0 };
    return (skmt_status)datastore_maker_open(&m->open, m->en, path, &o,
                                             err_of(err));
}

static enum status must_be_open(const skmt_datastore_maker *m, struct err *e)
{
    err_clear(e);
    if (m->open) return ST_OK;
    return err_set(e, ST_ARGUMENT, "no datastore is open for adding pairs");
}

skmt_status skmt_datastore_maker_add(skmt_datastore_maker *m,
                                     const char *source, size_t source_len,
                                     const char *target, size_t target_len,
                                     skmt_error *err)
{
    enum status st = must_be_open(m, err_of(err));

    if (!st)
        st = datastore_maker_add(m->open, 0, (struct str){ source, source_len },
                                 (struct str){ target, target_len },
                                 err_of(err));
    return (skmt_status)st;
}

skmt_status skmt_datastore_maker_add_tm(skmt_datastore_maker *m, skmt_tm *tm,
                                        skmt_error *err)
{
    enum status st = must_be_open(m, err_of(err));

    if (!st) st = use_names(m, tm, err_of(err));
    if (!st)
        st = datastore_maker_add_all(m->open, tmfile_source(tm->f),
                                     err_of(err));
    return (skmt_status)st;
}

skmt_status skmt_datastore_maker_finish(skmt_datastore_maker *m,
                                        skmt_error *err)
{
    enum status st = must_be_open(m, err_of(err));

    if (!st) st = datastore_maker_finish(m->open, err_of(err));
    maker_done(m, m->open);
    m->open = NULL;
    return (skmt_status)st;
}

const char *skmt_datastore_maker_stat(const skmt_datastore_maker *m, int i,
                                      int64_t *value)
{
    static const char *const names[] = {
        "added", "entries", "known", "empty", "invalid", "cut", "pairs",
        "deleted", "stored", "bytes" };
    const struct datastore_counts *c = &m->counts;

    *value = 0;
    if (i < 0 || i >= (int)(sizeof names / sizeof *names)) return NULL;
    *value = (int64_t[]){ c->added, c->entries, c->known, c->empty,
        c->invalid, c->cut, m->info.pairs - m->info.deleted, m->info.deleted,
        m->info.entries, (int64_t)m->info.bytes }[i];
    return names[i];
}
