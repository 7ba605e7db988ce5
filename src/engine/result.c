/* result.c - divides a text into sentences and jobs, and joins the translations
 * of the sentences to the n best translations of the text. It neither searches
 * memories nor decodes. */
#include "engine/result.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "engine/pairset.h"
#include "text/utf8.h"

/* ---- from a text to jobs --------------------------------------------- */

/* What is needed while the sentences and jobs of a text are created. */
struct sentence_builder {
    struct result *r;
    const struct options *o;
    const struct search_options *so;
    int max_source;             /* longest sentence, with special tokens */
    const int32_t *prefix;      /* forced ids of the first sentence */
    int n_prefix;
    size_t cap;                 /* capacity of r->sentences */
    int32_t *ids;               /* [max_source] scratch */
};

/* Copy the text. Invalid UTF-8 is an error that names the byte, or is replaced
 * (option invalid). */
static enum status result_take_text(struct result *r, const struct options *o,
                                    const char *text, size_t len, struct err *e)
{
    size_t bad = utf8_check(text, len);
    struct strbuf sb;

    assert(!memchr(text, '\0', len));
    if (bad < len && o->invalid == INVALID_ERROR)
        return err_set(e, ST_TEXT, "byte %zu is not valid UTF-8 (0x%02X)",
                       bad + 1, (unsigned char)text[bad]);
    strbuf_init(&sb, 0);
    if (bad < len ? !utf8_repair(&sb, text, len)
                  : !strbuf_add(&sb, text, len)) {
        strbuf_release(&sb);
        return err_nomem(e, "a text");
    }
    r->source_len = sb.len;
    r->source = strbuf_take(&sb);
    return r->source ? ST_OK : err_nomem(e, "a text");
}

static enum status add_job(struct sentence_builder *c, struct sentence *s,
                           struct err *e)
{
    const struct config *cfg = &c->r->engine->w->cfg;
    bool first = c->r->n_sentences == 1;
    int max_pos = c->r->engine->backend->max_pos, n = 0, most;

    if (cfg->prefix_id >= 0) c->ids[n++] = cfg->prefix_id;
    for (size_t i = 0; i < s->n_pieces; i++) c->ids[n++] = s->pieces[i].id;
    if (cfg->suffix_id >= 0) c->ids[n++] = cfg->suffix_id;
    assert(n <= c->max_source);
    most = search_max_len(c->so, max_pos, n);
    if (first && c->n_prefix >= most)
        return err_set(e, ST_LIMIT, "the prefix has %d pieces, but a "
                       "translation of this text has at most %d (options "
                       "max-len-a and max-len-b)", c->n_prefix, most);
    return job_new(&s->job, c->so, max_pos, c->ids, n,
                   first ? c->prefix : NULL, first ? c->n_prefix : 0, e);
}

/* Add a sentence, or a part of one, with n pieces. Their spans are relative to
 * `base`. */
static enum status add_sentence_part(struct sentence_builder *c,
                                     const struct piece *p, size_t n,
                                     size_t base, struct err *e)
{
    struct result *r = c->r;
    struct sentence *s;

    if (!mem_grow(&r->sentences, &c->cap, (size_t)r->n_sentences + 1,
                  sizeof *r->sentences))
        return err_nomem(e, "sentences");
    s = &r->sentences[r->n_sentences++];
    memset(s, 0, sizeof *s);
    s->owner = r;
    s->pieces = malloc((n ? n : 1) * sizeof *p);
    if (!s->pieces) return err_nomem(e, "sentences");
    s->n_pieces = n;
    for (size_t i = 0; i < n; i++)
        s->pieces[i] = (struct piece){ p[i].id, p[i].begin + (uint32_t)base,
                                       p[i].end + (uint32_t)base };
    s->begin = n ? s->pieces[0].begin : base;
    s->end = n ? s->pieces[n - 1].end : base;
    return n ? add_job(c, s, e) : ST_OK;
}

/* Add a sentence, in parts if it is longer than max-source. */
static enum status add_sentence(struct sentence_builder *c, struct span span,
                                struct err *e)
{
    const char *text = c->r->source + span.begin;
    const char *lang = c->r->engine->w->cfg.source_lang;
    size_t limit = (size_t)c->max_source - 2;
    struct pieces all = { 0 };
    struct piece *p;
    enum status st;
    size_t left, n;

    st = subword_encode(c->r->engine->w->src_subword, text,
                        span.end - span.begin, &all, e);
    for (p = all.at, left = all.n; !st && left; p += n, left -= n) {
        n = left > limit ? split_clause(text, p, left, limit, lang) : left;
        st = add_sentence_part(c, p, n, span.begin, e);
        if (!st) c->r->sentences[c->r->n_sentences - 1].continues = p != all.at;
    }
    pieces_release(&all);
    return st;
}

static enum status result_split_into_sentences(struct sentence_builder *c,
                                               struct err *e)
{
    struct result *r = c->r;
    struct spans spans = { 0 };
    struct span whole = { 0, r->source_len };
    enum status st = ST_OK;

    if (c->o->split == SPLIT_NONE || c->n_prefix)
        return add_sentence(c, whole, e);
    st = split_sentences(r->source, r->source_len,
                         r->engine->w->cfg.source_lang, &spans, e);
    for (size_t i = 0; i < spans.n && !st; i++)
        st = add_sentence(c, spans.at[i], e);
    spans_release(&spans);
    return st;
}

/* Tokenize the forced beginning of the translation. */
static enum status prefix_ids(struct sentence_builder *c, const char *prefix,
                              struct pieces *out, int32_t **ids, struct err *e)
{
    size_t len = strlen(prefix), bad = utf8_check(prefix, len);
    enum status st;

    if (bad < len && c->o->invalid == INVALID_ERROR)
        return err_set(e, ST_TEXT, "byte %zu of the prefix is not valid UTF-8 "
                       "(0x%02X)", bad + 1, (unsigned char)prefix[bad]);
    st = subword_encode(c->r->engine->w->tgt_subword, prefix, len, out, e);
    if (st || !out->n) return st;
    *ids = malloc(out->n * sizeof **ids);
    if (!*ids) return err_nomem(e, "prefix");
    for (size_t i = 0; i < out->n; i++) (*ids)[i] = out->at[i].id;
    c->prefix = *ids;
    c->n_prefix = (int)out->n;
    return ST_OK;
}

/* Let the jobs of sentences `at` and later point to their sentences. Needed
 * whenever the sentences have moved in memory. */
static void result_update_job_sentences(struct result *r, int at)
{
    for (int i = at; i < r->n_sentences; i++) {
        struct sentence *s = &r->sentences[i];

        if (s->job) s->job->sentence = s;
    }
}

/* Whether the invariants in result.h hold for all sentences. */
static inline bool result_sentences_sound(const struct result *r)
{
    size_t end = 0;

    for (int i = 0; i < r->n_sentences; i++) {
        const struct sentence *s = &r->sentences[i];

        if (s->owner != r || (s->job && s->job->sentence != s)) return false;
        if (s->begin < end || s->end < s->begin) return false;
        end = s->end;
    }
    return end <= r->source_len;
}

enum status result_prepare(struct result **out, const struct engine *en,
                           const struct options *o,
                           const struct search_options *so, const char *text,
                           size_t len, const char *prefix, struct err *e)
{
    struct sentence_builder c = { .r = calloc(1, sizeof *c.r), .o = o, .so = so,
                                  .max_source = engine_max_source(en, o) + 2 };
    struct pieces pp = { 0 };
    int32_t *pids = NULL;
    enum status st;

    *out = NULL;
    c.ids = malloc((size_t)c.max_source * sizeof *c.ids);
    if (!c.r || !c.ids) {
        st = err_nomem(e, "a text");
    } else if (len > UINT32_MAX / 4) {
        st = err_set(e, ST_LIMIT, "the text is longer than a gigabyte");
    } else {
        c.r->engine = engine_hold(en);
        st = result_take_text(c.r, o, text, len, e);
        if (!st && prefix) st = prefix_ids(&c, prefix, &pp, &pids, e);
        if (!st) st = result_split_into_sentences(&c, e);
        if (!st) result_update_job_sentences(c.r, 0);
    }
    free(pids);
    pieces_release(&pp);
    free(c.ids);
    assert(st || result_sentences_sound(c.r));
    if (st) result_free(c.r);
    else *out = c.r;
    return st;
}

/* ---- from translations to a text ------------------------------------- */

static enum status write_target(const struct result *r, struct sentence *s,
                                int i, struct err *e)
{
    const struct hypothesis *h = &s->job->hyps[i];
    struct target_text *t = &s->targets[i];
    struct strbuf sb;
    enum status st;

    strbuf_init(&sb, 0);
    t->ends = calloc((size_t)h->n + 1, sizeof *t->ends);
    if (!t->ends) return err_nomem(e, "a translation");
    st = subword_decode_ends(r->engine->w->tgt_subword, h->tokens,
                             (size_t)h->n, &sb, t->ends, e);
    t->len = sb.len;
    /* A model can produce a NUL, but a C string cannot contain one. */
    for (size_t k = 0; k < sb.len; k++)
        if (!sb.data[k]) sb.data[k] = ' ';
    if (!st && !(t->text = strbuf_take(&sb)))
        st = err_nomem(e, "a translation");
    strbuf_release(&sb);
    return st;
}

/* The white space at the ends of the input is kept, so that of the stored text
 * is not needed. */
enum status result_use_stored(struct sentence *s, const char *text,
                              struct err *e)
{
    struct str t = str_trim(str_of(text));

    assert(!s->targets && !s->stored);
    s->targets = calloc(1, sizeof *s->targets);
    if (!s->targets) return err_nomem(e, "a translation");
    s->stored = true;
    job_free(s->job);
    s->job = NULL;
    s->targets[0].len = t.n;
    s->targets[0].text = strndup(t.p, t.n);
    return s->targets[0].text ? ST_OK : err_nomem(e, "a translation");
}

static enum status write_targets(struct result *r, struct err *e)
{
    enum status st = ST_OK;

    for (int i = 0; i < r->n_sentences && !st; i++) {
        struct sentence *s = &r->sentences[i];
        int n = s->job ? s->job->n_hyps : 0;

        if (s->stored) continue;
        s->targets = calloc((size_t)n + 1, sizeof *s->targets);
        if (!s->targets) return err_nomem(e, "a translation");
        for (int k = 0; k < n && !st; k++) st = write_target(r, s, k, e);
    }
    return st;
}

/* A translation of the text is made of one translation of each sentence, and
 * its score is the sum of their scores. The n best translations of the text are
 * found by dynamic programming over the sentences. A partial choice has chosen
 * a translation for each sentence up to some sentence. Only the n best partial
 * choices up to each sentence are kept. At the end, each of the n best choices
 * is followed back through prev. */
struct partial_choice {
    double score, logprob;      /* sums over the sentences so far */
    int prev;                   /* index of the partial choice up to the
                                   sentence before, which this one extends */
    int hyp;                    /* the translation chosen for the sentence */
};

static int sentence_hyps(const struct sentence *s)
{
    return s->job && s->job->n_hyps ? s->job->n_hyps : 1;
}

/* Order by score, best first. Equal scores keep the order of creation, so that
 * the result is the same on every machine. */
static int compare_by_score(const void *a, const void *b)
{
    const struct partial_choice *x = a, *y = b;

    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    if (x->prev != y->prev) return x->prev < y->prev ? -1 : 1;
    return x->hyp - y->hyp;
}

/* Extend every partial choice by every translation of the sentence, and sort
 * the result. */
static int result_extend(const struct sentence *s,
                         const struct partial_choice *from, int n,
                         struct partial_choice *to)
{
    int k = 0, each = sentence_hyps(s);

    for (int a = 0; a < n; a++)
        for (int h = 0; h < each; h++, k++) {
            to[k] = (struct partial_choice){ from[a].score, from[a].logprob,
                                             a, h };
            if (!s->job || !s->job->n_hyps) continue;
            to[k].score += s->job->hyps[h].score;
            to[k].logprob += s->job->hyps[h].logprob;
        }
    if (k > 1) qsort(to, (size_t)k, sizeof *to, compare_by_score);
    return k;
}

/* The white space between sentence i and the next one; a space if there is
 * none. */
static const char *gap_after(const struct result *r, int i, size_t *len)
{
    const struct sentence *s = &r->sentences[i], *t = &r->sentences[i + 1];

    *len = t->begin > s->end ? t->begin - s->end : 0;
    for (size_t k = 0; k < *len; k++)
        if (!strchr(" \t\n\r\v\f", r->source[s->end + k])) *len = 0;
    if (*len) return r->source + s->end;
    *len = 1;
    return " ";
}

/* Write the text of a translation whose choices are set. */
static enum status result_join(const struct result *r, struct translation *h,
                               struct err *e)
{
    struct strbuf sb;
    bool ok = true;

    strbuf_init(&sb, 0);
    for (int i = 0; i < r->n_sentences && ok; i++) {
        const struct target_text *t = &r->sentences[i].targets[h->choice[i]];
        size_t gap;
        const char *g;

        h->offset[i] = sb.len;
        if (t->text) ok = strbuf_add(&sb, t->text, t->len);
        if (!ok || i + 1 == r->n_sentences) continue;
        g = gap_after(r, i, &gap);
        ok = strbuf_add(&sb, g, gap);
    }
    h->len = sb.len;
    h->text = ok ? strbuf_take(&sb) : NULL;
    strbuf_release(&sb);
    return h->text ? ST_OK : err_nomem(e, "a translation");
}

/* Make a translation by following choice k back from the end.
 * grid[n_sentences + 1][nbest] has the kept choices before the first sentence
 * and after each sentence. */
static enum status read_back(struct result *r,
                             const struct partial_choice *grid, int nbest,
                             int k, struct err *e)
{
    const struct partial_choice *c =
        grid + (size_t)r->n_sentences * (size_t)nbest + k;
    struct translation *h = &r->hyps[r->n_hyps++];

    h->score = c->score;
    h->logprob = c->logprob;
    h->choice = calloc((size_t)r->n_sentences + 1, sizeof *h->choice);
    h->offset = calloc((size_t)r->n_sentences + 1, sizeof *h->offset);
    if (!h->choice || !h->offset) return err_nomem(e, "a translation");
    for (int i = r->n_sentences; i > 0; i--) {
        assert(c->hyp >= 0 && c->hyp < sentence_hyps(&r->sentences[i - 1]));
        assert(c->prev >= 0 && c->prev < nbest);
        h->choice[i - 1] = c->hyp;
        c = grid + (size_t)(i - 1) * (size_t)nbest + c->prev;
    }
    return result_join(r, h, e);
}

static enum status combine(struct result *r, int nbest, struct err *e)
{
    size_t rows = (size_t)r->n_sentences + 1, width = (size_t)nbest;
    struct partial_choice *grid = calloc(rows * width, sizeof *grid);
    struct partial_choice *all = malloc(width * width * sizeof *all);
    enum status st = ST_OK;
    int n = 1;

    assert(nbest > 0 && !r->hyps);
    r->hyps = calloc(width, sizeof *r->hyps);
    if (!grid || !all || !r->hyps) st = err_nomem(e, "a translation");
    for (int i = 0; i < r->n_sentences && !st; i++) {
        assert(sentence_hyps(&r->sentences[i]) <= nbest);
        n = result_extend(&r->sentences[i], grid + (size_t)i * width, n, all);
        n = n < nbest ? n : nbest;
        memcpy(grid + ((size_t)i + 1) * width, all, (size_t)n * sizeof *all);
    }
    for (int k = 0; k < n && !st; k++) st = read_back(r, grid, nbest, k, e);
    free(grid);
    free(all);
    return st;
}

enum status result_finish(struct result *r, int nbest, struct err *e)
{
    enum status st = write_targets(r, e);

    if (!st) st = combine(r, nbest, e);
    for (int i = 0; i < r->n_sentences; i++) {
        if (r->sentences[i].job && r->sentences[i].job->n_hyps)
            r->tokens += r->sentences[i].job->hyps[0].n;
        if (r->sentences[i].pairset) pairset_drop_keys(r->sentences[i].pairset);
    }
    return st;
}

static void sentence_release(struct sentence *s)
{
    int n = s->stored ? 1 : s->job ? s->job->n_hyps : 0;

    for (int i = 0; s->targets && i < n; i++) {
        free(s->targets[i].text);
        free(s->targets[i].ends);
    }
    free(s->targets);
    free(s->pieces);
    job_free(s->job);
    pairset_free(s->pairset);
}

enum status result_join_sentences(struct result *r, int first, int n,
                                  struct err *e)
{
    struct sentence *to = &r->sentences[first];
    size_t n_pieces = 0;
    struct piece *all;

    assert(first >= 0 && n >= 1 && first + n <= r->n_sentences);
    for (int i = 0; i < n; i++) n_pieces += to[i].n_pieces;
    all = realloc(to->pieces, (n_pieces ? n_pieces : 1) * sizeof *all);
    if (!all) return err_nomem(e, "sentences");
    to->pieces = all;
    for (int i = 1; i < n; i++) {
        struct sentence *s = &to[i];

        assert(!s->pairset && !s->targets);
        memcpy(all + to->n_pieces, s->pieces, s->n_pieces * sizeof *all);
        to->n_pieces += s->n_pieces;
        to->end = s->end;
        sentence_release(s);
    }
    r->n_sentences -= n - 1;
    memmove(to + 1, to + n, (size_t)(r->n_sentences - first - 1) * sizeof *to);
    result_update_job_sentences(r, first);
    assert(result_sentences_sound(r));
    return ST_OK;
}

void result_free(struct result *r)
{
    if (!r) return;
    for (int i = 0; i < r->n_sentences; i++)
        sentence_release(&r->sentences[i]);
    for (int i = 0; i < r->n_hyps; i++) {
        free(r->hyps[i].text);
        free(r->hyps[i].choice);
        free(r->hyps[i].offset);
    }
    free(r->sentences);
    free(r->hyps);
    free(r->source);
    engine_close(r->engine);
    free(r);
}
