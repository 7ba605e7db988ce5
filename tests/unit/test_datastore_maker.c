/* test_datastore_maker.c - datastores that are built from a source of pairs
 * with a tiny model: which pairs they have, whether keys are the states of the
 * model, and builds that are interrupted and continued. */
#include "align/align_train.h"
#include "engine/datastore_maker.h"
#include "engine/pairset.h"
#include "knn/datastore_read.h"
#include "scratch_dir.h"
#include "tensor/tensor.h"
#include "tiny_net.h"
#include "toy_source.h"

struct desk {
    struct scratch dir;
    struct tiny_net net;
    struct engine *en;
    struct toy_source *toy;
    struct pair_source *source;
    char path[100];
    struct err e;
};

/* Texts of different lengths. Pair 3 is longer than the model can use. */
static void pair_texts(int i, char *source, char *target)
{
    int n = i == 3 ? 120 : 2 + i % 7;

    *source = *target = 0;
    for (int k = 0; k < n; k++) {
        sprintf(source + strlen(source), "%s%d ", k % 2 ? "the" : "in", i);
        sprintf(target + strlen(target), "%s%d ", k % 3 ? "and" : "of", i);
    }
}

static void desk_add(struct desk *d, int from, int to)
{
    char source[2000], target[2000];

    for (int i = from; i < to; i++) {
        pair_texts(i, source, target);
        toy_source_add(d->toy, i % 2, source, target, false);
    }
}

static bool desk_open(struct desk *d, int n)
{
    struct tiny o = TINY_DEFAULT;

    memset(d, 0, sizeof *d);
    o.max_positions = 256;
    if (!scratch_make_small(&d->dir) || !tiny_net_write(&d->net, &o, DT_F32) ||
        !CHECK_OK(engine_open(&d->en, tiny_net_file(&d->net, "m.skmt"), &d->e),
                  &d->e))
        return false;
    snprintf(d->path, sizeof d->path, "%s/a.knn", d->dir.dir);
    d->toy = toy_source_new(42);
    d->source = toy_source_of(d->toy);
    desk_add(d, 0, n);
    return true;
}

static void desk_close(struct desk *d)
{
    toy_source_free(d->toy);
    engine_close(d->en);
    tiny_net_close(&d->net);
    scratch_remove(&d->dir);
}

static struct datastore_maker_options usual(void)
{
    return (struct datastore_maker_options){ .threads = 1, .with_eos = true };
}

static enum status build(struct desk *d, const char *path,
                         const struct datastore_maker_options *o,
                         struct datastore_counts *counts)
{
    struct datastore_maker *m;
    enum status st = datastore_maker_create(&m, d->en, path, o, d->source,
                                            &d->e);

    if (!st) st = datastore_maker_add_all(m, d->source, &d->e);
    if (!st) st = datastore_maker_finish(m, &d->e);
    if (m && counts) *counts = datastore_maker_counts(m);
    datastore_maker_close(m);
    return st;
}

static struct entries *open_store(struct desk *d, const char *path)
{
    struct datastore_model m = datastore_model_of(d->en);
    struct entries *s = NULL;

    CHECK_OK(datastore_file_open(&s, path, &m, false, &d->e), &d->e);
    return s;
}

/* Whether two files have the same pairs and entries, in the same order. */
static bool same_contents(const struct entries *a, const struct entries *b)
{
    float x[64], y[64];

    if (a->n_pairs != b->n_pairs || a->n != b->n) return false;
    for (int32_t p = 0; p < a->n_pairs; p++) {
        const struct entry_block *ba = entries_block_of(a, p),
                                 *bb = entries_block_of(b, p);
        struct entry_span sa = ba->span[p - ba->first_pair],
                          sb = bb->span[p - bb->first_pair];
        struct entry_pair ta = a->ops->pair(a, p), tb = b->ops->pair(b, p);

        if (!str_eq(ta.source, tb.source) || !str_eq(ta.target, tb.target) ||
            ta.id != tb.id || sa.n != sb.n)
            return false;
        for (uint32_t i = 0; i < sa.n; i++) {
            entries_key(a, ba, (int)(sa.first + i), x);
            entries_key(b, bb, (int)(sb.first + i), y);
            if (memcmp(x, y, (size_t)a->d * sizeof *x) ||
                ba->token[sa.first + i] != bb->token[sb.first + i] ||
                ba->norm[sa.first + i] != bb->norm[sb.first + i])
                return false;
        }
    }
    return true;
}

/* ---- keys ---------------------------------------------------------------- */

/* Run a pair through the model alone, and compare the states with the keys. */
static void check_keys(struct desk *d, const struct entries *s, int32_t pair,
                       bool with_eos)
{
    const struct backend *b = d->en->backend;
    const struct entry_block *block = entries_block_of(s, pair);
    struct entry_span span = block->span[pair - block->first_pair];
    struct entry_pair texts = s->ops->pair(s, pair);
    struct steering_pair p = { 0 };
    struct executor_limits l = { .rows = 210, .max_source = 210,
                                 .max_len = 210 };
    struct executor *x;
    struct source src;
    struct forced_text text;
    const float *states;
    size_t ld;
    double worst = 0;

    REQUIRE_OK(steering_pair_encode(d->en, texts.source, texts.target, &p,
                                    &d->e), &d->e);
    REQUIRE_OK(b->ops->executor_new(b, &l, NULL, &x, &d->e), &d->e);
    src = (struct source){ p.ids, p.n_src };
    text = (struct forced_text){ 0, p.ids + p.n_src, p.n_tgt + with_eos };
    CHECK_INT(span.n, p.n_tgt + with_eos);
    REQUIRE_OK(x->ops->force(x, &src, 1, &text, 1, WANT_FFN, &d->e), &d->e);
    REQUIRE_OK(x->ops->read(x, s->kind, 0, text.rows, &states, &ld, &d->e),
               &d->e);
    for (int i = 0; i < text.rows; i++) {
        const float *want = states + (size_t)i * ld;
        float got[64], most = 0;

        entries_key(s, block, (int)span.first + i, got);
        for (int k = 0; k < s->d; k++) most = fmaxf(most, fabsf(want[k]));
        for (int k = 0; k < s->d; k++)
            worst = fmax(worst, fabs((double)(got[k] - want[k])) /
                                    (double)most);
        CHECK_INT(block->token[(int)span.first + i],
                  i < p.n_tgt ? p.ids[p.n_src + i] : b->cfg->eos_id);
    }
    CHECK(worst < (s->type == ENTRY_INT8 ? 0.5 / 126 : 1.0 / 2000));
    executor_free(x);
    free(p.ids);
}

TEST(keys_are_the_states_of_the_model)
{
    struct desk d;

    if (!desk_open(&d, 12)) return;
    for (int i = 0; i < 8; i++) {
        struct datastore_maker_options o = usual();
        struct entries *s;

        o.type = (enum entry_type)(i & 1);
        o.kind = i & 2 ? STATE_FFN : STATE_FINAL;
        o.with_eos = i & 4;
        unlink(d.path);
        if (!CHECK_OK(build(&d, d.path, &o, NULL), &d.e)) break;
        s = open_store(&d, d.path);
        if (!s) break;
        CHECK_INT(s->kind, o.kind);
        CHECK_INT(s->n_pairs, 12);
        for (int32_t p = 0; p < s->n_pairs; p++)
            check_keys(&d, s, p, o.with_eos);
        entries_drop(s);
    }
    desk_close(&d);
}

TEST(threads_do_not_change_the_entries)
{
    struct datastore_maker_options o = usual();
    struct entries *a, *b;
    struct desk d;
    char other[120];

    if (!desk_open(&d, 60)) return;
    snprintf(other, sizeof other, "%s.2", d.path);
    CHECK_OK(build(&d, d.path, &o, NULL), &d.e);
    o.threads = 2;
    CHECK_OK(build(&d, other, &o, NULL), &d.e);
    a = open_store(&d, d.path);
    b = open_store(&d, other);
    CHECK(a && b && same_contents(a, b));
    entries_drop(a);
    entries_drop(b);
    desk_close(&d);
}

/* ---- pairs --------------------------------------------------------------- */

TEST(each_distinct_pair_is_stored_once_in_order)
{
    struct datastore_maker_options o = usual();
    struct datastore_counts c = { 0 };
    struct entries *s;
    struct desk d;

    if (!desk_open(&d, 0)) return;
    toy_source_add(d.toy, 1, "b two", "B", false);
    toy_source_add(d.toy, 0, "a one", "A", false);
    toy_source_add(d.toy, 0, "b two", "B", false);      /* other memory */
    toy_source_add(d.toy, 0, "a <x1/>&amp;", "A <x1/>", true);
    toy_source_add(d.toy, 0, "a &", "A ", false);       /* without tags */
    toy_source_add(d.toy, 0, "", "empty", false);
    toy_source_add(d.toy, 0, "empty", "", false);
    toy_source_add(d.toy, 0, "gone", "gone", false);
    toy_source_remove(d.toy, 8);
    desk_add(&d, 3, 4);
    CHECK_OK(build(&d, d.path, &o, &c), &d.e);
    CHECK_INT(c.added, 4);
    CHECK_INT(c.known, 2);
    CHECK_INT(c.empty, 2);
    CHECK_INT(c.cut, 1);
    s = open_store(&d, d.path);
    REQUIRE(s != NULL);
    CHECK_INT(s->n_pairs, 4);
    CHECK_INT(s->n, c.entries);
    CHECK_STR(s->ops->pair(s, 0).source.p, "b two");
    CHECK_INT(s->ops->pair(s, 0).id, 1);
    CHECK_STR(s->ops->pair(s, 1).target.p, "A");
    CHECK_STR(s->ops->pair(s, 2).source.p, "a &");
    CHECK_INT(s->ops->pair(s, 2).id, 4);
    CHECK_INT(datastore_file_info(s).memory, 42);
    entries_drop(s);
    desk_close(&d);
}

TEST(pairs_are_added_to_a_finished_file)
{
    struct datastore_maker_options o = usual();
    struct datastore_maker *m;
    struct datastore_counts c;
    struct entries *s;
    struct desk d;

    if (!desk_open(&d, 5)) return;
    CHECK_OK(build(&d, d.path, &o, NULL), &d.e);
    desk_add(&d, 5, 9);
    o.type = ENTRY_F16;         /* that of the file counts */
    REQUIRE_OK(datastore_maker_open(&m, d.en, d.path, &o, &d.e), &d.e);
    CHECK_OK(datastore_maker_add_all(m, d.source, &d.e), &d.e);
    CHECK_OK(datastore_maker_add(m, 0, str_of("from a file"), str_of("of a"),
                                 &d.e), &d.e);
    CHECK_OK(datastore_maker_add(m, 0, str_of("from a file"), str_of("of a"),
                                 &d.e), &d.e);
    CHECK_OK(datastore_maker_add(m, 0, str_of("\xff"), str_of("of a"), &d.e),
             &d.e);
    CHECK_OK(datastore_maker_finish(m, &d.e), &d.e);
    c = datastore_maker_counts(m);
    CHECK_INT(c.added, 5);
    CHECK_INT(c.known, 6);
    CHECK_INT(c.invalid, 1);
    datastore_maker_close(m);
    s = open_store(&d, d.path);
    REQUIRE(s != NULL);
    CHECK_INT(s->n_pairs, 10);
    CHECK_INT(s->type, ENTRY_INT8);
    CHECK_STR(s->ops->pair(s, 9).source.p, "from a file");
    CHECK_INT(s->ops->pair(s, 9).id, 0);
    for (int32_t p = 0; p < 10; p++) check_keys(&d, s, p, true);
    entries_drop(s);
    desk_close(&d);
}

/* A pair that was deleted can be added again. */
TEST(deleted_pairs_are_not_known)
{
    struct datastore_maker_options o = usual();
    struct datastore_writer *w;
    struct datastore_maker *m;
    struct entries *s;
    struct desk d;

    if (!desk_open(&d, 5)) return;
    CHECK_OK(build(&d, d.path, &o, NULL), &d.e);
    REQUIRE_OK(datastore_writer_open(&w, d.path, &d.e), &d.e);
    CHECK_OK(datastore_writer_delete(w, (int32_t[]){ 2 }, 1, &d.e), &d.e);
    CHECK_OK(datastore_writer_commit(w, 0, &d.e), &d.e);
    datastore_writer_close(w);
    REQUIRE_OK(datastore_maker_open(&m, d.en, d.path, &o, &d.e), &d.e);
    CHECK_OK(datastore_maker_add_all(m, d.source, &d.e), &d.e);
    CHECK_OK(datastore_maker_finish(m, &d.e), &d.e);
    CHECK_INT(datastore_maker_counts(m).added, 1);
    datastore_maker_close(m);
    s = open_store(&d, d.path);
    REQUIRE(s != NULL);
    CHECK_INT(s->n_pairs, 6);
    check_keys(&d, s, 5, true);
    entries_drop(s);
    desk_close(&d);
}

/* ---- samples ------------------------------------------------------------- */

static void sample(struct desk *d, int64_t limit, uint64_t seed, bool *has)
{
    struct datastore_maker_options o = usual();
    struct entries *s;

    o.limit = limit;
    o.seed = seed;
    unlink(d->path);
    REQUIRE_OK(build(d, d->path, &o, NULL), &d->e);
    s = open_store(d, d->path);
    REQUIRE(s != NULL);
    CHECK_INT(s->n_pairs, limit < 200 ? limit : 200);
    memset(has, 0, 201);
    for (int32_t p = 0; p < s->n_pairs; p++) has[s->ops->pair(s, p).id] = true;
    entries_drop(s);
}

TEST(a_sample_depends_on_its_seed)
{
    bool a[201], b[201], c[201], all[201];
    int both = 0, first = 0;
    struct desk d;

    if (!desk_open(&d, 200)) return;
    sample(&d, 50, 1, a);
    sample(&d, 50, 1, b);
    CHECK_MEM(a, b, sizeof a);
    sample(&d, 50, 2, c);
    sample(&d, 1000, 1, all);
    for (int i = 1; i <= 200; i++) {
        both += a[i] && c[i];
        first += a[i] && i <= 100;
        CHECK(all[i]);
    }
    CHECK(both > 3 && both < 30);       /* about 12 by chance */
    CHECK(first > 10 && first < 40);    /* about 25 by chance */
    desk_close(&d);
}

/* ---- interruptions ------------------------------------------------------- */

struct stopper { int after; int calls; struct datastore_progress last; };

static int stop_after(void *user, const struct datastore_progress *p)
{
    struct stopper *s = user;

    s->last = *p;
    return s->calls++ == s->after;
}

TEST(an_interrupted_build_is_continued)
{
    struct datastore_maker_options o = usual();
    struct entries *whole, *s;
    struct desk d;
    char other[120];
    int runs = 0;

    if (!desk_open(&d, 300)) return;
    snprintf(other, sizeof other, "%s.2", d.path);
    o.block = 50;
    CHECK_OK(build(&d, d.path, &o, NULL), &d.e);
    whole = open_store(&d, d.path);
    REQUIRE(whole != NULL);
    for (enum status st = ST_CANCELED; st && runs < 100; runs++) {
        struct stopper stop = { .after = 0 };

        o.progress = stop_after;
        o.user = &stop;
        st = build(&d, other, &o, NULL);
        CHECK(st == ST_OK || st == ST_CANCELED);
        CHECK(stop.last.seen > stop.last.first || !st);
        if (st) CHECK_INT(datastore_file_open(&s, other, NULL, false, &d.e),
                          ST_ARGUMENT);
    }
    CHECK(runs > 1 && runs < 100);
    s = open_store(&d, other);
    CHECK(s && same_contents(whole, s));
    entries_drop(s);
    entries_drop(whole);
    CHECK_INT(build(&d, other, &o, NULL), ST_ARGUMENT);
    CHECK(strstr(d.e.msg, "exists already") != NULL);
    desk_close(&d);
}

TEST(progress_counts_pairs_entries_and_bytes)
{
    struct datastore_maker_options o = usual();
    struct stopper stop = { .after = -1 };
    struct entries *s;
    struct desk d;

    if (!desk_open(&d, 300)) return;
    o.progress = stop_after;
    o.user = &stop;
    CHECK_OK(build(&d, d.path, &o, NULL), &d.e);
    s = open_store(&d, d.path);
    REQUIRE(s != NULL);
    CHECK(stop.calls > 1);
    CHECK_INT(stop.last.seen, 300);
    CHECK_INT(stop.last.total, 300);
    CHECK_INT(stop.last.pairs, 300);
    CHECK_INT(stop.last.entries, s->n);
    CHECK_INT(stop.last.bytes, datastore_file_info(s).bytes);
    entries_drop(s);
    desk_close(&d);
}

/* A build is continued only with the same options. */
TEST(a_build_with_other_options_is_refused)
{
    struct datastore_maker_options o = usual();
    struct stopper stop = { .after = 0 };
    struct toy_source *other = toy_source_new(43);
    struct pair_source *own;
    struct datastore_maker *m;
    struct desk d;

    if (!desk_open(&d, 300)) return;
    o.progress = stop_after;
    o.user = &stop;
    CHECK_INT(build(&d, d.path, &o, NULL), ST_CANCELED);
    for (int i = 0; i < 6; i++) {
        struct datastore_maker_options p = usual();

        if (i == 0) p.type = ENTRY_F16;
        if (i == 1) p.kind = STATE_FFN;
        if (i == 2) p.with_eos = false;
        if (i == 3) p.limit = 10;
        if (i == 4) p.names = 1;
        own = d.source;
        if (i == 5) d.source = toy_source_of(other);
        CHECK_INT(build(&d, d.path, &p, NULL), ST_ARGUMENT);
        CHECK(strstr(d.e.msg, "was begun with another memory") != NULL);
        d.source = own;
    }
    CHECK_INT(datastore_maker_open(&m, d.en, d.path, &o, &d.e), ST_ARGUMENT);
    CHECK(strstr(d.e.msg, "is unfinished") != NULL);
    stop.calls = 1;
    o.threads = 2;              /* may differ */
    o.block = 77;
    CHECK_OK(build(&d, d.path, &o, NULL), &d.e);
    toy_source_free(other);
    desk_close(&d);
}

/* The memory may change while a build is interrupted. */
TEST(new_pairs_of_the_memory_are_built_too)
{
    struct datastore_maker_options o = usual();
    struct stopper stop = { .after = 0 };
    struct entries *s;
    struct desk d;

    if (!desk_open(&d, 300)) return;
    o.progress = stop_after;
    o.user = &stop;
    o.block = 100;
    CHECK_INT(build(&d, d.path, &o, NULL), ST_CANCELED);
    desk_add(&d, 300, 305);
    toy_source_remove(d.toy, 2);        /* is in the file already */
    toy_source_remove(d.toy, 299);
    CHECK_OK(build(&d, d.path, &o, NULL), &d.e);
    s = open_store(&d, d.path);
    REQUIRE(s != NULL);
    CHECK_INT(s->n_pairs, 304);
    entries_drop(s);
    desk_close(&d);
}

/* ---- sources ------------------------------------------------------------- */

static struct align_model *make_alignment(struct desk *d)
{
    struct align_settings settings = align_settings_defaults();
    struct word_splitter splitter = engine_splitter(d->en);
    struct word_keys keys[2] = { { 0 }, { 0 } };
    struct align_model *m = NULL;
    char source[2000], target[2000];
    struct bitext b = { 0 };

    for (int i = 4; i < 40; i++) {
        pair_texts(i, source, target);
        CHECK_OK(word_keys_of(&splitter, BITEXT_SOURCE, str_of(source),
                              &keys[0], &d->e), &d->e);
        CHECK_OK(word_keys_of(&splitter, BITEXT_TARGET, str_of(target),
                              &keys[1], &d->e), &d->e);
        CHECK_OK(bitext_add(&b, &keys[0], &keys[1], &d->e), &d->e);
    }
    CHECK_OK(align_model_train(&m, &b, &splitter, &settings, 1, &d->e), &d->e);
    word_keys_release(&keys[0]);
    word_keys_release(&keys[1]);
    bitext_release(&b);
    return m;
}

/* The encoder states of a pair's source, and its links. */
static void check_sources(struct desk *d, const struct entries *s,
                          int32_t pair, const struct align_model *align)
{
    const struct backend *b = d->en->backend;
    const struct entry_block *block = entries_block_of(s, pair);
    struct entry_span span = block->span[pair - block->first_pair];
    struct entry_pair texts = s->ops->pair(s, pair);
    struct steering_pair p = { 0 };
    struct executor_limits l = { .rows = 210, .max_source = 210,
                                 .max_len = 210 };
    int first, n = datastore_file_sources(s, pair, &first);
    uint32_t source[210], target[210], at;
    struct word_links links;
    struct aligner *a;
    struct executor *x;
    struct source src;
    const float *states;
    size_t ld, k = 0;

    REQUIRE_OK(steering_pair_encode(d->en, texts.source, texts.target, &p,
                                    &d->e), &d->e);
    CHECK_INT(n, p.n_src);
    REQUIRE_OK(b->ops->executor_new(b, &l, NULL, &x, &d->e), &d->e);
    src = (struct source){ p.ids, p.n_src };
    REQUIRE_OK(x->ops->force(x, &src, 1, NULL, 0, WANT_SOURCE, &d->e), &d->e);
    REQUIRE_OK(x->ops->read(x, STATE_SOURCE, 0, n, &states, &ld, &d->e),
               &d->e);
    REQUIRE_OK(aligner_new(&a, align, &d->e), &d->e);
    for (int i = 0; i < p.n_src - 1; i++)
        source[i] = align_model_number(align, BITEXT_SOURCE,
                                       (uint64_t)p.ids[i]);
    for (int i = 0; i < p.n_tgt; i++)
        target[i] = align_model_number(align, BITEXT_TARGET,
                                       (uint64_t)p.ids[p.n_src + i]);
    links = aligner_run(a, ALIGN_GROW_DIAG_FINAL_AND, source,
                        (size_t)p.n_src - 1, target, (size_t)p.n_tgt);
    for (int i = 0; i < n; i++) {
        const int8_t *key = block->src_keys + (size_t)(first + i) * 64;
        double dot = 0, own = 0;

        CHECK_INT(block->src_token[first + i], p.ids[i]);
        for (int c = 0; c < s->d_model; c++) {
            double y = (double)states[(size_t)i * ld + (size_t)c];

            dot += (double)block->src_scale[first + i] * key[c] * y;
            own += y * y;
        }
        CHECK(fabs(dot / sqrt(own) - 1) < 0.01);
        for (at = block->link_begin[first + i];
             at < block->link_begin[first + i + 1]; at++) {
            if (i == n - 1) {   /* EOS */
                CHECK_INT(block->link[at] - span.first, span.n - 1);
                continue;
            }
            CHECK(k < links.n && links.at[k].source == (uint32_t)i &&
                  links.at[k].target == block->link[at] - span.first);
            k++;
        }
    }
    CHECK_INT(k, links.n);
    CHECK_INT(block->link_begin[first + n] - block->link_begin[first + n - 1],
              1);
    aligner_free(a);
    executor_free(x);
    free(p.ids);
}

TEST(source_tokens_are_aligned_to_entries)
{
    struct datastore_maker_options o = usual();
    struct align_model *align;
    struct datastore_maker *m;
    struct entries *s;
    struct desk d;

    if (!desk_open(&d, 20)) return;
    align = make_alignment(&d);
    REQUIRE(align != NULL);
    o.align = align;
    o.method = ALIGN_GROW_DIAG_FINAL_AND;
    CHECK_OK(build(&d, d.path, &o, NULL), &d.e);
    desk_add(&d, 20, 25);
    o.align = NULL;
    CHECK_INT(datastore_maker_open(&m, d.en, d.path, &o, &d.e), ST_ARGUMENT);
    CHECK(strstr(d.e.msg, "needs an alignment") != NULL);
    o.align = align;
    REQUIRE_OK(datastore_maker_open(&m, d.en, d.path, &o, &d.e), &d.e);
    CHECK_OK(datastore_maker_add_all(m, d.source, &d.e), &d.e);
    CHECK_OK(datastore_maker_finish(m, &d.e), &d.e);
    datastore_maker_close(m);
    s = open_store(&d, d.path);
    REQUIRE(s != NULL);
    CHECK(s->has_sources);
    CHECK_INT(s->n_pairs, 25);
    for (int32_t p = 0; p < s->n_pairs; p++) {
        check_sources(&d, s, p, align);
        check_keys(&d, s, p, true);
    }
    entries_drop(s);
    align_model_free(align);
    desk_close(&d);
}
