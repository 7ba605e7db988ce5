/* test_bm25.c - tests segments, the tail and BM25 scoring against the naive
 * reference (naive_bm25.h). */
#include "naive_bm25.h"
#include "scratch_dir.h"
#include "test.h"

#include "tm/bm25.h"
#include "tm/length_byte.h"
#include "tm/segment_write.h"

#define MANY 70000              /* more than one block */

static uint64_t state;
static uint32_t rnd(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* Words follow Zipf's law roughly: low numbers are frequent. Their hashes are
 * as evenly spread as those of real words. */
static uint64_t word(uint32_t vocabulary)
{
    uint32_t w = rnd(vocabulary) % (rnd(vocabulary) + 1);

    return (w + 1) * 0x9E3779B97F4A7C15u;
}

static void make_terms(struct terms *t, uint32_t vocabulary, uint32_t longest)
{
    uint32_t n = rnd(longest + 1);

    if (longest > 4 && rnd(50) == 0) n = rnd(300);
    t->at = realloc(t->at, (n + 1) * sizeof *t->at);
    t->n = t->cap = n;
    for (uint32_t i = 0; i < n; i++) t->at[i] = word(vocabulary);
}

/* A collection in several parts: documents go to random segments, and the last
 * ones to the tail. */
struct collection {
    struct naive_bm25 naive;
    struct segment *segs[8];
    size_t n_segs;
    struct tail tail;
    struct map64 dead_df;
    uint64_t words, docs;
    int64_t *text;              /* [naive.n] */
    bool *dead;
};

static struct seg_key key = { 77, 0, 3 };

static void close_builder(struct collection *c, struct builder *b)
{
    struct image im;
    struct err e;

    REQUIRE(!builder_image(b, &key, 5, NULL, 0, &im, &e));
    REQUIRE(!segment_adopt(&c->segs[c->n_segs], &im.head, im.data, im.n, &e));
    c->n_segs++;
}

static void make(struct collection *c, uint32_t n, uint32_t n_segs,
                 uint32_t n_tail, uint32_t vocabulary, uint32_t longest)
{
    struct builder *b[8];
    struct terms t = { 0 };
    struct err e;

    memset(c, 0, sizeof *c);
    c->text = calloc(n + 1, sizeof *c->text);
    c->dead = calloc(n + 1, sizeof *c->dead);
    for (uint32_t i = 0; i < n_segs; i++) builder_new(&b[i], &e);
    for (uint32_t d = 0; d < n; d++) {
        c->text[d] = (int64_t)d * 2 + rnd(2);
        make_terms(&t, vocabulary, longest);
        if (n < MANY) naive_add(&c->naive, t.at, t.n);  /* quadratic */
        c->words += t.n;
        c->docs++;
        if (d + n_tail >= n || !n_segs) tail_add(&c->tail, c->text[d], &t, &e);
        else builder_add(b[rnd(n_segs)], c->text[d], &t, &e);
    }
    for (uint32_t i = 0; i < n_segs; i++) {
        close_builder(c, b[i]);
        builder_free(b[i]);
    }
    terms_release(&t);
}

static void unmake(struct collection *c)
{
    for (size_t i = 0; i < c->n_segs; i++) segment_close(c->segs[i]);
    tail_release(&c->tail);
    map64_release(&c->dead_df);
    naive_release(&c->naive);
    free(c->text);
    free(c->dead);
}

static void kill(struct collection *c, uint32_t d)
{
    struct naive_doc *doc = &c->naive.doc[d];
    struct terms t = { .at = doc->term, .n = doc->n };
    uint32_t at;

    if (c->dead[d]) return;
    c->dead[d] = true;
    c->docs--;
    if (tail_find(&c->tail, c->text[d], &at)) {
        c->words -= doc->n;
        tail_mark_deleted(&c->tail, at, &t);
        return;
    }
    for (size_t i = 0; i < c->n_segs; i++)
        if (segment_doc(c->segs[i], c->text[d], &at))
            segment_mark_deleted(c->segs[i], at);
    c->words -= doc->n;
    for (size_t i = 0; i < doc->n; i++) {
        bool fresh, before = false;

        for (size_t k = 0; k < i; k++) before |= doc->term[k] == doc->term[i];
        if (!before) ++*map64_put(&c->dead_df, doc->term[i], &fresh);
    }
}

/* Scores of the naive reference, which has only the live documents. */
static double *reference(const struct collection *c, const struct terms *q)
{
    struct naive_bm25 living = { 0 };
    double *score, *all = calloc(c->naive.n + 1, sizeof *all);

    for (size_t d = 0; d < c->naive.n; d++)
        if (!c->dead[d])
            naive_add(&living, c->naive.doc[d].term, c->naive.doc[d].n);
    score = naive_scores(&living, q->at, q->n);
    for (size_t d = 0, k = 0; d < c->naive.n; d++)
        all[d] = c->dead[d] ? -1 : score[k++];
    free(score);
    naive_release(&living);
    return all;
}

static size_t doc_of(const struct collection *c, int64_t text)
{
    (void)c;
    return (size_t)(text / 2);
}

static struct bm25_parts parts(struct collection *c)
{
    return (struct bm25_parts){ c->segs, c->n_segs, &c->tail, &c->dead_df,
                                c->docs, c->words };
}

/* The hits must be the best by the reference, with the same scores. */
static void check_query(struct collection *c, struct bm25 *b,
                        const struct terms *q, size_t top)
{
    struct hit *h = calloc(top + 1, sizeof *h);
    struct bm25_parts p = parts(c);
    double *want = reference(c, q), worst;
    struct segment *damaged;
    size_t n, positive = 0, better = 0;
    struct err e;

    CHECK_OK(bm25_search(b, &p, q, top, h, &n, &damaged, &e), &e);
    CHECK(!damaged);
    for (size_t d = 0; d < c->naive.n; d++) positive += want[d] > 0;
    CHECK_INT(n, positive < top ? positive : top);
    for (size_t i = 0; i < n; i++) {
        size_t d = doc_of(c, h[i].text);

        CHECK_INT(h[i].text, c->text[d]);
        CHECK_NEAR(h[i].score, want[d], 1e-6 * (1 + want[d]));
        if (i && h[i].score == h[i - 1].score) {
            CHECK(h[i].text > h[i - 1].text);
        } else if (i) {
            CHECK(h[i].score < h[i - 1].score);
        }
    }
    worst = n ? h[n - 1].score : 0;
    for (size_t d = 0; n == top && d < c->naive.n; d++)
        better += want[d] > worst + 1e-6 * (1 + worst);
    CHECK(better <= top);
    free(want);
    free(h);
}

static void check_queries(struct collection *c, int n, uint32_t vocabulary)
{
    struct terms q = { 0 };
    struct bm25 *b;
    struct err e;

    REQUIRE(!bm25_new(&b, &e));
    for (int i = 0; i < n; i++) {
        make_terms(&q, vocabulary, 12);
        check_query(c, b, &q, i % 3 ? 64 : 1 + rnd(200));
    }
    bm25_free(b);
    terms_release(&q);
}

TEST(length_byte_is_lucenes)
{
    static const uint32_t golden[][2] = {
        { 39, 39 }, { 40, 40 }, { 41, 40 }, { 55, 54 }, { 57, 56 },
        { 87, 84 }, { 88, 88 }, { 100, 96 }, { 150, 144 }, { 200, 200 },
        { 300, 280 }, { 500, 472 }, { 1000, 984 } };

    for (size_t i = 0; i < COUNT(golden); i++)
        CHECK_INT(length_of_byte(length_to_byte(golden[i][0])), golden[i][1]);
    for (uint32_t n = 0; n < 100000; n++) {
        CHECK_NEAR(length_of_byte(length_to_byte(n)), naive_length(n), 0);
        if (n) CHECK(length_to_byte(n) >= length_to_byte(n - 1));
    }
    CHECK_INT(length_to_byte(UINT32_MAX), length_to_byte(INT32_MAX));
    for (int i = 0; i < 256; i++)
        CHECK_INT(length_to_byte(length_of_byte((uint8_t)i)), i);
}

TEST(scores_are_the_references)
{
    for (uint32_t round = 0; round < 6; round++) {
        struct collection c;

        state = round;
        make(&c, 300 + rnd(500), round % 4, 100, 20 + 200 * (round % 3), 15);
        check_queries(&c, 30, 20 + 200 * (round % 3));
        unmake(&c);
    }
}

TEST(the_dead_do_not_count)
{
    for (uint32_t round = 0; round < 4; round++) {
        struct collection c;

        state = round + 50;
        make(&c, 600, 3, 150, 200, 15);
        for (int i = 0; i < 200; i++) kill(&c, rnd(600));
        check_queries(&c, 30, 200);
        unmake(&c);
    }
}

/* With several blocks, tables for long lists, and pruning, the hits must be the
 * same as if every document were scored, including the order of ties. */
TEST(pruning_changes_nothing)
{
    struct collection c;
    struct terms q = { 0 };
    struct bm25 *b;
    struct err e;
    struct segment *damaged;

    state = 9;
    make(&c, MANY * 2, 2, 500, 300, 4);
    REQUIRE(!bm25_new(&b, &e));
    for (int i = 0; i < 20; i++) {
        struct bm25_parts p = parts(&c);
        struct hit *all = calloc(p.n_docs, sizeof *all), few[64];
        size_t n_all, n_few;

        make_terms(&q, 300, 12);
        CHECK(!bm25_search(b, &p, &q, p.n_docs, all, &n_all, &damaged, &e));
        CHECK(!bm25_search(b, &p, &q, 64, few, &n_few, &damaged, &e));
        CHECK_INT(n_few, n_all < 64 ? n_all : 64);
        for (size_t k = 0; k < n_few; k++) {
            CHECK_INT(few[k].text, all[k].text);
            CHECK(few[k].score == all[k].score);
        }
        free(all);
    }
    bm25_free(b);
    terms_release(&q);
    unmake(&c);
}

static void merge_all(struct collection *c)
{
    struct image im;
    struct segment *one;
    struct err e;

    for (size_t i = 0; i < c->n_segs; i++) CHECK(segment_sound(c->segs[i]));
    CHECK(segments_fit(c->segs, c->n_segs));
    REQUIRE(!segments_merge(c->segs, c->n_segs, &key, 6, &im, &e));
    REQUIRE(!segment_adopt(&one, &im.head, im.data, im.n, &e));
    CHECK(segment_sound(one));
    CHECK_INT(one->words + c->tail.words, c->words);
    CHECK_INT(one->n_docs + c->tail.n_live, c->docs);
    for (size_t i = 0; i < c->n_segs; i++) segment_close(c->segs[i]);
    map64_clear(&c->dead_df);
    c->n_segs = 1;
    c->segs[0] = one;
}

TEST(merging_changes_nothing)
{
    for (uint32_t round = 0; round < 3; round++) {
        struct collection c;

        state = round + 90;
        make(&c, 900, 4, 50, 300, 10);
        for (int i = 0; i < 90; i++) kill(&c, rnd(800));
        merge_all(&c);
        check_queries(&c, 30, 300);
        unmake(&c);
    }
}

/* A merge of more than one block must not change a bit of any hit. */
TEST(merging_blocks_changes_nothing)
{
    struct hit before[10][64], after[64];
    struct terms q[10] = { { 0 } };
    struct collection c;
    struct segment *damaged;
    struct bm25_parts p;
    struct bm25 *b;
    size_t n[10], m;
    struct err e;

    state = 5;
    REQUIRE(!bm25_new(&b, &e));
    make(&c, MANY, 4, 50, 300, 4);
    p = parts(&c);
    for (int i = 0; i < 10; i++) {
        make_terms(&q[i], 300, 12);
        CHECK(!bm25_search(b, &p, &q[i], 64, before[i], &n[i], &damaged, &e));
    }
    merge_all(&c);
    p = parts(&c);
    for (int i = 0; i < 10; i++) {
        CHECK(!bm25_search(b, &p, &q[i], 64, after, &m, &damaged, &e));
        CHECK_INT(m, n[i]);
        for (size_t k = 0; k < m; k++) {
            CHECK_INT(after[k].text, before[i][k].text);
            CHECK(after[k].score == before[i][k].score);
        }
        terms_release(&q[i]);
    }
    bm25_free(b);
    unmake(&c);
}

TEST(a_builder_leaves_out_what_it_is_told)
{
    struct builder *b;
    struct image im;
    struct segment *s;
    struct terms t = { 0 };
    int64_t drop[] = { 3, 5, 99, 140 };
    struct seg_list list;
    uint32_t doc;
    struct err e;

    state = 4;
    REQUIRE(!builder_new(&b, &e));
    for (int i = 0; i < 100; i++) {
        make_terms(&t, 50, 9);
        t.at = realloc(t.at, (t.n + 2) * sizeof *t.at);
        t.at[t.n++] = 1000 + (uint64_t)i;       /* in no other document */
        if (i == 2) t.at[t.n++] = UINT64_MAX;   /* the last list */
        REQUIRE(!builder_add(b, i + 1, &t, &e));
    }
    CHECK(!builder_accepts(b, 100) && builder_accepts(b, 101));
    REQUIRE(!builder_image(b, &key, 1, drop, COUNT(drop), &im, &e));
    REQUIRE(!segment_adopt(&s, &im.head, im.data, im.n, &e));
    CHECK(segment_sound(s));
    CHECK_INT(s->n_docs, 97);
    CHECK(!segment_doc(s, 3, &doc) && !segment_doc(s, 99, &doc));
    CHECK(segment_doc(s, 100, &doc) && doc == 96);
    CHECK(segment_find(s, UINT64_MAX, &list) && list.df == 0);
    CHECK(segment_find(s, 1002, &list) && list.df == 0);
    CHECK(segment_find(s, 1003, &list) && list.df == 1);
    CHECK_INT(builder_docs(b), 0);
    segment_close(s);
    builder_free(b);
    terms_release(&t);
}

/* More than 256 classes (frequency, length) need wide runs. */
TEST(rare_classes_are_exact)
{
    struct collection c = { 0 };
    struct terms t = { 0 };
    struct builder *b;
    struct bm25 *bm;
    struct terms q = { .at = (uint64_t[]){ 11, 12, 11 }, .n = 3 };
    struct err e;

    REQUIRE(!builder_new(&b, &e));
    REQUIRE(!bm25_new(&bm, &e));
    c.text = calloc(1300, sizeof *c.text);
    c.dead = calloc(1300, sizeof *c.dead);
    t.at = calloc(4000, sizeof *t.at);
    for (uint32_t d = 0; d < 1200; d++) {       /* enough for a table */
        t.n = d % 600 * 5 + 3;
        for (size_t i = 0; i < t.n; i++)
            t.at[i] = i <= d % 600 ? 11 : 12 + i % 3;
        naive_add(&c.naive, t.at, t.n);
        c.text[d] = d * 2;
        c.words += t.n;
        c.docs++;
        REQUIRE(!builder_add(b, c.text[d], &t, &e));
    }
    close_builder(&c, b);
    CHECK(c.segs[0]->n_classes > NARROW_CLASSES);
    for (uint32_t i = 1; i < c.segs[0]->n_classes; i++)
        CHECK(c.segs[0]->classes[i].count <= c.segs[0]->classes[i - 1].count);
    check_query(&c, bm, &q, 64);
    check_query(&c, bm, &q, 1200);
    for (uint32_t d = 0; d < 1200; d += 7) kill(&c, d);
    check_query(&c, bm, &q, 1200);
    merge_all(&c);
    check_query(&c, bm, &q, 1200);
    bm25_free(bm);
    builder_free(b);
    terms_release(&t);
    unmake(&c);
}

/* Each class belongs to one word only. Class 256 is the first wide one. */
TEST(the_first_wide_class)
{
    struct collection c = { 0 };
    struct terms t = { 0 };
    struct builder *b;
    struct bm25 *bm;
    struct err e;

    REQUIRE(!builder_new(&b, &e));
    REQUIRE(!bm25_new(&bm, &e));
    c.text = calloc(300, sizeof *c.text);
    c.dead = calloc(300, sizeof *c.dead);
    t.at = calloc(300, sizeof *t.at);
    for (uint32_t d = 0; d < 270; d++) {
        for (t.n = 0; t.n <= d; t.n++) t.at[t.n] = 1000 + d;
        naive_add(&c.naive, t.at, t.n);
        c.text[d] = d * 2;
        c.words += t.n;
        c.docs++;
        REQUIRE(!builder_add(b, c.text[d], &t, &e));
    }
    close_builder(&c, b);
    CHECK(c.segs[0]->n_classes > NARROW_CLASSES);
    for (uint32_t d = 0; d < 270; d++) {
        struct terms q = { .at = (uint64_t[]){ 1000 + d }, .n = 1 };

        check_query(&c, bm, &q, 3);
    }
    bm25_free(bm);
    builder_free(b);
    terms_release(&t);
    unmake(&c);
}

/* The lists are long enough for tables, and every score is compared. */
TEST(scores_by_table_are_the_references)
{
    struct collection c;
    struct terms q = { 0 };
    struct bm25 *b;
    struct err e;

    state = 30;
    REQUIRE(!bm25_new(&b, &e));
    make(&c, 3000, 1, 0, 12, 15);
    for (int i = 0; i < 6; i++) {
        make_terms(&q, 12, 6);
        check_query(&c, b, &q, 3000);
    }
    bm25_free(b);
    terms_release(&q);
    unmake(&c);
}

/* Two segments of n documents with the same single word. The first segment has
 * the higher text ids. */
static void equal_docs(struct collection *c, uint32_t n)
{
    struct terms t = { .at = (uint64_t[]){ 5 }, .n = 1 };
    struct err e;

    memset(c, 0, sizeof *c);
    for (uint32_t part = 0; part < 2; part++) {
        struct builder *b;

        REQUIRE(!builder_new(&b, &e));
        for (uint32_t d = 0; d < n; d++)
            REQUIRE(!builder_add(b, (part ? 0 : n) + d, &t, &e));
        close_builder(c, b);
        builder_free(b);
    }
    c->docs = c->words = 2 * n;
}

/* Of equal scores the lowest text ids win, even if they come last and the
 * threshold is as high as any score. */
TEST(of_equal_ones_the_oldest)
{
    static const uint32_t sizes[] = { 100, 20000 };     /* sparse, dense */

    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct terms q = { .at = (uint64_t[]){ 5 }, .n = 1 };
        struct hit hits[64];
        struct collection c;
        struct segment *damaged;
        struct bm25_parts p;
        struct bm25 *b;
        size_t n;
        struct err e;

        equal_docs(&c, sizes[i]);
        REQUIRE(!bm25_new(&b, &e));
        p = parts(&c);
        CHECK(!bm25_search(b, &p, &q, 64, hits, &n, &damaged, &e));
        CHECK_INT(n, 64);
        for (size_t k = 0; k < n; k++) CHECK_INT(hits[k].text, k);
        bm25_free(b);
        unmake(&c);
    }
}

/* Rare words select candidates; frequent words are looked up for those only. */
TEST(looking_up_changes_nothing)
{
    struct collection c = { 0 };
    struct terms t = { 0 };
    struct segment *damaged;
    struct builder *b;
    struct bm25_parts p;
    struct bm25 *bm;
    struct hit *all, few[64];
    size_t n_all, n_few;
    struct err e;

    state = 31;
    REQUIRE(!builder_new(&b, &e));
    REQUIRE(!bm25_new(&bm, &e));
    t.at = calloc(64, sizeof *t.at);
    for (uint32_t d = 0; d < MANY * 2; d++) {
        t.n = 0;
        for (uint32_t w = 0; w < 5; w++)
            for (uint32_t k = rnd(3); k > 1; k--) t.at[t.n++] = w + 1;
        if (rnd(100) == 0) t.at[t.n++] = 100 + rnd(3);
        for (uint32_t k = rnd(6); k > 0; k--) t.at[t.n++] = 9;
        c.words += t.n;
        c.docs++;
        REQUIRE(!builder_add(b, d, &t, &e));
    }
    close_builder(&c, b);
    p = parts(&c);
    all = calloc(p.n_docs, sizeof *all);
    for (uint32_t i = 0; i < 3; i++) {
        struct terms q = { .at = (uint64_t[]){ 1, 2, 3, 4, 100 + i }, .n = 5 };

        CHECK(!bm25_search(bm, &p, &q, p.n_docs, all, &n_all, &damaged, &e));
        CHECK(!bm25_search(bm, &p, &q, 64, few, &n_few, &damaged, &e));
        CHECK_INT(n_few, 64);
        for (size_t k = 0; k < n_few; k++) {
            CHECK_INT(few[k].text, all[k].text);
            CHECK(few[k].score == all[k].score);
        }
    }
    free(all);
    bm25_free(bm);
    builder_free(b);
    terms_release(&t);
    unmake(&c);
}

/* A posting whose share rounds to 0 still counts. */
TEST(the_smallest_share_counts)
{
    struct terms q = { .n = 1000000 };
    struct collection c;
    struct segment *damaged;
    struct bm25_parts p;
    struct bm25 *b;
    struct hit hits[64];
    size_t n;
    struct err e;

    equal_docs(&c, 500);
    REQUIRE(!bm25_new(&b, &e));
    q.at = malloc(q.n * sizeof *q.at);
    for (size_t i = 0; i < q.n; i++) q.at[i] = 6;
    q.at[17] = 5;
    c.docs++;
    c.words++;
    tail_add(&c.tail, 5000, &(struct terms){ .at = (uint64_t[]){ 6 }, .n = 1 },
             &e);
    p = parts(&c);
    CHECK(!bm25_search(b, &p, &q, 64, hits, &n, &damaged, &e));
    CHECK_INT(n, 64);
    CHECK_INT(hits[0].text, 5000);
    for (size_t k = 1; k < n; k++) CHECK_INT(hits[k].text, k - 1);
    free(q.at);
    bm25_free(b);
    unmake(&c);
}

/* Queries without hits, and room for more hits than there are. */
TEST(nothing_to_find)
{
    struct terms q = { .at = (uint64_t[]){ 5, 77, 5 }, .n = 3 }, none = { 0 };
    struct collection c;
    struct segment *damaged;
    struct bm25_parts p;
    struct bm25 *b;
    struct hit hits[300];
    size_t n = 9;
    struct err e;

    REQUIRE(!bm25_new(&b, &e));
    memset(&c, 0, sizeof c);
    p = parts(&c);
    CHECK(!bm25_search(b, &p, &q, 64, hits, &n, &damaged, &e) && n == 0);
    equal_docs(&c, 100);
    p = parts(&c);
    CHECK(!bm25_search(b, &p, &none, 64, hits, &n, &damaged, &e) && n == 0);
    CHECK(!bm25_search(b, &p, &q, 0, hits, &n, &damaged, &e) && n == 0);
    CHECK(!bm25_search(b, &p, &q, 300, hits, &n, &damaged, &e) && n == 200);
    q.at[0] = q.at[2] = 78;
    CHECK(!bm25_search(b, &p, &q, 64, hits, &n, &damaged, &e) && n == 0);
    q.at[0] = q.at[2] = 5;
    /* Impossible statistics: more texts have the word than there are texts. */
    p.n_docs = 3;
    CHECK(!bm25_search(b, &p, &q, 300, hits, &n, &damaged, &e) && n == 200);
    CHECK(hits[0].score > 0 && hits[0].score < 10);
    for (uint32_t d = 0; d < 100; d++)
        for (int s = 0; s < 2; s++) CHECK(segment_mark_deleted(c.segs[s], d));
    p.n_docs = p.words = 0;
    CHECK(!bm25_search(b, &p, &q, 300, hits, &n, &damaged, &e) && n == 0);
    bm25_free(b);
    unmake(&c);
}

/* A text that is in two segments is once in the merged one. */
TEST(merging_knows_a_text_twice)
{
    struct terms t = { .at = (uint64_t[]){ 5, 6 }, .n = 2 };
    struct segment large = { .n_docs = SEGMENT_MAX_DOCS / 2 + 1 };
    struct segment *two[] = { &large, &large }, *one;
    struct collection c = { 0 };
    struct image im;
    struct err e;

    CHECK(segments_fit(two, 1) && !segments_fit(two, 2));
    for (int part = 0; part < 2; part++) {
        struct builder *b;

        REQUIRE(!builder_new(&b, &e));
        for (int d = 0; d < 10; d++)
            REQUIRE(!builder_add(b, part * 5 + d, &t, &e));
        close_builder(&c, b);
        builder_free(b);
    }
    REQUIRE(!segments_merge(c.segs, 2, &key, 6, &im, &e));
    REQUIRE(!segment_adopt(&one, &im.head, im.data, im.n, &e));
    CHECK(segment_sound(one));
    CHECK_INT(one->n_docs, 15);
    CHECK_INT(one->words, 30);
    segment_close(one);
    unmake(&c);
}

TEST(a_text_dies_once_in_the_tail)
{
    uint64_t words[] = { 7, 8, 7, 9 };
    struct terms t = { .at = words, .n = COUNT(words) };
    struct tail tail = { 0 };
    uint32_t doc;
    struct err e;

    REQUIRE(!tail_add(&tail, 3, &t, &e));
    REQUIRE(!tail_add(&tail, 4, &t, &e));
    REQUIRE(tail_find(&tail, 3, &doc));
    CHECK_INT(tail_df(&tail, 7), 2);
    tail_mark_deleted(&tail, doc, &t);
    CHECK(!tail_find(&tail, 3, &doc) && tail_find(&tail, 4, &doc));
    CHECK_INT(tail_df(&tail, 7), 1);
    CHECK_INT(tail_df(&tail, 9), 1);
    CHECK_INT(tail.words, 4);
    CHECK_INT(tail.n_live, 1);
    tail_release(&tail);
}

/* ---- files --------------------------------------------------------------- */

static void write_one(const char *path, uint64_t *sum)
{
    struct builder *b;
    struct terms t = { 0 };
    struct image im;
    struct err e;

    state = 3;
    REQUIRE(!builder_new(&b, &e));
    for (int i = 0; i < 5000; i++) {
        make_terms(&t, 3000, 12);
        REQUIRE(!builder_add(b, i * 3, &t, &e));
    }
    REQUIRE(!builder_image(b, &key, 42, NULL, 0, &im, &e));
    CHECK_OK(pagefile_write(path, &im.head, im.data, im.n, &e), &e);
    *sum = im.head.sum;
    image_release(&im);
    builder_free(b);
    terms_release(&t);
}

static size_t read_all(const char *path, uint8_t **out)
{
    FILE *f = fopen(path, "rb");
    size_t n;

    fseek(f, 0, SEEK_END);
    n = (size_t)ftell(f);
    rewind(f);
    *out = malloc(n + 1);
    n = fread(*out, 1, n, f);
    fclose(f);
    return n;
}

static void write_all(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    fwrite(bytes, 1, n, f);
    fclose(f);
}

/* Whether the file passes all checks that are made before a merge. */
static bool believed(const char *path, uint64_t sum)
{
    struct segment *s;
    struct err e;
    bool sound;

    if (segment_open(&s, path, &key, 42, sum, &e)) return false;
    sound = segment_sound(s);
    segment_close(s);
    return sound;
}

TEST(a_damaged_segment_is_not_believed)
{
    char path[300];
    uint8_t *bytes;
    uint64_t sum = 0;
    size_t n;
    struct scratch dir;

    REQUIRE(scratch_make(&dir));
    snprintf(path, sizeof path, "%s/one.seg", dir.dir);
    write_one(path, &sum);
    n = read_all(path, &bytes);
    CHECK(believed(path, sum));
    CHECK(!believed(path, sum + 1));
    state = 8;
    for (int i = 0; i < 200; i++) {
        size_t at = i < 40 ? (size_t)i * 6 : rnd((uint32_t)n);
        uint8_t flip = (uint8_t)(1 + rnd(255));

        bytes[at] ^= flip;
        write_all(path, bytes, n);
        bytes[at] ^= flip;
        /* The padding after the head is not checked. */
        CHECK(!believed(path, sum)
              || (at >= sizeof (struct pagefile_head)
                  && at < PAGEFILE_HEAD));
    }
    for (int i = 0; i < 30; i++) {
        write_all(path, bytes, rnd((uint32_t)n));
        CHECK(!believed(path, sum));
    }
    free(bytes);
    scratch_remove(&dir);
}
