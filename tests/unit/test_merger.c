/* test_merger.c - tests merging of indexes in the background, and how many
 * segments remain. */
#include "open_subword.h"
#include "scratch_dir.h"
#include "tm/merger.h"

struct fixture {
    struct scratch s;
    struct store *store;
    int64_t memory;
    int n;                      /* texts so far */
};

static bool fixture_open(struct fixture *f)
{
    struct memory_info m = { .name = "m" };
    struct err e;

    memset(f, 0, sizeof *f);
    if (!scratch_make_small(&f->s) ||
        !CHECK_OK(store_open(&f->store, scratch_path(&f->s, "a.tm"),
                             STORE_CREATE, &e), &e) ||
        !CHECK_OK(store_memory_create(f->store, &m, &f->memory, &e), &e))
        return false;
    store_relaxed(f->store, true);
    return true;
}

static void fixture_close(struct fixture *f)
{
    store_close(f->store);
    scratch_remove(&f->s);
}

/* Add n new texts "wort NUMBER". */
static void add_texts(struct fixture *f, int n)
{
    char source[32];
    struct unit u = { .target = str_of("t") };
    struct err e;
    int64_t id;

    CHECK_OK(store_begin(f->store, &e), &e);
    for (int i = 0; i < n; i++) {
        snprintf(source, sizeof source, "wort %d", f->n++);
        u.source = str_of(source);
        CHECK_OK(store_add(f->store, f->memory, &u, &id, &e), &e);
    }
    CHECK_OK(store_commit(f->store, &e), &e);
}

static bool stats_of(struct fixture *f, const struct subword *sw,
                     struct index_stats *out)
{
    const struct analyzer standard = { 0 };
    struct index *ix = NULL;
    struct err e;
    bool ok = CHECK_OK(index_open(&ix, f->store, f->memory, &standard, NULL,
                                  &e), &e) &&
              CHECK_OK(index_refresh(ix, &e), &e) &&
              CHECK_OK(index_use_symbols(ix, sw, 7, &e), &e);

    if (ok) index_stats(ix, out);
    index_close(ix);
    return ok;
}

TEST(a_poke_turns_the_tail_into_a_segment)
{
    struct merge_job job = { .tokenizer = 7 };
    struct merger *m = NULL;
    struct index_stats st;
    struct test_subword sw;
    struct fixture f;
    struct err e;

    job.sw = open_test_subword(&sw);            /* may be NULL */
    REQUIRE(fixture_open(&f));
    job.memory = f.memory;
    REQUIRE_OK(merger_new(&m, scratch_path(&f.s, "a.tm"), &e), &e);
    merger_poke(m, &job);                       /* nothing to do yet */
    add_texts(&f, 2100);
    for (int i = 0; i < 20; i++) merger_poke(m, &job);
    merger_free(m);
    REQUIRE_OK(merger_new(&m, scratch_path(&f.s, "a.tm"), &e), &e);
    merger_poke(m, &job);
    merger_free(m);                             /* waits for the job */
    REQUIRE(stats_of(&f, job.sw, &st));
    CHECK_INT(st.docs, 2100);
    CHECK_INT(st.segments, 1);
    CHECK_INT(st.tail_docs, 0);
    CHECK((st.symbol_bytes > 0) == (job.sw != NULL));
    fixture_close(&f);
    close_test_subword(&sw);
}

/* A job that fails changes nothing and reports nothing. */
TEST(a_merger_takes_failures_lightly)
{
    struct merge_job job = { .memory = 77 };
    struct merger *m = NULL;
    struct fixture f;
    struct err e;

    REQUIRE(fixture_open(&f));
    REQUIRE_OK(merger_new(&m, scratch_path(&f.s, "none.tm"), &e), &e);
    merger_poke(m, &job);
    merger_free(m);
    CHECK(access(scratch_path(&f.s, "none.tm"), F_OK) != 0);
    REQUIRE_OK(merger_new(&m, scratch_path(&f.s, "a.tm"), &e), &e);
    merger_poke(m, &job);                       /* no such memory */
    merger_free(m);
    merger_free(NULL);
    fixture_close(&f);
}

/* After many small additions with a merge each, the number of segments is
 * logarithmic, and no text is missing. */
TEST(segments_stay_few)
{
    const struct analyzer standard = { 0 };
    const struct index_options o = { .tail_limit = 16 };
    struct index *ix = NULL;
    struct index_stats st;
    struct fixture f;
    struct err e;
    int most = 0;

    REQUIRE(fixture_open(&f));
    REQUIRE_OK(index_open(&ix, f.store, f.memory, &standard, &o, &e), &e);
    for (int i = 0; i < 100; i++) {
        add_texts(&f, 16 + i % 5);
        REQUIRE_OK(index_refresh(ix, &e), &e);
        CHECK(index_wants_merge(ix));
        REQUIRE_OK(index_merge(ix, false, &e), &e);
        CHECK(!index_wants_merge(ix));
        index_stats(ix, &st);
        CHECK_INT(st.docs, f.n);
        if (st.segments > most) most = st.segments;
    }
    CHECK(most >= 3 && most <= 10);
    index_close(ix);
    fixture_close(&f);
}
