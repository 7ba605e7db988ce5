/* test_ivfpq.c - tests IVF-PQ indexes: building, searching, and refusing files
 * that are damaged or belong to another datastore.
 *
 * The keys of the made-up pairs are random, so subvectors of one number are
 * used: their codes are nearly exact. If all lists are read and many candidates
 * are measured, the result must be that of the exact search, bit for bit.
 * Tests that need the plug-in for Faiss are skipped if it was not built. */
#include "test.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datastore_fix.h"
#include "knn/entry_search.h"
#include "knn/ivfpq.h"
#include "knn/ivfpq_build.h"
#include "knn/ivfpq_plugin.h"

enum { D = 16, NQ = 40, K = 5, PAIRS = 90 };

/* The plug-in is in the build folder; this program is two folders below. */
static bool plugin_is_there(void)
{
    const struct faiss_plugin *p;
    char path[PATH_MAX + 8];
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

    for (int up = 0; up < 3; up++)
        while (n > 0 && path[--n] != '/') { }
    path[n > 0 ? n : 0] = 0;
    setenv("SKMT_PLUGINS", path, 1);
    return !ivfpq_plugin_get(&p, NULL);
}

#define NEEDS_PLUGIN()                                                      \
    do {                                                                    \
        if (!plugin_is_there())                                             \
            SKIP("build/skmt-faiss.so is missing: install libfaiss-dev");   \
    } while (0)

/* ---- a datastore and its index ------------------------------------------- */

struct indexed {
    struct scratch dir;
    char store[256], index[256];
    struct datastore_kind kind;
};

static bool write_store(struct indexed *x, const char *path, int from, int to)
{
    struct datastore_writer *w = NULL;
    struct err e;

    if (!CHECK_OK(datastore_writer_create(&w, path, &x->kind, NULL, &e), &e))
        return false;
    store_add_range(w, &x->kind, from, (from + to) / 2);
    CHECK_OK(datastore_writer_commit(w, 0, &e), &e);    /* two blocks */
    store_add_range(w, &x->kind, (from + to) / 2, to);
    CHECK_OK(datastore_writer_finish(w, &e), &e);
    datastore_writer_close(w);
    return true;
}

static struct entries *open_store(const char *path)
{
    struct entries *s = NULL;
    struct err e;

    CHECK_OK(datastore_file_open(&s, path, NULL, false, &e), &e);
    return s;
}

static bool build_with(const struct indexed *x, const char *path, int threads,
                       uint64_t seed)
{
    struct ivfpq_build_options o = { .lists = 20, .subvectors = D,
                                     .seed = seed, .threads = threads };
    struct entries *s = open_store(x->store);
    struct err e;
    bool ok = s && CHECK_OK(ivfpq_build(s, path, &o, &e), &e);

    entries_drop(s);
    return ok;
}

static bool indexed_make(struct indexed *x, enum entry_type type)
{
    if (!scratch_make(&x->dir)) return false;
    x->kind = store_kind(type, D);
    snprintf(x->store, sizeof x->store, "%s", scratch_path(&x->dir, "a.knn"));
    snprintf(x->index, sizeof x->index, "%s", scratch_path(&x->dir, "a.ix"));
    return write_store(x, x->store, 0, PAIRS) && build_with(x, x->index, 1, 1);
}

static bool read_bytes(const char *path, char **bytes, size_t *n)
{
    struct err e;

    return CHECK_OK(file_read(bytes, n, path, 1 << 24, &e), &e);
}

static bool write_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    return CHECK(f && fwrite(bytes, 1, n, f) == n) & CHECK(f && !fclose(f));
}

/* ---- searching ----------------------------------------------------------- */

static void fill_queries(float *q)      /* [NQ, D] */
{
    for (int i = 0; i < NQ * D; i++)
        q[i] = store_float(9000 + i / D, 3, i % D);
}

/* Search the store with an index, or exactly if o is NULL. one: each query by
 * itself. */
static int search_store(const struct indexed *x, const struct ivfpq_options *o,
                        const float *q, int n, bool one, struct neighbor *out)
{
    struct entries *s = open_store(x->store);
    struct ivfpq *ix = NULL;
    struct entry_search *es = NULL;
    struct err e;
    int found = 0;

    memset(out, 0, (size_t)n * K * sizeof *out);
    if (s && (!o || CHECK_OK(ivfpq_open(&ix, x->index, s, o, &e), &e)) &&
        CHECK_OK(entry_search_new(&es, s, ix, NULL, &e), &e)) {
        for (int i = 0; one && i < n; i++)
            CHECK_OK(entry_search_states(es, q + i * D, D, 1, K, out + i * K,
                                         &found, &e), &e);
        if (!one)
            CHECK_OK(entry_search_states(es, q, D, n, K, out, &found, &e), &e);
    }
    entry_search_free(es);
    ivfpq_close(ix);
    entries_drop(s);
    return found;
}

TEST(ivfpq_all_lists_are_the_exact_search)
{
    static const struct ivfpq_options all = { 1000, 64 };
    float q[NQ * D];
    struct neighbor exact[NQ * K], got[NQ * K];

    NEEDS_PLUGIN();
    fill_queries(q);
    for (int type = 0; type < 2; type++) {
        struct indexed x;

        REQUIRE(indexed_make(&x, (enum entry_type)type));
        CHECK_INT(search_store(&x, NULL, q, NQ, false, exact), K);
        CHECK_INT(search_store(&x, &all, q, NQ, false, got), K);
        CHECK_MEM(got, exact, sizeof got);
        scratch_remove(&x.dir);
    }
}

/* How many neighbors of `got` are those of `exact`. */
static int count_same(const struct neighbor *got, const struct neighbor *exact)
{
    int n = 0;

    for (int i = 0; i < NQ * K; i++)
        for (int j = 0; j < K; j++) {
            const struct neighbor *e = &exact[i / K * K + j];

            n += got[i].token >= 0 && got[i].pair == e->pair &&
                 got[i].pos == e->pos;
        }
    return n;
}

TEST(ivfpq_few_lists_find_most_and_codes_are_near)
{
    static const struct ivfpq_options few = { 8, 4 }, coded = { 20, 0 };
    float q[NQ * D];
    struct neighbor exact[NQ * K], got[NQ * K];
    struct indexed x;

    NEEDS_PLUGIN();
    fill_queries(q);
    REQUIRE(indexed_make(&x, ENTRY_INT8));
    search_store(&x, NULL, q, NQ, false, exact);
    search_store(&x, &few, q, NQ, false, got);
    CHECK(count_same(got, exact) >= NQ * K / 2);
    CHECK(count_same(got, exact) < NQ * K);
    search_store(&x, &coded, q, NQ, false, got);
    CHECK(count_same(got, exact) >= NQ * K * 9 / 10);
    for (int i = 0; i < NQ; i++)
        CHECK_NEAR((double)got[i * K].d2, (double)exact[i * K].d2,
                   0.05 * (double)exact[i * K].d2);
    scratch_remove(&x.dir);
}

TEST(ivfpq_rows_do_not_depend_on_the_batch)
{
    static const struct ivfpq_options o[] = { { 3, 0 }, { 3, 2 }, { 0, 4 } };
    float q[NQ * D];
    struct neighbor one[NQ * K], all[NQ * K];
    struct indexed x;

    NEEDS_PLUGIN();
    fill_queries(q);
    REQUIRE(indexed_make(&x, ENTRY_INT8));
    for (size_t i = 0; i < COUNT(o); i++) {
        search_store(&x, &o[i], q, NQ, true, one);
        search_store(&x, &o[i], q, NQ, false, all);
        CHECK_MEM(one, all, sizeof all);
    }
    scratch_remove(&x.dir);
}

/* The neighbors of a pair's own keys must not be of that pair. */
TEST(ivfpq_deleted_pairs_are_not_found)
{
    static const struct ivfpq_options o[] = { { 20, 4 }, { 2, 0 } };
    struct neighbor got[STORE_MOST * K];
    struct datastore_writer *w = NULL;
    struct store_pair p;
    struct indexed x;
    struct err e;
    int32_t gone = 20;

    NEEDS_PLUGIN();
    REQUIRE(indexed_make(&x, ENTRY_INT8));
    store_pair_make(&p, &x.kind, 20);
    search_store(&x, &o[0], p.keys, p.it.n, false, got);
    CHECK_INT(got[0].pair, gone);
    REQUIRE_OK(datastore_writer_open(&w, x.store, &e), &e);
    CHECK_OK(datastore_writer_delete(w, &gone, 1, &e), &e);
    CHECK_OK(datastore_writer_finish(w, &e), &e);
    datastore_writer_close(w);
    for (size_t i = 0; i < COUNT(o); i++) {
        CHECK_INT(search_store(&x, &o[i], p.keys, p.it.n, false, got), K);
        for (int j = 0; j < p.it.n * K; j++)
            CHECK(got[j].pair != gone && got[j].token >= 0);
    }
    store_pair_release(&p);
    scratch_remove(&x.dir);
}

TEST(ivfpq_pairs_that_were_added_later_are_found)
{
    static const struct ivfpq_options all = { 1000, 64 };
    float q[NQ * D];
    struct neighbor exact[NQ * K], got[NQ * K];
    struct datastore_writer *w = NULL;
    struct indexed x;
    struct err e;
    int later = 0;

    NEEDS_PLUGIN();
    fill_queries(q);
    REQUIRE(indexed_make(&x, ENTRY_INT8));
    REQUIRE_OK(datastore_writer_open(&w, x.store, &e), &e);
    store_add_range(w, &x.kind, PAIRS, 2 * PAIRS);
    CHECK_OK(datastore_writer_finish(w, &e), &e);
    datastore_writer_close(w);
    search_store(&x, NULL, q, NQ, false, exact);
    search_store(&x, &all, q, NQ, false, got);
    CHECK_MEM(got, exact, sizeof got);
    for (int i = 0; i < NQ * K; i++) later += got[i].pair >= PAIRS;
    CHECK(later > 0 && later < NQ * K);
    scratch_remove(&x.dir);
}

/* ---- building ------------------------------------------------------------ */

TEST(ivfpq_threads_give_the_same_file)
{
    struct indexed x;
    char *a = NULL, *b = NULL, *c = NULL;
    size_t n_a = 0, n_b = 0, n_c = 0;

    NEEDS_PLUGIN();
    REQUIRE(indexed_make(&x, ENTRY_INT8));
    build_with(&x, scratch_path(&x.dir, "b.ix"), 3, 1);
    build_with(&x, scratch_path(&x.dir, "c.ix"), 1, 2);
    if (read_bytes(x.index, &a, &n_a) &&
        read_bytes(scratch_path(&x.dir, "b.ix"), &b, &n_b) &&
        read_bytes(scratch_path(&x.dir, "c.ix"), &c, &n_c)) {
        CHECK_INT(n_a, n_b);
        CHECK(n_a == n_b && !memcmp(a, b, n_a));
        CHECK(n_a == n_c && memcmp(a, c, n_a));
    }
    free(a);
    free(b);
    free(c);
    scratch_remove(&x.dir);
}

TEST(ivfpq_number_of_lists)
{
    static const struct { int64_t n; int lists; } want[] = {
        { 256, 4 }, { 3000, 64 }, { 10000, 256 }, { 100000, 1024 },
        { 1000000, 2048 }, { 1048576, 4096 }, { 19070000, 4096 } };

    for (size_t i = 0; i < COUNT(want); i++)
        CHECK_INT(ivfpq_build_lists(want[i].n), want[i].lists);
}

static int stop_at_once(void *user, const char *what, uint64_t done,
                        uint64_t total, uint64_t units)
{
    (void)what, (void)done, (void)total, (void)units;
    return --*(int *)user <= 0;
}

TEST(ivfpq_build_refuses_and_stops)
{
    static const struct { struct ivfpq_build_options o; const char *why; }
    bad[] = {
        { { .lists = 1 << 19 }, "lists: 524288 is not from 1 to " },
        { { .subvectors = 5 }, "cannot be divided into 5 equal parts" },
        { { .sample = 300, .lists = 400 }, "train-sample: 300 keys are too" },
        { { .probes = -1 }, "probes: -1 is negative" } };
    struct indexed x;
    struct entries *s;
    struct err e;
    char small[256];

    NEEDS_PLUGIN();
    REQUIRE(indexed_make(&x, ENTRY_INT8));
    s = open_store(x.store);
    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK_INT(ivfpq_build(s, x.index, &bad[i].o, &e), ST_ARGUMENT);
        CHECK(strstr(e.msg, bad[i].why) != NULL);
    }
    for (int calls = 1; calls < 400; calls += 67) {
        int left = calls;
        struct ivfpq_build_options o = { .progress = stop_at_once,
                                         .user = &left };

        CHECK_INT(ivfpq_build(s, scratch_path(&x.dir, "no.ix"), &o, &e),
                  ST_CANCELED);
        CHECK(access(scratch_path(&x.dir, "no.ix"), F_OK));
    }
    entries_drop(s);
    snprintf(small, sizeof small, "%s", scratch_path(&x.dir, "small.knn"));
    write_store(&x, small, 0, 3);
    s = open_store(small);
    CHECK_INT(ivfpq_build(s, x.index, &(struct ivfpq_build_options){ 0 }, &e),
              ST_ARGUMENT);
    CHECK(strstr(e.msg, "an index needs at least 256") != NULL);
    entries_drop(s);
    scratch_remove(&x.dir);
}

/* ---- other files --------------------------------------------------------- */

/* Opening bytes as an index of s must fail with this message. */
static void expect_refused(const struct indexed *x, const struct entries *s,
                           const char *bytes, size_t n, const char *why)
{
    struct ivfpq_options o = { 0 };
    const char *path = scratch_path(&x->dir, "bad.ix");
    struct ivfpq *ix = NULL;
    struct err e = { 0 };

    write_bytes(path, bytes, n);
    CHECK(ivfpq_open(&ix, path, s, &o, &e) != ST_OK && !ix);
    if (!strstr(e.msg, why) || !strstr(e.msg, "bad.ix"))
        test_fail(__FILE__, __LINE__, "\"%s\", want \"%s\"", e.msg, why);
    ivfpq_close(ix);
}

TEST(ivfpq_damaged_files_are_refused)
{
    struct indexed x;
    struct entries *s;
    char *bytes = NULL;
    size_t n = 0;

    NEEDS_PLUGIN();
    REQUIRE(indexed_make(&x, ENTRY_INT8));
    s = open_store(x.store);
    REQUIRE(s && read_bytes(x.index, &bytes, &n));
    expect_refused(&x, s, bytes, 50, "is not an index of a datastore");
    expect_refused(&x, s, "text", 4, "is not an index of a datastore");
    expect_refused(&x, s, bytes, n - 1, "is truncated: it has ");
    expect_refused(&x, s, bytes, 3000, "is damaged: its header");
    for (size_t at = 0; at < n; at += at < 200 ? 1 : 1111) {
        bytes[at] ^= 4;
        expect_refused(&x, s, bytes, n,
                       at < 8 ? "is not an index of a datastore"
                     : at < 16 ? "has version " : "is damaged: ");
        bytes[at] ^= 4;
    }
    free(bytes);
    entries_drop(s);
    scratch_remove(&x.dir);
}

TEST(ivfpq_indexes_of_other_datastores_are_refused)
{
    struct indexed x;
    struct entries *s, *grown;
    char *bytes = NULL, *store = NULL;
    char other[256], old[256];
    struct datastore_writer *w = NULL;
    size_t n = 0, n_store = 0;
    struct err e;

    NEEDS_PLUGIN();
    REQUIRE(indexed_make(&x, ENTRY_INT8));
    snprintf(other, sizeof other, "%s", scratch_path(&x.dir, "b.knn"));
    snprintf(old, sizeof old, "%s", scratch_path(&x.dir, "old.knn"));
    REQUIRE(write_store(&x, other, 0, PAIRS) &&
            read_bytes(x.index, &bytes, &n));
    s = open_store(other);
    expect_refused(&x, s, bytes, n, "is the index of another datastore");
    entries_drop(s);
    free(bytes);

    /* An index of the datastore after pairs were added, with a copy of the
     * datastore from before, and with one that got other pairs. */
    REQUIRE(read_bytes(x.store, &store, &n_store));
    write_bytes(old, store, n_store);
    free(store);
    REQUIRE_OK(datastore_writer_open(&w, x.store, &e), &e);
    store_add_range(w, &x.kind, PAIRS, PAIRS + 9);
    CHECK_OK(datastore_writer_finish(w, &e), &e);
    datastore_writer_close(w);
    build_with(&x, x.index, 1, 1);
    REQUIRE(read_bytes(x.index, &bytes, &n));
    s = open_store(old);
    expect_refused(&x, s, bytes, n, "was built from other contents");
    entries_drop(s);
    REQUIRE_OK(datastore_writer_open(&w, old, &e), &e);
    store_add_range(w, &x.kind, PAIRS + 9, PAIRS + 20);
    CHECK_OK(datastore_writer_finish(w, &e), &e);
    datastore_writer_close(w);
    grown = open_store(old);
    expect_refused(&x, grown, bytes, n, "was built from other contents");
    entries_drop(grown);
    free(bytes);
    scratch_remove(&x.dir);
}
