/* forced.c - teacher forcing: one encoder pass and one decoder pass over a
 * known pair, then the output projection row by row. Allocates what it needs
 * for each call; search does not use it. */
#include "nn/forced.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct forced_state {
    int before;                 /* rows before row 0: start_id, if another
                                   token is given after it */
    struct workspace ws;
    struct crosskv crosskv;
    struct decoder_row *rows;
    float *hidden, *logits, *block_max;
};

static enum status state_init(struct forced_state *s, const struct net *net,
                              struct pool *pool, const struct forced *f,
                              struct err *e)
{
    int before = net->w->cfg.target_prefix_id >= 0;
    int n = f->n_tgt + 1 + before, most = n > f->n_src ? n : f->n_src;
    enum status st;

    memset(s, 0, sizeof *s);
    s->before = before;
    st = workspace_init(&s->ws, net, pool, most, most, e);
    if (!st) st = crosskv_init(&s->crosskv, net, f->n_src, e);
    if (st) return st;
    s->rows = calloc((size_t)n, sizeof *s->rows);
    s->hidden = mem_zalloc((size_t)n * s->ws.ld, sizeof(float));
    s->logits = mem_alloc(s->ws.ld_vocab, sizeof(float));
    s->block_max = mem_alloc(s->ws.ld_vocab / PANEL, sizeof(float));
    if (s->rows && s->hidden && s->logits && s->block_max) return ST_OK;
    return err_nomem(e, "forced decoding");
}

static void state_release(struct forced_state *s)
{
    workspace_release(&s->ws);
    crosskv_release(&s->crosskv);
    free(s->rows);
    mem_free(s->hidden);
    mem_free(s->logits);
    mem_free(s->block_max);
}

static void run_decoder(struct forced_state *s, const struct forced *f)
{
    const struct config *c = &s->ws.net->w->cfg;
    struct decoder_pass p = { .rows = s->rows, .n = s->before + f->n_tgt + 1,
        .hidden = s->hidden, .probe = f->dec_probe, .user = f->user };

    s->rows[0] = (struct decoder_row){ &s->crosskv, c->start_id, 0, NULL };
    for (int t = 0; t <= f->n_tgt; t++)
        s->rows[s->before + t] = (struct decoder_row){ &s->crosskv,
            t ? f->tgt[t - 1] : config_first_token(c), s->before + t, NULL };
    decoder_run(&s->ws, NULL, &p);
}

static void project(struct forced_state *s, const struct forced *f, int t)
{
    const struct net *net = s->ws.net;
    int32_t want = t < f->n_tgt ? f->tgt[t] : net->w->cfg.eos_id;
    struct row_stats st;

    decoder_logits(&s->ws, s->hidden + (size_t)(s->before + t) * s->ws.ld, 1,
                   s->logits);
    net->k->row_stats(s->logits, net->vocab, s->block_max, &st);
    if (f->logprob)
        f->logprob[t] = s->logits[want] - st.max - logf(st.sum);
    if (f->logits) f->logits(f->user, t, s->logits, st);
}

enum status forced_run(const struct net *net, struct pool *pool,
                       const struct forced *f, struct err *e)
{
    struct source src = { f->src, f->n_src };
    struct forced_state s;
    enum status st;

    assert(f->n_src > 0 && f->n_tgt >= 0);
    if (f->n_src > net->max_pos ||
        f->n_tgt >= net->max_pos - (net->w->cfg.target_prefix_id >= 0))
        return err_set(e, ST_LIMIT, "a text of more than %d pieces cannot be "
                       "scored by this model", net->max_pos - 1);
    st = state_init(&s, net, pool, f, e);
    if (!st) {
        encoder_run(&s.ws, &src, 1, f->enc_probe, f->user);
        crosskv_fill(&s.crosskv, &s.ws, s.ws.x, f->n_src);
        run_decoder(&s, f);
        for (int t = 0; t <= f->n_tgt && (f->logprob || f->logits); t++)
            project(&s, f, t);
        for (int t = 0; t <= f->n_tgt && f->hidden; t++)
            memcpy(f->hidden + (size_t)t * (size_t)net->d,
                   s.hidden + (size_t)(s.before + t) * s.ws.ld,
                   (size_t)net->d * sizeof(float));
    }
    state_release(&s);
    return st;
}
