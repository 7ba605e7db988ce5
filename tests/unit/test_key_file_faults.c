/* test_key_file_faults.c - key files that several processes share, whose
 * writers are killed, and on disks that are full or read-only. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "key_file_fix.h"
#include "knn/key_file_sql.h"

/* ---- other threads and processes ----------------------------------------- */

struct worker { struct key_file *f; int number; bool bad; };

/* Store an extra pair, and remove it by keeping only the pairs of the workers.
 * Then compact the file. */
static bool keep_all_workers(struct key_file *f)
{
    struct key_id ids[80];
    uint64_t removed;

    for (int i = 0; i < 80; i++) ids[i] = key_of(i / 20 * 1000 + i % 20);
    qsort(ids, 80, sizeof *ids, key_id_compare);
    return !put_sized(f, 9999, 200, NULL) &&
           !key_file_keep_only(f, ids, 80, &removed, NULL) &&
           !key_file_compact(f, NULL);
}

static bool work(struct worker *w, int turn)
{
    struct pair_keys *b = NULL;
    int number = w->number * 1000 + turn % 20;
    struct key_id id = key_of(number);

    if (put_sized(w->f, number, turn % 20, NULL) ||
        key_file_get(w->f, id, &b, NULL) || !b || !key_is(b, number))
        return false;
    if (turn % 4 == 3 && !keep_all_workers(w->f)) return false;
    number = (w->number + 1) % 4 * 1000 + turn % 20;    /* of another worker */
    if (key_file_get(w->f, key_of(number), &b, NULL)) return false;
    return !b || key_is(b, number);
}

static void *run_worker(void *arg)
{
    struct worker *w = arg;

    for (int i = 0; i < 120 && !w->bad; i++) w->bad = !work(w, i);
    return NULL;
}

TEST(threads_share_a_file)
{
    pthread_t thread[4];
    struct worker w[4];
    struct fix x;

    if (!setup(&x, ROOM)) return;
    for (int i = 0; i < 4; i++) {
        w[i] = (struct worker){ x.f, i, false };
        CHECK(!pthread_create(&thread[i], NULL, run_worker, &w[i]));
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
        CHECK(!w[i].bad);
    }
    CHECK_INT(stats(&x).pairs, 4 * 20);
    check_sound(x.path);
    teardown(&x);
}

static void join_all(pid_t *pid, int n)
{
    for (int i = 0; i < n; i++) {
        int status = -1;

        waitpid(pid[i], &status, 0);
        CHECK_INT(status, 0);
    }
}

/* All processes try to create the file at the same time. They must use the same
 * file. */
TEST(processes_share_a_file)
{
    enum { CHILDREN = 4 };
    pid_t pid[CHILDREN];
    struct fix x;

    if (!setup(&x, ROOM)) return;
    for (int turn = 0; turn < 5; turn++) {
        key_file_close(x.f);
        remove_all(&x);
        for (int c = 0; c < CHILDREN; c++) {
            struct worker w = { .number = c };

            fflush(stdout);
            pid[c] = fork();
            if (pid[c]) continue;
            if (!again(&x, ROOM)) _exit(1);
            w.f = x.f;
            run_worker(&w);
            key_file_close(w.f);
            _exit(w.bad);
        }
        join_all(pid, CHILDREN);
        if (!again(&x, ROOM)) break;
        CHECK_INT(stats(&x).pairs, CHILDREN * 20);
        check_sound(x.path);
    }
    teardown(&x);
}

TEST(two_connections_of_a_process)
{
    struct key_file_kind kind = kind_of(KEY_INT8);
    struct key_file *g;
    struct fix x;

    if (!setup(&x, 10 * EACH)) return;
    REQUIRE_OK(key_file_open(&g, x.path, &kind, ROOM, &x.e), &x.e);
    for (int i = 0; i < 10; i++) put(&x, i);
    CHECK_OK(put_sized(g, 20, 3, &x.e), &x.e);  /* its limit is higher */
    CHECK_INT(stats(&x).pairs, 11);
    CHECK(reads(&x, 20) && reads(&x, 0));
    put(&x, 21);
    CHECK_INT(stats(&x).pairs, 9);
    key_file_close(g);
    CHECK(reads(&x, 0) && reads(&x, 20) && reads(&x, 21));
    check_sound(x.path);
    teardown(&x);
}

static void *hold_for_a_while(void *arg)
{
    struct timespec t = { .tv_nsec = 60 * 1000000 };

    nanosleep(&t, NULL);
    sqlite3_close(arg);
    return NULL;
}

/* The process that creates a file changes the journal mode last. Another
 * process may open the file before that, and must wait. */
TEST(the_log_is_waited_for)
{
    sqlite3 *other;
    pthread_t thread;
    struct fix x;

    if (!setup(&x, ROOM)) return;
    key_file_close(x.f);
    x.f = NULL;
    sql(x.path, "PRAGMA journal_mode = DELETE");
    REQUIRE(!sqlite3_open(x.path, &other));
    CHECK(!sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL));
    REQUIRE(!pthread_create(&thread, NULL, hold_for_a_while, other));
    CHECK(again(&x, ROOM));
    pthread_join(thread, NULL);
    CHECK_INT(sql(x.path, "SELECT journal_mode = 'wal' FROM"
                  " pragma_journal_mode"), 1);
    teardown(&x);
}

/* Another connection holds the write lock for longer than this one waits. */
TEST(a_busy_file_is_told)
{
    struct key_file_kind kind = kind_of(KEY_INT8);
    struct key_file_sql db;
    sqlite3 *other;
    struct fix x;
    int rc;

    if (!setup(&x, ROOM)) return;
    REQUIRE_OK(key_file_sql_open(&db, x.path, &kind, &x.e), &x.e);
    REQUIRE(!sqlite3_open(x.path, &other));
    CHECK(!sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL));
    key_file_sql_wait(&db, 20);
    rc = key_file_sql_run(&db, KEY_FILE_SQL_BEGIN, SQL_NONE);
    CHECK_INT(rc & 0xff, SQLITE_BUSY);
    CHECK_INT(key_file_sql_failed(&db, rc, &x.e), ST_IO);
    CHECK(strstr(x.e.msg, "kept the file locked") != NULL);
    CHECK(!reads(&x, 1));       /* readers do not wait */
    sqlite3_close(other);
    CHECK_INT(key_file_sql_run(&db, KEY_FILE_SQL_BEGIN, SQL_NONE), SQLITE_OK);
    key_file_sql_undo(&db);
    key_file_sql_close(&db);
    teardown(&x);
}

/* ---- killed processes ---------------------------------------------------- */

static void pause_us(int us)
{
    struct timespec t = { .tv_nsec = us * 1000L };

    nanosleep(&t, NULL);
}

/* Remove all but the last 40 pairs, and compact the file. */
static bool drop_older(struct fix *x, int number)
{
    struct key_id ids[40];
    uint64_t removed;

    for (int i = 0; i < 40; i++) ids[i] = key_of(number - i);
    qsort(ids, 40, sizeof *ids, key_id_compare);
    return !key_file_keep_only(x->f, ids, 40, &removed, &x->e) &&
           !key_file_compact(x->f, &x->e);
}

/* Store, read, remove and compact until the process is killed. Writes the
 * number of each stored pair to `out`. */
_Noreturn static void work_until_killed(struct fix *x, int turn, int out)
{
    struct err e;

    if (!again(x, 60 * EACH)) _exit(1);
    for (int i = 0;; i++) {
        int number = turn * 1000 + i % 1000;
        struct pair_keys *b = NULL;

        if (put_sized(x->f, number, 3, &e) ||
            key_file_get(x->f, key_of(number / 2), &b, &e))
            _exit(2);
        pair_keys_drop(b);
        if (i % 5 == 4 && !drop_older(x, number)) _exit(3);
        if (write(out, &number, sizeof number) != sizeof number) _exit(4);
    }
}

static void kill_once(struct fix *x, int turn, int after_us)
{
    int to[2], status, said, last = -1, n = 0;
    pid_t pid;

    REQUIRE(!pipe(to));
    fcntl(to[1], F_SETPIPE_SZ, 1 << 20);
    fflush(stdout);
    pid = fork();
    if (!pid) {
        close(to[0]);
        work_until_killed(x, turn, to[1]);
    }
    close(to[1]);
    pause_us(after_us);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    CHECK(WIFSIGNALED(status));
    while (read(to[0], &said, sizeof said) == sizeof said) last = said;
    close(to[0]);
    if (!again(x, 60 * EACH)) return;
    if (last >= 0) CHECK(reads(x, last));
    for (int i = 0; i < 1000 * (turn + 1); i++) n += reads(x, i);
    CHECK_INT(n, stats(x).pairs);
    CHECK(stats(x).bytes <= 60 * EACH);
    key_file_close(x->f);
    x->f = NULL;
    check_sound(x->path);
}

TEST(killed_at_any_moment_it_opens_again)
{
    struct fix x;

    if (!setup(&x, ROOM)) return;
    key_file_close(x.f);
    for (int i = 0; i < 12; i++) kill_once(&x, i, 3000 + i * 4711);
    x.f = NULL;
    teardown(&x);
}

/* The process may also be killed while it creates the file. */
TEST(killed_while_it_is_made_it_opens_again)
{
    int status;
    struct fix x;
    pid_t pid;

    if (!setup(&x, ROOM)) return;
    for (int i = 0; i < 60; i++) {
        key_file_close(x.f);
        remove_all(&x);
        fflush(stdout);
        pid = fork();
        if (!pid) _exit(!again(&x, ROOM));
        pause_us(i * 40);
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        if (!again(&x, ROOM)) break;
        put(&x, 1);
        CHECK(reads(&x, 1));
    }
    check_sound(x.path);
    teardown(&x);
}

/* Store 20 pairs in a process that is killed, so that the log of the file
 * remains. */
static bool leave_log(struct fix *x)
{
    int status;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (!pid) {
        again(x, ROOM);
        for (int i = 0; i < 20; i++) put(x, i);
        kill(getpid(), SIGKILL);
    }
    waitpid(pid, &status, 0);
    return CHECK(!access(beside(x, "-wal"), F_OK));
}

/* If a user deletes the file but not its log, the new file is empty. Nothing of
 * the old log is applied to it. */
TEST(an_old_log_is_not_applied)
{
    struct fix x;

    if (!setup(&x, ROOM)) return;
    key_file_close(x.f);
    x.f = NULL;
    if (!leave_log(&x)) return;
    again(&x, ROOM);
    CHECK_INT(stats(&x).pairs, 20);
    key_file_close(x.f);
    unlink(x.path);
    if (!leave_log(&x)) return;
    unlink(x.path);
    again(&x, ROOM);
    CHECK_INT(stats(&x).pairs, 0);
    CHECK(!reads(&x, 1));
    put(&x, 1);
    check_sound(x.path);
    teardown(&x);
}

/* ---- full disks and read-only files -------------------------------------- */

/* Runs in a child process, because the limit on file sizes cannot be raised
 * again. */
static int fill_until_refused(struct fix *x)
{
    struct rlimit limit = { 200000, 200000 };
    enum status st = ST_OK;
    int n = 0;

    signal(SIGXFSZ, SIG_IGN);
    if (!again(x, ROOM) || setrlimit(RLIMIT_FSIZE, &limit)) return 1;
    while (!st && n < 5000) st = put_sized(x->f, n++, 30, &x->e);
    if (st != ST_IO || !strstr(x->e.msg, "nothing was changed")) return 2;
    if (stats(x).pairs != (uint64_t)n - 1) return 3;
    for (int i = 0; i < n - 1; i++)
        if (!reads(x, i)) return 4;
    if (reads(x, n - 1)) return 5;
    key_file_close(x->f);
    return 0;
}

TEST(a_full_disk_is_told_and_leaves_all_as_it_was)
{
    struct fix x;
    int status;
    pid_t pid;

    if (!setup(&x, ROOM)) return;
    key_file_close(x.f);
    fflush(stdout);
    pid = fork();
    if (!pid) _exit(fill_until_refused(&x));
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
    again(&x, ROOM);
    CHECK(stats(&x).pairs > 2 && reads(&x, 0));
    put(&x, 6000);
    CHECK(reads(&x, 6000));
    check_sound(x.path);
    teardown(&x);
}

/* Run fn in a process of a user who may not write to the folder. */
static int as_nobody(int (*fn)(struct fix *x), struct fix *x)
{
    int status = -1;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (!pid) {
        if (!geteuid() && (setgid(65534) || setuid(65534))) _exit(99);
        _exit(fn(x));
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int only_reads(struct fix *x)
{
    uint64_t removed;

    if (!again(x, ROOM)) return 1;
    if (!stats(x).read_only || stats(x).pairs != 20) return 2;
    if (!reads(x, 0) || !reads(x, 19) || reads(x, 20)) return 3;
    if (put_sized(x->f, 20, 3, &x->e)) return 4;
    if (reads(x, 20) || stats(x).pairs != 20) return 4;
    if (key_file_keep_only(x->f, NULL, 0, &removed, &x->e) != ST_IO) return 5;
    if (removed || !strstr(x->e.msg, "the key file is read-only")) return 5;
    if (key_file_compact(x->f, &x->e)) return 5;
    key_file_close(x->f);
    if (!again(x, ROOM)) return 6;
    if (!reads(x, 3)) return 7;
    key_file_close(x->f);
    return 0;
}

static int finds_log(struct fix *x)
{
    check_refused(x, ST_IO, "-wal");
    return strstr(x->e.msg, "-wal") ? 0 : 1;
}

static int finds_version_1(struct fix *x)
{
    check_refused(x, ST_VERSION, "was made by an older version");
    return strstr(x->e.msg, "older version") ? 0 : 1;
}

static int finds_nothing(struct fix *x)
{
    check_refused(x, ST_IO, "the key file is empty and read-only");
    return strstr(x->e.msg, "is empty") ? 0 : 1;
}

static int cannot_make_it(struct fix *x)
{
    check_refused(x, ST_IO, "cannot create the key file: Permission denied");
    return strstr(x->e.msg, "Permission denied") ? 0 : 1;
}

TEST(a_file_that_can_only_be_read)
{
    struct fix x;

    if (!setup(&x, ROOM)) return;
    key_file_close(x.f);
    snprintf(x.path, sizeof x.path, "%s/a%%20b?c#d", x.dir.dir);
    if (!again(&x, ROOM)) return;
    for (int i = 0; i < 20; i++) put(&x, i);
    key_file_close(x.f);
    x.f = NULL;
    CHECK(!chmod(x.path, 0444));
    CHECK(!chmod(x.dir.dir, 0555));
    CHECK_INT(as_nobody(only_reads, &x), 0);
    CHECK(!chmod(x.dir.dir, 0777));
    CHECK_INT(as_nobody(only_reads, &x), 0);
    CHECK(!chmod(x.dir.dir, 0755));
    CHECK(!chmod(x.path, 0644));
    sql(x.path, "PRAGMA user_version = 1");
    CHECK(!chmod(x.path, 0444));
    CHECK_INT(as_nobody(finds_version_1, &x), 0);
    CHECK(!chmod(x.path, 0644));
    remove_all(&x);
    if (!leave_log(&x)) return;
    CHECK(!chmod(x.path, 0444));
    CHECK(!chmod(beside(&x, "-wal"), 0444));
    unlink(beside(&x, "-shm"));
    CHECK(!chmod(x.dir.dir, 0555));
    CHECK_INT(as_nobody(finds_log, &x), 0);
    CHECK(!chmod(x.dir.dir, 0755));
    remove_all(&x);
    spill(x.path, "", 0);
    CHECK(!chmod(x.path, 0444) && !chmod(x.dir.dir, 0555));
    CHECK_INT(as_nobody(finds_nothing, &x), 0);
    CHECK(!chmod(x.dir.dir, 0755));
    remove_all(&x);
    CHECK(!chmod(x.dir.dir, 0555));
    CHECK_INT(as_nobody(cannot_make_it, &x), 0);
    CHECK(!chmod(x.dir.dir, 0755));
    teardown(&x);
}
