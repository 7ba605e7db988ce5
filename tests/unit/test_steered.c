/* test_steered.c - translations steered by given pairs, compared with PyTorch.
 *
 * tests/golden/steered.jsonl has 40 lines of each of four test sets, the pairs
 * that were found for each line, and the translations that PyTorch computes
 * with the weights of the shipped model: without pairs, with preset sk1 and
 * with sk2. The lines go through a session. If the weights are beside the
 * checkout, they are also used as f32, and the outputs must equal the
 * reference. The shipped int8 model gives the same output for most lines.
 *
 * The file alternates between the sets, shortest lines first. With slow kernels
 * only the first lines are used, without the 16 pairs of sk2. */
#include "golden.h"

#include "engine/session.h"
#include "search/job.h"

enum { SETS = 4, MOST_LINES = 160, MOST_PAIRS = 16, SK1_PAIRS = 2 };

struct sample {
    json_t *json;               /* owns the texts */
    const char *src;
    struct similar_pair pairs[MOST_PAIRS];
    int n_pairs;
};

struct samples {
    struct engine *en;
    struct shared_keys *keys[2];  /* by "key-type" */
    bool exact;                 /* f32 */
    bool slow;                  /* plain C kernels */
    struct sample at[MOST_LINES];
    int n;
};

/* ---- reading ------------------------------------------------------------- */

static int sample_limit(void)
{
    const char *san = getenv("SAN");

    return san && *san ? 8 : line_limit(1);
}

static bool take_sample(struct samples *s, json_t *j)
{
    struct sample *to = &s->at[s->n];
    const json_t *tm = json_object_get(j, "tm");

    *to = (struct sample){ .json = j,
        .src = json_string_value(json_object_get(j, "src")) };
    if (!CHECK(to->src && json_array_size(tm) <= MOST_PAIRS)) return false;
    for (size_t i = 0; i < json_array_size(tm); i++) {
        const json_t *p = json_array_get(tm, i);

        to->pairs[to->n_pairs++] = (struct similar_pair){
            str_of(json_string_value(json_array_get(p, 0))),
            str_of(json_string_value(json_array_get(p, 1))),
            json_number_value(json_array_get(p, 2)) };
    }
    s->n++;
    return true;
}

/* Read every `every`-th line of each set. */
static bool read_samples(struct samples *s, int every)
{
    FILE *in = fopen(test_data("steered.jsonl"), "r");
    int limit = sample_limit(), most = MOST_LINES / every;
    json_t *j;

    if (limit > most) limit = most;
    if (!CHECK(in != NULL)) return false;
    for (int i = 0; s->n < limit && (j = golden_line(in)); i++) {
        bool wanted = i / SETS % every == 0;

        if (!wanted) json_decref(j);
        else if (!take_sample(s, j)) break;
    }
    fclose(in);
    CHECK_INT(s->n, limit);
    return s->n == limit;
}

static void samples_release(struct samples *s)
{
    for (int i = 0; i < s->n; i++) json_decref(s->at[i].json);
    for (size_t i = 0; i < COUNT(s->keys); i++) shared_keys_free(s->keys[i]);
    engine_close(s->en);
}

static bool samples_open(struct samples *s, const char *model, bool exact,
                         int every)
{
    struct err e;

    memset(s, 0, sizeof *s);
    s->exact = exact;
    s->slow = line_limit(1) == 1;
    return CHECK_OK(engine_open(&s->en, model, &e), &e) &&
           read_samples(s, every);
}

/* ---- translating --------------------------------------------------------- */

struct how {
    const char *preset;         /* NULL: the model alone */
    const char *key_type, *draft;       /* NULL: the default */
    const char *prune;          /* NULL: none */
};

struct outputs {
    char *text[MOST_LINES];
    int tokens, passes;
};

static void set(struct options *o, const char *name, const char *value)
{
    struct err e;

    if (value) CHECK_OK(options_set(o, name, value, &e), &e);
}

static struct session *session_for(struct samples *s, const struct how *h)
{
    struct session *ss;
    struct options o;
    struct shared_keys **keys;
    struct err e;

    options_defaults(&o);
    set(&o, "split", "none");
    set(&o, "preset", h->preset ? h->preset : "paper-sk2");
    set(&o, "key-type", h->key_type);
    set(&o, "draft", h->draft);
    set(&o, "prune", h->prune ? h->prune : "0");
    keys = &s->keys[o.key_type];
    if (!CHECK_OK(session_new(&ss, s->en, &o, &e), &e)) return NULL;
    if (!*keys) CHECK_OK(shared_keys_new(keys, s->en, &o, NULL, &e), &e);
    if (*keys)
        CHECK_OK(session_set_memory(ss, &(struct request_memory){
                                        .keys = *keys }, &e), &e);
    return ss;
}

static void take_output(struct outputs *out, int i, struct session_text *q)
{
    struct result *r = q->result;

    out->text[i] = strdup(r ? r->hyps[0].text : "");
    if (!r) return;
    out->tokens += r->tokens;
    for (int k = 0; k < r->n_sentences; k++)
        if (r->sentences[k].job) out->passes += r->sentences[k].job->n_passes;
    result_free(r);
}

/* Translate all lines, with as many of their pairs as the preset uses. */
static void translate(struct samples *s, const struct how *h,
                      struct outputs *out)
{
    bool sk1 = h->preset && strstr(h->preset, "sk1");
    struct session *ss = session_for(s, h);
    struct session_text q[MOST_LINES];
    struct err e;

    memset(out, 0, sizeof *out);
    for (int i = 0; i < s->n; i++) {
        const struct sample *it = &s->at[i];
        int n = it->n_pairs;

        if (sk1 && n > SK1_PAIRS) n = SK1_PAIRS;
        q[i] = (struct session_text){ .text = it->src,
                                      .len = strlen(it->src) };
        if (!h->preset) continue;
        q[i].given = it->pairs;
        q[i].n_given = n;
    }
    if (ss) CHECK_OK(session_run(ss, q, (size_t)s->n, &e), &e);
    for (int i = 0; i < s->n; i++) take_output(out, i, &q[i]);
    session_free(ss);
}

static void outputs_release(struct outputs *out)
{
    for (int i = 0; i < MOST_LINES; i++) free(out->text[i]);
}

static int count_same(const struct samples *s, const struct outputs *a,
                      const struct outputs *b)
{
    int same = 0;

    for (int i = 0; i < s->n; i++) same += !strcmp(a->text[i], b->text[i]);
    return same;
}

/* ---- comparison with the reference --------------------------------------- */

static int count_wanted(const struct samples *s, const struct outputs *out,
                        const char *key)
{
    int same = 0;

    for (int i = 0; i < s->n; i++) {
        const char *want = json_string_value(
            json_object_get(s->at[i].json, key));

        if (!CHECK(want != NULL)) continue;
        if (!strcmp(out->text[i], want))
            same++;
        else if (s->exact)
            printf("     %s differs: %s\n       %s\n       want: %s\n", key,
                   s->at[i].src, out->text[i], want);
    }
    return same;
}

static void compare_steered(const char *model, bool exact)
{
    static const char *const presets[] = { NULL, "paper-sk1", "paper-sk2" };
    static struct samples s;
    int same = 0, n = 0;

    REQUIRE(samples_open(&s, model, exact, 1));
    for (size_t i = 0; i < COUNT(presets) - s.slow; i++) {
        struct how h = { presets[i], .key_type = "f32" };
        const char *key = presets[i] ? strchr(presets[i], '-') + 1 : "nmt";
        struct outputs out;
        int these;

        translate(&s, &h, &out);
        these = count_wanted(&s, &out, key);
        printf("     %s: %d of %d identical%s\n", key, these, s.n,
               s.exact ? "" : " (int8 against f32)");
        same += these;
        n += s.n;
        outputs_release(&out);
    }
    CHECK(n >= 2);
    /* Measured: f32 480 of 480, int8 456 of 480 (avx512). */
    CHECK(same * 100 >= n * (s.exact ? 98 : 85));
    samples_release(&s);
}

TEST(translations_are_the_references)
{
    if (!shipped_weights_model()) SKIP("needs the shipped model's weights");
    compare_steered(shipped_weights_model(), true);
}

TEST(most_translations_of_the_shipped_model_are_the_references)
{
    if (access(SHIPPED_MODEL, R_OK)) SKIP("needs " SHIPPED_MODEL);
    compare_steered(SHIPPED_MODEL, false);
}

/* ---- comparison of options ----------------------------------------------- */

/* Translate with other options. Returns how many lines are the same as in
 * `usual`. */
static int left_alone(struct samples *s, const struct outputs *usual,
                      const char *what, struct how h, struct outputs *out)
{
    int same;

    translate(s, &h, out);
    same = count_same(s, usual, out);
    printf("     %s: %d of %d lines the same, %d tokens in %d passes\n", what,
           same, s->n, out->tokens, out->passes);
    return same;
}

static void check_share(int same, const struct samples *s, int percent,
                        struct outputs *out)
{
    CHECK(same * 100 >= s->n * percent);
    outputs_release(out);
}

/* Pruning, drafts and int8 keys save time and change few translations of the
 * shipped model. Measured (avx512): all 40 lines were the same each time. There
 * were 703 passes with prune 4, 695 with the default, and 725 with the default
 * but without drafts. */
TEST(what_saves_work_changes_little)
{
    static struct samples s;
    struct outputs all, pruned, out;
    const char *preset;
    int same;

    if (access(SHIPPED_MODEL, R_OK)) SKIP("needs " SHIPPED_MODEL);
    REQUIRE(samples_open(&s, SHIPPED_MODEL, false, 4));
    preset = s.slow ? "sk1" : "sk2";
    translate(&s, &(struct how){ .preset = preset }, &all);
    same = left_alone(&s, &all, "pruned", (struct how){ preset,
                      .prune = "-1" }, &pruned);
    CHECK(same * 100 >= s.n * 97);
    same = left_alone(&s, &pruned, "without drafts", (struct how){ preset,
                      .prune = "-1", .draft = "0" }, &out);
    CHECK_INT(same, s.n);
    CHECK(s.n < 20 || (pruned.passes < all.passes
                       && pruned.passes < out.passes));
    outputs_release(&out);
    if (!s.slow) {
        same = left_alone(&s, &all, "prune 4", (struct how){ "sk2",
                          .prune = "4" }, &out);
        check_share(same, &s, 97, &out);
        same = left_alone(&s, &all, "f32 keys", (struct how){ "sk2",
                          .key_type = "f32" }, &out);
        check_share(same, &s, 90, &out);
    }
    outputs_release(&all);
    outputs_release(&pruned);
    samples_release(&s);
}
