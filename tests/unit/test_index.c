/* test_index.c - the index against a store that changes under it. */
#include "naive_bm25.h"
#include "scratch_dir.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "tm/index.h"

static const struct analyser standard;
static const struct index_options small = { .tail_limit = 40 };

static uint64_t state;
static uint32_t rnd(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* Words of a small language, so that texts have some in common. */
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

/* ---- a memory, two connections, and what should be in it ----------------- */

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
    if (!scratch_make(&w->dir)) return false;
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

/* Sources are made distinct by their target, so that pairs are texts. */
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

/* with: its segments are made beside it; without: the index reads the log. */
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

            /* A transaction of another kind lets go of the import's; what
             * others add then must not get lost. */
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

/* The best by the naive reference must be the best here. */
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
        analyse(&standard, str_of(w->pairs[i].source), &t, &e);
        naive_add(&naive, t.at, t.n);
        alive++;
    }
    index_stats(ix, &stats);
    CHECK_INT(stats.docs, alive);
    for (int k = 0; k < 3; k++) {
        make_text(query);
        analyse(&standard, str_of(query), &t, &e);
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

/* Ids that an import made are not known to the test: look them up. */
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
        }
        search_agrees(&w, w.ix);
        search_agrees(&w, w.other);
        is_sound(w.ix);
        is_sound(w.other);
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
        search_agrees(&w, w.ix);        /* had them open all along */
        world_close(&w);
    }
}

/* An index folder of another time: the store was restored from a copy. */
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

/* A reader that may not write has its index in memory. */
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
    import(&w, w.a, 100, true);         /* now there is one on disk */
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
