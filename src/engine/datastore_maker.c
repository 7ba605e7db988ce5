/* datastore_maker.c - collects pairs in groups, computes their keys with
 * knn/key_builder, aligns them if the datastore has sources, and gives them to
 * the writer.
 *
 * Invariants:
 *   - items[0 .. n) wait for their keys, in the order in which they came. Their
 *     texts are in `texts`, and their ids are in `known`.
 *   - All pairs of the source up to `last_written` are in the file or were left
 *     out; those up to `last_seen` are, once the items are written. */
#include "engine/datastore_maker.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "base/pool.h"
#include "engine/memory_check.h"
#include "engine/pairlist.h"
#include "engine/pairset.h"
#include "knn/key_builder.h"
#include "knn/key_set.h"
#include "text/utf8.h"

enum {
    MAKER_PAIRS = 256,          /* most pairs of a group */
    MAKER_TOKENS = 8192,        /* a group ends when it has this many */
    MAKER_ROWS = 256            /* tokens of a pass; see datastore_builder.c */
};

struct maker_item {
    int64_t id;                 /* of the pair; 0: none */
    int64_t place;              /* its id in the source; 0: none */
    size_t source_at, target_at;        /* in texts */
    size_t source_n, target_n;
    struct steering_pair pair;
};

struct datastore_maker {
    const struct engine *en;
    struct datastore_maker_options o;
    struct datastore_kind kind;
    struct pool *pool;
    struct key_builder *builder;
    struct datastore_writer *writer;
    struct key_set known;
    struct maker_item items[MAKER_PAIRS];
    struct key_pair work[MAKER_PAIRS];
    int n;
    int n_tokens;               /* of the items, source and target */
    struct strbuf texts;
    int64_t last_seen, last_written;
    struct datastore_info before;       /* of the file, when it was opened */
    struct datastore_counts counts;
    struct datastore_progress progress;
    /* With sources only. */
    struct aligner *aligner;
    uint32_t *numbers[2];       /* [vocab] word of the alignment, by piece and
                                   side */
    struct datastore_link *links;
    size_t cap_links;
};

struct datastore_model datastore_model_of(const struct engine *en)
{
    return (struct datastore_model){ engine_weights_id(en), en->backend->d,
                                     en->backend->vocab };
}

/* ---- opening ------------------------------------------------------------- */

static uint64_t request_of(const struct datastore_maker_options *o,
                           uint64_t memory)
{
    uint64_t parts[] = {
        memory, o->names, (uint64_t)o->limit, o->limit ? o->seed : 0,
        PAIR_PIECES,
        o->align ? key_id_of(o->align->map.data, o->align->map.size).lo : 0,
        o->align ? (uint64_t)o->method : 0 };

    return key_id_of(parts, sizeof parts).lo;
}

/* Read what is in the file: the pairs, and of which kind it is. */
static enum status read_present(struct datastore_maker *m, const char *path,
                                struct err *e)
{
    struct datastore_model model = datastore_model_of(m->en);
    struct datastore_info info;
    struct entries *s;
    enum status st = datastore_file_open(&s, path, &model, true, e);

    if (st) return st;
    info = datastore_file_info(s);
    m->kind = (struct datastore_kind){
        .model = model, .type = s->type, .kind = s->kind,
        .with_eos = info.with_eos, .has_sources = s->has_sources };
    if (s->map || info.has_weights)
        st = err_set(e, ST_ARGUMENT, "%s is a reduced datastore, to which "
                     "pairs cannot be added; add them to the full one, and "
                     "reduce it again", path);
    for (int32_t p = 0; !st && p < s->n_pairs; p++)
        if (!s->ops->pair(s, p).deleted &&
            !key_set_add(&m->known, datastore_file_pair_id(s, p)))
            st = err_nomem(e, path);
    entries_drop(s);
    return st;
}

static bool kinds_equal(const struct datastore_kind *a,
                        const struct datastore_kind *b)
{
    return a->type == b->type && a->kind == b->kind &&
           a->with_eos == b->with_eos && a->has_sources == b->has_sources;
}

/* Continue a build, if the file is one and has the same aim. */
static enum status resume(struct datastore_maker *m, const char *path,
                          uint64_t request, struct err *e)
{
    struct datastore_kind want = m->kind;
    struct datastore_info info;
    enum status st = datastore_writer_open(&m->writer, path, e);

    if (st) return st;
    info = datastore_writer_info(m->writer);
    if (!info.building)
        return err_set(e, ST_ARGUMENT, "%s exists already; use 'skmt knn add' "
                       "to add pairs to it, or delete it first", path);
    st = read_present(m, path, e);
    if (st) return st;
    if (info.request != request || !kinds_equal(&want, &m->kind))
        return err_set(e, ST_ARGUMENT, "%s is unfinished, and was begun with "
                       "another memory or other options; use the same ones to "
                       "continue, or delete it to begin again", path);
    m->last_seen = m->last_written = info.last;
    return ST_OK;
}

/* Number the pieces of the model as the alignment does. */
static enum status maker_align_init(struct datastore_maker *m, struct err *e)
{
    const struct align_model *a = m->o.align;
    size_t vocab = (size_t)m->en->backend->vocab;
    enum status st;

    if (!a)
        return err_set(e, ST_ARGUMENT, "this datastore has source tokens, so "
                       "adding pairs needs an alignment of pieces");
    st = aligner_new(&m->aligner, a, e);
    for (int side = 0; !st && side < 2; side++) {
        m->numbers[side] = malloc(vocab * sizeof *m->numbers[side]);
        if (!m->numbers[side]) return err_nomem(e, "aligning");
        for (size_t i = 0; i < vocab; i++)
            m->numbers[side][i] =
                align_model_number(a, (enum bitext_which)side, i);
    }
    return st;
}

static enum status maker_start(struct datastore_maker *m, struct err *e)
{
    struct key_builder_options ko = {
        .rows = MAKER_ROWS,
        .type = m->kind.type == ENTRY_INT8 ? KEY_INT8 : KEY_F32,
        .with_eos = m->kind.with_eos, .kind = m->kind.kind,
        .no_attention = true, .with_sources = m->kind.has_sources };
    enum status st = pool_new(&m->pool, m->o.threads, e);

    if (!st)
        st = key_builder_new(&m->builder, m->en->backend, m->pool, &ko, e);
    if (!st && m->kind.has_sources) st = maker_align_init(m, e);
    m->before = datastore_writer_info(m->writer);
    if (!st && m->o.block) datastore_writer_set_block(m->writer, m->o.block);
    return st;
}

static enum status maker_new(struct datastore_maker **out,
                             const struct engine *en,
                             const struct datastore_maker_options *o,
                             struct err *e)
{
    struct datastore_maker *m = calloc(1, sizeof *m);

    *out = m;
    if (!m) return err_nomem(e, "datastore");
    m->en = engine_hold(en);
    m->o = *o;
    strbuf_init(&m->texts, 0);
    m->kind = (struct datastore_kind){
        .model = datastore_model_of(en), .type = o->type, .kind = o->kind,
        .with_eos = o->with_eos, .has_sources = o->align != NULL };
    return ST_OK;
}

/* Pass m to the caller, or close it. */
static enum status maker_take(struct datastore_maker **out,
                              struct datastore_maker *m, enum status st,
                              struct err *e)
{
    if (!st) st = maker_start(m, e);
    if (st) datastore_maker_close(m);
    *out = st ? NULL : m;
    return st;
}

enum status datastore_maker_create(struct datastore_maker **out,
                                   const struct engine *en, const char *path,
                                   const struct datastore_maker_options *o,
                                   struct pair_source *source, struct err *e)
{
    struct datastore_build b = { .memory = source_identity(source) };
    struct datastore_maker *m;
    enum status st = maker_new(&m, en, o, e);

    *out = NULL;
    if (st) return st;
    b.request = request_of(o, b.memory);
    st = datastore_writer_create(&m->writer, path, &m->kind, &b, e);
    if (st == ST_ARGUMENT)      /* it exists */
        st = resume(m, path, b.request, e);
    return maker_take(out, m, st, e);
}

enum status datastore_maker_open(struct datastore_maker **out,
                                 const struct engine *en, const char *path,
                                 const struct datastore_maker_options *o,
                                 struct err *e)
{
    struct datastore_maker *m;
    enum status st = maker_new(&m, en, o, e);

    *out = NULL;
    if (st) return st;
    st = datastore_writer_open(&m->writer, path, e);
    if (!st && datastore_writer_info(m->writer).building)
        st = err_set(e, ST_ARGUMENT, "%s is unfinished: run the same 'skmt "
                     "knn build' again first", path);
    if (!st) st = read_present(m, path, e);
    return maker_take(out, m, st, e);
}

/* ---- closing ------------------------------------------------------------- */

static void maker_drop_items(struct datastore_maker *m)
{
    for (int i = 0; i < m->n; i++) {
        pair_keys_drop(m->work[i].keys);
        m->work[i].keys = NULL;
        free(m->items[i].pair.ids);
    }
    m->n = m->n_tokens = 0;
    strbuf_reset(&m->texts);
}

void datastore_maker_close(struct datastore_maker *m)
{
    if (!m) return;
    maker_drop_items(m);
    datastore_writer_close(m->writer);
    key_builder_free(m->builder);
    pool_free(m->pool);
    aligner_free(m->aligner);
    free(m->numbers[0]);
    free(m->numbers[1]);
    free(m->links);
    key_set_release(&m->known);
    strbuf_release(&m->texts);
    engine_close(m->en);
    free(m);
}

/* ---- source tokens ------------------------------------------------------- */

/* The special tokens of the model before and after the pieces of a source. */
static int source_prefix(const struct datastore_maker *m)
{
    return m->en->w->cfg.prefix_id >= 0;
}

static int source_suffix(const struct datastore_maker *m)
{
    return m->en->w->cfg.suffix_id >= 0;
}

static bool push_link(struct datastore_maker *m, struct datastore_item *it,
                      int source, int entry)
{
    if (!mem_grow(&m->links, &m->cap_links, (size_t)it->n_links + 1,
                  sizeof *m->links))
        return false;
    m->links[it->n_links++] = (struct datastore_link){ (uint32_t)source,
                                                       (uint32_t)entry };
    it->link = m->links;
    return true;
}

/* Align the pieces of a pair. The EOS after the source belongs to the EOS after
 * the target. */
static enum status align_item(struct datastore_maker *m,
                              const struct steering_pair *p,
                              struct datastore_item *it, struct err *e)
{
    uint32_t source[PAIR_PIECES], target[PAIR_PIECES];
    int first = source_prefix(m), n = p->n_src - first - source_suffix(m);
    struct word_links links;

    assert(n >= 0 && n <= PAIR_PIECES && p->n_tgt <= PAIR_PIECES);
    for (int i = 0; i < n; i++)
        source[i] = m->numbers[BITEXT_SOURCE][p->ids[first + i]];
    for (int i = 0; i < p->n_tgt; i++)
        target[i] = m->numbers[BITEXT_TARGET][p->ids[p->n_src + i]];
    links = aligner_run(m->aligner, m->o.method, source, (size_t)n, target,
                        (size_t)p->n_tgt);
    for (size_t i = 0; i < links.n; i++)
        if (!push_link(m, it, first + (int)links.at[i].source,
                       (int)links.at[i].target))
            return err_nomem(e, "aligning");
    if (source_suffix(m) && m->kind.with_eos &&
        !push_link(m, it, p->n_src - 1, p->n_tgt))
        return err_nomem(e, "aligning");
    return ST_OK;
}

static enum status item_sources(struct datastore_maker *m,
                                const struct steering_pair *p,
                                const struct pair_keys *keys,
                                struct datastore_item *it, struct err *e)
{
    const struct pair_keys *src = keys->sources;

    it->n_src = src->n;
    it->src_token = src->token;
    it->src_f32 = src->keys;
    it->src_ld = src->ld;
    return align_item(m, p, it, e);
}

/* ---- writing ------------------------------------------------------------- */

static enum status write_item(struct datastore_maker *m, int i, struct err *e)
{
    const struct maker_item *p = &m->items[i];
    const struct pair_keys *keys = m->work[i].keys;
    struct datastore_item it = {
        .source = { m->texts.data + p->source_at, p->source_n },
        .target = { m->texts.data + p->target_at, p->target_n },
        .id = p->id, .n = keys->n, .token = keys->token,
        .ld = keys->ld, .scale = keys->scale };
    enum status st = ST_OK;

    if (keys->type == KEY_INT8) it.int8 = keys->keys;
    else it.f32 = keys->keys;
    if (keys->sources) st = item_sources(m, &p->pair, keys, &it, e);
    if (!st) st = datastore_writer_add(m->writer, &it, e);
    if (st) return st;
    if (p->place) m->last_written = p->place;
    m->counts.added++;
    m->counts.entries += keys->n;
    if (datastore_writer_full(m->writer))
        st = datastore_writer_commit(m->writer, m->last_written, e);
    return st;
}

static enum status report(struct datastore_maker *m, struct err *e)
{
    struct datastore_progress *p = &m->progress;
    enum status st;

    if (!m->o.progress) return ST_OK;
    p->pairs = m->before.pairs - m->before.deleted + m->counts.added;
    p->entries = m->before.entries + m->counts.entries;
    p->bytes = datastore_writer_bytes(m->writer);
    if (!m->o.progress(m->o.user, p)) return ST_OK;
    st = datastore_writer_commit(m->writer, m->last_written, e);
    return st ? st : err_set(e, ST_CANCELED, "%s", status_text(ST_CANCELED));
}

/* Compute the keys of the items and write them. */
static enum status maker_flush(struct datastore_maker *m, struct err *e)
{
    enum status st = ST_OK;

    for (int i = 0; i < m->n; i++) {
        const struct steering_pair *p = &m->items[i].pair;

        m->work[i] = (struct key_pair){ p->ids, p->n_src, p->ids + p->n_src,
                                        p->n_tgt, NULL };
    }
    if (m->n) st = key_builder_run(m->builder, m->work, m->n, e);
    for (int i = 0; !st && i < m->n; i++) st = write_item(m, i, e);
    if (!st) m->last_written = m->last_seen;
    maker_drop_items(m);
    return st ? st : report(m, e);
}

/* ---- adding -------------------------------------------------------------- */

static bool keep_item_texts(struct datastore_maker *m, struct maker_item *it,
                            struct str source, struct str target)
{
    it->source_at = m->texts.len;
    it->source_n = source.n;
    it->target_n = target.n;
    if (!strbuf_add(&m->texts, source.p, source.n)) return false;
    it->target_at = m->texts.len;
    return strbuf_add(&m->texts, target.p, target.n);
}

/* Whether a text of this pair has more pieces than are used. */
static bool was_cut(const struct datastore_maker *m,
                    const struct steering_pair *p)
{
    return p->n_tgt == PAIR_PIECES ||
           p->n_src - source_prefix(m) - source_suffix(m) == PAIR_PIECES;
}

/* Let a pair wait for its keys. */
static enum status maker_take_pair(struct datastore_maker *m, int64_t id,
                                   int64_t place, struct str source,
                                   struct str target, struct err *e)
{
    struct key_id key = key_id_of_pair(source, target);
    struct maker_item *it = &m->items[m->n];
    enum status st;

    assert(m->n < MAKER_PAIRS);
    if (place) m->last_seen = place;
    if (key_set_has(&m->known, key)) {
        m->counts.known++;
        return ST_OK;
    }
    if (utf8_check(source.p, source.n) != source.n ||
        utf8_check(target.p, target.n) != target.n) {
        m->counts.invalid++;
        return ST_OK;
    }
    *it = (struct maker_item){ .id = id, .place = place };
    st = steering_pair_encode(m->en, source, target, &it->pair, e);
    if (st || !it->pair.n_tgt) {
        free(it->pair.ids);
        m->counts.empty += !st;
        return st;
    }
    m->counts.cut += was_cut(m, &it->pair);
    m->n_tokens += it->pair.n_src + it->pair.n_tgt;
    m->n++;
    if (!keep_item_texts(m, it, source, target) ||
        !key_set_add(&m->known, key))
        return err_nomem(e, "datastore");
    return ST_OK;
}

static bool group_full(const struct datastore_maker *m)
{
    return m->n == MAKER_PAIRS || m->n_tokens >= MAKER_TOKENS;
}

enum status datastore_maker_add(struct datastore_maker *m, int64_t id,
                                struct str source, struct str target,
                                struct err *e)
{
    enum status st = maker_take_pair(m, id, 0, source, target, e);

    m->progress.seen++;
    return !st && group_full(m) ? maker_flush(m, e) : st;
}

/* ---- the pairs of a source ----------------------------------------------- */

static uint64_t sample_rank(int64_t id, uint64_t seed)
{
    uint64_t both[] = { (uint64_t)id, seed };

    return key_id_of(both, sizeof both).lo;
}

struct ranked { uint64_t rank; struct source_want want; };

static int compare_ranks(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return a->want.id < b->want.id ? -1 : a->want.id > b->want.id;
}

/* Keep `limit` random pairs: those whose ids have the lowest hashes. So a
 * sample hardly changes when the memory does. */
static enum status pairlist_sample(struct pairlist *l, size_t limit,
                                   uint64_t seed, struct err *e)
{
    struct ranked *all;

    if (limit >= l->n) return ST_OK;
    all = malloc(l->n * sizeof *all);
    if (!all) return err_nomem(e, "the list of all pairs");
    for (size_t i = 0; i < l->n; i++)
        all[i] = (struct ranked){ sample_rank(l->at[i].id, seed), l->at[i] };
    qsort(all, l->n, sizeof *all, compare_ranks);
    l->n = limit;
    for (size_t i = 0; i < limit; i++) l->at[i] = all[i].want;
    free(all);
    return ST_OK;
}

struct maker_fetch { struct datastore_maker *m; struct plain_text plain;
                     const struct source_want *want; };

static enum status take_fetched(void *user, size_t i,
                                const struct source_pair *from,
                                struct err *e)
{
    struct maker_fetch *f = user;
    enum status st;

    if (!from->found) return ST_OK;
    st = plain_text_set(&f->plain, from, e);
    if (st) return st;
    return maker_take_pair(f->m, from->pair.id, f->want[i].id,
                           f->plain.source, f->plain.target, e);
}

/* Pairs that are fetched at once: a few groups of them are computed between
 * two fetches. */
enum { MAKER_FETCH = 32 };

static enum status add_listed(struct datastore_maker *m,
                              struct pair_source *source,
                              const struct pairlist *l, size_t from,
                              struct err *e)
{
    struct maker_fetch f = { .m = m };
    enum status st = ST_OK;

    plain_text_init(&f.plain);
    while (!st && from < l->n) {
        size_t n = l->n - from, room = (size_t)(MAKER_PAIRS - m->n);

        if (n > MAKER_FETCH) n = MAKER_FETCH;
        if (n > room) n = room;
        f.want = l->at + from;
        st = source_fetch(source, f.want, n, take_fetched, &f, e);
        from += n;
        m->progress.seen = (int64_t)from;
        if (!st && group_full(m)) st = maker_flush(m, e);
    }
    plain_text_release(&f.plain);
    return st;
}

enum status datastore_maker_add_all(struct datastore_maker *m,
                                    struct pair_source *source, struct err *e)
{
    struct pairlist l = { 0 };
    size_t from = 0;
    enum status st = engine_check_memories(m->en, m->o.any_language, source,
                                           e);

    if (!st) st = pairlist_read(&l, source, FETCH_TEXTS | FETCH_RECORD, e);
    if (!st && m->o.limit)
        st = pairlist_sample(&l, (size_t)m->o.limit, m->o.seed, e);
    if (!st) {
        pairlist_sort(&l);
        while (from < l.n && l.at[from].id <= m->last_seen) from++;
        m->progress.first = (int64_t)from;
        m->progress.total = (int64_t)l.n;
        st = add_listed(m, source, &l, from, e);
    }
    pairlist_release(&l);
    return st;
}

enum status datastore_maker_finish(struct datastore_maker *m, struct err *e)
{
    enum status st = maker_flush(m, e);

    if (st == ST_CANCELED) {    /* too late: all pairs are written */
        err_clear(e);
        st = ST_OK;
    }
    if (st) return st;
    if (datastore_writer_info(m->writer).building)
        return datastore_writer_finish(m->writer, e);
    return datastore_writer_commit(m->writer, 0, e);
}

struct datastore_counts datastore_maker_counts(
    const struct datastore_maker *m)
{
    return m->counts;
}

struct datastore_info datastore_maker_info(const struct datastore_maker *m)
{
    return datastore_writer_info(m->writer);
}
