/* test_store_import.c - tests that an import becomes visible in one step,
 * whatever other connections do meanwhile. */
#include "store_fix.h"

/* ---- imports ------------------------------------------------------------- */

TEST(import_becomes_visible_in_one_step)
{
    struct fix f;
    struct store *r;
    struct store_import *im;
    struct pair p;
    char line[40];
    int64_t text, first = 0;
    bool is_new;

    if (!setup(&f)) return;
    add(f.s, f.m, "Satz 5", "Satz 5");
    r = open_again(&f, STORE_WRITE);
    f.s->chunk_rows = 16;
    REQUIRE_OK(store_import_begin(&im, f.s, f.m, "f.tsv", &f.e), &f.e);
    for (int i = 0; i < 100; i++) {
        snprintf(line, sizeof line, "Satz %d", i % 60);
        REQUIRE_OK(put(im, line, line, &text, &is_new, &f.e), &f.e);
        CHECK_INT(is_new, i < 60 && i != 5);
        if (!i) first = text;
        CHECK_INT(text >> 32 == store_import_batch(im), i % 60 != 5);
    }
    CHECK_INT(put(im, "", "x", &text, &is_new, &f.e), ST_TEXT);
    CHECK_INT(counts(r, f.m).pairs, 1);
    CHECK_INT(counts(f.s, f.m).pairs, 1);
    CHECK_INT(store_get(r, 2, &p, &f.e), ST_ARGUMENT);
    CHECK_INT(store_delete(r, 2, &f.e), ST_ARGUMENT);
    CHECK_INT(text_of(r, 1) == text_of(f.s, 1), 1);
    CHECK(rows_left(f.path, "pair") > 50);
    CHECK_OK(store_import_commit(im, str_of("{\"h\":1}"), &f.e), &f.e);
    CHECK_INT(put(im, "x", "y", &text, &is_new, &f.e), ST_ARGUMENT);
    store_import_close(im);
    CHECK_INT(counts(r, f.m).pairs, 101);
    CHECK_INT(counts(r, f.m).texts, 60);
    REQUIRE_OK(store_get(r, 3, &p, &f.e), &f.e);
    CHECK(is(p.origin, "f.tsv") && p.position == 2);
    CHECK(is(p.unit.source, "Satz 1") && is(p.unit.source_lang, "de"));
    CHECK(p.unit.created > 1600000000);
    CHECK(text_of(r, add(r, f.m, "neu", "new")) > first);
    CHECK_INT(file_size(f.path, "-lock"), -1);
    CHECK(sound(r));
    store_close(r);
    teardown(&f);
}

TEST(import_of_several_files_and_formats)
{
    struct fix f;
    struct store_import *im;
    struct pair p;
    struct str extra;
    int64_t text;
    bool is_new;

    if (!setup(&f)) return;
    CHECK_OK(store_import_extra(f.s, f.m, "tmx", &extra, &f.e), &f.e);
    CHECK_INT(extra.n, 0);
    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(store_import_begin(&im, f.s, f.m, "a.tmx", &f.e), &f.e);
        CHECK_OK(store_import_format(im, "tmx", &f.e), &f.e);
        CHECK_OK(put(im, "a", "a", &text, &is_new, &f.e), &f.e);
        CHECK_OK(store_import_origin(im, "b.tmx", &f.e), &f.e);
        CHECK_OK(put(im, "b", "b", &text, &is_new, &f.e), &f.e);
        CHECK_OK(store_import_commit(im, str_of(i ? "{2}" : "{1}"), &f.e),
                 &f.e);
        store_import_close(im);
    }
    REQUIRE_OK(store_get(f.s, 2, &p, &f.e), &f.e);
    CHECK(is(p.origin, "b.tmx") && p.position == 1);
    CHECK_OK(store_import_extra(f.s, f.m, "tmx", &extra, &f.e), &f.e);
    CHECK(is(extra, "{2}"));
    CHECK_OK(store_import_extra(f.s, f.m, "po", &extra, &f.e), &f.e);
    CHECK_INT(extra.n, 0);
    teardown(&f);
}

TEST(import_that_is_not_committed_leaves_nothing)
{
    struct fix f;
    struct store_import *im;
    const int64_t *gone;
    size_t n_gone;
    char line[40];
    int64_t text, seq, before, after;
    bool is_new;

    if (!setup(&f)) return;
    f.s->chunk_rows = 10;
    f.s->wipe_rows = 7;
    add(f.s, f.m, "Satz 3", "Satz 3");
    CHECK_OK(store_last_change(f.s, f.m, &before, &f.e), &f.e);
    for (int prepared = 0; prepared < 2; prepared++) {
        REQUIRE_OK(store_import_begin(&im, f.s, f.m, "f", &f.e), &f.e);
        for (int i = 0; i < 95; i++) {
            snprintf(line, sizeof line, "Satz %d", i % 40);
            CHECK_OK(put(im, line, line, &text, &is_new, &f.e), &f.e);
        }
        if (prepared)
            CHECK_OK(store_import_prepare(im, &seq, &gone, &n_gone, &f.e),
                     &f.e);
        store_import_close(im);
        CHECK_INT(rows_left(f.path, "pair"), 1);
        CHECK_INT(rows_left(f.path, "text"), 1);
        CHECK_INT(rows_left(f.path, "batch"), 1);
    }
    CHECK_OK(store_last_change(f.s, f.m, &after, &f.e), &f.e);
    CHECK(before == after);
    CHECK_INT(file_size(f.path, "-lock"), -1);
    CHECK(sound(f.s));
    store_import_close(NULL);
    teardown(&f);
}

/* After a rollback between prepare and commit the import has failed. */
TEST(import_rolled_back_by_its_caller)
{
    struct fix f;
    struct store_import *im;
    const int64_t *gone;
    size_t n_gone;
    int64_t text, seq;
    bool is_new;

    if (!setup(&f)) return;
    REQUIRE_OK(store_import_begin(&im, f.s, f.m, "f", &f.e), &f.e);
    CHECK_OK(put(im, "a", "b", &text, &is_new, &f.e), &f.e);
    CHECK_OK(store_import_prepare(im, &seq, &gone, &n_gone, &f.e), &f.e);
    store_rollback(f.s);
    CHECK_INT(store_import_commit(im, (struct str){ 0 }, &f.e), ST_IO);
    store_import_close(im);
    CHECK_INT(rows_left(f.path, "pair"), 0);
    CHECK(sound(f.s));
    teardown(&f);
}

/* A text that another writer added meanwhile stays, and the equal text of the
 * import is joined with it. */
TEST(import_joins_what_others_added)
{
    struct fix f;
    struct store *w;
    struct store_import *im;
    struct heard v;
    const int64_t *gone;
    size_t n_gone;
    int64_t a, b, text, theirs, seq;
    bool is_new;

    if (!setup(&f)) return;
    w = open_again(&f, STORE_WRITE);
    f.s->chunk_rows = 1;
    REQUIRE_OK(store_import_begin(&im, f.s, f.m, "f", &f.e), &f.e);
    CHECK_OK(put(im, "a", "a", &a, &is_new, &f.e), &f.e);
    CHECK_OK(put(im, "b", "b", &b, &is_new, &f.e), &f.e);
    CHECK_OK(put(im, "a", "a", &text, &is_new, &f.e), &f.e);
    CHECK(text == a && !is_new);
    theirs = text_of(w, add(w, f.m, "a", "a"));
    CHECK(theirs && theirs != a);
    CHECK_OK(put(im, "a", "a", &text, &is_new, &f.e), &f.e);
    CHECK(!is_new);
    CHECK_OK(store_import_prepare(im, &seq, &gone, &n_gone, &f.e), &f.e);
    CHECK(n_gone == 1 && gone[0] == a);
    CHECK_OK(store_import_commit(im, (struct str){ 0 }, &f.e), &f.e);
    store_import_close(im);
    CHECK_INT(counts(w, f.m).pairs, 5);
    CHECK_INT(counts(w, f.m).texts, 2);
    CHECK_INT(text_of(w, 1), theirs);
    v = changes(w, f.m, 0, 0);
    CHECK(v.n_adds == 2 && v.adds[0] == theirs && v.adds[1] == b);
    CHECK_INT(v.seq, seq);
    CHECK(sound(w));
    store_close(w);
    teardown(&f);
}

/* A text that the import refers to loses its last visible pair. It is removed,
 * and the import brings it back under another id. */
TEST(import_outlives_the_text_it_found)
{
    struct fix f;
    struct store *w;
    struct store_import *im;
    struct heard v;
    const int64_t *gone;
    size_t n_gone;
    int64_t id, old, text, seq, at;
    bool is_new, found, tagged;
    struct str x, y;

    if (!setup(&f)) return;
    w = open_again(&f, STORE_WRITE);
    f.s->chunk_rows = 1;
    id = add(f.s, f.m, "a", "a");
    old = text_of(f.s, id);
    REQUIRE_OK(store_import_begin(&im, f.s, f.m, "f", &f.e), &f.e);
    CHECK_OK(put(im, "a", "a", &text, &is_new, &f.e), &f.e);
    CHECK(text == old && !is_new);
    CHECK_OK(store_last_change(w, f.m, &at, &f.e), &f.e);
    CHECK_OK(store_delete(w, id, &f.e), &f.e);
    v = changes(w, f.m, at, at);
    CHECK(v.n_removes == 1 && v.removes[0] == old && !v.n_adds);
    CHECK_OK(store_text(w, old, &x, &y, &tagged, &found, &f.e), &f.e);
    CHECK(!found);
    CHECK_INT(counts(w, f.m).texts, 0);
    CHECK(sound(w));
    CHECK_OK(put(im, "b", "b", &text, &is_new, &f.e), &f.e);
    CHECK_OK(store_import_prepare(im, &seq, &gone, &n_gone, &f.e), &f.e);
    CHECK_INT(n_gone, 0);
    CHECK_OK(store_import_commit(im, (struct str){ 0 }, &f.e), &f.e);
    store_import_close(im);
    v = changes(w, f.m, seq, at);       /* after the import's own change */
    CHECK(v.n_adds == 1 && v.adds[0] != old && v.n_removes == 1);
    v = changes(w, f.m, at, at);
    CHECK_INT(v.n_adds, 2);
    CHECK_INT(counts(w, f.m).texts, 2);
    CHECK_INT(rows_left(f.path, "text"), 2);
    CHECK(sound(w));
    store_close(w);
    teardown(&f);
}

/* The same, but somebody adds an equal pair before the import ends, or the
 * import contains the text once more, or the import is aborted. */
TEST(import_and_a_text_that_went_and_came)
{
    for (int how = 0; how < 4; how++) {
        struct fix f;
        struct store *w;
        struct store_import *im;
        int64_t id, old, text, mine;
        bool is_new;

        if (!setup(&f)) return;
        w = open_again(&f, STORE_WRITE);
        f.s->chunk_rows = 1;
        id = add(f.s, f.m, "a", "a");
        old = text_of(f.s, id);
        REQUIRE_OK(store_import_begin(&im, f.s, f.m, "f", &f.e), &f.e);
        CHECK_OK(put(im, "a", "a", &text, &is_new, &f.e), &f.e);
        if (how == 3) {
            struct unit u = unit_of("anders", "different");
            CHECK_OK(store_replace(w, id, &u, &f.e), &f.e);
        } else {
            CHECK_OK(store_delete(w, id, &f.e), &f.e);
        }
        if (how == 0) id = add(w, f.m, "a", "a");
        if (how == 1) {
            CHECK_OK(put(im, "a", "a", &mine, &is_new, &f.e), &f.e);
            CHECK(is_new && mine != old);
        }
        if (how != 2)
            CHECK_OK(store_import_commit(im, (struct str){ 0 }, &f.e), &f.e);
        store_import_close(im);
        CHECK_INT(counts(w, f.m).texts, how == 2 ? 0 : how == 3 ? 2 : 1);
        CHECK_INT(counts(w, f.m).pairs, how == 2 ? 0 : 2);
        CHECK_INT(rows_left(f.path, "text"), counts(w, f.m).texts);
        if (how == 0) CHECK(text_of(w, 2) == text_of(w, id));
        CHECK(sound(w));
        store_close(w);
        teardown(&f);
    }
}

TEST(imports_at_the_same_time)
{
    struct fix f;
    struct store *w;
    struct store_import *a, *b, *c;
    int64_t text, keep;
    bool is_new;
    char line[40];

    if (!setup(&f)) return;
    keep = memory_named(f.s, "all", true);
    w = open_again(&f, STORE_WRITE);
    f.s->chunk_rows = w->chunk_rows = 1;
    REQUIRE_OK(store_import_begin(&a, f.s, f.m, "a", &f.e), &f.e);
    REQUIRE_OK(store_import_begin(&b, w, f.m, "b", &f.e), &f.e);
    REQUIRE_OK(store_import_begin(&c, f.s, keep, "c", &f.e), &f.e);
    for (int i = 0; i < 20; i++) {
        snprintf(line, sizeof line, "Satz %d", i);
        CHECK_OK(put(a, line, line, &text, &is_new, &f.e), &f.e);
        snprintf(line, sizeof line, "Satz %d", i + 10);
        CHECK_OK(put(b, line, line, &text, &is_new, &f.e), &f.e);
        CHECK_OK(put(c, "x", "y", &text, &is_new, &f.e), &f.e);
        CHECK(is_new);
    }
    CHECK_OK(store_import_commit(b, (struct str){ 0 }, &f.e), &f.e);
    CHECK_INT(counts(f.s, f.m).texts, 20);
    CHECK_OK(store_import_commit(a, (struct str){ 0 }, &f.e), &f.e);
    store_import_close(a);
    store_import_close(b);
    CHECK_INT(counts(f.s, f.m).texts, 30);
    CHECK_INT(counts(f.s, f.m).pairs, 40);
    CHECK_INT(counts(f.s, keep).texts, 0);
    CHECK_INT(file_size(f.path, "-lock"), 0);
    CHECK_OK(store_import_commit(c, (struct str){ 0 }, &f.e), &f.e);
    store_import_close(c);
    CHECK_INT(counts(f.s, keep).texts, 20);
    CHECK_INT(file_size(f.path, "-lock"), -1);
    CHECK(sound(f.s));
    store_close(w);
    teardown(&f);
}

TEST(import_into_a_memory_that_is_dropped)
{
    struct fix f;
    struct store *w;
    struct store_import *im;
    int64_t text;
    bool is_new;

    if (!setup(&f)) return;
    w = open_again(&f, STORE_WRITE);
    f.s->chunk_rows = 1;
    REQUIRE_OK(store_import_begin(&im, f.s, f.m, "f", &f.e), &f.e);
    CHECK_OK(put(im, "a", "b", &text, &is_new, &f.e), &f.e);
    CHECK_OK(store_memory_drop(w, f.m, &f.e), &f.e);
    CHECK_INT(rows_left(f.path, "pair"), 1);    /* the importer is alive */
    CHECK_INT(put(im, "c", "d", &text, &is_new, &f.e), ST_ARGUMENT);
    CHECK(strstr(f.e.msg, "dropped") != NULL);
    store_import_close(im);
    CHECK_OK(store_compact(w, &f.e), &f.e);
    CHECK_INT(rows_left(f.path, "pair"), 0);
    CHECK_INT(rows_left(f.path, "memory"), 0);
    CHECK_INT(store_import_begin(&im, f.s, f.m, "f", &f.e), ST_ARGUMENT);
    CHECK(sound(w));
    store_close(w);
    teardown(&f);
}

/* The write-ahead log never has more than a few chunks, however large the
 * import is. */
TEST(import_keeps_the_log_small)
{
    struct fix f;
    struct store_import *im;
    char line[200];
    int64_t text, wal, most = 0;
    bool is_new;

    if (!setup(&f)) return;
    f.s->chunk_rows = 500;
    sqlite3_wal_autocheckpoint(f.s->db, 100);
    REQUIRE_OK(store_import_begin(&im, f.s, f.m, "f", &f.e), &f.e);
    memset(line, 'x', sizeof line);
    for (int i = 0; i < 40000; i++) {
        int n = snprintf(line, sizeof line, "%d", i);
        line[n] = 'x';
        struct unit u = { .source = { line, sizeof line },
                          .target = str_of("y") };
        CHECK_OK(store_import_put(im, &u, &text, &is_new, &f.e), &f.e);
        wal = i % 100 ? 0 : file_size(f.path, "-wal");
        if (wal > most) most = wal;
    }
    CHECK_OK(store_import_commit(im, (struct str){ 0 }, &f.e), &f.e);
    store_import_close(im);
    CHECK(file_size(f.path, "") > 10 << 20);
    CHECK(most < 6 << 20);
    CHECK_INT(file_size(f.path, "-wal"), 0);
    teardown(&f);
}

/* ---- many random operations ---------------------------------------------- */

/* An index that applies the change log must always have the same texts as a
 * scan, whoever changed what in which order. */
struct follower {
    int64_t text[4000];
    size_t n;
    int64_t seq;
    bool wrong;
};

static size_t follower_find(const struct follower *x, int64_t text)
{
    size_t i = 0;

    while (i < x->n && x->text[i] != text) i++;
    return i;
}

static int follow(void *user, const struct change *c)
{
    struct follower *x = user;
    size_t at = follower_find(x, c->text);

    if (c->kind == CHANGE_ADD) {
        if (at < x->n || x->n == COUNT(x->text)) x->wrong = true;
        else x->text[x->n++] = c->text;
    } else if (at < x->n) {             /* else added and removed at once */
        x->text[at] = x->text[--x->n];
    }
    x->seq = c->seq;
    return 0;
}

static int compare(void *user, const struct change *c)
{
    struct follower *x = user;

    if (follower_find(x, c->text) == x->n) x->wrong = true;
    x->seq++;
    return 0;
}

static bool follower_agrees(struct store *s, int64_t m, struct follower *x)
{
    struct follower scan;
    struct err e = { 0 };

    CHECK_OK(store_begin_read(s, &e), &e);
    CHECK_OK(store_changes(s, m, x->seq, x->seq, follow, x, &e), &e);
    scan = *x;
    scan.seq = 0;                       /* from here on a counter */
    CHECK_OK(store_scan(s, m, compare, &scan, &e), &e);
    CHECK_OK(store_commit(s, &e), &e);
    return CHECK(!scan.wrong) && CHECK(scan.seq == (int64_t)x->n);
}

static uint32_t dice(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

struct player {
    struct store *s;
    struct store_import *im;
    int64_t m;
    uint32_t seed;
};

/* The number of a recent pair, which may be deleted or not visible. */
static int64_t some_pair(struct player *p)
{
    int64_t top = 0;

    query_int(p->s, Q_PAIRS, SQL_NONE, &top, NULL);
    return top - dice(&p->seed, 40);
}

static void one_step(struct player *p)
{
    char line[20];
    struct unit u;
    struct err e = { 0 };
    int64_t id, text, what = dice(&p->seed, 12);
    bool is_new;
    enum status st = ST_OK;

    snprintf(line, sizeof line, "T%u", dice(&p->seed, 25));
    u = unit_of(line, line);
    if (what < 2) st = store_add(p->s, p->m, &u, &id, &e);
    else if (what < 4) st = store_delete(p->s, some_pair(p), &e);
    else if (what < 5) st = store_replace(p->s, some_pair(p), &u, &e);
    else if (!p->im) st = store_import_begin(&p->im, p->s, p->m, "f", &e);
    else if (what < 11) st = store_import_put(p->im, &u, &text, &is_new, &e);
    else {
        if (dice(&p->seed, 3))
            st = store_import_commit(p->im, (struct str){ 0 }, &e);
        store_import_close(p->im);
        p->im = NULL;
    }
    if (st && st != ST_ARGUMENT) CHECK_OK(st, &e);
}

static void play(struct fix *f, int64_t m, uint32_t seed)
{
    struct player player[3];
    static struct follower x;

    memset(&x, 0, sizeof x);
    for (int i = 0; i < 3; i++) {
        player[i] = (struct player){ open_again(f, STORE_WRITE), NULL, m,
                                     seed + (uint32_t)i };
        player[i].s->chunk_rows = 1;    /* else they wait for each other */
        player[i].s->wipe_rows = 3;
    }
    for (int i = 0; i < 300; i++) {
        one_step(&player[dice(&seed, 3)]);
        if (i % 4 == 0 && !follower_agrees(f->s, m, &x)) break;
        if (i % 50 == 0) sound(f->s);
    }
    for (int i = 0; i < 3; i++) {
        store_import_close(player[i].im);
        store_close(player[i].s);
    }
    follower_agrees(f->s, m, &x);
    sound(f->s);
}

TEST(log_agrees_with_the_texts_whatever_happens)
{
    struct fix f;
    int64_t keep;

    if (!setup(&f)) return;
    for (uint32_t seed = 1; seed <= 6; seed++) {
        char name[20];
        snprintf(name, sizeof name, "m%u", seed);
        keep = memory_named(f.s, name, seed % 3 == 0);
        play(&f, keep, seed);
    }
    CHECK_INT(file_size(f.path, "-lock"), -1);
    teardown(&f);
}
