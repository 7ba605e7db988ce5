/* test_knn_memory.c - tests that the parts of kNN-MT systems allocate nothing
 * while a sentence is decoded, and that every failed allocation is reported.
 *
 * The program is linked with --wrap, so that calls of allocation functions from
 * our object files arrive here first. */
#include <errno.h>
#include <sys/mman.h>

#include "fixed_rows.h"
#include "knn/candidate_set.h"
#include "knn/chunks.h"
#include "knn/merge.h"
#include "knn/pca.h"
#include "knn/query_cache.h"
#include "made_entries.h"

/* ---- the allocator ------------------------------------------------------- */

enum { NEVER = 1 << 30 };

static int calls, fails_from = NEVER;

static bool refuse(void)
{
    if (calls++ < fails_from) return false;
    errno = ENOMEM;
    return true;
}

static void arm(int from)
{
    calls = 0;
    fails_from = from;
}

static int disarm(void)
{
    int n = calls;

    arm(NEVER);
    return n;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
int __real_posix_memalign(void **p, size_t align, size_t n);
void *__real_aligned_alloc(size_t align, size_t n);
char *__real_strdup(const char *s);
void *__real_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
int __wrap_posix_memalign(void **p, size_t align, size_t n);
void *__wrap_aligned_alloc(size_t align, size_t n);
char *__wrap_strdup(const char *s);
void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at);

void *__wrap_malloc(size_t n)
{
    return refuse() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return refuse() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return refuse() ? NULL : __real_realloc(p, n);
}

int __wrap_posix_memalign(void **p, size_t align, size_t n)
{
    return refuse() ? ENOMEM : __real_posix_memalign(p, align, n);
}

void *__wrap_aligned_alloc(size_t align, size_t n)
{
    return refuse() ? NULL : __real_aligned_alloc(align, n);
}

char *__wrap_strdup(const char *s)
{
    return refuse() ? NULL : __real_strdup(s);
}

void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
    return refuse() ? MAP_FAILED : __real_mmap(p, n, prot, flags, fd, at);
}

/* ---- a datastore --------------------------------------------------------- */

enum { PAIRS = 10, TOKENS = 8, W = 20, SHORT = 7, STEPS = 12, ROWS = 3, K = 4 };

static float map_mean[W], map_rows[SHORT * W];
static const struct entry_map map = { W, SHORT, map_mean, map_rows };

static struct entries *make_store(bool mapped)
{
    static float keys[PAIRS * TOKENS * W];
    static int32_t token[TOKENS];
    static const int links[][2] = { { 0, 0 }, { 1, 2 }, { 1, 3 }, { 4, 7 } };
    struct made_pair p[PAIRS];

    made_numbers(1, PAIRS * TOKENS, W, keys);
    made_numbers(2, SHORT, W, map_rows);
    for (int i = 0; i < PAIRS; i++)
        p[i] = (struct made_pair){ .n = TOKENS, .token = token,
            .key = keys + i * TOKENS * (mapped ? SHORT : W), .n_src = TOKENS,
            .src_token = token, .src_key = keys + i * TOKENS * W,
            .n_links = COUNT(links), .link = links };
    return made_entries(&(struct made_options){ ENTRY_INT8, W,
                        mapped ? &map : NULL, 4 }, p, PAIRS);
}

/* ---- decoding ------------------------------------------------------------ */

/* What three systems have for a sentence. */
struct parts {
    struct query_cache *cache;
    struct chunks *chunks;
    struct candidate_set *set;
};

static void parts_release(struct parts *p)
{
    query_cache_free(p->cache);
    chunks_free(p->chunks);
    candidate_set_free(p->set);
    *p = (struct parts){ 0 };
}

static enum status make_set(struct parts *p, struct entries *s, struct err *e)
{
    static const int32_t token[3] = { 0 };
    static float states[3 * W];
    struct source_index *ix = NULL;
    struct place_list found = { 0 };
    enum status st = source_index_new(&ix, s, e);

    made_numbers(3, 3, W, states);
    if (!st) st = source_index_search(ix, &(struct source_states){ token,
                                      states, W, 3 }, 5, &found, e);
    if (!st) st = candidate_set_new(&p->set, s, &found, KEY_INT8, e);
    place_list_release(&found);
    source_index_free(ix);
    return st;
}

static enum status make_parts(struct parts *p, struct entries *s,
                              struct err *e)
{
    struct query_cache_options co = { 1, true };
    struct query_cache_limits cl = { W, K, ROWS, STEPS };
    struct chunk_options ko = { 3, 1, 4, 5 };
    struct chunk_limits kl = { ROWS, K, STEPS, 6 };
    enum status st = query_cache_new(&p->cache, &co, &cl, e);

    if (!st) st = chunks_new(&p->chunks, s, &ko, &kl, e);
    if (!st) st = make_set(p, s, e);
    return st;
}

/* One step of one row with all parts. */
static void run_row(struct parts *p, struct fixed_rows *x, int step, int row)
{
    const float *q = x->rows + row * (int)x->ld;
    struct neighbor nb[K] = { { 0 } };
    struct query_answer a;
    struct err e;
    int n;

    CHECK_OK(finder_nearest(candidate_set_finder(p->set),
             &(struct finder_query){ &x->x, row, 1 }, K, nb, &n, &e), &e);
    CHECK_INT(n, K);
    if (!query_cache_find(p->cache, step, q, &a))
        query_cache_add(p->cache, step, q, nb, n);
    if (chunks_searches(p->chunks, step)) chunks_add(p->chunks, step, nb, n);
    else CHECK(chunks_nearest(p->chunks, step, q, K, nb) > 0);
    CHECK(query_cache_recall(p->cache, step, q, &a));
}

static void check_decoding(bool mapped)
{
    static _Alignas(64) float rows[ROWS * 32];
    struct entries *s = make_store(mapped);
    struct fixed_rows x = fixed_rows(rows, 32, ROWS);
    struct parts p = { 0 };
    struct err e;

    REQUIRE_OK(make_parts(&p, s, &e), &e);
    arm(0);
    for (int t = 0; t < STEPS; t++) {
        made_numbers((unsigned)t % 7, ROWS, 32, rows);
        for (int i = 0; i < ROWS; i++) run_row(&p, &x, t, i);
    }
    CHECK_INT(disarm(), 0);
    CHECK(query_cache_counts(p.cache).reused > 0);
    parts_release(&p);
    CHECK_INT(atomic_load(&s->holders), 1);
    entries_drop(s);
}

TEST(the_parts_of_systems_allocate_nothing_in_decoding)
{
    check_decoding(false);
    check_decoding(true);
}

/* ---- failed allocations -------------------------------------------------- */

static enum status use_parts(struct entries *s, struct err *e)
{
    struct parts p = { 0 };
    enum status st = make_parts(&p, s, e);

    parts_release(&p);
    return st;
}

static enum status use_pca(struct entries *s, struct err *e)
{
    struct pca_options o = { .to = 3 };
    struct pca *p;
    enum status st = pca_of_entries(&p, s, &o, NULL, e);

    CHECK(!p == (st != ST_OK));
    pca_free(p);
    return st;
}

static enum status find_nothing(void *search, const float *q, size_t ldq,
                                int n, int k, struct neighbor *out, int *found,
                                struct err *e)
{
    (void)search, (void)q, (void)ldq, (void)n, (void)k, (void)out, (void)e;
    *found = 0;
    return ST_OK;
}

static enum status use_merge(struct entries *s, struct err *e)
{
    struct merge_search search = { find_nothing, NULL };
    struct merge_options o = merge_options_defaults();
    struct merge_result r;
    enum status st = merge_entries(&r, s, &search, &o, e);

    merge_result_release(&r);
    return st;
}

static void sweep(enum status (*use)(struct entries *, struct err *),
                  int least)
{
    struct entries *s = make_store(false);
    struct err e;
    int n;

    arm(NEVER);
    CHECK_OK(use(s, &e), &e);
    n = disarm();
    CHECK(n >= least);
    for (int k = 0; k < n; k++) {
        enum status st;

        err_clear(&e);
        arm(k);
        st = use(s, &e);
        disarm();
        CHECK_INT(st, ST_NOMEM);
        CHECK(e.status == ST_NOMEM && *e.msg);
    }
    CHECK_INT(atomic_load(&s->holders), 1);
    entries_drop(s);
}

TEST(no_failed_allocation_spoils_a_part)
{
    sweep(use_parts, 20);
    sweep(use_pca, 8);
    sweep(use_merge, 5);
}
