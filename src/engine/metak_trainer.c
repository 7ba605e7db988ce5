/* metak_trainer.c - runs groups of pairs through the model by teacher forcing,
 * searches the datastore for all their states at once, and projects the states
 * to the tokens that were found.
 *
 * Invariants:
 *   - items[0 .. n) wait. Together they have at most TRAINER_ROWS target rows
 *     and at most TRAINER_ROWS source tokens. */
#include "engine/metak_trainer.h"

#include <math.h>
#include <stdlib.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "base/pool.h"
#include "engine/pairset.h"
#include "knn/datastore_file.h"
#include "knn/entry_search.h"
#include "knn/exact_scan.h"
#include "knn/key_set.h"
#include "text/utf8.h"

enum {
    /* Rows of a group: as many as a search compares at once. A pair fits. */
    TRAINER_ROWS = EXACT_SCAN_ROWS,
    TRAINER_LISTED = METAK_MOST + 1     /* tokens projected for a row */
};
_Static_assert((int)TRAINER_ROWS >= PAIR_PIECES + 3, "the longest pair fits");
_Static_assert((int)TRAINER_LISTED <= (int)PROJECT_LISTED, "tokens of a row");

struct metak_trainer {
    const struct engine *en;    /* held */
    struct entries *s;          /* held */
    struct pool *pool;
    struct executor *x;
    struct entry_search *search;
    struct key_set stored;      /* the pairs of the datastore */
    struct steering_pair items[TRAINER_ROWS];
    struct source sources[TRAINER_ROWS];
    struct forced_text texts[TRAINER_ROWS];
    int n;
    int n_source, n_target;     /* rows of the items */
    int32_t sentences;          /* pairs that were computed */
    struct metak_samples samples;
    struct metak_trainer_counts counts;
    /* Of one group, by row. */
    struct neighbor nb[TRAINER_ROWS][METAK_MOST];
    int32_t listed[TRAINER_ROWS][TRAINER_LISTED];
    float logit[TRAINER_ROWS][TRAINER_LISTED];
    struct projection p[TRAINER_ROWS];
};

/* ---- creation ------------------------------------------------------------ */

static enum status list_stored(struct metak_trainer *t, struct err *e)
{
    for (int32_t p = 0; p < t->s->n_pairs; p++)
        if (!t->s->ops->pair(t->s, p).deleted &&
            !key_set_add(&t->stored, datastore_file_pair_id(t->s, p)))
            return err_nomem(e, "training");
    return ST_OK;
}

enum status metak_trainer_new(struct metak_trainer **out,
                              const struct engine *en, struct entries *s,
                              int threads, struct err *e)
{
    struct metak_trainer *t = calloc(1, sizeof *t);
    const struct backend *b = en->backend;
    int most = b->max_pos < TRAINER_ROWS ? b->max_pos : TRAINER_ROWS;
    struct executor_limits l = { .max_source = most, .max_len = most,
                                 .rows = TRAINER_ROWS };
    enum status st;

    *out = NULL;
    if (!t) return err_nomem(e, "training");
    t->en = engine_hold(en);
    t->s = entries_hold(s);
    st = pool_new(&t->pool, threads, e);
    if (!st) st = backend_executor_new(b, &l, t->pool, &t->x, e);
    if (!st) st = entry_search_new(&t->search, s, NULL, t->pool, e);
    if (!st) st = list_stored(t, e);
    if (st) metak_trainer_free(t);
    else *out = t;
    return st;
}

static void trainer_drop_items(struct metak_trainer *t)
{
    for (int i = 0; i < t->n; i++) steering_pair_release(&t->items[i]);
    t->n = t->n_source = t->n_target = 0;
}

void metak_trainer_free(struct metak_trainer *t)
{
    if (!t) return;
    trainer_drop_items(t);
    entry_search_free(t->search);
    executor_free(t->x);
    pool_free(t->pool);
    key_set_release(&t->stored);
    metak_samples_release(&t->samples);
    entries_drop(t->s);
    engine_close(t->en);
    free(t);
}

/* ---- a group ------------------------------------------------------------- */

/* The token that the reference has after a state. */
static int32_t reference_token(const struct metak_trainer *t,
                               const struct steering_pair *p, int step)
{
    return step < p->n_tgt ? p->ids[p->n_src + step]
                           : t->en->backend->cfg->eos_id;
}

/* Run the items through the model. */
static enum status force_items(struct metak_trainer *t, struct err *e)
{
    unsigned want = t->s->kind == STATE_FFN ? WANT_FFN : 0;

    for (int i = 0; i < t->n; i++) {
        const struct steering_pair *p = &t->items[i];

        t->sources[i] = (struct source){ p->ids, p->n_src };
        t->texts[i] = (struct forced_text){ i, p->ids + p->n_src,
                                            p->n_tgt + 1 };
    }
    return t->x->ops->force(t->x, t->sources, t->n, t->texts, t->n, want, e);
}

/* Find the neighbors of all rows. The states are copied by the search before
 * the executor is used again. */
static enum status search_rows(struct metak_trainer *t, int *found,
                               struct err *e)
{
    const float *states;
    size_t ld;
    enum status st = t->x->ops->read(t->x, t->s->kind, 0, t->n_target, &states,
                                     &ld, e);

    *found = 0;
    if (st) return st;
    return entry_search_states(t->search, states, ld, t->n_target, METAK_MOST,
                               t->nb[0], found, e);
}

/* List the tokens of a row: those of its neighbors, and the right one. */
static void list_row_tokens(struct metak_trainer *t, int row, int found,
                            int32_t right)
{
    int32_t *listed = t->listed[row];

    for (int j = 0; j < found; j++) listed[j] = t->nb[row][j].token;
    listed[found] = right;
    t->p[row] = (struct projection){ .n_listed = found + 1, .listed = listed,
                                     .listed_logit = t->logit[row] };
}

static float row_probability(const struct metak_trainer *t, int row, int i)
{
    return expf(t->logit[row][i] - t->p[row].max) / t->p[row].sum;
}

static enum status add_sample(struct metak_trainer *t, int row, int found,
                              struct err *e)
{
    struct metak_sample s = { .sentence = t->sentences,
                              .target = t->listed[row][found],
                              .model = row_probability(t, row, found),
                              .n = found };

    for (int j = 0; j < found; j++) {
        s.nb[j] = t->nb[row][j];
        s.prob[j] = row_probability(t, row, j);
    }
    return metak_samples_add(&t->samples, &s) ? ST_OK
                                              : err_nomem(e, "training");
}

/* Add the steps of a pair, whose rows begin with `row`. */
static enum status add_samples(struct metak_trainer *t,
                               const struct steering_pair *p, int row,
                               int found, struct err *e)
{
    /* A text that was cut does not end where EOS would be. */
    int steps = p->n_tgt + (p->n_tgt < PAIR_PIECES);
    enum status st = ST_OK;

    for (int i = 0; !st && i < steps; i++)
        st = add_sample(t, row + i, found, e);
    t->sentences++;
    return st;
}

static enum status compute_items(struct metak_trainer *t, struct err *e)
{
    int found = 0, row = 0;
    enum status st = force_items(t, e);

    if (!st) st = search_rows(t, &found, e);
    if (st) return st;
    assert(found <= METAK_MOST);
    for (int i = 0; i < t->n; i++)
        for (int step = 0; step <= t->items[i].n_tgt; step++, row++)
            list_row_tokens(t, row, found,
                            reference_token(t, &t->items[i], step));
    assert(row == t->n_target);
    st = t->x->ops->project(t->x, 0, row, t->p, e);
    row = 0;
    for (int i = 0; !st && i < t->n; i++) {
        st = add_samples(t, &t->items[i], row, found, e);
        row += t->items[i].n_tgt + 1;
    }
    return st;
}

enum status metak_trainer_flush(struct metak_trainer *t, struct err *e)
{
    enum status st = t->n ? compute_items(t, e) : ST_OK;

    trainer_drop_items(t);
    return st;
}

/* ---- pairs --------------------------------------------------------------- */

/* Whether a text of the pair has more pieces than are used. */
static bool pair_was_cut(const struct metak_trainer *t,
                         const struct steering_pair *p)
{
    const struct config *cfg = t->en->backend->cfg;
    int special = (cfg->prefix_id >= 0) + (cfg->suffix_id >= 0);

    return p->n_tgt == PAIR_PIECES || p->n_src - special == PAIR_PIECES;
}

/* Let a pair wait. The group is computed first if there is no room for it. */
static enum status trainer_take(struct metak_trainer *t,
                                struct steering_pair *p, struct err *e)
{
    enum status st = ST_OK;

    if (t->n_source + p->n_src > TRAINER_ROWS ||
        t->n_target + p->n_tgt + 1 > TRAINER_ROWS)
        st = metak_trainer_flush(t, e);
    if (st) {
        steering_pair_release(p);
        return st;
    }
    assert(t->n < TRAINER_ROWS);
    t->n_source += p->n_src;
    t->n_target += p->n_tgt + 1;
    t->items[t->n++] = *p;
    return ST_OK;
}

enum status metak_trainer_add(struct metak_trainer *t, struct str source,
                              struct str target, struct err *e)
{
    struct steering_pair p = { 0 };
    enum status st;

    if (utf8_check(source.p, source.n) != source.n ||
        utf8_check(target.p, target.n) != target.n) {
        t->counts.invalid++;
        return ST_OK;
    }
    st = steering_pair_encode(t->en, source, target, &p, e);
    if (st || !p.n_tgt) {
        steering_pair_release(&p);
        t->counts.empty += !st;
        return st;
    }
    if (p.n_src > t->x->limits.max_source || p.n_tgt >= t->x->limits.max_len) {
        steering_pair_release(&p);
        return err_set(e, ST_LIMIT, "a pair has more pieces than this model "
                       "can read");
    }
    t->counts.pairs++;
    t->counts.known += key_set_has(&t->stored, key_id_of_pair(source, target));
    t->counts.cut += pair_was_cut(t, &p);
    return trainer_take(t, &p, e);
}

struct metak_trainer_counts metak_trainer_counts(
    const struct metak_trainer *t)
{
    return t->counts;
}

struct metak_samples *metak_trainer_samples(struct metak_trainer *t)
{
    return &t->samples;
}
