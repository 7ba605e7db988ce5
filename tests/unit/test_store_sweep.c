/* test_store_sweep.c - tests that the rows of a killed import are deleted in
 * small steps, and that nobody sees them until then. */
#include "store_fix.h"

enum { ROWS = 100, STEP = 7 };

/* Puts all pairs of an import and dies. */
static int die_importing(struct fix *f)
{
    struct store *s = open_again(f, STORE_WRITE);
    struct store_import *im;
    char source[40];
    int64_t text;
    bool is_new;

    if (!s) return 1;
    s->chunk_rows = 10;
    if (store_import_begin(&im, s, f->m, "file", &f->e)) return 2;
    for (int i = 0; i < ROWS; i++) {
        struct unit u = unit_of(source, "dead");

        snprintf(source, sizeof source, "tot %d", i);
        u.source = str_of(source);
        if (store_import_put(im, &u, &text, &is_new, &f->e)) return 3;
    }
    return 0;
}

static int problems_of(struct store *s)
{
    struct err e;
    int n = -1;

    CHECK_OK(store_check(s, NULL, NULL, &n, &e), &e);
    return n;
}

TEST(the_rest_of_an_import_goes_bit_by_bit)
{
    int64_t left, before;
    struct fix f;
    int status, turns = 0;
    pid_t pid;

    if (!setup(&f)) return;
    add(f.s, f.m, "Haus", "house");
    pid = fork();
    if (!pid) _exit(die_importing(&f));
    waitpid(pid, &status, 0);
    REQUIRE(status == 0);
    left = rows_left(f.path, "text");
    CHECK(left > ROWS / 2);
    f.s->wipe_rows = STEP;
    while (left > 1 && turns++ < ROWS) {
        before = left;
        CHECK_INT(counts(f.s, f.m).pairs, 1);
        CHECK_INT(problems_of(f.s), 0);
        /* Even without any time it does one step, so that repeated sweeps make
         * progress. */
        CHECK_OK(store_sweep(f.s, 1e-9, &f.e), &f.e);
        left = rows_left(f.path, "text");
        CHECK(left < before && left >= before - STEP);
    }
    CHECK_INT(left, 1);
    CHECK(turns >= ROWS / 2 / STEP);
    CHECK_OK(store_sweep(f.s, 0, &f.e), &f.e);
    CHECK_INT(rows_left(f.path, "pair"), 1);
    CHECK_INT(rows_left(f.path, "batch"), 1);
    CHECK_INT(file_size(f.path, "-lock"), -1);
    CHECK_INT(problems_of(f.s), 0);
    teardown(&f);
}
