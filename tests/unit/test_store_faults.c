/* test_store_faults.c - tests the store with several processes, with killed
 * processes and with a full disk. The second process is a fork that opens the
 * file itself. */
#include <signal.h>
#include <sys/resource.h>

#include "store_fix.h"

/* ---- processes ----------------------------------------------------------- */

TEST(processes_add_at_the_same_time)
{
    enum { CHILDREN = 4, EACH = 40 };
    struct fix f;
    pid_t pid[CHILDREN];
    int status;

    if (!setup(&f)) return;
    store_close(f.s);
    for (int c = 0; c < CHILDREN; c++) {
        pid[c] = fork();
        if (pid[c]) continue;
        struct store *s = open_again(&f, STORE_WRITE);
        for (int i = 0; i < EACH; i++) {
            char line[40];
            snprintf(line, sizeof line, "%d %d", i % 2 ? c : -1, i);
            if (!add(s, f.m, line, line)) _exit(1);
        }
        store_close(s);
        _exit(0);
    }
    for (int c = 0; c < CHILDREN; c++) {
        waitpid(pid[c], &status, 0);
        CHECK_INT(status, 0);
    }
    f.s = open_again(&f, STORE_WRITE);
    CHECK_INT(counts(f.s, f.m).pairs, CHILDREN * EACH);
    CHECK_INT(counts(f.s, f.m).texts, CHILDREN * EACH / 2 + EACH / 2);
    CHECK_INT(text_of(f.s, CHILDREN * EACH) != 0, 1);
    CHECK(sound(f.s));
    teardown(&f);
}

/* Processes that create the same file at the same time get the same file. */
TEST(processes_create_the_same_file)
{
    struct scratch dir;
    char path[300];
    struct store *s;
    struct err e = { 0 };
    pid_t pid[6];
    int status;

    if (!scratch_make(&dir)) return;
    snprintf(path, sizeof path, "%s/new.tm", dir.dir);
    for (int c = 0; c < 6; c++) {
        pid[c] = fork();
        if (pid[c]) continue;
        if (store_open(&s, path, STORE_CREATE, &e)) _exit(1);
        char name[16];
        snprintf(name, sizeof name, "m%d", c);
        if (!memory_named(s, name, false)) _exit(2);
        store_close(s);
        _exit(0);
    }
    for (int c = 0; c < 6; c++) {
        waitpid(pid[c], &status, 0);
        CHECK_INT(status, 0);
    }
    CHECK_INT(rows_left(path, "memory"), 6);
    scratch_remove(&dir);
}

/* Reports through the pipe what was acknowledged, until it is killed. */
static void work_until_killed(const char *path, int64_t m, int kind, int out)
{
    struct store *s;
    struct store_import *im = NULL;
    struct err e = { 0 };
    int64_t v[2] = { 0 }, text;
    bool is_new;

    if (store_open(&s, path, STORE_WRITE, &e)) _exit(1);
    s->chunk_rows = 10;
    s->wipe_rows = 5;
    if (kind == 0 && store_import_begin(&im, s, m, "f", &e)) _exit(1);
    for (int i = 0;; i++) {
        char line[40];
        snprintf(line, sizeof line, "%d-%d", (int)getpid(), i % 1000);
        struct unit u = unit_of(line, line);
        if (kind == 0 && store_import_put(im, &u, &text, &is_new, &e))
            _exit(1);
        if (kind && store_add(s, m, &u, &v[0], &e)) _exit(1);
        if (kind && write(out, v, sizeof v) != sizeof v) _exit(1);
        if (kind == 2 && i % 2) {
            v[1] = v[0] - 1;            /* only this pair has its text */
            if (store_delete(s, v[1], &e)) _exit(1);
            if (write(out, v, sizeof v) != sizeof v) _exit(1);
            v[1] = 0;
        }
    }
}

/* Everything that was reported before the end must be in the file. The last
 * deletion may have happened without being reported. */
static void check_acknowledged(struct store *s, int in, int64_t *added,
                               int64_t *deleted)
{
    int64_t v[2], last = 0;
    struct pair p;
    static bool gone[100000];

    memset(gone, 0, sizeof gone);
    *added = *deleted = 0;
    while (read(in, v, sizeof v) == sizeof v) {
        if (v[1]) {
            gone[v[1] % 100000] = true;
            ++*deleted;
            CHECK_INT(store_get(s, v[1], &p, NULL), ST_ARGUMENT);
        } else {
            if (last && !gone[last % 100000] && last + 1 != v[0])
                CHECK(!store_get(s, last, &p, NULL));
            last = v[0];
            ++*added;
        }
    }
}

static void kill_once(struct fix *f, int kind, int ms)
{
    int to[2], status;
    int64_t added, deleted, before;
    struct timespec t = { .tv_nsec = ms * 1000000L };
    pid_t pid;

    f->s = open_again(f, STORE_WRITE);
    before = counts(f->s, f->m).pairs;
    store_close(f->s);
    f->s = NULL;
    if (!CHECK(!pipe(to))) return;
    fcntl(to[1], F_SETPIPE_SZ, 1 << 20);
    pid = fork();
    if (!pid) {
        close(to[0]);
        work_until_killed(f->path, f->m, kind, to[1]);
    }
    close(to[1]);
    nanosleep(&t, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    CHECK(WIFSIGNALED(status));
    f->s = open_again(f, STORE_READ);   /* a reader does not sweep */
    check_acknowledged(f->s, to[0], &added, &deleted);
    close(to[0]);
    CHECK(counts(f->s, f->m).pairs >= before + added - deleted - 1);
    if (!kind) CHECK_INT(counts(f->s, f->m).pairs, before);
    store_close(f->s);
    f->s = open_again(f, STORE_WRITE);
    if (!kind) CHECK_INT(rows_left(f->path, "pair"), before);
    CHECK_INT(rows_left(f->path, "batch WHERE state <> 1"), 0);
    CHECK_INT(file_size(f->path, "-lock"), -1);
    CHECK(sound(f->s));
    store_close(f->s);
    f->s = NULL;
}

TEST(killed_writers_leave_what_was_acknowledged)
{
    static const int after_ms[] = { 5, 30, 60, 110 };
    struct fix f;

    if (!setup(&f)) return;
    fill(f.s, f.m, 0, 20);
    store_close(f.s);
    f.s = NULL;
    for (size_t i = 0; i < COUNT(after_ms); i++)
        for (int kind = 0; kind < 3; kind++)
            kill_once(&f, kind, after_ms[i]);
    teardown(&f);
}

/* Sweeping must not delete an import that is still running. */
TEST(live_import_is_left_alone)
{
    struct fix f;
    struct store *w;
    struct store_import *im;
    int64_t text;
    bool is_new;

    if (!setup(&f)) return;
    f.s->chunk_rows = 1;
    REQUIRE_OK(store_import_begin(&im, f.s, f.m, "f", &f.e), &f.e);
    CHECK_OK(put(im, "a", "b", &text, &is_new, &f.e), &f.e);
    w = open_again(&f, STORE_WRITE);
    CHECK_OK(store_compact(w, &f.e), &f.e);
    CHECK(sound(w));
    store_close(w);
    CHECK_INT(rows_left(f.path, "pair"), 1);
    CHECK_OK(put(im, "c", "d", &text, &is_new, &f.e), &f.e);
    CHECK_OK(store_import_commit(im, (struct str){ 0 }, &f.e), &f.e);
    store_import_close(im);
    CHECK_INT(counts(f.s, f.m).pairs, 2);
    teardown(&f);
}

/* Somebody deletes the lock file: the import is swept, and the importer gets an
 * error that says so. */
TEST(import_whose_lock_was_deleted)
{
    struct fix f;
    struct store *w;
    struct store_import *im;
    int64_t text;
    bool is_new;
    char lock[320];

    if (!setup(&f)) return;
    f.s->chunk_rows = 1;
    REQUIRE_OK(store_import_begin(&im, f.s, f.m, "f", &f.e), &f.e);
    CHECK_OK(put(im, "a", "b", &text, &is_new, &f.e), &f.e);
    snprintf(lock, sizeof lock, "%s-lock", f.path);
    CHECK(!unlink(lock));
    w = open_again(&f, STORE_WRITE);
    store_close(w);
    CHECK_INT(put(im, "c", "d", &text, &is_new, &f.e), ST_IO);
    CHECK(strstr(f.e.msg, "-lock") != NULL);
    CHECK_INT(store_import_commit(im, (struct str){ 0 }, &f.e), ST_IO);
    store_import_close(im);
    CHECK_INT(rows_left(f.path, "pair"), 0);
    CHECK(sound(f.s));
    teardown(&f);
}

/* ---- a full disk --------------------------------------------------------- */

static void limit_pages(struct store *s, int n)
{
    char text[60];

    snprintf(text, sizeof text, "PRAGMA max_page_count = %d", n);
    sqlite3_exec(s->db, text, NULL, NULL, NULL);
}

TEST(full_file_fails_and_stays_whole)
{
    struct fix f;
    struct unit u = unit_of("x", "y");
    struct store_import *im;
    char line[3000];
    int64_t id, n = 0, text;
    bool is_new;
    enum status st = ST_OK;

    if (!setup(&f)) return;
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    u.source = str_of(line);
    limit_pages(f.s, 30);
    while (!(st = store_add(f.s, f.m, &u, &id, &f.e)) && n++ < 1000)
        snprintf(line, sizeof line, "%2999d", (int)n);
    CHECK_INT(st, ST_IO);
    CHECK(strstr(f.e.msg, "no space") != NULL);
    CHECK_INT(counts(f.s, f.m).pairs, n);
    /* The same inside a transaction: SQLite rolls it back, and the error says
 * so. */
    CHECK_OK(store_begin(f.s, &f.e), &f.e);
    CHECK_INT(store_add(f.s, f.m, &u, &id, &f.e), ST_IO);
    if (f.s->lost) {
        CHECK_INT(store_add(f.s, f.m, &u, &id, &f.e), ST_IO);
        CHECK_INT(store_commit(f.s, &f.e), ST_IO);
    } else {
        CHECK_OK(store_commit(f.s, &f.e), &f.e);
    }
    CHECK_INT(counts(f.s, f.m).pairs, n);
    f.s->chunk_rows = 2;
    REQUIRE_OK(store_import_begin(&im, f.s, f.m, "f", &f.e), &f.e);
    for (int i = 0; !st || i < 1; i++) {
        snprintf(line, sizeof line, "%2998dx", i);
        u.source = str_of(line);
        st = store_import_put(im, &u, &text, &is_new, &f.e);
    }
    CHECK_INT(st, ST_IO);
    CHECK(strstr(f.e.msg, "no space") != NULL);
    CHECK_INT(store_import_put(im, &u, &text, &is_new, &f.e), ST_IO);
    CHECK_INT(store_import_commit(im, (struct str){ 0 }, &f.e), ST_IO);
    store_import_close(im);
    CHECK_INT(rows_left(f.path, "pair"), n);
    CHECK(sound(f.s));
    limit_pages(f.s, 1 << 20);
    CHECK_OK(store_add(f.s, f.m, &u, &id, &f.e), &f.e);
    CHECK(sound(f.s));
    teardown(&f);
}

/* The system does not let the log grow. This runs in a child process, because
 * the limit cannot be lifted again. */
static int fill_until_refused(const char *path, int64_t m, bool import)
{
    struct rlimit limit = { 300000, 300000 };
    struct store *s;
    struct store_import *im = NULL;
    struct err e = { 0 };
    int64_t id;
    bool is_new;
    enum status st = ST_OK;
    char line[2000];
    int i;

    signal(SIGXFSZ, SIG_IGN);
    if (store_open(&s, path, STORE_WRITE, &e)) return 1;
    s->chunk_rows = 10;
    if (import && store_import_begin(&im, s, m, "f", &e)) return 2;
    if (setrlimit(RLIMIT_FSIZE, &limit)) return 3;
    for (i = 0; !st && i < 5000; i++) {
        snprintf(line, sizeof line, "%1999d", i);
        struct unit u = unit_of(line, "y");
        st = import ? store_import_put(im, &u, &id, &is_new, &e)
                    : store_add(s, m, &u, &id, &e);
    }
    if (st != ST_IO || !strstr(e.msg, "nothing was changed")) {
        printf("  %s\n", e.msg);
        return 4;
    }
    if (!import && counts(s, m).pairs != i - 1) return 5;
    store_import_close(im);
    store_close(s);
    return 0;
}

TEST(full_disk_fails_and_stays_whole)
{
    for (int import = 0; import < 2; import++) {
        struct fix f;
        int status;
        pid_t pid;

        if (!setup(&f)) return;
        add(f.s, f.m, "Haus", "house");
        CHECK_OK(store_delete(f.s, 1, &f.e), &f.e);
        store_close(f.s);
        pid = fork();
        if (!pid) _exit(fill_until_refused(f.path, f.m, import));
        waitpid(pid, &status, 0);
        CHECK_INT(status, 0);
        f.s = open_again(&f, STORE_WRITE);
        REQUIRE(f.s);
        if (import) CHECK_INT(rows_left(f.path, "pair"), 0);
        CHECK(sound(f.s));
        CHECK(add(f.s, f.m, "x", "y") > 0);
        teardown(&f);
    }
}
