/* naive.h - a transformer in double precision, written to be obviously right.
 *
 * It reads the float weights of a tiny model's safetensors file by name and
 * shares no code with the engine except the file reader. All rows of a sentence
 * are computed at once with explicit masks: there is no cache, no batch and no
 * special memory layout to get wrong. Everything it returns is malloc memory.
 * Attention follows Vaswani et al. 2017. */
#ifndef NAIVE_H
#define NAIVE_H

#include "read_tensors.h"
#include "tiny_net.h"

struct naive_tensor { char name[64]; double *v; };

struct naive {
    const struct tiny *o;
    struct naive_tensor *t;
    int n;
};

static inline double *naive_rows(int rows, int cols)
{
    return calloc((size_t)rows * (size_t)cols + 1, sizeof(double));
}

static inline void naive_read(struct naive *m, struct tensor_file *file,
                              const struct file_tensor *t)
{
    struct naive_tensor *to = &m->t[m->n++];
    int n;
    float *f = tensors_values(file, t, &n);

    snprintf(to->name, sizeof to->name, "%s", t->name);
    to->v = naive_rows(n, 1);
    for (int i = 0; i < n; i++) to->v[i] = (double)f[i];
    free(f);
}

static inline bool naive_open(struct naive *m, const struct tiny_net *t)
{
    struct tensor_file *f;
    struct err e;

    memset(m, 0, sizeof *m);
    m->o = &t->o;
    if (!CHECK_OK(tensors_open(&f, tiny_net_file(t, "model.safetensors"), &e),
                  &e))
        return false;
    m->t = calloc((size_t)f->n, sizeof *m->t);
    for (int i = 0; i < f->n; i++) naive_read(m, f, &f->at[i]);
    tensor_file_close(f);
    return true;
}

static inline void naive_close(struct naive *m)
{
    for (int i = 0; i < m->n; i++) free(m->t[i].v);
    free(m->t);
}

/* A tensor by the parts of its name, as in "dec.0." "att.q" ".bias"; NULL if
 * the file does not have it. */
static inline const double *naive_find(const struct naive *m,
                                       const char *layer, const char *name,
                                       const char *what)
{
    char full[64];

    snprintf(full, sizeof full, "%s%s%s", layer, name, what);
    for (int i = 0; i < m->n; i++)
        if (!strcmp(m->t[i].name, full)) return m->t[i].v;
    return NULL;
}

static inline double *naive_linear(const struct naive *m, const char *layer,
                                   const char *name, const double *x,
                                   int rows, int n, int k)
{
    const double *w = naive_find(m, layer, name, ".weight");
    const double *b = naive_find(m, layer, name, ".bias");
    double *y = naive_rows(rows, n);

    for (int r = 0; r < rows; r++)
        for (int o = 0; o < n; o++) {
            double sum = b ? b[o] : 0;

            for (int i = 0; i < k; i++) sum += x[r * k + i] * w[o * k + i];
            y[r * n + o] = sum;
        }
    return y;
}

static inline double *naive_norm(const struct naive *m, const char *layer,
                                 const char *name, const double *x, int rows)
{
    const double *gain = naive_find(m, layer, name, ".weight");
    const double *bias = naive_find(m, layer, name, ".bias");
    int d = m->o->d;
    double *y = naive_rows(rows, d);

    for (int r = 0; r < rows; r++) {
        double mean = 0, var = 0;

        for (int i = 0; i < d; i++) mean += x[r * d + i] / d;
        for (int i = 0; i < d; i++)
            var += (x[r * d + i] - mean) * (x[r * d + i] - mean) / d;
        for (int i = 0; i < d; i++)
            y[r * d + i] = (x[r * d + i] - mean) / sqrt(var + 1e-5) * gain[i] +
                           bias[i];
    }
    return y;
}

/* Turn the scores p [nk] of one query and one head into weights. */
static inline void naive_softmax(double *p, int nk)
{
    double max = -INFINITY, sum = 0;

    for (int j = 0; j < nk; j++) max = fmax(max, p[j]);
    for (int j = 0; j < nk; j++) sum += p[j] = exp(p[j] - max);
    for (int j = 0; j < nk; j++) p[j] /= sum;
}

/* One head of one query. mean, if not NULL, accumulates weights / heads. */
static inline void naive_head(const double *q, const double *k,
                              const double *v, int nk, int d, int hd,
                              double *out, double *mean)
{
    double *p = naive_rows(nk, 1);

    for (int j = 0; j < nk; j++) {
        for (int i = 0; i < hd; i++) p[j] += q[i] * k[j * d + i];
        p[j] /= sqrt((double)hd);
    }
    naive_softmax(p, nk);
    for (int j = 0; j < nk; j++) {
        for (int i = 0; i < hd; i++) out[i] += p[j] * v[j * d + i];
        if (mean) mean[j] += p[j] * hd / d;
    }
    free(p);
}

/* Attention of x over mem; name is "att" or "xatt". With causal, row i sees
 * rows 0 .. i. weights, if not NULL, is an array [nq][nk] of zeros that
 * receives the mean over the heads. */
static inline double *naive_attention(const struct naive *m,
                                      const char *layer, const char *name,
                                      const double *x, int nq,
                                      const double *mem, int nk, bool causal,
                                      double *weights)
{
    int d = m->o->d, hd = d / m->o->heads;
    char part[4][16];
    double *q, *k, *v, *y, *out = naive_rows(nq, d);

    for (int i = 0; i < 4; i++)
        snprintf(part[i], sizeof part[i], "%s.%c", name, "qkvo"[i]);
    q = naive_linear(m, layer, part[0], x, nq, d, d);
    k = naive_linear(m, layer, part[1], mem, nk, d, d);
    v = naive_linear(m, layer, part[2], mem, nk, d, d);
    for (int r = 0; r < nq; r++)
        for (int h = 0; h < d; h += hd)
            naive_head(q + r * d + h, k + h, v + h, causal ? r + 1 : nk, d,
                       hd, out + r * d + h,
                       weights ? weights + r * nk : NULL);
    y = naive_linear(m, layer, part[3], out, nq, d, d);
    free(q);
    free(k);
    free(v);
    free(out);
    return y;
}

static inline double naive_act(const struct naive *m, double x)
{
    if (!strcmp(m->o->act, "gelu")) return 0.5 * x * (1 + erf(x / sqrt(2)));
    if (!strcmp(m->o->act, "silu")) return x / (1 + exp(-x));
    return x > 0 ? x : 0;
}

static inline double *naive_ffn(const struct naive *m, const char *layer,
                                const double *x, int rows, int f)
{
    double *up = naive_linear(m, layer, "f1", x, rows, f, m->o->d), *y;

    for (int i = 0; i < rows * f; i++) up[i] = naive_act(m, up[i]);
    y = naive_linear(m, layer, "f2", up, rows, m->o->d, f);
    free(up);
    return y;
}

/* The input of a block: a copy of x, or its norm. The caller frees it. */
static inline double *naive_in(const struct naive *m, const char *layer,
                               const char *norm, const double *x, int rows)
{
    double *y;

    if (!m->o->post) return naive_norm(m, layer, norm, x, rows);
    y = naive_rows(rows, m->o->d);
    memcpy(y, x, (size_t)(rows * m->o->d) * sizeof *y);
    return y;
}

/* x += y, followed by the norm in post-norm models. Frees `in` and y. */
static inline void naive_out(const struct naive *m, const char *layer,
                             const char *norm, double *x, int rows,
                             double *in, double *y)
{
    double *z;

    for (int i = 0; i < rows * m->o->d; i++) x[i] += y[i];
    free(in);
    free(y);
    if (!m->o->post) return;
    z = naive_norm(m, layer, norm, x, rows);
    memcpy(x, z, (size_t)(rows * m->o->d) * sizeof *z);
    free(z);
}

static inline double naive_position(const struct naive *m, const char *side,
                                    int p, int i)
{
    int d = m->o->d, half = d / 2;
    const double *table = naive_find(m, "pos_", side, ".weight");

    p += m->o->offset;
    if (table) return table[p * d + i];
    if (!strcmp(m->o->pos, "sinusoidal-interleaved")) {
        double a = p / pow(10000, (double)(i / 2 * 2) / d);
        return i % 2 ? cos(a) : sin(a);
    }
    if (!strcmp(m->o->pos, "sinusoidal-halves-hf"))
        return i < half ? sin(p / pow(10000, (double)i / half))
                        : cos(p / pow(10000, (double)(i - half) / half));
    return i < half ? sin(p / pow(10000, (double)i / (half - 1)))
                    : cos(p / pow(10000, (double)(i - half) / (half - 1)));
}

/* side: "src" or "tgt". The scale is the one that tiny_model.h writes. */
static inline double *naive_embed(const struct naive *m, const char *side,
                                  const int32_t *ids, int n)
{
    const double *e = naive_find(m, "", "emb", ".weight");
    int d = m->o->d;
    double *x = naive_rows(n, d);

    if (!e) e = naive_find(m, "emb_", side, ".weight");
    for (int p = 0; p < n; p++)
        for (int i = 0; i < d; i++)
            x[p * d + i] = e[ids[p] * d + i] * (d / 8) +
                           naive_position(m, side, p, i);
    return x;
}

static inline double *naive_final(const struct naive *m, const char *norm,
                                  double *x, int rows)
{
    double *y;

    if (!m->o->final_norm) return x;
    y = naive_norm(m, "", norm, x, rows);
    free(x);
    return y;
}

static inline double *naive_encode(const struct naive *m, const int32_t *src,
                                   int n)
{
    double *x = naive_embed(m, "src", src, n), *in;
    char l[16];

    for (int i = 0; i < m->o->enc_layers; i++) {
        snprintf(l, sizeof l, "enc.%d.", i);
        in = naive_in(m, l, "ln1", x, n);
        naive_out(m, l, "ln1", x, n, in,
                  naive_attention(m, l, "att", in, n, in, n, false, NULL));
        in = naive_in(m, l, "ln3", x, n);
        naive_out(m, l, "ln3", x, n, in, naive_ffn(m, l, in, n, m->o->ffn));
    }
    return naive_final(m, "eln", x, n);
}

/* The states [n, d] of the decoder after reading ids[n]; ids[0] is the start
 * token. weights: those of the attention layer over the source, see
 * naive_attention. ffn [n, d]: the input of the last feed-forward block; both
 * may be NULL. */
static inline double *naive_decode(const struct naive *m, const double *mem,
                                   int n_src, const int32_t *ids, int n,
                                   double *weights, double *ffn)
{
    double *x = naive_embed(m, "tgt", ids, n), *in;
    int kept = m->o->attention_layer;
    char l[20];

    if (kept < 0) kept = (m->o->dec_layers - 1) / 2;
    for (int i = 0; i < m->o->dec_layers; i++) {
        snprintf(l, sizeof l, "dec.%d.", i);
        in = naive_in(m, l, "ln1", x, n);
        naive_out(m, l, "ln1", x, n, in,
                  naive_attention(m, l, "att", in, n, in, n, true, NULL));
        in = naive_in(m, l, "ln2", x, n);
        naive_out(m, l, "ln2", x, n, in,
                  naive_attention(m, l, "xatt", in, n, mem, n_src, false,
                                  i == kept ? weights : NULL));
        in = naive_in(m, l, "ln3", x, n);
        if (ffn) memcpy(ffn, in, (size_t)(n * m->o->d) * sizeof *ffn);
        naive_out(m, l, "ln3", x, n, in,
                  naive_ffn(m, l, in, n, m->o->dec_ffn));
    }
    return naive_final(m, "dln", x, n);
}

/* The log-probabilities [n, vocab] that follow from states. */
static inline double *naive_logprobs(const struct naive *m,
                                     const double *hidden, int n)
{
    int v = m->o->vocab;
    double *y = naive_linear(m, "", m->o->separate ? "out" : "emb", hidden, n,
                             v, m->o->d);
    const double *b = m->o->separate ? NULL : naive_find(m, "out", ".", "bias");

    for (int r = 0; r < n; r++) {
        double *row = y + r * v, max = -INFINITY, sum = 0;

        for (int i = 0; b && i < v; i++) row[i] += b[i];
        for (int i = 0; i < v; i++) max = fmax(max, row[i]);
        for (int i = 0; i < v; i++) sum += exp(row[i] - max);
        for (int i = 0; i < v; i++) row[i] -= max + log(sum);
    }
    return y;
}

/* The results of reading a whole translation; the tests compare with these. */
struct naive_pass {
    int n, n_src;
    double *hidden;             /* [n, d] */
    double *logprob;            /* [n, vocab] */
    double *attention;          /* [n, n_src] */
    double *ffn;                /* [n, d] STATE_FFN */
    double *source;             /* [n_src, d] STATE_SOURCE */
};

/* tgt has neither start token nor EOS; the result has n_tgt + 1 rows. */
static inline struct naive_pass naive_run(const struct naive *m,
                                          const int32_t *src, int n_src,
                                          const int32_t *tgt, int n_tgt)
{
    struct naive_pass p = { .n = n_tgt + 1, .n_src = n_src };
    int32_t *in = calloc((size_t)p.n, sizeof *in);

    in[0] = 2;
    if (n_tgt) memcpy(in + 1, tgt, (size_t)n_tgt * sizeof *in);
    p.attention = naive_rows(p.n, n_src);
    p.ffn = naive_rows(p.n, m->o->d);
    p.source = naive_encode(m, src, n_src);
    p.hidden = naive_decode(m, p.source, n_src, in, p.n, p.attention, p.ffn);
    p.logprob = naive_logprobs(m, p.hidden, p.n);
    free(in);
    return p;
}

static inline void naive_pass_release(struct naive_pass *p)
{
    free(p->hidden);
    free(p->logprob);
    free(p->attention);
    free(p->ffn);
    free(p->source);
}

#endif
