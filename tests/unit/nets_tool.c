/* nets_tool.c - prints what the networks and policies of systems compute for
 * random neighbors, as lines of JSON. Independent programs compute the same.
 *
 *     nets_tool metak | tools/check_metak.py
 *     nets_tool kok | tools/check_kok.py */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "knn/kok_policy.h"
#include "knn/metak_train.h"

static uint64_t state = 1;

static double uniform(double low, double high)
{
    return low + (high - low) * (random_unit(&state) + 1) / 2;
}

static int below(int n) { return (int)(random_next(&state) % (uint64_t)n); }

/* Print a name and the numbers of an array. */
static void print_floats(const char *name, const float *x, int n)
{
    printf(",\"%s\":[", name);
    for (int i = 0; i < n; i++) printf("%s%.9g", i ? "," : "", (double)x[i]);
    printf("]");
}

static void print_doubles(const char *name, const double *x, int n)
{
    printf(",\"%s\":[", name);
    for (int i = 0; i < n; i++) printf("%s%.17g", i ? "," : "", x[i]);
    printf("]");
}

/* n neighbors at distances up to `far`; with `missing`, the last ones do not
 * exist. */
static void make_neighbors(struct neighbor *nb, int n, double far, int missing)
{
    double d2 = uniform(0, below(8) ? far / 4 : far);

    for (int i = 0; i < n; i++) {
        bool gone = i >= n - missing;

        nb[i] = (struct neighbor){ .d2 = gone ? INFINITY : (float)d2,
                                   .token = gone ? -1 : below(6) };
        if (below(4) == 0) nb[i].log_weight = logf((float)(2 + below(9)));
        d2 += uniform(0, far / n);
    }
}

static void print_neighbors(const struct neighbor *nb, int n)
{
    printf(",\"neighbors\":[");
    for (int i = 0; i < n; i++) {
        printf("%s{\"d2\":", i ? "," : "");
        if (isfinite(nb[i].d2)) printf("%.9g", (double)nb[i].d2);
        else printf("null");
        printf(",\"token\":%d,\"log_weight\":%.9g}", (int)nb[i].token,
               (double)nb[i].log_weight);
    }
    printf("]");
}

static void print_mixture(const struct knn_mixture *v)
{
    printf(",\"lambda\":%.9g,\"tokens\":[", (double)v->lambda);
    for (int i = 0; i < v->n; i++)
        printf("%s%d", i ? "," : "", (int)v->token[i]);
    printf("]");
    print_floats("add", v->add, v->n);
}

/* ---- metak --------------------------------------------------------------- */

static void make_network(struct metak *m, int k)
{
    static const float temperatures[] = { 1, 10, 100 };

    memset(m, 0, sizeof *m);
    m->k = k;
    m->temperature = temperatures[below(3)];
    m->scale = below(2) ? 1 : 0.01f;
    for (int i = 0; i < metak_layout(k).n; i++)
        m->w[i] = (float)uniform(-0.5, 0.5);
    /* Small, because distances are large. */
    for (int h = 0; h < METAK_HIDDEN; h++)
        for (int i = 0; i < k; i++)
            m->w[h * 2 * k + i] *= 0.01f / m->scale;
}

static void print_step(int i)
{
    char text[METAK_TEXT];
    int k = 1 << i % 6, n = below(4) ? k : below(k + 1);
    struct neighbor nb[METAK_MOST];
    double x[2 * METAK_MOST];
    struct metak m;
    struct metak_result r;
    struct knn_mixture v;

    make_network(&m, k);
    make_neighbors(nb, n, 200, below(4) ? 0 : below(n + 1));
    metak_write(&m, 0, text);
    metak_run(&m, nb, n, &r);
    metak_decide(&m, nb, n, &v);
    printf("{\"network\":\"%s\"", text);
    print_neighbors(nb, n);
    if (metak_count(k, nb, n)) {
        metak_inputs(k, (double)m.scale, nb, n, x);
        print_doubles("x", x, 2 * k);
    }
    print_floats("q", r.q, metak_layout(k).choices);
    print_floats("share", r.share, n);
    print_mixture(&v);
    printf("}\n");
}

/* The loss of a step, with the model's probabilities of all tokens. */
static void print_sample(void)
{
    enum { V = 40 };
    struct metak_training how = metak_training_defaults(V);
    struct metak_sample s = { .target = below(12) };
    struct metak m;
    char text[METAK_TEXT];
    float p[V], sum = 0;
    double w[METAK_MOST_PARAMS];

    make_network(&m, 8);
    how.temperature = (double)m.temperature;
    how.scale = (double)m.scale;
    how.smoothing = uniform(0, 0.3);
    s.n = below(4) ? 8 : below(9);
    make_neighbors(s.nb, s.n, 200, 0);
    for (int i = 0; i < V; i++) sum += p[i] = (float)exp(uniform(-8, 0));
    for (int i = 0; i < V; i++) p[i] /= sum;
    s.model = p[s.target];
    for (int j = 0; j < s.n; j++) s.prob[j] = p[s.nb[j].token];
    for (int i = 0; i < metak_layout(8).n; i++) w[i] = (double)m.w[i];
    metak_write(&m, 0, text);
    printf("{\"network\":\"%s\",\"target\":%d,\"smoothing\":%.17g", text,
           (int)s.target, how.smoothing);
    print_neighbors(s.nb, s.n);
    print_floats("model", p, V);
    printf(",\"loss\":%.17g}\n", metak_gradient(w, &how, &s, NULL));
}

static int print_metak(void)
{
    for (int i = 0; i < 600; i++) print_step(i);
    for (int i = 0; i < 200; i++) print_sample();
    return 0;
}

/* ---- kok ----------------------------------------------------------------- */

static void print_kok_step(const char *what, const struct kok_options *o,
                           const struct neighbor *nb, int n)
{
    float key[2 * KOK_MOST];

    printf("{\"what\":\"%s\"", what);
    print_neighbors(nb, n);
    if (kok_key(o, nb, n, key)) print_floats("key", key, 2 * o->k);
}

/* A correction: entries of the policy store. */
static int print_correction(struct kok_policy *p, const struct kok_options *o)
{
    struct neighbor nb[KOK_MOST];
    struct kok_block *b;
    struct err e;
    int steps = below(20);

    if (kok_block_new(&b, steps, o->k, &e)) return 1;
    for (int i = 0; i < steps; i++) {
        int n = below(8) ? o->k : below(o->k), right = below(6);
        double model = uniform(0, 0.6);

        make_neighbors(nb, n, 150, 0);
        print_kok_step("entry", o, nb, n);
        printf(",\"right\":%d,\"model\":%.17g,\"prob\":%.9g}\n", right, model,
               kok_token_prob(o, nb, n, right));
        kok_block_put(b, o, nb, n, right, model);
    }
    if (kok_policy_add(p, b, &e)) return 1;
    kok_block_drop(b);
    return 0;
}

static void print_decision(const struct kok_policy *p,
                           const struct kok_options *o)
{
    struct neighbor nb[KOK_MOST];
    int n = below(8) ? o->k : below(o->k);
    struct knn_mixture v;

    make_neighbors(nb, n, 150, 0);
    kok_policy_decide(p, o, nb, n, &v);
    print_kok_step("step", o, nb, n);
    print_mixture(&v);
    printf("}\n");
}

static int print_document(const struct kok_options *o)
{
    struct kok_policy p;
    double w[KOK_MOST];

    kok_policy_init(&p);
    kok_weights(o, w);
    printf("{\"what\":\"document\",\"k\":%d,\"temperature\":%.17g,"
           "\"policy_temperature\":%.17g,\"weight\":%.17g,\"sure\":%.17g,"
           "\"sure_lambda\":%.17g,\"farthest\":%.17g", o->k, o->temperature,
           o->policy_temperature, o->weight, o->sure, o->sure_lambda,
           o->farthest);
    print_doubles("weights", w, o->k);
    printf("}\n");
    for (int i = 0; i < 30; i++) {
        for (int j = 0; j < 4; j++) print_decision(&p, o);
        if (print_correction(&p, o)) return 1;
    }
    kok_policy_release(&p);
    return 0;
}

static int print_kok(void)
{
    struct kok_options o = kok_options_defaults();

    if (print_document(&o)) return 1;
    for (int i = 0; i < 8; i++) {
        o.k = 1 + below(KOK_MOST);
        o.temperature = uniform(1, 100);
        o.policy_temperature = uniform(5, 100);
        o.weight = uniform(0.1, 1);
        o.sure = uniform(0.4, 1);
        o.sure_lambda = uniform(0.5, 1);
        o.farthest = uniform(10, 100);
        if (print_document(&o)) return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "metak")) return print_metak();
    if (argc == 2 && !strcmp(argv[1], "kok")) return print_kok();
    fprintf(stderr, "usage: nets_tool metak|kok\n");
    return 2;
}
