/* test_index.c - tests of the index of a store that several connections change:
 * searches are compared with a naive reference (naive_bm25.h). */
#include "naive_bm25.h"
#include "scratch_dir.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "open_subword.h"
#include "tm/index.h"

static const struct analyzer standard;
static const struct index_options small = { .tail_limit = 40 };

static uint64_t state;
static uint32_t rnd(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* Make a text from a small vocabulary, so that texts share words. */
static void make_text(char *out)
{
    uint32_t n = 1 + rnd(9);

    *out = 0;
    for (uint32_t i = 0; i < n; i++)
        out += sprintf(out, "%sw%u", i ? " " : "", rnd(60) % (rnd(60) + 1));
}

static struct unit unit(const char *source, const char *target)
{
    return (struct unit){ .source = str_of(source), .target = str_of(target) };
}

/* ---- a memory, two connections, and its expected contents ---------------- */

struct known { int64_t id; char source[64]; bool dead; };

struct world {
    struct scratch dir;
    struct store *a, *b;        /* both write; b searches too */
    struct index *ix, *other;
    int64_t memory;
    struct known *pairs;
    size_t n, cap;
};

static bool world_open(struct world *w)
{
    struct memory_info m = { .name = "m" };
    const char *path;
    struct err e;

    memset(w, 0, sizeof *w);
    if (!scratch_make_small(&w->dir)) return false;
    path = scratch_path(&w->dir, "x.tm");
    return CHECK_OK(store_open(&w->a, path, STORE_CREATE, &e), &e)
           && CHECK_OK(store_memory_create(w->a, &m, &w->memory, &e), &e)
           && CHECK_OK(store_open(&w->b, path, STORE_WRITE, &e), &e)
           && CHECK_OK(index_open(&w->ix, w->a, w->memory, &standard, &small,
                                  &e), &e)
           && CHECK_OK(index_open(&w->other, w->b, w->memory, &standard,
                                  &small, &e), &e);
}

static void world_close(struct world *w)
{
    index_close(w->ix);
    index_close(w->other);
    store_close(w->a);
    store_close(w->b);
    scratch_remove(&w->dir);
    free(w->pairs);
}

/* Each pair has its own target, so that every pair is a distinct text. */
static void remember(struct world *w, int64_t id, const char *source)
{
    if (w->n == w->cap) {
        w->cap = w->cap ? 2 * w->cap : 64;
        w->pairs = realloc(w->pairs, w->cap * sizeof *w->pairs);
    }
    w->pairs[w->n].id = id;
    w->pairs[w->n].dead = false;
    strcpy(w->pairs[w->n++].source, source);
}

static void add(struct world *w, struct store *s)
{
    char source[64], target[32];
    struct unit u;
    int64_t id;
    struct err e;

    make_text(source);
    sprintf(target, "t%zu", w->n);
    u = unit(source, target);
    REQUIRE_OK(store_add(s, w->memory, &u, &id, &e), &e);
    remember(w, id, source);
}

static void delete(struct world *w, struct store *s)
{
    size_t i = rnd((uint32_t)w->n);
    struct err e;

    if (w->pairs[i].dead) return;
    w->pairs[i].dead = true;
    CHECK_OK(store_delete(s, w->pairs[i].id, &e), &e);
}

/* with: the import builds its own segments; otherwise the index reads the
 * log. */
static void import(struct world *w, struct store *s, uint32_t n, bool with)
{
    struct store_import *im;
    struct index_build *b = NULL;
    const int64_t *gone;
    size_t n_gone;
    int64_t seq;
    struct err e;

    REQUIRE_OK(store_import_begin(&im, s, w->memory, "file", &e), &e);
    if (with)
        REQUIRE_OK(index_build_new(&b, s, w->memory, &standard, &e), &e);
    for (uint32_t i = 0; i < n; i++) {
        char source[64], target[32];
        struct unit u;
        int64_t text;
        bool fresh;

        make_text(source);
        sprintf(target, "t%zu", w->n);
        u = unit(source, target);
        REQUIRE_OK(store_import_put(im, &u, &text, &fresh, &e), &e);
        CHECK(fresh);
        if (with)
            REQUIRE_OK(index_build_add(b, text, u.source, &e), &e);
        remember(w, -1, source);
        if (i == n / 2 && with) {
            struct store *other = s == w->a ? w->b : w->a;

            /* Another transaction ends that of the import. What other
             * connections add then must not get lost. */
            REQUIRE_OK(store_begin_read(s, &e), &e);
            REQUIRE_OK(store_commit(s, &e), &e);
            add(w, other);
        }
    }
    REQUIRE_OK(store_import_prepare(im, &seq, &gone, &n_gone, &e), &e);
    CHECK_INT(n_gone, 0);
    if (with)
        REQUIRE_OK(index_build_publish(b, seq, store_import_batch(im), gone,
                                       n_gone, &e), &e);
    REQUIRE_OK(store_import_commit(im, (struct str){ 0 }, &e), &e);
    store_import_close(im);
    index_build_free(b);
}

/* The best hits must be those of the naive reference. */
static void search_agrees(struct world *w, struct index *ix)
{
    struct naive_bm25 naive = { 0 };
    struct terms t = { 0 };
    struct hit hits[64];
    size_t n, positive = 0, alive = 0;
    double *want, best = 0;
    char query[64];
    struct index_stats stats;
    struct err e;

    REQUIRE_OK(index_refresh(ix, &e), &e);
    for (size_t i = 0; i < w->n; i++) {
        if (w->pairs[i].dead) continue;
        analyze(&standard, str_of(w->pairs[i].source), &t, &e);
        naive_add(&naive, t.at, t.n);
        alive++;
    }
    index_stats(ix, &stats);
    CHECK_INT(stats.docs, alive);
    for (int k = 0; k < 3; k++) {
        make_text(query);
        analyze(&standard, str_of(query), &t, &e);
        want = naive_scores(&naive, t.at, t.n);
        REQUIRE_OK(index_search(ix, &t, 64, hits, &n, &e), &e);
        positive = 0;
        best = 0;
        for (size_t i = 0; i < naive.n; i++) {
            positive += want[i] > 0;
            if (want[i] > best) best = want[i];
        }
        CHECK_INT(n, positive < 64 ? positive : 64);
        if (n) CHECK_NEAR(hits[0].score, best, 1e-6 * (1 + best));
        free(want);
    }
    naive_release(&naive);
    terms_release(&t);
}

static void print_problem(void *user, const char *sentence)
{
    (void)user;
    printf("  %s\n", sentence);
}

static void is_sound(struct index *ix)
{
    int problems = 0;
    struct err e;

    CHECK_OK(index_check(ix, print_problem, NULL, &problems, &e), &e);
    CHECK_INT(problems, 0);
}

/* Look up the ids that an import has given to texts. */
static void learn_ids(struct world *w)
{
    struct pair_filter f = { .memory = w->memory };
    struct pair_cursor *c;
    struct pair p;
    bool found = true;
    struct err e;

    REQUIRE_OK(pair_cursor_open(&c, w->a, &f, &e), &e);
    while (!pair_cursor_next(c, &p, &found, &e) && found) {
        size_t at = strtoul(p.unit.target.p + 1, NULL, 10);

        if (at < w->n) w->pairs[at].id = p.id;
    }
    pair_cursor_close(c);
}

/* A new index object must read the same from the files and the log. */
static void opens_anew(struct world *w)
{
    struct index *late;
    struct err e;

    REQUIRE_OK(index_open(&late, w->a, w->memory, &standard, &small, &e), &e);
    search_agrees(w, late);
    is_sound(late);
    index_close(late);
}

TEST(index_follows_whatever_happens)
{
    for (uint32_t round = 0; round < 6; round++) {
        struct world w;
        struct err e;

        state = round;
        REQUIRE(world_open(&w));
        for (int step = 0; step < 60; step++) {
            struct store *s = rnd(2) ? w.a : w.b;

            switch (rnd(12)) {
            case 0: import(&w, s, 1 + rnd(120), true); break;
            case 1: import(&w, s, 1 + rnd(60), false); break;
            case 2: CHECK_OK(index_merge(w.ix, rnd(2), &e), &e); break;
            case 3: CHECK_OK(index_merge(w.other, rnd(2), &e), &e); break;
            case 4: case 5:
                learn_ids(&w);
                for (int i = 0; i < 20 && w.n; i++) delete(&w, s);
                break;
            default:
                for (uint32_t i = rnd(15); i > 0; i--) add(&w, s);
            }
            search_agrees(&w, rnd(2) ? w.ix : w.other);
            if (step % 4 == 0) opens_anew(&w);
        }
        search_agrees(&w, w.ix);
        search_agrees(&w, w.other);
        is_sound(w.ix);
        is_sound(w.other);
        opens_anew(&w);
        world_close(&w);
    }
}

/* ---- damage -------------------------------------------------------------- */

enum harm { HARM_REMOVE, HARM_CUT, HARM_FLIP, HARM_EMPTY, HARM_SWAP };

static void harm(const struct world *w, enum harm how)
{
    const char *dir = scratch_path(&w->dir, "x.tm.index");
    DIR *d = opendir(dir);
    struct dirent *en;
    char path[600], before[600] = "";

    REQUIRE(d);
    while ((en = readdir(d))) {
        struct stat sb;
        char byte;
        int fd;

        if (!strstr(en->d_name, ".seg")) continue;
        snprintf(path, sizeof path, "%s/%s", dir, en->d_name);
        stat(path, &sb);
        if (how == HARM_REMOVE) { remove(path); continue; }
        if (how == HARM_SWAP) {
            if (*before) CHECK(!rename(before, path));
            strcpy(before, path);
            continue;
        }
        fd = open(path, O_RDWR);
        if (how == HARM_CUT) CHECK(!ftruncate(fd, sb.st_size / 2));
        if (how == HARM_EMPTY) CHECK(!ftruncate(fd, 0));
        if (how == HARM_FLIP)
            for (off_t at = 100; at < sb.st_size; at += 997) {
                CHECK(pread(fd, &byte, 1, at) == 1);
                byte ^= 4;
                CHECK(pwrite(fd, &byte, 1, at) == 1);
            }
        close(fd);
    }
    closedir(d);
}

TEST(a_damaged_index_is_built_again)
{
    for (enum harm how = HARM_REMOVE; how <= HARM_SWAP; how++) {
        struct world w;
        struct index *late;
        struct err e;

        state = how + 20;
        REQUIRE(world_open(&w));
        import(&w, w.a, 300, true);
        import(&w, w.a, 200, true);
        search_agrees(&w, w.ix);
        harm(&w, how);
        add(&w, w.b);
        REQUIRE_OK(index_open(&late, w.b, w.memory, &standard, &small, &e),
                   &e);
        search_agrees(&w, late);
        is_sound(late);
        index_close(late);
        search_agrees(&w, w.ix);        /* still has the old files open */
        world_close(&w);
    }
}

/* The store was restored from a copy, and the index folder was not. */
TEST(a_stale_index_is_not_believed)
{
    struct world w, old;
    char command[1200];
    struct err e;

    state = 70;
    REQUIRE(world_open(&w));
    import(&w, w.a, 200, true);
    REQUIRE(scratch_make(&old.dir));
    REQUIRE_OK(store_backup(w.a, scratch_path(&old.dir, "x.tm"), &e), &e);
    old.memory = w.memory;
    old.n = w.n;
    old.pairs = w.pairs;
    import(&w, w.a, 200, true);
    CHECK_OK(index_merge(w.ix, true, &e), &e);
    snprintf(command, sizeof command, "cp -r %s/x.tm.index %s/", w.dir.dir,
             old.dir.dir);
    REQUIRE(!system(command));
    REQUIRE_OK(store_open(&old.a, scratch_path(&old.dir, "x.tm"), STORE_WRITE,
                          &e), &e);
    REQUIRE_OK(index_open(&old.ix, old.a, old.memory, &standard, &small, &e),
               &e);
    old.pairs = w.pairs;
    search_agrees(&old, old.ix);
    is_sound(old.ix);
    index_close(old.ix);
    store_close(old.a);
    scratch_remove(&old.dir);
    world_close(&w);
}

/* A connection that may not write has its index in memory. */
TEST(readers_need_no_files)
{
    struct world w;
    struct store *reader;
    struct index *ix;
    struct err e;

    state = 80;
    REQUIRE(world_open(&w));
    import(&w, w.a, 150, false);
    REQUIRE_OK(store_open(&reader, scratch_path(&w.dir, "x.tm"), STORE_READ,
                          &e), &e);
    REQUIRE_OK(index_open(&ix, reader, w.memory, &standard, &small, &e), &e);
    search_agrees(&w, ix);
    CHECK(access(scratch_path(&w.dir, "x.tm.index"), F_OK) != 0);
    add(&w, w.b);
    learn_ids(&w);
    delete(&w, w.a);
    search_agrees(&w, ix);
    is_sound(ix);
    import(&w, w.a, 100, true);         /* now there is an index on disk */
    search_agrees(&w, ix);
    is_sound(ix);
    index_close(ix);
    store_close(reader);
    world_close(&w);
}

TEST(merging_tidies_the_folder)
{
    struct world w;
    struct index_stats stats;
    DIR *d;
    struct dirent *en;
    int files = 0;
    struct err e;

    state = 81;
    REQUIRE(world_open(&w));
    for (int i = 0; i < 5; i++) import(&w, w.a, 60, true);
    index_refresh(w.ix, &e);
    index_stats(w.ix, &stats);
    CHECK(stats.segments >= 5);
    REQUIRE(scratch_write(&w.dir, "x.tm.index/00000000000000aa.seg", "x"));
    learn_ids(&w);
    for (int i = 0; i < 30; i++) delete(&w, w.a);
    CHECK_OK(index_merge(w.ix, true, &e), &e);
    index_stats(w.ix, &stats);
    CHECK_INT(stats.segments, 1);
    CHECK_INT(stats.dead_docs, 0);
    CHECK_INT(stats.tail_docs, 0);
    d = opendir(scratch_path(&w.dir, "x.tm.index"));
    REQUIRE(d);
    while ((en = readdir(d))) files += strstr(en->d_name, ".seg") != NULL;
    closedir(d);
    CHECK_INT(files, 1);
    search_agrees(&w, w.other);
    is_sound(w.ix);
    world_close(&w);
}

/* ---- many writers -------------------------------------------------------- */

static void put(struct world *w, struct store_import *im,
                struct index_build *b, const char *source)
{
    struct unit u = unit(source, "t");
    int64_t text;
    bool fresh;
    struct err e;

    (void)w;
    REQUIRE_OK(store_import_put(im, &u, &text, &fresh, &e), &e);
    if (fresh) REQUIRE_OK(index_build_add(b, text, u.source, &e), &e);
}

/* Another writer adds the texts of an import while it runs, in another order.
 * The other writer's texts stay, and the index has each text once. */
TEST(equal_texts_of_two_writers_are_one)
{
    struct world w;
    struct store_import *im;
    struct index_build *b = NULL;
    const int64_t *gone;
    size_t n_gone;
    int64_t seq, id;
    struct index_stats stats;
    char source[64];
    struct err e;

    REQUIRE(world_open(&w));
    REQUIRE_OK(store_import_begin(&im, w.a, w.memory, "f", &e), &e);
    REQUIRE_OK(index_build_new(&b, w.a, w.memory, &standard, &e), &e);
    for (int i = 0; i < 20; i++) {
        sprintf(source, "same w%d", i);
        put(&w, im, b, source);
    }
    REQUIRE_OK(store_begin_read(w.a, &e), &e);  /* releases its rows */
    REQUIRE_OK(store_commit(w.a, &e), &e);
    for (int i = 15; i >= 5; i--) {
        struct unit u;

        sprintf(source, "same w%d", i);
        u = unit(source, "t");
        REQUIRE_OK(store_add(w.b, w.memory, &u, &id, &e), &e);
    }
    REQUIRE_OK(store_import_prepare(im, &seq, &gone, &n_gone, &e), &e);
    CHECK_INT(n_gone, 11);
    REQUIRE_OK(index_build_publish(b, seq, store_import_batch(im), gone,
                                   n_gone, &e), &e);
    REQUIRE_OK(store_import_commit(im, (struct str){ 0 }, &e), &e);
    store_import_close(im);
    index_build_free(b);
    REQUIRE_OK(index_refresh(w.ix, &e), &e);
    index_stats(w.ix, &stats);
    CHECK_INT(stats.docs, 20);
    is_sound(w.ix);
    world_close(&w);
}

static int count_files(const struct world *w, const char *ending);

/* A segment is written again without a text that another writer has added
 * meanwhile. The segments of an import that fails are removed. */
TEST(segments_of_an_import_follow_what_becomes_of_it)
{
    struct world w;
    struct store_import *im;
    struct index_build *b;
    const int64_t *gone;
    size_t n_gone;
    int64_t seq, id, x, y, z;
    bool fresh;
    struct unit u[3] = { unit("a b", "t"), unit("b c", "t"), unit("d", "t") };
    struct err e;

    REQUIRE(world_open(&w));
    for (int turn = 0; turn < 2; turn++) {
        REQUIRE_OK(store_import_begin(&im, w.a, w.memory, "f", &e), &e);
        REQUIRE_OK(index_build_new(&b, w.a, w.memory, &standard, &e), &e);
        REQUIRE_OK(store_import_put(im, &u[0], &x, &fresh, &e), &e);
        REQUIRE_OK(store_import_put(im, &u[1], &y, &fresh, &e), &e);
        REQUIRE_OK(store_import_put(im, &u[2], &z, &fresh, &e), &e);
        /* A lower text id makes the builder begin a new segment. */
        REQUIRE_OK(index_build_add(b, y, u[1].source, &e), &e);
        REQUIRE_OK(index_build_add(b, z, u[2].source, &e), &e);
        REQUIRE_OK(index_build_add(b, x, u[0].source, &e), &e);
        CHECK_INT(count_files(&w, ".seg"), 1);
        if (!turn) {
            index_build_free(b);
            store_import_close(im);
            CHECK_INT(count_files(&w, ".seg"), 0);
        }
    }
    REQUIRE_OK(store_begin_read(w.a, &e), &e);
    REQUIRE_OK(store_commit(w.a, &e), &e);
    REQUIRE_OK(store_add(w.b, w.memory, &u[1], &id, &e), &e);
    REQUIRE_OK(store_import_prepare(im, &seq, &gone, &n_gone, &e), &e);
    CHECK_INT(n_gone, 1);
    REQUIRE_OK(index_build_publish(b, seq, store_import_batch(im), gone,
                                   n_gone, &e), &e);
    REQUIRE_OK(store_import_commit(im, (struct str){ 0 }, &e), &e);
    store_import_close(im);
    index_build_free(b);
    CHECK_INT(count_files(&w, ".seg"), 3);
    is_sound(w.ix);
    world_close(&w);
}

/* Two analyzers share the log. When the manifest of one allows changes to be
 * dropped from the log, an index of the other one without a manifest must not
 * miss them. */
TEST(an_index_without_a_manifest_misses_nothing)
{
    const struct analyzer second = { .id = 5 };
    struct world w;
    struct index *ix;
    struct err e;

    state = 90;
    REQUIRE(world_open(&w));
    REQUIRE_OK(index_open(&ix, w.a, w.memory, &second, &small, &e), &e);
    for (int i = 0; i < 5; i++) add(&w, w.a);
    search_agrees(&w, ix);
    for (int i = 0; i < 5; i++) add(&w, w.b);
    import(&w, w.b, 10, true);          /* for the standard analyzer */
    search_agrees(&w, ix);
    is_sound(ix);
    learn_ids(&w);
    for (int i = 0; i < 10; i++) delete(&w, w.b);
    REQUIRE_OK(index_merge(w.other, true, &e), &e);
    search_agrees(&w, ix);
    is_sound(ix);
    for (int i = 0; i < 40; i++) add(&w, w.b);
    search_agrees(&w, ix);
    /* This reads all texts, not the log. */
    REQUIRE_OK(index_merge(ix, false, &e), &e);
    search_agrees(&w, ix);
    is_sound(ix);
    index_close(ix);
    world_close(&w);
}

static bool manifest_of(struct world *w, struct manifest *m)
{
    struct err e;

    return CHECK_OK(manifest_read(w->b, w->memory, 0, m, &e), &e);
}

/* The merge finds the damage while it holds the lock that building needs. */
TEST(damage_found_by_a_merge_is_mended)
{
    struct world w;
    struct err e;

    state = 91;
    REQUIRE(world_open(&w));
    import(&w, w.a, 300, true);
    import(&w, w.a, 200, true);
    REQUIRE_OK(index_refresh(w.ix, &e), &e);
    harm(&w, HARM_FLIP);
    REQUIRE_OK(index_merge(w.ix, true, &e), &e);
    search_agrees(&w, w.ix);
    is_sound(w.ix);
    import(&w, w.a, 100, false);        /* w.other has not loaded these */
    harm(&w, HARM_REMOVE);
    REQUIRE_OK(index_merge(w.other, true, &e), &e);
    search_agrees(&w, w.other);
    is_sound(w.other);
    world_close(&w);
}

/* A segment whose texts are all removed is dropped. An empty one would always
 * be the smallest and keep others from being merged. */
TEST(nothing_left_is_no_segment)
{
    struct world w;
    struct index_stats stats;
    struct manifest m;
    struct err e;

    state = 92;
    REQUIRE(world_open(&w));
    import(&w, w.a, 60, true);
    learn_ids(&w);
    for (size_t i = 0; i < w.n; i++) {
        w.pairs[i].dead = true;
        REQUIRE_OK(store_delete(w.a, w.pairs[i].id, &e), &e);
    }
    REQUIRE_OK(index_refresh(w.ix, &e), &e);
    CHECK(index_wants_merge(w.ix));
    REQUIRE_OK(index_merge(w.ix, false, &e), &e);
    index_stats(w.ix, &stats);
    CHECK_INT(stats.segments, 0);
    CHECK_INT(stats.docs, 0);
    search_agrees(&w, w.ix);
    for (int i = 0; i < 4; i++) import(&w, w.a, 50 + rnd(5), true);
    REQUIRE_OK(index_refresh(w.ix, &e), &e);
    REQUIRE_OK(index_merge(w.ix, false, &e), &e);
    index_stats(w.ix, &stats);
    CHECK_INT(stats.segments, 5);       /* the new ones are merged */
    REQUIRE(manifest_of(&w, &m));
    for (size_t i = 0; i < m.n_segments; i++) CHECK(m.segments[i].docs > 0);
    manifest_release(&m);
    is_sound(w.other);
    world_close(&w);
}

/* ---- transactions -------------------------------------------------------- */

/* Inside a transaction no files are written: it may be rolled back. */
TEST(a_transaction_writes_no_files)
{
    struct world w;
    struct index_stats stats;
    struct err e;

    state = 93;
    REQUIRE(world_open(&w));
    REQUIRE_OK(store_begin(w.a, &e), &e);
    for (int i = 0; i < 100; i++) add(&w, w.a);
    search_agrees(&w, w.ix);
    is_sound(w.ix);
    REQUIRE_OK(index_merge(w.ix, true, &e), &e);
    CHECK(access(scratch_path(&w.dir, "x.tm.index"), F_OK) != 0);
    REQUIRE_OK(store_commit(w.a, &e), &e);
    search_agrees(&w, w.ix);
    /* Now the index in memory is written to files. */
    REQUIRE_OK(index_merge(w.ix, true, &e), &e);
    index_stats(w.ix, &stats);
    CHECK_INT(stats.segments, 1);
    CHECK(access(scratch_path(&w.dir, "x.tm.index"), F_OK) == 0);
    search_agrees(&w, w.ix);
    search_agrees(&w, w.other);
    is_sound(w.ix);
    world_close(&w);
}

/* If the folder cannot be created, the index stays in memory. It is written to
 * files as soon as that is possible. */
TEST(an_index_in_memory_becomes_files)
{
    struct world w;
    struct manifest m;
    struct err e;

    state = 94;
    REQUIRE(world_open(&w));
    import(&w, w.a, 100, false);
    REQUIRE(scratch_write(&w.dir, "x.tm.index", "in the way"));
    search_agrees(&w, w.ix);
    for (int i = 0; i < 60; i++) add(&w, w.b);
    search_agrees(&w, w.ix);
    CHECK(index_merge(w.ix, true, &e) == ST_IO);
    search_agrees(&w, w.ix);
    CHECK(!remove(scratch_path(&w.dir, "x.tm.index")));
    REQUIRE_OK(index_merge(w.ix, true, &e), &e);
    REQUIRE(manifest_of(&w, &m));
    CHECK(m.n_segments > 0);
    for (size_t i = 0; i < m.n_segments; i++)
        CHECK(m.segments[i].number > 0);
    manifest_release(&m);
    search_agrees(&w, w.ix);
    is_sound(w.ix);
    world_close(&w);
}

/* ---- many changes at once ------------------------------------------------ */

/* The tail does not keep a long import that built no segments. */
TEST(a_long_tail_becomes_segments_at_once)
{
    struct world w;
    struct index_stats stats;
    struct err e;

    state = 95;
    REQUIRE(world_open(&w));
    import(&w, w.a, 50, true);
    search_agrees(&w, w.ix);
    learn_ids(&w);
    for (int i = 0; i < 10; i++) delete(&w, w.b);
    import(&w, w.b, 1000, false);
    learn_ids(&w);
    for (int i = 0; i < 3; i++) delete(&w, w.b);
    search_agrees(&w, w.ix);
    index_stats(w.ix, &stats);
    CHECK_INT(stats.tail_docs, 0);
    CHECK(stats.segments > 0);
    search_agrees(&w, w.other);
    is_sound(w.ix);
    is_sound(w.other);
    REQUIRE_OK(index_merge(w.ix, false, &e), &e);
    is_sound(w.ix);
    world_close(&w);
}

/* Removals are read whenever the index is opened, until the segments with the
 * removed texts are written again. As few segments as possible are. */
TEST(removals_are_not_read_for_ever)
{
    struct world w;
    struct manifest m;
    struct index_stats stats;
    int64_t last;
    struct err e;

    state = 96;
    REQUIRE(world_open(&w));
    import(&w, w.a, 4000, true);
    import(&w, w.a, 800, true);
    learn_ids(&w);
    for (size_t i = 4001; i < 4600; i++) {      /* most of the second segment */
        w.pairs[i].dead = true;
        REQUIRE_OK(store_delete(w.a, w.pairs[i].id, &e), &e);
    }
    REQUIRE_OK(store_last_change(w.a, w.memory, &last, &e), &e);
    for (size_t i = 0; i < 5; i++) {            /* few of the first segment */
        w.pairs[i].dead = true;
        REQUIRE_OK(store_delete(w.a, w.pairs[i].id, &e), &e);
    }
    REQUIRE_OK(index_refresh(w.ix, &e), &e);
    REQUIRE_OK(index_merge(w.ix, false, &e), &e);
    REQUIRE(manifest_of(&w, &m));
    CHECK_INT(m.clean, last);           /* the five are still in it */
    manifest_release(&m);
    index_stats(w.ix, &stats);
    CHECK_INT(stats.dead_docs, 5);
    search_agrees(&w, w.other);
    is_sound(w.other);
    for (size_t i = 5; i < 700; i++) {  /* less than a fifth, but many */
        w.pairs[i].dead = true;
        REQUIRE_OK(store_delete(w.a, w.pairs[i].id, &e), &e);
    }
    REQUIRE_OK(index_refresh(w.ix, &e), &e);
    REQUIRE_OK(index_merge(w.ix, false, &e), &e);
    index_stats(w.ix, &stats);
    CHECK_INT(stats.dead_docs, 0);
    is_sound(w.other);
    world_close(&w);
}

/* ---- files of subword ids ------------------------------------------------ */

static void symbols_agree(struct world *w, struct index *ix,
                          const struct subword *sw)
{
    struct terms t = { 0 };
    struct symbols want = { 0 };
    struct hit hits[64];
    const uint32_t *at;
    size_t n, len;
    struct err e;

    REQUIRE_OK(index_refresh(ix, &e), &e);
    REQUIRE_OK(index_use_symbols(ix, sw, 7, &e), &e);
    analyze(&standard, str_of("w0 w1 w2 w3"), &t, &e);
    REQUIRE_OK(index_search(ix, &t, 64, hits, &n, &e), &e);
    CHECK(n > 0);
    for (size_t i = 0; i < n; i++) {
        struct str source, target;
        bool tagged, found;

        REQUIRE_OK(index_symbols(ix, &hits[i], &at, &len, NULL, &e), &e);
        REQUIRE_OK(store_text(w->a, hits[i].text, &source, &target, &tagged,
                              &found, &e), &e);
        REQUIRE(found);
        REQUIRE_OK(symbols_of(sw, source, &want, &e), &e);
        CHECK(len == want.n && !memcmp(at, want.at, len * sizeof *at));
    }
    symbols_release(&want);
    terms_release(&t);
}

/* Whether a file has our damage; flip: put it there. */
static bool damaged(const char *path, bool flip)
{
    FILE *f = fopen(path, "r+b");
    char found[6] = "";

    if (!CHECK(f != NULL)) return false;
    fseek(f, 300, SEEK_SET);
    if (flip) fputs("damage", f);
    else CHECK(fread(found, 1, sizeof found, f) == sizeof found);
    fclose(f);
    return flip || !memcmp(found, "damage", sizeof found);
}

static int damaged_files(const struct world *w, const char *ending, bool flip)
{
    const char *dir = scratch_path(&w->dir, "x.tm.index");
    DIR *d = opendir(dir);
    struct dirent *en;
    char path[600];
    int n = 0;

    while (d && (en = readdir(d))) {
        if (!strstr(en->d_name, ending)) continue;
        snprintf(path, sizeof path, "%s/%s", dir, en->d_name);
        n += damaged(path, flip);
    }
    if (d) closedir(d);
    return n;
}

static int count_files(const struct world *w, const char *ending)
{
    DIR *d = opendir(scratch_path(&w->dir, "x.tm.index"));
    struct dirent *en;
    int n = 0;

    while (d && (en = readdir(d))) n += strstr(en->d_name, ending) != NULL;
    if (d) closedir(d);
    return n;
}

TEST(side_files_are_made_again_and_not_from_what_never_was)
{
    struct test_subword t;
    const struct subword *sw = open_test_subword(&t);
    struct world w;
    struct index *late;
    struct err e;

    if (!sw) SKIP("no tokenizer");
    state = 97;
    REQUIRE(world_open(&w));
    import(&w, w.a, 100, false);
    search_agrees(&w, w.other);
    learn_ids(&w);
    REQUIRE_OK(store_begin(w.a, &e), &e);
    for (size_t i = 0; i < w.n / 2; i++)
        REQUIRE_OK(store_delete(w.a, w.pairs[i].id, &e), &e);
    symbols_agree(&w, w.ix, sw);
    CHECK_INT(count_files(&w, ".ids"), 0);
    store_rollback(w.a);
    symbols_agree(&w, w.other, sw);
    CHECK_INT(damaged_files(&w, ".ids", true), 1);
    REQUIRE_OK(index_open(&late, w.a, w.memory, &standard, &small, &e), &e);
    symbols_agree(&w, late, sw);        /* finds the damage */
    symbols_agree(&w, late, sw);
    CHECK_INT(count_files(&w, ".ids"), 1);
    CHECK_INT(damaged_files(&w, ".ids", false), 0);
    index_close(late);
    world_close(&w);
    close_test_subword(&t);
}

/* A store has one index folder, whatever path leads to it. */
TEST(a_link_to_the_store_has_no_index_of_its_own)
{
    struct world w;
    struct store *s;
    struct index *ix;
    struct err e;

    state = 98;
    REQUIRE(world_open(&w));
    import(&w, w.a, 100, true);
    REQUIRE(!symlink("x.tm", scratch_path(&w.dir, "link.tm")));
    REQUIRE_OK(store_open(&s, scratch_path(&w.dir, "link.tm"), STORE_WRITE,
                          &e), &e);
    REQUIRE_OK(index_open(&ix, s, w.memory, &standard, &small, &e), &e);
    search_agrees(&w, ix);
    CHECK(access(scratch_path(&w.dir, "link.tm.index"), F_OK) != 0);
    index_close(ix);
    store_close(s);
    world_close(&w);
}

static int count_encodings(void *user, const char *what, uint64_t done,
                           uint64_t total)
{
    (void)total;
    *(int *)user += !strcmp(what, "encoding") && !done;
    return 0;
}

/* If a file of subword ids cannot be written, the ids are not all computed
 * again at each search. */
TEST(a_side_file_that_cannot_be_is_not_tried_for_ever)
{
    int encodings = 0;
    const struct index_options o = { .progress = count_encodings,
                                     .user = &encodings, .tail_limit = 40 };
    struct test_subword t;
    const struct subword *sw = open_test_subword(&t);
    char name[80];
    struct manifest m;
    struct index *ix;
    struct world w;
    struct err e;

    if (!sw) SKIP("no tokenizer");
    state = 99;
    REQUIRE(world_open(&w));
    import(&w, w.a, 100, false);
    search_agrees(&w, w.ix);
    REQUIRE(manifest_of(&w, &m));
    REQUIRE(m.n_segments == 1);
    snprintf(name, sizeof name, "x.tm.index/%016llx.%016x.ids",
             (unsigned long long)m.segments[0].number, 7);
    REQUIRE(!mkdir(scratch_path(&w.dir, name), 0777));
    manifest_release(&m);
    REQUIRE_OK(index_open(&ix, w.a, w.memory, &standard, &o, &e), &e);
    for (int i = 0; i < 3; i++) symbols_agree(&w, ix, sw);
    CHECK_INT(encodings, 1);
    index_close(ix);
    world_close(&w);
    close_test_subword(&t);
}

/* If segments cannot be written, a long tail is kept in memory. */
TEST(a_long_tail_where_nothing_can_be_written)
{
    struct world w;
    struct index_stats stats;

    state = 100;
    REQUIRE(world_open(&w));
    import(&w, w.a, 100, true);
    search_agrees(&w, w.ix);
    (void)!remove(scratch_path(&w.dir, "x.tm.index/merge"));
    REQUIRE(!mkdir(scratch_path(&w.dir, "x.tm.index/merge"), 0777));
    import(&w, w.b, 1000, false);
    search_agrees(&w, w.ix);
    index_stats(w.ix, &stats);
    CHECK_INT(stats.tail_docs, 1000);
    is_sound(w.ix);
    world_close(&w);
}

TEST(a_rebuild_is_one)
{
    struct world w;
    struct manifest m;
    int64_t before;
    struct err e;

    state = 101;
    REQUIRE(world_open(&w));
    import(&w, w.a, 100, true);
    import(&w, w.a, 100, true);
    REQUIRE(manifest_of(&w, &m));
    before = m.generation;
    manifest_release(&m);
    REQUIRE_OK(index_rebuild(w.ix, &e), &e);
    REQUIRE(manifest_of(&w, &m));
    CHECK(m.generation != before);
    CHECK_INT(m.n_segments, 1);
    manifest_release(&m);
    search_agrees(&w, w.ix);
    is_sound(w.other);
    world_close(&w);
}

/* A merge without the tokenizer copies ids; one with it encodes new texts. */
TEST(side_files_outlive_merges)
{
    int encodings = 0;
    const struct index_options o = { .progress = count_encodings,
                                     .user = &encodings, .tail_limit = 40 };
    struct test_subword t;
    const struct subword *sw = open_test_subword(&t);
    struct index *ix;
    struct world w;
    struct err e;

    if (!sw) SKIP("no tokenizer");
    state = 102;
    REQUIRE(world_open(&w));
    import(&w, w.a, 300, true);
    import(&w, w.a, 200, true);
    symbols_agree(&w, w.ix, sw);
    CHECK(count_files(&w, ".seg") > 1);
    CHECK_INT(count_files(&w, ".ids"), count_files(&w, ".seg"));
    /* w.other has no tokenizer. */
    REQUIRE_OK(index_merge(w.other, true, &e), &e);
    CHECK_INT(count_files(&w, ".seg"), 1);
    CHECK_INT(count_files(&w, ".ids"), 1);
    REQUIRE_OK(index_open(&ix, w.b, w.memory, &standard, &o, &e), &e);
    symbols_agree(&w, ix, sw);
    CHECK_INT(encodings, 0);
    import(&w, w.a, 100, true);
    REQUIRE_OK(index_merge(ix, true, &e), &e);
    CHECK_INT(count_files(&w, ".seg"), 1);
    CHECK_INT(count_files(&w, ".ids"), 1);
    symbols_agree(&w, ix, sw);
    CHECK_INT(encodings, 0);
    index_close(ix);
    world_close(&w);
    close_test_subword(&t);
}
