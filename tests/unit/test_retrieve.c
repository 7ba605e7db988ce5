/* test_retrieve.c - tests each step of retrieval, from a sentence to its
 * matches. */
#include "scratch_dir.h"
#include "test.h"
#include "tm/retrieve.h"
#include "tm/tmfile.h"

struct fixture {
    struct scratch s;
    struct tmfile *t;
    struct retriever *rt;
    const char *memory;         /* the one that pairs are added to */
};

/* Create a memory. Pairs are added to it from now on. */
static bool fixture_memory(struct fixture *f, const struct memory_info *m)
{
    struct err e;

    f->memory = m->name;
    return CHECK_OK(tmfile_create(f->t, m, &e), &e);
}

static bool fixture_open(struct fixture *f)
{
    static const struct memory_info m = { .name = "m" };
    struct err e;

    memset(f, 0, sizeof *f);
    return scratch_make(&f->s) &&
           CHECK_OK(tmfile_open(&f->t, scratch_path(&f->s, "a.tm"),
                                STORE_CREATE, &e), &e) &&
           CHECK_OK(retriever_new(&f->rt, &e), &e) && fixture_memory(f, &m);
}

static void fixture_close(struct fixture *f)
{
    retriever_free(f->rt);
    tmfile_close(f->t);
    scratch_remove(&f->s);
}

static void put(struct fixture *f, const char *source, const char *target,
                bool tagged)
{
    struct unit u = { .source = str_of(source), .target = str_of(target),
                      .tagged = tagged };
    struct err e;
    int64_t id;

    CHECK_OK(tmfile_add(f->t, f->memory, &u, &id, &e), &e);
}

static enum status note_target(void *user, size_t i,
                               const struct source_pair *p, struct err *e)
{
    struct str target = p->pair.unit.target;
    char **at = user;

    (void)i;
    (void)e;
    CHECK(p->found);
    *at += sprintf(*at, "%.*s|", (int)target.n, target.p);
    return ST_OK;
}

/* The targets of the matches, each followed by "|". */
static const char *find(struct fixture *f, const char *text,
                        const struct retrieve_query *q, struct matches *m)
{
    static char out[1000];
    struct pair_source *from = tmfile_source(f->t);
    struct err e;
    char *at = out;

    out[0] = 0;
    if (!CHECK_OK(retrieve(f->rt, from, str_of(text), q, m, &e), &e))
        return out;
    for (size_t i = 0; i < m->n; i++) {
        struct source_want w = { m->at[i].id, FETCH_TEXTS };

        CHECK_OK(source_fetch(from, &w, 1, note_target, &at, &e), &e);
    }
    return out;
}

TEST(equal_matches_keep_the_order_of_bm25)
{
    struct retrieve_query o = { .o.top = 16, .candidates = 64 };
    struct matches m = { 0 };
    struct fixture f;

    REQUIRE(fixture_open(&f));
    /* The first three are one edit away. BM25 prefers the rare word, and the
     * older of equal scores. */
    put(&f, "das Haus brennt heute", "heute", false);
    put(&f, "das Heim brennt heute", "heute too", false);
    put(&f, "das Dach brennt hier", "rare", false);
    put(&f, "das Haus", "short", false);
    put(&f, "das Haus hier", "three", false);
    CHECK_STR(find(&f, "das Dach brennt heute", &o, &m),
              "rare|heute|heute too|short|three|");
    REQUIRE(m.n == 5);
    CHECK_INT(m.at[0].rank, 0);
    for (size_t i = 0; i < 3; i++) CHECK_NEAR(m.at[i].similarity, 0.75, 0);
    CHECK_NEAR(m.at[3].similarity, 0.25, 0);
    CHECK(m.at[0].score > m.at[1].score);
    CHECK_NEAR(m.at[1].score, m.at[2].score, 0);
    CHECK(m.at[1].id < m.at[2].id);
    CHECK(m.at[0].memory > 0 && m.at[0].priority == 0);
    matches_release(&m);
    fixture_close(&f);
}

/* With RERANK_NONE BM25's order stays, and similarities are still computed. */
TEST(ranking_may_be_left_out)
{
    struct retrieve_query o = { .o.top = 16, .candidates = 64,
                                .o.rerank = RERANK_NONE };
    struct matches m = { 0 };
    struct fixture f;

    REQUIRE(fixture_open(&f));
    put(&f, "selten", "one", false);
    put(&f, "das und das und selten", "near", false);
    put(&f, "das und das", "far", false);
    CHECK_STR(find(&f, "das und das und noch selten", &o, &m),
              "near|far|one|");
    for (size_t i = 0; i < m.n; i++) CHECK_INT(m.at[i].rank, (int)i);
    o.candidates = o.o.top = 1;
    CHECK_STR(find(&f, "selten", &o, &m), "one|");
    CHECK_NEAR(m.at[0].similarity, 1, 0);
    matches_release(&m);
    fixture_close(&f);
}

/* Edits are divided by characters, so a text of long words is more similar. */
TEST(the_authors_measure_divides_by_characters)
{
    struct retrieve_query o = { .o.top = 16, .candidates = 64,
                                .o.rerank = RERANK_AUTHORS };
    struct matches m = { 0 };
    struct fixture f;

    REQUIRE(fixture_open(&f));
    put(&f, "ab cd", "short", false);                   /* 5 characters */
    put(&f, "ab Donaudampfschiff neu", "long", false);  /* 23 characters */
    /* The query has 8 characters. */
    CHECK_STR(find(&f, "ab cd ef", &o, &m), "long|short|");
    REQUIRE(m.n == 2);
    CHECK_NEAR(m.at[0].similarity, 1 - 2.0 / 23, 1e-12);
    CHECK_NEAR(m.at[1].similarity, 1 - 1.0 / 8, 1e-12);
    o.o.rerank = RERANK_TOKEN;
    CHECK_STR(find(&f, "ab cd ef", &o, &m), "short|long|");
    CHECK_NEAR(m.at[0].similarity, 2.0 / 3, 1e-12);
    o.o.rerank = RERANK_AUTHORS;
    o.o.min_similarity = 0.9;
    CHECK_STR(find(&f, "ab cd ef", &o, &m), "long|");
    matches_release(&m);
    fixture_close(&f);
}

/* 0.5 |source| < |target| < 2 |source|, in characters and without tags. */
TEST(the_length_filter_has_open_ends)
{
    struct retrieve_query o = { .o.top = 16, .candidates = 64 };
    struct matches m = { 0 };
    struct fixture f;

    REQUIRE(fixture_open(&f));
    put(&f, "wort a", "12345678901", false);            /* 6: 11 < 12 */
    put(&f, "wort b", "123456789012", false);
    put(&f, "wort c", "123", false);
    put(&f, "wort d", "1234", false);                   /* 3 < 4 */
    put(&f, "wort e", "äöüß", false);                   /* 4, not 8 bytes */
    put(&f, "<g id=\"1\">wort</g> f", "<g id=\"1\">&amp;234</g>", true);
    put(&f, "<g id=\"1\">wort</g> g", "<g id=\"1\">&amp;23</g>", true);
    put(&f, "x", "y", false);
    o.o.length_filter = true;
    CHECK_STR(find(&f, "wort", &o, &m),
              "12345678901|1234|äöüß|<g id=\"1\">&amp;234</g>|");
    CHECK_STR(find(&f, "x", &o, &m), "");               /* single characters */
    /* The limit `top` applies after the filter. */
    o.o.top = 2;
    CHECK_STR(find(&f, "wort", &o, &m), "12345678901|1234|");
    o.o.length_filter = false;
    o.o.top = 16;
    find(&f, "wort", &o, &m);
    CHECK_INT(m.n, 7);
    matches_release(&m);
    fixture_close(&f);
}

/* Add a pair for each letter. The sources differ and have the same score. */
static void put_each(struct fixture *f, const char *letters)
{
    char source[] = "gleich x", target[] = "x";

    for (; *letters; letters++) {
        source[7] = target[0] = *letters;
        put(f, source, target, false);
    }
}

/* `candidates` is the limit of each memory, not of all together. */
TEST(candidates_are_counted_per_memory)
{
    struct retrieve_query o = { .o.top = 16, .candidates = 2 };
    struct memory_info other = { .name = "other" };
    struct matches m = { 0 };
    struct fixture f;

    REQUIRE(fixture_open(&f));
    put_each(&f, "abcd");
    REQUIRE(fixture_memory(&f, &other));
    put_each(&f, "efgh");
    /* All are equally similar: each memory keeps its order, and of the heads
     * the newer one comes first. */
    CHECK_STR(find(&f, "gleich", &o, &m), "e|f|a|b|");
    o.o.top = 3;
    CHECK_STR(find(&f, "gleich", &o, &m), "e|f|a|");
    matches_release(&m);
    fixture_close(&f);
}

/* ---- several translations of one source ---------------------------------- */

static int64_t put_dated(struct fixture *f, const char *source,
                         const char *target, int64_t created, int64_t changed)
{
    struct unit u = { .source = str_of(source), .target = str_of(target),
                      .created = created, .changed = changed };
    int64_t id = 0;
    struct err e;

    CHECK_OK(tmfile_add(f->t, f->memory, &u, &id, &e), &e);
    return id;
}

TEST(the_translation_confirmed_last_comes_first)
{
    struct retrieve_query o = { .o.top = 16, .candidates = 64 };
    struct unit edited = { .source = str_of("das Haus brennt"),
                           .target = str_of("edited") };
    struct matches m = { 0 };
    struct fixture f;
    struct err e;
    int64_t id;

    REQUIRE(fixture_open(&f));
    id = put_dated(&f, "das Haus brennt", "one", 100, 100);
    put_dated(&f, "das Heim brennt", "other source", 50, 50);
    put_dated(&f, "das Haus brennt", "two", 100, 300);
    put_dated(&f, "das Haus brennt", "three", 200, 0);  /* changed now */
    /* The translations of one source exchange their places. The other source
     * keeps its place. */
    CHECK_STR(find(&f, "das Dach brennt", &o, &m),
              "three|other source|two|one|");
    CHECK_STR(find(&f, "das Haus brennt", &o, &m),
              "three|two|one|other source|");
    /* The first translation may be one that was beyond the limit. */
    o.o.top = 1;
    CHECK_STR(find(&f, "das Haus brennt", &o, &m), "three|");
    CHECK_INT(m.n_more, 2);
    REQUIRE_OK(tmfile_replace(f.t, id, &edited, &e), &e);
    CHECK_STR(find(&f, "das Haus brennt", &o, &m), "edited|");
    put(&f, "das Haus brennt", "two", false);           /* added again */
    CHECK_STR(find(&f, "das Haus brennt", &o, &m), "two|");
    put(&f, " <g id=\"1\">das Haus</g> brennt", "tagged", true);
    CHECK_STR(find(&f, "das Haus brennt", &o, &m), "tagged|");
    matches_release(&m);
    fixture_close(&f);
}

TEST(a_memory_of_higher_priority_has_the_first_translation)
{
    struct retrieve_query o = { .o.top = 16, .candidates = 64 };
    struct memory_info other = { .name = "other", .priority = 1 };
    struct memory_info equal = { .name = "equal" };
    struct matches m = { 0 };
    struct fixture f;
    const char *first;

    REQUIRE(fixture_open(&f));
    first = f.memory;
    put_dated(&f, "ja ja", "a", 900, 900);
    put_dated(&f, "ja nein", "in between", 100, 100);
    REQUIRE(fixture_memory(&f, &other));
    put_dated(&f, "ja ja", "b", 100, 100);
    REQUIRE(fixture_memory(&f, &equal));
    put_dated(&f, "ja ja", "c", 500, 500);
    CHECK_STR(find(&f, "ja ja", &o, &m), "b|a|c|in between|");
    f.memory = first;
    put_dated(&f, "ja ja", "d", 400, 400);
    CHECK_STR(find(&f, "ja ja", &o, &m), "b|a|c|d|in between|");
    matches_release(&m);
    fixture_close(&f);
}

/* Many texts have the same words as a short query. Its newest translation is
 * not among the candidates but must be found. */
TEST(the_first_translation_may_be_no_candidate)
{
    struct retrieve_query o = { .o.top = 2, .candidates = 4 };
    struct matches m = { 0 };
    struct fixture f;

    REQUIRE(fixture_open(&f));
    put(&f, "Ja", "old", false);
    for (int i = 0; i < 8; i++) put(&f, "JA", (const char *[]){
        "s", "t", "u", "v", "w", "x", "y", "z" }[i], false);
    put(&f, "Ja", "new", false);
    CHECK_STR(find(&f, "Ja", &o, &m), "new|u|");
    CHECK_INT(m.n, 2);
    matches_release(&m);
    fixture_close(&f);
}

/* Equal translations are not reordered. */
TEST(duplicates_that_are_kept_keep_their_order)
{
    struct retrieve_query o = { .o.top = 16, .candidates = 64 };
    struct memory_info twice = { .name = "twice", .keep_duplicates = true };
    struct matches m = { 0 };
    struct fixture f;

    REQUIRE(fixture_open(&f));
    REQUIRE(fixture_memory(&f, &twice));
    put(&f, "ja ja", "a", false);
    put(&f, "ja ja", "a", false);
    CHECK_STR(find(&f, "ja ja", &o, &m), "a|a|");
    REQUIRE(m.n == 2);
    CHECK(m.at[0].id < m.at[1].id);
    matches_release(&m);
    fixture_close(&f);
}
