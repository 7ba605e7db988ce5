/* skmt_steer.c - the part of include/skmt.h that steers translations by a
 * memory and explains how pairs influenced a result. */
#include <stdlib.h>

#include "api/sized.h"
#include "api/tm_handle.h"
#include "base/invariant.h"
#include "engine/session.h"
#include "engine/stream.h"
#include "text/utf8.h"

/* ---- keys ---------------------------------------------------------------- */

skmt_status skmt_keys_new(skmt_keys **out, const skmt_model *model,
                          const skmt_options *options, const char *file,
                          skmt_error *err)
{
    struct options o = options_or_defaults(options);
    skmt_keys *k = calloc(1, sizeof *k);
    enum status st;

    *out = NULL;
    err_clear(err_of(err));
    if (!k) return (skmt_status)err_nomem(err_of(err), "key cache");
    k->en = engine_hold(engine_of(model));
    st = shared_keys_new(&k->k, k->en, &o, file, err_of(err));
    if (st) skmt_keys_free(k);
    else *out = k;
    return (skmt_status)st;
}

void skmt_keys_free(skmt_keys *keys)
{
    if (!keys) return;
    shared_keys_free(keys->k);
    engine_close(keys->en);
    free(keys);
}

const char *skmt_keys_stat(skmt_keys *keys, int i, int64_t *value)
{
    static const char *const names[] = {
        "hits", "file_hits", "misses", "dropped", "pairs", "bytes", "limit",
        "file_pairs", "file_bytes", "file_limit", "file_remade",
    };
    const struct key_cache_stats *s = &keys->stats;

    *value = 0;
    if (i < 0 || i >= (int)(sizeof names / sizeof *names)) return NULL;
    if (i == 0 && key_cache_stats(keys->k->cache, &keys->stats, NULL))
        keys->stats = (struct key_cache_stats){ 0 };
    *value = (int64_t[]){ (int64_t)s->hits, (int64_t)s->file_hits,
        (int64_t)s->misses, (int64_t)s->dropped, (int64_t)s->pairs,
        (int64_t)s->bytes, (int64_t)s->limit, (int64_t)s->file.pairs,
        (int64_t)s->file.bytes, (int64_t)s->file.limit,
        s->file.remade }[i];
    return names[i];
}

static int report_warming(void *user, const char *what, uint64_t done,
                          uint64_t total, uint64_t units)
{
    return tmfile_report(user, what, done, total, units);
}

skmt_status skmt_keys_warm(skmt_keys *keys, skmt_tm *tm,
                           const skmt_options *options, int64_t *made,
                           skmt_error *err)
{
    struct options o = options_or_defaults(options);
    int64_t n;
    enum status st;

    err_clear(err_of(err));
    st = shared_keys_warm(keys->k, keys->en, &o, tmfile_source(tm->f),
                          report_warming, tm->f, &n, err_of(err));
    if (made) *made = n;
    return (skmt_status)st;
}

skmt_status skmt_keys_drop_others(skmt_keys *keys, skmt_tm *tm,
                                  int64_t *removed, skmt_error *err)
{
    int64_t n;
    enum status st;

    err_clear(err_of(err));
    st = shared_keys_drop_others(keys->k, tmfile_source(tm->f), &n,
                                 err_of(err));
    if (removed) *removed = n;
    return (skmt_status)st;
}

/* ---- sessions and streams ------------------------------------------------ */

static struct session *session_of(skmt_session *s)
{
    return (struct session *)(void *)s;
}

skmt_status skmt_session_use(skmt_session *s, skmt_tm *tm, skmt_keys *keys,
                             skmt_error *err)
{
    struct request_memory m = memory_of(tm, keys);

    err_clear(err_of(err));
    return (skmt_status)session_set_memory(session_of(s), &m, err_of(err));
}

skmt_status skmt_stream_use(skmt_stream *s, skmt_tm *tm, skmt_keys *keys,
                            skmt_error *err)
{
    struct request_memory m = memory_of(tm, keys);

    err_clear(err_of(err));
    return (skmt_status)stream_set_memory(s->s, &m, err_of(err));
}

/* Convert and check element i of an array of the caller, whose elements have
 * the size of the first. */
static enum status similar_pair_of(const skmt_similar *pairs, int i,
                                   struct similar_pair *out, struct err *e)
{
    size_t size = sized_size(pairs);
    const char *at = (const char *)pairs + (size_t)i * size;
    skmt_similar p;
    enum status st = sized_get(SIZED_skmt_similar, &p, at, e);

    if (st) return st;
    if (p.size != size)
        return err_set(e, ST_ARGUMENT, "the size of pair %d is %zu, and that "
                       "of the first one is %zu", i + 1, p.size, size);
    *out = (struct similar_pair){ str_of(p.source), str_of(p.target),
                                  p.similarity };
    if (utf8_check(out->source.p, out->source.n) == out->source.n &&
        utf8_check(out->target.p, out->target.n) == out->target.n)
        return ST_OK;
    return err_set(e, ST_TEXT, "pair %d is not valid UTF-8", i + 1);
}

enum status similar_pairs_of(const skmt_similar *pairs, int n,
                             struct similar_pair **out, struct err *e)
{
    struct similar_pair *p;
    enum status st = ST_OK;

    *out = NULL;
    if (n < 0)
        return err_set(e, ST_ARGUMENT, "the number of pairs is negative: %d",
                       n);
    p = calloc(n ? (size_t)n : 1, sizeof *p);
    if (!p) return err_nomem(e, "pairs");
    for (int i = 0; i < n && !st; i++)
        st = similar_pair_of(pairs, i, &p[i], e);
    if (st) free(p);
    else *out = p;
    return st;
}

skmt_status skmt_session_translate_with(
    skmt_session *s, const char *text, const char *prefix,
    const skmt_similar *pairs, int n, skmt_result **out, skmt_error *err)
{
    struct session_text t = { .text = text, .len = length_of(text),
                              .prefix = prefix, .n_given = n };
    struct similar_pair *given;
    enum status st;

    *out = NULL;
    err_clear(err_of(err));
    st = similar_pairs_of(pairs, n, &given, err_of(err));
    if (st) return (skmt_status)st;
    t.given = given;
    st = session_run(session_of(s), &t, 1, err_of(err));
    free(given);
    *out = (skmt_result *)(void *)t.result;
    return (skmt_status)st;
}

skmt_status skmt_stream_push_with(skmt_stream *s, const char *text,
                                  const char *prefix,
                                  const skmt_similar *pairs, int n,
                                  skmt_error *err)
{
    struct similar_pair *given;
    enum status st;

    err_clear(err_of(err));
    st = similar_pairs_of(pairs, n, &given, err_of(err));
    if (st) return (skmt_status)st;
    st = stream_push_with(s->s, text, length_of(text), prefix, given, n,
                          err_of(err));
    free(given);
    return (skmt_status)st;
}

/* ---- pairs and votes of a result ----------------------------------------- */

static const struct sentence *sentence_of(const skmt_result *r, int seg)
{
    return result_sentence((const struct result *)(const void *)r, seg);
}

int skmt_result_pairs(const skmt_result *r, int seg)
{
    const struct sentence *s = sentence_of(r, seg);

    return s ? pairset_count(s->pairset) : 0;
}

void skmt_result_pair(const skmt_result *r, int seg, int i,
                      skmt_found_pair *out)
{
    const struct sentence *s = sentence_of(r, seg);
    skmt_found_pair pair = { .source = "", .target = "", .memory = "" };

    if (i >= 0 && i < skmt_result_pairs(r, seg)) {
        struct pair_report p = pairset_report(s->pairset, i);

        pair = (skmt_found_pair){ .source = p.source, .target = p.target,
                                  .memory = p.memory, .id = p.pair,
                                  .similarity = p.similarity,
                                  .exact = s->stored && !i,
                                  .entries = p.entries };
    }
    sized_put(SIZED_skmt_found_pair, out, &pair, NULL);
}

/* Return why a token of a translation was chosen; all zeros if nothing was
 * recorded. */
static struct explanation explanation_at(const skmt_result *r, int hyp,
                                         int seg, int i)
{
    const struct result *res = (const struct result *)(const void *)r;
    const struct sentence *s = sentence_of(r, seg);
    const struct explanation none = { 0 };

    if (!s || !s->job || !s->job->mixer || hyp < 0 || hyp >= res->n_hyps)
        return none;
    hyp = res->hyps[hyp].choice[seg];
    if (hyp >= s->job->n_hyps || i < 0 || i >= s->job->hyps[hyp].n)
        return none;
    return s->job->mixer->ops->explanation(s->job->mixer, hyp, i);
}

double skmt_result_weight(const skmt_result *r, int hyp, int seg, int i,
                          int *votes)
{
    struct explanation why = explanation_at(r, hyp, seg, i);

    if (votes) *votes = why.n;
    return (double)why.weight;
}

void skmt_result_vote(const skmt_result *r, int hyp, int seg, int i, int vote,
                      skmt_vote *out)
{
    const struct engine *en =
        ((const struct result *)(const void *)r)->engine;
    struct explanation why = explanation_at(r, hyp, seg, i);
    skmt_vote found = { .pair = -1, .position = -1, .id = -1, .text = "" };

    if (vote >= 0 && vote < why.n) {
        const struct vote *v = &why.votes[vote];

        assert(v->pair >= 0 && v->pair < skmt_result_pairs(r, seg));
        found = (skmt_vote){ .pair = v->pair, .position = v->pos,
                             .id = v->token,
                             .text = en->tgt_pieces.text[v->token],
                             .distance = (double)v->distance,
                             .share = (double)v->share };
    }
    sized_put(SIZED_skmt_vote, out, &found, NULL);
}

int skmt_result_reason(const skmt_result *r, int hyp, int seg, int i, int k,
                       skmt_reason *out)
{
    struct explanation why = explanation_at(r, hyp, seg, i);
    skmt_reason found = { .text = "" };
    bool exists = k >= 0 && k < why.n_reasons;

    if (exists)
        found = (skmt_reason){ .text = why.reasons[k].text,
                               .effect = (double)why.reasons[k].effect };
    return !sized_put(SIZED_skmt_reason, out, &found, NULL) && exists;
}

int skmt_result_passes(const skmt_result *r, int seg)
{
    const struct sentence *s = sentence_of(r, seg);

    return s && s->job ? s->job->n_passes : 0;
}

const char *batch_stat(const struct batch_counts *c, int i, int64_t *value)
{
    static const char *const names[BATCH_STATS] = { "passes", "rows", "steps",
                                                    "drafted", "used" };
    const uint64_t values[BATCH_STATS] = { c->passes, c->rows, c->steps,
                                           c->drafted, c->drafts_used };

    *value = 0;
    if (i < 0 || i >= BATCH_STATS) return NULL;
    *value = (int64_t)values[i];
    return names[i];
}

const char *skmt_session_stat(skmt_session *s, int i, int64_t *value)
{
    struct batch_counts c = session_counts(session_of(s));

    return batch_stat(&c, i, value);
}

const char *skmt_stream_stat(skmt_stream *s, int i, int64_t *value)
{
    static const char *const names[] = { "texts", "sentences", "tokens" };
    struct batch_counts c = stream_work(s->s);
    uint64_t n[3];

    if (i < BATCH_STATS) return batch_stat(&c, i, value);
    i -= BATCH_STATS;
    *value = 0;
    if (i >= (int)(sizeof names / sizeof *names)) return NULL;
    stream_counts(s->s, &n[0], &n[1], &n[2]);
    *value = (int64_t)n[i];
    return names[i];
}
