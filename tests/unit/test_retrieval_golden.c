/* test_retrieval_golden.c - compares retrieval with independent results:
 *
 *   - scores that were calculated by hand;
 *   - the rankings of the paper's authors for each sentence of their
 *     documents, and every score with one that is computed without an index;
 *   - the results of a slow script for a small memory
 *     (tools/gen_retrieval.py);
 *   - if the full sets are beside the checkout, the lists that another program
 *     made for every line of three test sets. */
#include <jansson.h>

#include "formats/input.h"
#include "naive_bm25.h"
#include "open_subword.h"
#include "scratch_dir.h"
#include "skmt.h"
#include "tm/retrieve.h"
#include "tm/tmfile.h"

/* ---- lines of JSON, compressed or not ----------------------------------- */

struct lines {
    struct input *in;
    struct strbuf line;
};

static bool lines_open(struct lines *l, const char *path)
{
    struct err e;

    strbuf_init(&l->line, 0);
    return CHECK_OK(input_open(&l->in, path, &e), &e);
}

static void lines_close(struct lines *l)
{
    input_close(l->in);
    strbuf_release(&l->line);
}

/* The next line, or NULL at the end. The caller calls json_decref. */
static json_t *lines_next(struct lines *l)
{
    const char *bytes, *nl = NULL;
    struct err e;
    size_t n;

    strbuf_reset(&l->line);
    while (!nl) {
        if (!CHECK_OK(input_peek(l->in, &bytes, &n, &e), &e) || !n) break;
        nl = memchr(bytes, '\n', n);
        if (nl) n = (size_t)(nl - bytes) + 1;
        strbuf_add(&l->line, bytes, n);
        input_take(l->in, n);
    }
    return l->line.len ? json_loads(l->line.data, 0, NULL) : NULL;
}

static const char *field(const json_t *o, const char *name)
{
    const char *s = json_string_value(json_object_get(o, name));

    return s ? s : "";
}

/* ---- a memory file ------------------------------------------------------- */

struct fixture {
    struct scratch s;
    struct store *store;        /* writes */
    struct tmfile *t;           /* searches; another connection */
    struct retriever *rt;
    int64_t memory;
    struct index *ix;
    struct terms terms;
};

static bool fixture_open(struct fixture *f)
{
    struct err e;

    memset(f, 0, sizeof *f);
    if (!scratch_make(&f->s)) return false;
    if (!CHECK_OK(store_open(&f->store, scratch_path(&f->s, "a.tm"),
                             STORE_CREATE, &e), &e) ||
        !CHECK_OK(tmfile_open(&f->t, scratch_path(&f->s, "a.tm"),
                              STORE_WRITE, &e), &e))
        return false;
    store_relaxed(f->store, true);
    return CHECK_OK(retriever_new(&f->rt, &e), &e);
}

static void fixture_close(struct fixture *f)
{
    index_close(f->ix);
    terms_release(&f->terms);
    retriever_free(f->rt);
    tmfile_close(f->t);
    store_close(f->store);
    scratch_remove(&f->s);
}

/* Create a memory. Texts are added to it from now on; f->ix is its index. */
static bool fixture_memory(struct fixture *f, const char *name)
{
    const struct analyzer standard = { 0 };
    struct memory_info m = { 0 };
    struct err e;

    snprintf(m.name, sizeof m.name, "%s", name);
    index_close(f->ix);
    f->ix = NULL;
    return CHECK_OK(store_memory_create(f->store, &m, &f->memory, &e), &e) &&
           CHECK_OK(index_open(&f->ix, f->store, f->memory, &standard, NULL,
                               &e), &e);
}

/* The target is the number, so that equal sources are distinct texts. */
static bool fixture_add(struct fixture *f, const char *source, int number)
{
    char target[16];
    struct unit u = { .source = str_of(source) };
    struct err e;
    int64_t id;

    snprintf(target, sizeof target, "%d", number);
    u.target = str_of(target);
    return CHECK_OK(store_add(f->store, f->memory, &u, &id, &e), &e);
}

/* score[i] is the score of text i, or 0 if it was not found. `order` has the
 * texts that were found, best first. Returns how many, or -1 on failure. */
static int score_all(struct fixture *f, const char *query, int n,
                     double *score, int *order)
{
    const struct analyzer standard = { 0 };
    struct hit *hits = calloc((size_t)n + 1, sizeof *hits);
    struct str source, target;
    bool tagged, found;
    size_t n_hits = 0;
    struct err e;
    bool ok;

    ok = CHECK_OK(analyze(&standard, str_of(query), &f->terms, &e), &e) &&
         CHECK_OK(index_refresh(f->ix, &e), &e) &&
         CHECK_OK(index_search(f->ix, &f->terms, (size_t)n + 1, hits, &n_hits,
                               &e), &e);
    for (int i = 0; i < n; i++) score[i] = 0;
    for (size_t i = 0; ok && i < n_hits; i++) {
        ok = CHECK_OK(store_text(f->store, hits[i].text, &source, &target,
                                 &tagged, &found, &e), &e) && CHECK(found);
        if (ok) order[i] = atoi(strndupa(target.p, target.n));
        ok = ok && CHECK(order[i] >= 0 && order[i] < n);
        if (ok) score[order[i]] = hits[i].score;
    }
    free(hits);
    return ok ? (int)n_hits : -1;
}

/* ---- scores calculated by hand ------------------------------------------- */

TEST(scores_are_those_worked_out)
{
    static const char *const docs[] = {
        "Nehmen Sie täglich 2 Tab@@ letten ein .", "Tab@@ letten mit 5 mg",
        "Nicht schlucken .", "Sie nehmen 2,5 mg der Tab@@ letten ; Tab@@ "
        "letten nicht kau@@ en" };
    static const double want[] = { 1.455831, 0.705964, 0, 1.468823 };
    struct fixture f;
    double score[4];
    int order[4];

    REQUIRE(fixture_open(&f) && fixture_memory(&f, "m"));
    for (int i = 0; i < 4; i++) REQUIRE(fixture_add(&f, docs[i], i));
    CHECK_INT(score_all(&f, "Nehmen Sie 2 Tab@@ letten , 2,5 mg !", 4, score,
                        order), 3);
    for (int i = 0; i < 4; i++) CHECK_NEAR(score[i], want[i], 1e-6);
    CHECK(order[0] == 3 && order[1] == 0 && order[2] == 1);
    fixture_close(&f);
}

/* ---- the authors' rankings ----------------------------------------------- */

enum { MAX_DOC = 200 };

struct tally {
    int lines, first, whole;
    double worst;               /* largest difference to a naive score,
                                   relative to the best score */
};

/* Compare the ranking of one line with our scores, and our scores with the
 * naive ones (plain). */
static void judge(struct tally *t, const json_t *ranked, const double *score,
                  const double *plain, int n)
{
    size_t k = json_array_size(ranked);
    double best = 0, before = 1e9;
    bool whole = true;

    for (int i = 0; i < n; i++)
        if (plain[i] > best) best = plain[i];
    for (int i = 0; i < n; i++) {
        double d = fabs(score[i] - plain[i]) / (1 + best);

        if (d > t->worst) t->worst = d;
    }
    if (!k) return;
    for (size_t i = 0; i < k; i++) {
        int at = (int)json_integer_value(json_array_get(ranked, i));

        if (!CHECK(at >= 0 && at < n)) return;
        if (score[at] > before + 1e-5) whole = false;
        before = score[at];
        if (!i) t->first += score[at] >= best - 1e-5;
    }
    t->whole += whole;
    t->lines++;
}

static void rank_file(const char *path, struct tally *t)
{
    const struct analyzer standard = { 0 };
    struct naive_bm25 naive = { 0 };
    struct terms terms = { 0 };
    double score[MAX_DOC];
    int order[MAX_DOC + 1], n = 0;
    struct fixture f;
    struct lines l;
    struct err e;
    json_t *o;

    if (!fixture_open(&f) || !lines_open(&l, path)) return;
    while ((o = lines_next(&l))) {
        const char *query = field(o, "query");
        double *plain;

        n = (int)json_integer_value(json_object_get(o, "n"));
        if (!CHECK(n < MAX_DOC)) break;
        if (!n) {
            naive_release(&naive);
            if (!fixture_memory(&f, field(o, "doc"))) break;
        }
        if (score_all(&f, query, n, score, order) < 0) break;
        CHECK_OK(analyze(&standard, str_of(query), &terms, &e), &e);
        plain = naive_scores(&naive, terms.at, terms.n);
        judge(t, json_object_get(o, "ranked"), score, plain, n);
        free(plain);
        naive_add(&naive, terms.at, terms.n);
        fixture_add(&f, query, n);
        json_decref(o);
    }
    naive_release(&naive);
    terms_release(&terms);
    lines_close(&l);
    fixture_close(&f);
}

static void check_tally(const struct tally *t, int lines)
{
    printf("authors' rankings: of %d lines first %d, whole order %d (%.1f %%)"
           ", scores within %.1g\n", t->lines, t->first, t->whole,
           100.0 * t->whole / t->lines, t->worst);
    CHECK_INT(t->lines, lines);
    CHECK_INT(t->first, t->lines);
    CHECK(t->whole >= 0.975 * t->lines);
    CHECK(t->worst < 1e-6);
}

TEST(a_sample_is_ranked_as_the_authors_did)
{
    struct tally t = { 0 };

    rank_file(test_data("retrieval.jsonl"), &t);
    check_tally(&t, 56);
}

TEST(all_is_ranked_as_the_authors_did)
{
    const char *a = test_shared("golden/retrieval/emea-50.jsonl.xz");
    const char *b = test_shared("golden/retrieval/emea-100.jsonl.xz");
    struct tally t = { 0 };

    if (!a || !b) SKIP("needs the full sets");
    rank_file(a, &t);
    rank_file(b, &t);
    check_tally(&t, 767 + 941);
}

/* ---- a small memory ------------------------------------------------------ */

static void check_query(struct fixture *f, const json_t *o,
                        const struct retrieve_query *q)
{
    const json_t *want = json_object_get(o, "matches");
    struct str source, target;
    struct matches m = { 0 };
    bool tagged, found;
    struct err e;

    if (!CHECK_OK(retrieve(f->rt, tmfile_source(f->t),
                           str_of(field(o, "query")), q, &m, &e), &e))
        return;
    CHECK_INT(m.n, json_array_size(want));
    for (size_t i = 0; i < m.n && i < json_array_size(want); i++) {
        const json_t *w = json_array_get(want, i);

        CHECK_OK(store_text(f->store, m.at[i].id, &source, &target,
                            &tagged, &found, &e), &e);
        CHECK_INT(atoi(strndupa(target.p, target.n)),
                  json_integer_value(json_array_get(w, 0)));
        CHECK_NEAR(m.at[i].similarity,
                   json_number_value(json_array_get(w, 1)), 1e-6);
    }
    matches_release(&m);
}

TEST(a_small_memory_is_searched_as_by_a_slow_script)
{
    struct retrieve_query q = { .o.top = 16, .candidates = 64,
                                .tokenizer = 7 };
    struct test_subword sw;
    struct fixture f;
    struct lines l;
    int stored = 0, asked = 0;
    json_t *o;

    if (!(q.sw = open_test_subword(&sw))) SKIP("needs the de-en tokenizer");
    REQUIRE(fixture_open(&f) && fixture_memory(&f, "m"));
    REQUIRE(lines_open(&l, test_data("matches.jsonl")));
    while ((o = lines_next(&l))) {
        if (json_object_get(o, "source")) {
            REQUIRE(fixture_add(&f, field(o, "source"), stored++));
        } else {
            check_query(&f, o, &q);
            asked++;
        }
        json_decref(o);
    }
    CHECK(stored == 300 && asked == 60);
    lines_close(&l);
    fixture_close(&f);
    close_test_subword(&sw);
}

/* ---- whole test sets ----------------------------------------------------- */

/* fractions: the reference counts a fraction inside a damaged word
 * ("f\u00c3\u00bcr") as a part of the word. By the rules of Unicode, the word
 * ends there. */
struct verdict { int lines, same, ties, fractions, other; };

/* Count whether two lists are the same or, if not, have the same
 * similarities. */
static void compare(struct verdict *v, const json_t *line,
                    const skmt_matches *m)
{
    const json_t *want = json_object_get(line, "tm");
    size_t n = json_array_size(want);
    bool same = (size_t)skmt_matches_count(m) == n, alike = same;
    skmt_match got = SKMT_INIT(skmt_match);

    for (size_t i = 0; i < n && alike; i++) {
        const json_t *w = json_array_get(want, i);
        double s = json_number_value(json_array_get(w, 2));

        skmt_matches_get(m, (int)i, &got);
        alike = fabs(got.similarity - s) < 1e-6;
        same = same && alike &&
               !strcmp(got.pair->source,
                       json_string_value(json_array_get(w, 0))) &&
               !strcmp(got.pair->target,
                       json_string_value(json_array_get(w, 1)));
    }
    v->lines++;
    if (same) v->same++;
    else if (alike) v->ties++;
    else if (strstr(field(line, "src"), "\u00bc")) v->fractions++;
    else v->other++;
}

static void search_set(skmt_tm *tm, const skmt_model *model, const char *path,
                       struct verdict *v)
{
    skmt_matches *m;
    skmt_error err;
    struct lines l;
    json_t *o;

    if (!lines_open(&l, path)) return;
    while ((o = lines_next(&l))) {
        const char *src = field(o, "src");

        if (skmt_tm_search(tm, src, NULL, model, &m, &err))
            test_fail(__FILE__, __LINE__, "%s", err.message);
        else
            compare(v, o, m);
        skmt_matches_free(m);
        json_decref(o);
    }
    lines_close(&l);
}

static void whole_set(const char *name, const char *memory)
{
    const char *model_path = getenv("SKMT_MODEL");
    char path[100];
    struct verdict v = { 0 };
    skmt_model *model = NULL;
    skmt_tm *tm = NULL;
    struct scratch s;
    skmt_error err;
    const char *tsv, *lists;

    snprintf(path, sizeof path, "corpora/%s/%s", name, memory);
    tsv = test_shared(path);
    snprintf(path, sizeof path, "golden/retrieved/%s.test.jsonl.xz", name);
    lists = test_shared(path);
    if (!model_path) model_path = "models/de-en.skmt";
    if (!tsv || !lists || access(model_path, R_OK))
        SKIP("needs the full sets and the model");
    REQUIRE(scratch_make(&s));
    if (skmt_model_open(&model, model_path, &err) ||
        skmt_tm_open(&tm, scratch_path(&s, "a.tm"), SKMT_TM_CREATE, &err) ||
        skmt_tm_import(tm, NULL, &tsv, 1, NULL, &err))
        test_fail(__FILE__, __LINE__, "%s", err.message);
    else
        search_set(tm, model, lists, &v);
    printf("%s: of %d lists %d the same; %d other with the same similarities,"
           " %d of damaged text with fractions in it, %d else\n", name,
           v.lines, v.same, v.ties, v.fractions, v.other);
    CHECK_INT(v.lines, 2000);
    CHECK(v.same >= 0.97 * v.lines);
    skmt_tm_close(tm);
    skmt_model_close(model);
    scratch_remove(&s);
}

TEST(koran_lists_are_the_reference_s) { whole_set("koran", "tm.tsv"); }
TEST(law_lists_are_the_reference_s) { whole_set("law", "tm.tsv.xz"); }
TEST(it_lists_are_the_reference_s) { whole_set("it", "tm.tsv.xz"); }
