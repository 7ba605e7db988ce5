/* batch_rows.c - chooses the rows of a decoder pass: the live hypotheses whose
 * states are not known yet, and drafts. A draft is the state of a guessed
 * token, computed in advance where this is likely to save a pass (speculative
 * decoding). */
#include <math.h>

#include "base/invariant.h"
#include "search/batch_internal.h"

/* A sentence with more live hypotheses than this gets no drafts. */
enum { DRAFT_LIVE = 4 };

/* Add a row to the current pass. It computes state s at position pos. */
static void batch_add_row(struct batch *b, struct lane *l, struct state *s,
                          int pos, const int32_t *path)
{
    int r = b->n_rows++;

    assert(r < b->max_rows && pos >= 0 && pos < b->limits.max_len);
    assert(!s->known && path[pos] == s->slot);
    b->rows[r] = (struct pass_row){ lane_index(b, l), s->token, pos, path };
    b->row_state[r] = s;
    b->row_pos[r] = pos;
    b->row_path[r] = path;
    b->slot_token[s->slot] = s->token;
    l->n_rows++;
}

/* Guess the token after state s. Returns -1 when there is no guess, and for
 * EOS, which has no next state. *p is the probability of the guess. */
static int32_t guess_next(const struct batch *b, const struct state *s,
                          float *p)
{
    const struct guess *g = &s->guesses[0];
    int32_t token = -1;

    *p = 0;
    if (!s->known && s->n_guesses && g->n > 0) {
        *p = g->likely;
        token = g->ahead[0];
    } else if (s->known && s->n) {
        *p = expf(s->next[0].logprob);
        token = s->next[0].token;
    }
    return token == b->backend->cfg->eos_id ? -1 : token;
}

/* The drafts that continue one hypothesis. */
struct draft {
    int tip;                    /* the last state so far */
    float likely;               /* probability that search reaches it */
    int32_t token;              /* the guess for the next token */
    int next;                   /* the state after that; -1: not made yet */
};

/* The fixed cost of a pass, expressed as a number of rows. A pass takes about
 * 0.4 ms plus 0.2 ms per row (measured with bench/), so its fixed part costs as
 * much as two rows. All busy lanes share the fixed part. */
#define PASS_COST_IN_ROWS 2.0f

/* Whether drafting one more token for every hypothesis is expected to save more
 * time than it costs. A step needs the states of all hypotheses. So drafts save
 * a pass only if all guesses are right, and the rows of wrong guesses are
 * wasted. *rows is the number of new rows. */
static bool draft_is_worthwhile(const struct batch *b, const struct lane *l,
                                struct draft *d, int n, int pos, int *rows)
{
    float all = 1, wasted = 0, p;

    *rows = 0;
    if (pos >= l->beam.max_len) return false;
    for (int i = 0; i < n; i++) {
        d[i].token = guess_next(b, &l->states.at[d[i].tip], &p);
        if (d[i].token < 0) return false;
        d[i].likely *= p;
        d[i].next = states_child(&l->states, d[i].tip, d[i].token);
        all *= d[i].likely;
        if (d[i].next >= 0) continue;
        wasted += 1 - d[i].likely;
        ++*rows;
    }
    return all * PASS_COST_IN_ROWS > wasted * (float)b->n_busy;
}

/* Draft the token at position pos for every hypothesis. */
static void add_draft_position(struct batch *b, struct lane *l,
                               struct draft *d, int n, int pos)
{
    for (int i = 0; i < n; i++) {
        int32_t *path = l->path + (size_t)i * (size_t)b->limits.max_len;
        bool drafted = d[i].next < 0;

        if (drafted)
            d[i].next = states_new(&l->states, d[i].tip, d[i].token);
        assert(d[i].next >= 0);
        d[i].tip = d[i].next;
        path[pos] = l->states.at[d[i].tip].slot;
        if (!drafted) continue;
        l->states.at[d[i].tip].drafted = true;
        batch_add_row(b, l, &l->states.at[d[i].tip], pos, path);
        b->n_drafts++;
        b->counts.drafted++;
    }
}

static void add_drafts(struct batch *b, struct lane *l)
{
    struct draft d[DRAFT_LIVE];
    int n = l->beam.n_live, pos = l->beam.t + 1, rows;
    /* The next step needs room for up to `beam` new states. */
    int room = states_room(&l->states) - l->job->o.beam;

    int most = l->job->o.draft < b->limits.drafts ? l->job->o.draft
                                                  : b->limits.drafts;

    if (n > DRAFT_LIVE || l->beam.t < l->job->n_prefix) return;
    for (int i = 0; i < n; i++)
        d[i] = (struct draft){ l->hyp_state[i], 1, -1, -1 };
    for (; draft_is_worthwhile(b, l, d, n, pos, &rows) && rows <= room &&
           b->n_drafts + rows <= most; pos++, room -= rows)
        add_draft_position(b, l, d, n, pos);
}

/* Add rows for the hypotheses whose state is not known yet, and for drafts. */
static void add_lane_rows(struct batch *b, struct lane *l)
{
    l->row = b->n_rows;
    l->n_rows = 0;
    for (int i = 0; i < l->beam.n_live; i++) {
        struct state *s = &l->states.at[l->hyp_state[i]];

        if (!s->known)
            batch_add_row(b, l, s, l->beam.t,
                          l->path + (size_t)i * (size_t)b->limits.max_len);
    }
    if (l->job->o.draft) add_drafts(b, l);
    l->job->n_passes++;
}

void batch_add_rows(struct batch *b)
{
    b->n_rows = b->n_drafts = 0;
    for (int i = 0; i < b->limits.lanes; i++)
        if (b->lanes[i].job) add_lane_rows(b, &b->lanes[i]);
}
