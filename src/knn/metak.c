/* metak.c - computes the inputs of the network of Adaptive kNN-MT, runs it, and
 * turns its output into a mixture; reads and writes networks. metak.h has the
 * formulas. Training is in metak_train.c. */
#include "knn/metak.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "knn/net_text.h"

bool metak_allows(int k)
{
    return k >= 1 && k <= METAK_MOST && !(k & (k - 1));
}

struct metak_layout metak_layout(int k)
{
    struct metak_layout at = { .inputs = 2 * k, .choices = 2 };

    assert(metak_allows(k));
    for (int r = k; r > 1; r /= 2) at.choices++;
    at.h_bias = at.h + METAK_HIDDEN * at.inputs;
    at.o = at.h_bias + METAK_HIDDEN;
    at.o_bias = at.o + at.choices * METAK_HIDDEN;
    at.n = at.o_bias + at.choices;
    assert(at.n <= METAK_MOST_PARAMS && at.choices <= METAK_MOST_CHOICES);
    return at;
}

/* ---- inputs -------------------------------------------------------------- */

int metak_count(int k, const struct neighbor *nb, int n)
{
    int found = 0;

    while (found < n && found < k && isfinite(nb[found].d2)) found++;
    return found;
}

void metak_inputs(int k, double scale, const struct neighbor *nb, int n,
                  double *x)
{
    int found = metak_count(k, nb, n), distinct = 0;

    assert(found >= 1);
    for (int j = 0; j < k; j++) {
        int last = j < found ? j : found - 1;

        if (j < found && neighbor_has_new_token(nb, j)) distinct++;
        x[j] = scale * (double)nb[last].d2;
        x[k + j] = distinct;
    }
}

/* ---- the network --------------------------------------------------------- */

/* Replace n logits by their softmax. */
static void logits_to_shares(double *z, int n)
{
    double max = -INFINITY, sum = 0;

    for (int i = 0; i < n; i++) max = fmax(max, z[i]);
    for (int i = 0; i < n; i++) sum += z[i] = exp(z[i] - max);
    for (int i = 0; i < n; i++) z[i] /= sum;
}

/* q [choices] */
static void metak_choose(const struct metak *m, const struct metak_layout *at,
                         const double *x, double *q)
{
    double hidden[METAK_HIDDEN];

    for (int h = 0; h < METAK_HIDDEN; h++) {
        const float *row = m->w + at->h + h * at->inputs;
        double z = (double)m->w[at->h_bias + h];

        for (int i = 0; i < at->inputs; i++) z += (double)row[i] * x[i];
        hidden[h] = tanh(z);
    }
    for (int c = 0; c < at->choices; c++) {
        const float *row = m->w + at->o + c * METAK_HIDDEN;

        q[c] = (double)m->w[at->o_bias + c];
        for (int h = 0; h < METAK_HIDDEN; h++)
            q[c] += (double)row[h] * hidden[h];
    }
    logits_to_shares(q, at->choices);
}

void metak_softmax(const struct neighbor *nb, int n, double temperature,
                   double *share)
{
    for (int j = 0; j < n; j++)
        share[j] = ((double)nb[0].d2 - (double)nb[j].d2) / temperature +
                   (double)nb[j].log_weight;
    logits_to_shares(share, n);
}

/* What all p_r together give each neighbor: share [found] sums to lambda. */
static void metak_divide(const struct metak *m, const struct neighbor *nb,
                         int found, const double *q, double *share)
{
    for (int j = 0; j < found; j++) share[j] = 0;
    for (int first = 1, c = 1; first <= m->k; first *= 2, c++) {
        int n = first < found ? first : found;
        double part[METAK_MOST];

        metak_softmax(nb, n, (double)m->temperature, part);
        for (int j = 0; j < n; j++) share[j] += q[c] * part[j];
    }
}

void metak_run(const struct metak *m, const struct neighbor *nb, int n,
               struct metak_result *out)
{
    struct metak_layout at = metak_layout(m->k);
    double x[2 * METAK_MOST], q[METAK_MOST_CHOICES], share[METAK_MOST];
    double lambda = 0;
    int found = metak_count(m->k, nb, n);

    assert(n >= 0 && n <= m->k);
    memset(out, 0, sizeof *out);
    out->q[0] = 1;
    if (!found) return;
    metak_inputs(m->k, (double)m->scale, nb, n, x);
    metak_choose(m, &at, x, q);
    metak_divide(m, nb, found, q, share);
    for (int c = 0; c < at.choices; c++) out->q[c] = (float)q[c];
    for (int c = 1; c < at.choices; c++) lambda += q[c];
    out->lambda = fminf((float)lambda, 1);
    for (int j = 0; out->lambda > 0 && j < found; j++)
        out->share[j] = (float)(share[j] / lambda);
}

void metak_decide(const struct metak *m, const struct neighbor *nb, int n,
                  struct knn_mixture *out)
{
    struct metak_result r;
    int found = metak_count(m->k, nb, n);

    metak_run(m, nb, n, &r);
    weigh_shares(nb, found, r.lambda, r.share, out);
    for (int j = found; j < n; j++) out->share[j] = 0;
}

/* ---- as text ------------------------------------------------------------- */

void metak_write(const struct metak *m, uint64_t model, char out[METAK_TEXT])
{
    char *at = out;

    assert(metak_allows(m->k));
    at += sprintf(at, "1 %016llx %02x ", (unsigned long long)model,
                  (unsigned)m->k);
    at = net_text_put_floats(at, &m->temperature, 1);
    *at++ = ' ';
    at = net_text_put_floats(at, &m->scale, 1);
    *at++ = ' ';
    at = net_text_put_floats(at, m->w, metak_layout(m->k).n);
    at = net_text_put_seal(out, at);
    assert(at - out < METAK_TEXT);
}

/* Where the fields of the text begin. */
enum { AT_MODEL = 2, AT_K = AT_MODEL + 17, AT_T = AT_K + 3, AT_SCALE = AT_T + 9,
       AT_VALUES = AT_SCALE + 9 };

/* Read the fields of a text that has AT_VALUES characters or more. */
static bool metak_parse_head(struct metak *m, uint64_t *model, const char *text)
{
    uint64_t k;

    if (!net_text_number(text + AT_MODEL, 16, model) ||
        !net_text_number(text + AT_K, 2, &k) || !metak_allows((int)k) ||
        !net_text_floats(text + AT_T, &m->temperature, 1) ||
        !net_text_floats(text + AT_SCALE, &m->scale, 1))
        return false;
    m->k = (int)k;
    return text[AT_K - 1] == ' ' && text[AT_T - 1] == ' ' &&
           text[AT_SCALE - 1] == ' ' && text[AT_VALUES - 1] == ' ' &&
           m->temperature > 0 && m->scale > 0;
}

static bool metak_parse(struct metak *m, uint64_t *model, const char *text)
{
    size_t n = strlen(text), end;
    int params;

    if (n < AT_VALUES || !metak_parse_head(m, model, text)) return false;
    params = metak_layout(m->k).n;
    end = AT_VALUES + 8 * (size_t)params;
    return n == end + NET_TEXT_SEAL && net_text_sealed(text, end) &&
           net_text_floats(text + AT_VALUES, m->w, params);
}

enum status metak_read(struct metak *m, uint64_t *model, const char *text,
                       struct err *e)
{
    memset(m, 0, sizeof *m);
    *model = 0;
    if (strncmp(text, "1 ", 2))
        return err_set(e, ST_VERSION, "metak: the network has a form that this "
                       "version of skmt does not know; train it again (skmt "
                       "knn train)");
    if (!metak_parse(m, model, text))
        return err_set(e, ST_FORMAT, "metak: the network is damaged");
    return ST_OK;
}
