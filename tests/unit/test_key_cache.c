/* test_key_cache.c - the cache of keys, with and without a key file. The file
 * itself is tested in test_key_file.c. */
#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "key_fix.h"
#include "knn/key_cache.h"

static const struct key_file_kind keys_kind = { 1, KEY_INT8, KEY_D, KEY_VOCAB };

static struct key_cache *cache_of(size_t limit, struct key_file *file)
{
    struct key_cache *c = NULL;
    struct err e;

    CHECK_OK(key_cache_new(&c, limit, file, &e), &e);
    return c;
}

static struct key_file *file_in(const struct scratch *s, uint64_t limit)
{
    struct key_file *f = NULL;
    struct err e;

    CHECK_OK(key_file_open(&f, scratch_path(s, "keys"), &keys_kind, limit, &e),
             &e);
    return f;
}

static void put_sized(struct key_cache *c, int number, int n)
{
    struct pair_keys *b = key_block(KEY_INT8, number, n);
    struct key_id id = key_of(number);
    struct err e;

    CHECK_OK(key_cache_put(c, &id, &b, 1, &e), &e);
    pair_keys_drop(b);
}

static void put(struct key_cache *c, int number) { put_sized(c, number, 3); }

static struct pair_keys *get(struct key_cache *c, int number)
{
    struct pair_keys *b = NULL;
    struct err e;

    CHECK_OK(key_cache_get(c, key_of(number), &b, &e), &e);
    return b;
}

static bool has(struct key_cache *c, int number)
{
    struct pair_keys *b = get(c, number);

    if (!b) return false;
    CHECK(key_is(b, number));
    return true;
}

static struct key_cache_stats stats(struct key_cache *c)
{
    struct key_cache_stats s;
    struct err e;

    CHECK_OK(key_cache_stats(c, &s, &e), &e);
    return s;
}

static size_t size_of_one(int n)
{
    struct pair_keys *b = key_block(KEY_INT8, 0, n);
    size_t bytes = b->bytes;

    pair_keys_drop(b);
    return bytes;
}

/* ---- without a file ------------------------------------------------------ */

TEST(what_was_put_is_found)
{
    struct key_cache *c = cache_of(1 << 20, NULL);
    struct pair_keys *b = key_block(KEY_F32, 7, 5), *same;
    struct key_id id = key_of(7);
    struct key_cache_stats s;
    struct err e;

    CHECK(!get(c, 7));
    CHECK_OK(key_cache_put(c, &id, &b, 1, &e), &e);
    same = get(c, 7);
    CHECK(same == b);
    CHECK_INT(atomic_load(&b->refs), 3);
    CHECK(!get(c, 8));
    s = stats(c);
    CHECK_INT(s.hits, 1);
    CHECK_INT(s.misses, 2);
    CHECK_INT(s.file_hits, 0);
    CHECK_INT(s.pairs, 1);
    CHECK_INT(s.bytes, b->bytes);
    CHECK_INT(s.limit, 1 << 20);
    CHECK(!s.has_file);
    pair_keys_drop(same);
    key_cache_free(c);
    CHECK_INT(atomic_load(&b->refs), 1);
    pair_keys_drop(b);
    key_cache_free(NULL);
}

TEST(the_least_recently_used_goes)
{
    struct key_cache *c = cache_of(4 * size_of_one(3), NULL);

    for (int i = 0; i < 4; i++) put(c, i);
    CHECK_INT(stats(c).pairs, 4);
    CHECK(has(c, 0));
    put(c, 2);                  /* exists: counts as a use */
    put(c, 4);
    CHECK(!has(c, 1));
    put(c, 5);
    CHECK(!has(c, 3));
    CHECK(has(c, 0) && has(c, 2) && has(c, 4) && has(c, 5));
    CHECK_INT(stats(c).dropped, 2);
    CHECK_INT(stats(c).bytes, 4 * size_of_one(3));
    key_cache_free(c);
}

TEST(large_blocks_make_room_or_stay_out)
{
    size_t small = size_of_one(1), large = size_of_one(100);
    struct key_cache *c = cache_of(large + small, NULL);

    for (int i = 0; i < 5; i++) put_sized(c, i, 1);
    put_sized(c, 9, 100);
    CHECK_INT(stats(c).pairs, 2);
    CHECK(has(c, 4) && has(c, 9));
    put_sized(c, 10, 200);
    CHECK_INT(stats(c).pairs, 2);
    CHECK(!has(c, 10) && has(c, 4) && has(c, 9));
    CHECK_INT(stats(c).dropped, 4);
    key_cache_free(c);
}

TEST(nothing_is_kept_without_room)
{
    struct key_cache *c = cache_of(0, NULL);

    put(c, 1);
    put_sized(c, 2, 0);
    CHECK(!has(c, 1) && !has(c, 2));
    CHECK_INT(stats(c).pairs, 0);
    CHECK_INT(stats(c).bytes, 0);
    key_cache_free(c);
}

TEST(who_holds_a_block_keeps_it)
{
    struct key_cache *c = cache_of(size_of_one(3), NULL);
    struct pair_keys *dropped, *left;

    put(c, 1);
    dropped = get(c, 1);
    put(c, 2);
    CHECK(!has(c, 1));
    put(c, 3);
    left = get(c, 3);
    key_cache_free(c);
    CHECK(key_is(dropped, 1) && key_is(left, 3));
}

TEST(the_first_of_two_stays)
{
    struct key_cache *c = cache_of(1 << 20, NULL);
    struct pair_keys *first = key_block(KEY_INT8, 1, 3), *b;

    put(c, 1);
    b = get(c, 1);
    put(c, 1);
    pair_keys_drop(first);
    first = get(c, 1);
    CHECK(b == first);
    CHECK_INT(stats(c).pairs, 1);
    CHECK_INT(stats(c).bytes, b->bytes);
    pair_keys_drop(b);
    pair_keys_drop(first);
    key_cache_free(c);
}

TEST(many_are_found)
{
    enum { N = 3000 };
    struct key_cache *c = cache_of(SIZE_MAX, NULL);

    for (int i = 0; i < N; i++) put_sized(c, i, 1);
    for (int i = 0; i < N; i++) CHECK(has(c, i));
    CHECK(!has(c, N));
    CHECK_INT(stats(c).pairs, N);
    CHECK_INT(stats(c).bytes, N * size_of_one(1));
    CHECK_INT(stats(c).dropped, 0);
    key_cache_free(c);
}

/* Many ids have the same upper or lower half, and many share a chain of the
 * hash table. */
TEST(ids_are_told_apart)
{
    enum { N = 400 };
    struct key_cache *c = cache_of(SIZE_MAX, NULL);
    struct key_id ids[N];
    struct pair_keys *b;
    struct err e;

    for (int i = 0; i < N; i++) {
        uint64_t half = (uint64_t)i / 2 << (i % 4 < 2 ? 32 : 0);

        ids[i] = i % 2 ? (struct key_id){ 3, half } :
                         (struct key_id){ half, 4 };
        b = key_block(KEY_INT8, i, 2);
        CHECK_OK(key_cache_put(c, &ids[i], &b, 1, &e), &e);
        pair_keys_drop(b);
    }
    CHECK_INT(stats(c).pairs, N);
    for (int i = 0; i < N; i++) {
        CHECK_OK(key_cache_get(c, ids[i], &b, &e), &e);
        CHECK(key_is(b, i));
    }
    key_cache_free(c);
}

/* ---- with a file --------------------------------------------------------- */

TEST(what_is_not_in_memory_is_in_the_file)
{
    struct key_cache_stats s;
    struct key_cache *c;
    struct scratch dir;

    if (!scratch_make_small(&dir)) return;
    c = cache_of(2 * size_of_one(3), file_in(&dir, 1 << 20));
    for (int i = 0; i < 4; i++) put(c, i);
    CHECK(has(c, 3) && has(c, 0) && has(c, 0));
    CHECK(!has(c, 9));
    s = stats(c);
    CHECK_INT(s.hits, 2);
    CHECK_INT(s.file_hits, 1);
    CHECK_INT(s.misses, 1);
    CHECK_INT(s.pairs, 2);
    CHECK(s.has_file && !s.file.read_only);
    CHECK_INT(s.file.pairs, 4);
    CHECK_INT(s.file.limit, 1 << 20);
    key_cache_free(c);
    c = cache_of(1 << 20, file_in(&dir, 1 << 20));
    for (int i = 0; i < 4; i++) CHECK(has(c, i));
    for (int i = 0; i < 4; i++) CHECK(has(c, i));
    CHECK_INT(stats(c).file_hits, 4);
    CHECK_INT(stats(c).hits, 4);
    key_cache_free(c);
    scratch_remove(&dir);
}

/* key_cache_get_uncounted finds keys in memory and in the file, and changes no
 * statistics. */
TEST(asked_again_is_not_counted)
{
    struct key_cache_stats s;
    struct key_cache *c;
    struct scratch dir;
    struct err e;

    if (!scratch_make_small(&dir)) return;
    c = cache_of(2 * size_of_one(3), file_in(&dir, 1 << 20));
    CHECK(!has(c, 0));
    for (int i = 0; i < 4; i++) put(c, i);
    for (int i = 0; i < 5; i++) {
        struct pair_keys *b = NULL;

        CHECK_OK(key_cache_get_uncounted(c, key_of(i), &b, &e), &e);
        CHECK(i < 4 ? key_is(b, i) : !b);
    }
    s = stats(c);
    CHECK(s.hits == 0 && s.file_hits == 0 && s.misses == 1);
    CHECK(has(c, 3) && has(c, 2));      /* the last two are in memory */
    CHECK_INT(stats(c).hits, 2);
    key_cache_free(c);
    scratch_remove(&dir);
}

TEST(a_file_alone_will_do)
{
    struct key_cache *c;
    struct scratch dir;

    if (!scratch_make_small(&dir)) return;
    c = cache_of(0, file_in(&dir, 1 << 20));
    put(c, 1);
    CHECK(has(c, 1) && has(c, 1));
    CHECK_INT(stats(c).file_hits, 2);
    CHECK_INT(stats(c).pairs, 0);
    key_cache_free(c);
    scratch_remove(&dir);
}

/* A pair that is always found in memory is never read from the file. The file
 * must not evict it all the same, because it is in use. */
TEST(used_in_memory_stays_in_the_file)
{
    enum { EACH = 64 + 3 * (10 + KEY_D) };
    struct key_cache *c;
    struct scratch dir;

    if (!scratch_make_small(&dir)) return;
    c = cache_of(1 << 20, file_in(&dir, 10 * EACH));
    for (int i = 0; i < 40; i++) {
        put(c, i);
        CHECK(has(c, 0));
    }
    CHECK_INT(stats(c).hits, 40);
    key_cache_free(c);
    c = cache_of(1 << 20, file_in(&dir, 10 * EACH));
    CHECK(has(c, 0) && has(c, 39) && !has(c, 1) && !has(c, 20));
    key_cache_free(c);
    scratch_remove(&dir);
}

/* An error of the file is reported, and the cache in memory still works. */
TEST(a_broken_file_does_not_break_the_cache)
{
    struct pair_keys *b = key_block(KEY_INT8, 1, 3), *got = b;
    struct key_id id = key_of(1);
    struct key_cache *c;
    struct scratch dir;
    sqlite3 *db;
    struct err e;

    if (!scratch_make_small(&dir)) return;
    c = cache_of(1 << 20, file_in(&dir, 1 << 20));
    REQUIRE(!sqlite3_open(scratch_path(&dir, "keys"), &db));
    CHECK(!sqlite3_exec(db, "DROP TABLE block", NULL, NULL, NULL));
    sqlite3_close(db);
    CHECK_INT(key_cache_get(c, id, &got, &e), ST_FORMAT);
    CHECK(!got && strstr(e.msg, "damaged"));
    CHECK_INT(key_cache_put(c, &id, &b, 1, &e), ST_FORMAT);
    CHECK(has(c, 1));
    pair_keys_drop(b);
    key_cache_free(c);
    scratch_remove(&dir);
}

/* ---- threads ------------------------------------------------------------- */

enum { THREADS = 4, IDS = 60, TURNS = 400 };

struct worker {
    struct key_cache *c;
    int number;
    uint64_t gets;
    bool bad;
};

static bool get_as(struct worker *w, int number, bool *there)
{
    struct pair_keys *b = NULL;

    w->gets++;
    if (key_cache_get(w->c, key_of(number), &b, NULL)) return false;
    *there = b != NULL;
    return !b || key_is(b, number);
}

/* Each worker stores its own pairs, and looks up the pairs of all workers. */
static bool work(struct worker *w, unsigned turn)
{
    int mine = (int)(turn * 7 % IDS) * THREADS + w->number;
    int other = (int)(turn * 131 % (IDS * THREADS));
    struct pair_keys *b = key_block(KEY_INT8, mine, 1 + mine % 5);
    struct key_id id = key_of(mine);
    bool there, ok;

    ok = !key_cache_put(w->c, &id, &b, 1, NULL) && get_as(w, other, &there) &&
         get_as(w, mine, &there) && there;
    for (int i = 0; i < 4; i++)
        ok = ok && get_as(w, (int)(turn * 7 % IDS) * THREADS + i, &there);
    pair_keys_drop(b);
    return ok;
}

static void *run_worker(void *arg)
{
    struct worker *w = arg;

    for (unsigned i = 0; i < TURNS && !w->bad; i++) w->bad = !work(w, i);
    return NULL;
}

static void check_threads(struct key_cache *c, uint64_t *asked)
{
    pthread_t thread[THREADS];
    struct worker w[THREADS];

    *asked = 0;
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct worker){ .c = c, .number = i };
        CHECK(!pthread_create(&thread[i], NULL, run_worker, &w[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        CHECK(!w[i].bad);
        *asked += w[i].gets;
    }
}

TEST(threads_share_a_cache)
{
    struct key_cache *c = cache_of(1 << 20, NULL);
    struct key_cache_stats s;
    uint64_t asked;

    check_threads(c, &asked);
    s = stats(c);
    CHECK_INT(s.hits + s.misses, asked);
    key_cache_free(c);
}

TEST(threads_share_a_cache_and_its_file)
{
    struct key_cache *c;
    struct key_cache_stats s;
    struct scratch dir;
    uint64_t asked;

    if (!scratch_make_small(&dir)) return;
    c = cache_of(30 * size_of_one(3), file_in(&dir, 1 << 20));
    check_threads(c, &asked);
    s = stats(c);
    CHECK_INT(s.hits + s.file_hits + s.misses, asked);
    CHECK(s.hits > 0 && s.file_hits > 0 && s.misses > 0 && s.dropped > 0);
    CHECK(s.bytes <= s.limit);
    key_cache_free(c);
    scratch_remove(&dir);
}

/* ---- failed allocations ---------------------------------------------------
 * The Makefile tells the linker to wrap our allocation functions. Those of
 * SQLite are replaced by count_sqlite. One allocation after the other fails. */

static atomic_int calls;                /* allocations of all threads */
static int fails_at = -1;               /* number of the call; -1: none */

static bool refuse(void)
{
    if (calls++ != fails_at) return false;
    errno = ENOMEM;
    return true;
}

static sqlite3_mem_methods plain;

static void *sql_malloc(int n) { return refuse() ? NULL : plain.xMalloc(n); }

static void *sql_realloc(void *p, int n)
{
    return refuse() ? NULL : plain.xRealloc(p, n);
}

__attribute__((constructor)) static void count_sqlite(void)
{
    sqlite3_mem_methods ours;

    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain);
    ours = plain;
    ours.xMalloc = sql_malloc;
    ours.xRealloc = sql_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
int __real_posix_memalign(void **p, size_t align, size_t n);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
int __wrap_posix_memalign(void **p, size_t align, size_t n);
char *__wrap_strdup(const char *s);

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

char *__wrap_strdup(const char *s)
{
    return refuse() ? NULL : __real_strdup(s);
}

/* Look up n pairs. Keys that are found must be those that were stored. The only
 * error allowed is lack of memory. */
static void look_for(struct key_cache *c, int n, struct err *e)
{
    for (int i = 0; i < n; i++) {
        struct pair_keys *b = NULL;
        enum status st = key_cache_get(c, key_of(i), &b, e);
        int at = fails_at;

        if (st) CHECK_INT(st, ST_NOMEM);
        fails_at = -1;
        if (b) CHECK(key_is(b, i));
        fails_at = at;
    }
}

/* Call all functions of the cache and the file. There is room for less than
 * what is stored, so pairs are evicted. */
static enum status use_all(const char *path, struct pair_keys **blocks,
                           struct key_id *ids, int n, struct err *e)
{
    struct key_file *f = NULL;
    struct key_cache *c = NULL;
    struct key_cache_stats s;
    uint64_t removed;
    enum status st = key_file_open(&f, path, &keys_kind, 1500, e);

    if (!st) st = key_cache_new(&c, 1200, f, e);
    if (st) key_file_close(f);
    if (!st) st = key_cache_put(c, ids, blocks, n, e);
    if (!st) st = key_cache_put(c, ids, blocks, n / 2, e);
    if (!st) look_for(c, n, e);
    if (!st) st = key_file_keep_only(f, ids + n - 1, 1, &removed, e);
    if (!st) st = key_file_compact(f, e);
    if (!st) st = key_cache_stats(c, &s, e);
    key_cache_free(c);
    return st;
}

static void check_left(const char *path)
{
    struct key_cache *c = NULL;
    struct key_file *f = NULL;
    struct err e;

    if (!CHECK_OK(key_file_open(&f, path, &keys_kind, 1500, &e), &e))
        return;
    c = cache_of(0, f);
    look_for(c, 12, &e);
    put(c, 50);
    CHECK(has(c, 50));
    key_cache_free(c);
}

/* Each allocation fails in one run. Under valgrind or qemu a run takes long, so
 * only every 13th fails. */
static int step_of_failures(void)
{
    const char *under = getenv("RUN");  /* set by scripts/check */

    return under && *under ? 13 : 1;
}

TEST(no_failed_allocation_spoils_the_keys)
{
    enum { N = 12 };
    int step = step_of_failures();
    struct pair_keys *blocks[N];
    struct key_id ids[N];
    struct scratch dir;
    struct err e;
    int n, bad = 0;

    for (int i = 0; i < N; i++) {
        ids[i] = key_of(i);
        blocks[i] = key_block(KEY_INT8, i, 3 + i);
    }
    if (!scratch_make_small(&dir)) return;
    calls = 0;
    CHECK_OK(use_all(scratch_path(&dir, "keys"), blocks, ids, N, &e), &e);
    n = calls;
    CHECK(n > 200);
    scratch_remove(&dir);
    for (int k = 0; k < n; k += step) {
        enum status st;

        if (!scratch_make_small(&dir)) return;
        err_clear(&e);
        calls = 0;
        fails_at = k;
        st = use_all(scratch_path(&dir, "keys"), blocks, ids, N, &e);
        fails_at = -1;
        if (st && (st != ST_NOMEM || !strstr(e.msg, "memory")))
            test_fail(__FILE__, __LINE__, "allocation %d: status %d, \"%s\"",
                      k, st, e.msg);
        bad += st != ST_OK;
        check_left(scratch_path(&dir, "keys"));
        scratch_remove(&dir);
    }
    CHECK(bad > n / step / 4);
    printf("     %d allocations failed, one in each run; %d runs gave an error"
           "\n", n / step, bad);
    for (int i = 0; i < N; i++) pair_keys_drop(blocks[i]);
}
