/* test_datastore_faults.c - datastore files whose writers are interrupted at
 * every write, killed, or out of space, and files that are read while they are
 * written.
 *
 * The calls of the writer that change the file are wrapped (see the Makefile).
 * A test records them, and then makes the files that a crash after each of them
 * can leave: a process that is killed leaves all calls before, and a part of
 * the last one; a power failure leaves what was flushed, and any part of
 * the rest. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "datastore_fix.h"
#include "knn/datastore_format.h"

/* ---- the calls ----------------------------------------------------------- */

enum call_kind { CALL_WRITE, CALL_CUT, CALL_FLUSH, CALL_ACK };
struct call {
    enum call_kind kind;
    uint64_t at;                /* CALL_ACK: the state that was committed */
    size_t n;
    uint8_t *bytes;
};

static struct call calls[4000];
static int n_calls;
static bool recording;
static int fail_at = -1;        /* this call fails, and all after it */
static int fail_with;

ssize_t __real_pwrite(int fd, const void *p, size_t n, off_t at);
int __real_ftruncate(int fd, off_t n);
ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t at);
int __wrap_fdatasync(int fd);
int __wrap_ftruncate(int fd, off_t n);

static void record(enum call_kind kind, uint64_t at, const void *p, size_t n)
{
    struct call *c = &calls[n_calls];

    if (!recording || n_calls == (int)COUNT(calls)) return;
    *c = (struct call){ kind, at, n, malloc(n + 1) };
    if (n && p) memcpy(c->bytes, p, n);
    n_calls++;
}

static bool injected(void)
{
    if (fail_at < 0 || fail_at-- > 0) return false;
    fail_at = 0;
    errno = fail_with;
    return true;
}

ssize_t __wrap_pwrite(int fd, const void *p, size_t n, off_t at)
{
    if (injected()) {
        if (n > 1) __real_pwrite(fd, p, n / 2, at);
        errno = fail_with;
        return -1;
    }
    record(CALL_WRITE, (uint64_t)at, p, n);
    return __real_pwrite(fd, p, n, at);
}

int __wrap_fdatasync(int fd)
{
    (void)fd;                   /* the disk is simulated */
    if (injected()) return -1;
    record(CALL_FLUSH, 0, NULL, 0);
    return 0;
}

int __wrap_ftruncate(int fd, off_t n)
{
    record(CALL_CUT, (uint64_t)n, NULL, 0);
    return __real_ftruncate(fd, n);
}

/* ---- what is done, and what must be there -------------------------------- */

/* Step i of the work. The states are what a file has after each step. */
static const int states[][12] = {
    { 0 },
    { 3, 0, 1, 2 },
    { 6, 0, 1, 2, 3, 4, 5 },
    { 6, 0, -1, 2, 3, -1, 5 },
    { 9, 0, -1, 2, 3, -1, 5, 6, 7, 8 },
    { 9, 0, -1, 2, -1, -1, 5, 6, 7, 8 },
    { 10, 0, -1, 2, -1, -1, 5, 6, 7, 8, 9 },
};
enum { LAST_STATE = COUNT(states) - 1 };

static struct datastore_kind work_kind(void)
{
    struct datastore_kind k = store_kind(ENTRY_INT8, 16);

    k.has_sources = true;
    return k;
}

static enum status add_some(struct datastore_writer *w, int from, int to,
                            struct err *e)
{
    struct datastore_kind k = work_kind();
    enum status st = ST_OK;

    for (int i = from; !st && i < to; i++) st = store_add(w, &k, i, e);
    return st;
}

/* Go from state `from` to the next one. */
static enum status step(struct datastore_writer *w, int from, struct err *e)
{
    enum status st = ST_OK;

    switch (from) {
    case 0: st = add_some(w, 0, 3, e); break;
    case 1: st = add_some(w, 3, 6, e); break;
    case 2: st = datastore_writer_delete(w, (int32_t[]){ 4, 1 }, 2, e); break;
    case 3: st = add_some(w, 6, 9, e); break;
    case 4: st = datastore_writer_delete(w, (int32_t[]){ 3 }, 1, e); break;
    default:
        st = add_some(w, 9, 10, e);
        return st ? st : datastore_writer_finish(w, e);
    }
    return st ? st : datastore_writer_commit(w, from + 1, e);
}

/* Do all steps from a state on. A new writer does each, so that a crash may
 * also hit the opening of a file. Returns the last state that was
 * acknowledged; -1: not even the file. */
static int do_work(const char *path, int from, struct err *e)
{
    struct datastore_kind k = work_kind();
    struct datastore_writer *w;
    enum status st = ST_OK;

    if (from < 0) {
        st = datastore_writer_create(&w, path, &k, NULL, e);
        if (st) return from;
        record(CALL_ACK, 0, NULL, 0);
        from = 0;
        datastore_writer_set_block(w, 40);
    } else if (datastore_writer_open(&w, path, e)) {
        return from;
    }
    for (; from < LAST_STATE; from++) {
        st = step(w, from, e);
        if (st) break;
        record(CALL_ACK, (uint64_t)from + 1, NULL, 0);
        if (from % 2) continue;
        datastore_writer_close(w);
        if (datastore_writer_open(&w, path, e)) return from + 1;
        datastore_writer_set_block(w, 40);
    }
    datastore_writer_close(w);
    return from;
}

/* The state that a file has; -1: it is blank; -2: none of them. */
static int state_of(const char *path)
{
    struct datastore_kind k = work_kind();
    struct entries *s;
    struct err e;
    int found = -2;

    if (datastore_file_open(&s, path, &k.model, true, &e))
        return strstr(e.msg, "is empty") || strstr(e.msg, "No such file")
            ? -1 : -2;
    for (int i = 0; i <= LAST_STATE; i++)
        if (store_has(s, &k, states[i] + 1, states[i][0])) found = i;
    if (store_problems(s) > 1) found = -2;      /* a slot may be torn */
    entries_drop(s);
    return found;
}

/* ---- crashes ------------------------------------------------------------- */

struct fix { struct scratch dir; char path[100]; struct err e; };

static bool setup(struct fix *x)
{
    memset(x, 0, sizeof *x);
    if (!scratch_make_small(&x->dir)) return false;
    snprintf(x->path, sizeof x->path, "%s/a.knn", x->dir.dir);
    return true;
}

/* The files in the folder. */
static int scratch_count(const struct scratch *s)
{
    DIR *d = opendir(s->dir);
    int n = 0;

    if (!CHECK(d != NULL)) return 0;
    while (readdir(d)) n++;
    closedir(d);
    return n - 2;
}

static void teardown(struct fix *x)
{
    recording = false;
    for (int i = 0; i < n_calls; i++) free(calls[i].bytes);
    n_calls = 0;
    scratch_remove(&x->dir);
}

struct image { uint8_t *bytes; size_t n, cap; };

static void image_write(struct image *m, uint64_t at, const uint8_t *p,
                        size_t n)
{
    if (at + n > m->cap) {
        m->cap = 2 * (at + n);
        m->bytes = realloc(m->bytes, m->cap);
    }
    if (at + n > m->n) {
        memset(m->bytes + m->n, 0, at + n - m->n);
        m->n = at + n;
    }
    if (n) memcpy(m->bytes + at, p, n);
}

static void image_apply(struct image *m, const struct call *c)
{
    if (c->kind == CALL_WRITE) image_write(m, c->at, c->bytes, c->n);
    if (c->kind == CALL_CUT && c->at < m->n) m->n = c->at;
    if (c->kind == CALL_CUT && c->at > m->n) image_write(m, c->at, NULL, 0);
}

/* Apply some parts of a call. Disks write whole sectors of 512 bytes. Only the
 * creation of a file relies on that. */
static void image_tear(struct image *m, const struct call *c, uint64_t seed,
                       bool creation)
{
    size_t part = creation || c->n > DATASTORE_PAGE ? 512 : 64;

    if (c->kind == CALL_CUT && store_mix(seed) % 2) image_apply(m, c);
    if (c->kind != CALL_WRITE) return;
    for (size_t at = 0; at < c->n; at += part)
        if (store_mix(seed + at) % 3)
            image_write(m, c->at + at, c->bytes + at,
                        c->n - at < part ? c->n - at : part);
}

/* The last state that was acknowledged before call `end`. */
static int acknowledged(int end)
{
    int state = -1;

    for (int i = 0; i < end; i++)
        if (calls[i].kind == CALL_ACK) state = (int)calls[i].at;
    return state;
}

/* What a killed process leaves: `end` calls, and the first bytes of the
 * next. */
static void killed_image(struct image *m, int end, size_t bytes)
{
    m->n = 0;
    for (int i = 0; i < end; i++) image_apply(m, &calls[i]);
    if (end < n_calls && calls[end].kind == CALL_WRITE)
        image_write(m, calls[end].at, calls[end].bytes,
                    bytes < calls[end].n ? bytes : calls[end].n);
}

/* What a power failure after `end` calls leaves. */
static void failed_image(struct image *m, int end, uint64_t seed)
{
    int flushed = end;

    while (flushed > 0 && calls[flushed - 1].kind != CALL_FLUSH) flushed--;
    m->n = 0;
    for (int i = 0; i < flushed; i++) image_apply(m, &calls[i]);
    for (int i = flushed; i < end; i++)
        if (seed)
            image_tear(m, &calls[i], seed * 7919 + (uint64_t)i,
                       acknowledged(end) < 0);
}

/* The file must have what was acknowledged, or one state more, and the work
 * can be continued. */
static void check_image(struct fix *x, const struct image *m, int end,
                        const char *what, uint64_t seed)
{
    int least = acknowledged(end), got;

    store_spill(x->path, m->bytes, m->n);
    got = state_of(x->path);
    if (got < least || got > least + 1 || got < -1) {
        test_fail(__FILE__, __LINE__, "%s at call %d (%" PRIu64 "): state %d, "
                  "want %d", what, end, seed, got, least);
        return;
    }
    recording = false;
    if (do_work(x->path, got, &x->e) != LAST_STATE ||
        state_of(x->path) != LAST_STATE)
        test_fail(__FILE__, __LINE__, "%s at call %d (%" PRIu64 "): cannot "
                  "continue: %s", what, end, seed, x->e.msg);
}

TEST(a_crash_at_any_write_loses_nothing)
{
    struct image m = { 0 };
    struct fix x;

    if (!setup(&x)) return;
    recording = true;
    CHECK_INT(do_work(x.path, -1, &x.e), LAST_STATE);
    recording = false;
    CHECK(n_calls > 60 && n_calls < (int)COUNT(calls));
    CHECK_INT(state_of(x.path), LAST_STATE);
    for (int end = 0; end <= n_calls; end++) {
        static const size_t parts[] = { 0, 1, 100, 600, 4000, SIZE_MAX };

        for (size_t i = 0; i < COUNT(parts); i++) {
            killed_image(&m, end, parts[i]);
            check_image(&x, &m, end, "killed", parts[i]);
        }
        for (uint64_t seed = 0; seed < 6; seed++) {
            failed_image(&m, end, seed);
            check_image(&x, &m, end, "power failure", seed);
        }
    }
    free(m.bytes);
    teardown(&x);
}

/* Each call fails in turn, with all after it. The error is told, and the file
 * has what was acknowledged. */
TEST(an_error_at_any_write_is_told_and_loses_nothing)
{
    struct fix x;
    int done = -1;

    if (!setup(&x)) return;
    for (int at = 0; done != LAST_STATE && at < 1000; at++) {
        int state;

        unlink(x.path);
        fail_at = at;
        fail_with = at % 2 ? ENOSPC : EIO;
        x.e.msg[0] = 0;
        done = do_work(x.path, -1, &x.e);
        fail_at = -1;
        if (done != LAST_STATE &&
            !strstr(x.e.msg, strerror(at % 2 ? ENOSPC : EIO)))
            test_fail(__FILE__, __LINE__, "call %d: %s", at, x.e.msg);
        state = state_of(x.path);
        if (state != done && state != done + 1)
            test_fail(__FILE__, __LINE__, "call %d: state %d, want %d", at,
                      state, done);
        CHECK_INT(do_work(x.path, state, &x.e), LAST_STATE);
        CHECK_INT(state_of(x.path), LAST_STATE);
    }
    CHECK_INT(done, LAST_STATE);
    teardown(&x);
}

/* After an error a writer refuses to work. */
TEST(a_writer_stops_after_an_error)
{
    struct datastore_kind k = work_kind();
    struct datastore_writer *w;
    struct fix x;

    if (!setup(&x)) return;
    REQUIRE_OK(datastore_writer_create(&w, x.path, &k, NULL, &x.e), &x.e);
    CHECK_OK(step(w, 0, &x.e), &x.e);
    fail_at = 0;
    fail_with = ENOSPC;
    CHECK_INT(step(w, 1, &x.e), ST_IO);
    CHECK(strstr(x.e.msg, "No space left") != NULL);
    CHECK(strstr(x.e.msg, "has what was stored before") != NULL);
    fail_at = -1;
    CHECK_INT(step(w, 1, &x.e), ST_IO);
    CHECK(strstr(x.e.msg, "an earlier change has failed") != NULL);
    datastore_writer_close(w);
    CHECK_INT(state_of(x.path), 1);
    teardown(&x);
}

/* A new file that replaces an old one appears when it is complete. */
TEST(a_replacement_that_fails_leaves_the_old_file)
{
    struct datastore_kind k = work_kind();
    struct entries *s;
    struct fix x;
    int tries = 0;

    if (!setup(&x) || !store_write(x.path, &k, 8)) return;
    for (enum status st = ST_IO; st && tries < 100; tries++) {
        REQUIRE_OK(datastore_file_open(&s, x.path, NULL, false, &x.e), &x.e);
        fail_at = tries;
        fail_with = ENOSPC;
        st = datastore_copy(s, x.path, NULL, NULL, &x.e);
        fail_at = -1;
        entries_drop(s);
        store_check(x.path, &k, (int[]){ 0, 1, 2, 3, 4, 5, 6, 7 }, 8);
        CHECK_INT(scratch_count(&x.dir), 1);
    }
    CHECK(tries > 5 && tries < 100);
    teardown(&x);
}

/* ---- no memory ----------------------------------------------------------- */

static int allocations, refuse_at = -1; /* this one is refused */

static bool refused(void) { return allocations++ == refuse_at; }

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);

void *__wrap_malloc(size_t n) { return refused() ? NULL : __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t size)
{
    return refused() ? NULL : __real_calloc(n, size);
}
void *__wrap_realloc(void *p, size_t n)
{
    return refused() ? NULL : __real_realloc(p, n);
}
char *__wrap_strdup(const char *s)
{
    return refused() ? NULL : __real_strdup(s);
}

enum { FEW = 6 };

/* Write, change, open, check and copy a file. *n is the number of pairs that
 * were committed. */
static enum status use_all(const char *path, struct store_pair *p, int *n,
                           struct err *e)
{
    struct datastore_kind k = work_kind();
    struct datastore_writer *w = NULL;
    struct entries *s = NULL;
    char copy[120];
    enum status st = datastore_writer_create(&w, path, &k, NULL, e);

    *n = 0;
    snprintf(copy, sizeof copy, "%s.copy", path);
    for (int i = 0; !st && i < FEW; i++)
        st = datastore_writer_add(w, &p[i].it, e);
    if (!st) st = datastore_writer_finish(w, e);
    if (!st) *n = FEW;
    if (!st) st = datastore_writer_delete(w, (int32_t[]){ 1 }, 1, e);
    if (!st) st = datastore_writer_commit(w, 0, e);
    if (!st) st = datastore_file_open(&s, path, &k.model, false, e);
    if (!st) st = datastore_file_check(s, NULL, NULL, NULL, NULL, NULL, e);
    if (!st) st = datastore_copy(s, copy, NULL, NULL, e);
    entries_drop(s);
    datastore_writer_close(w);
    return st;
}

TEST(no_failed_allocation_spoils_a_file)
{
    struct datastore_kind k = work_kind();
    struct store_pair pairs[FEW];
    int n, all, bad = 0;
    struct fix x;

    if (!setup(&x)) return;
    for (int i = 0; i < FEW; i++) store_pair_make(&pairs[i], &k, i);
    allocations = 0;
    CHECK_OK(use_all(x.path, pairs, &n, &x.e), &x.e);
    all = allocations;
    CHECK(all > 40);
    for (int i = 0; i < all; i++) {
        struct entries *s;
        enum status st;

        unlink(x.path);
        err_clear(&x.e);
        allocations = 0;
        refuse_at = i;
        st = use_all(x.path, pairs, &n, &x.e);
        refuse_at = -1;
        bad += st != ST_OK;
        if (st && (st != ST_NOMEM || !strstr(x.e.msg, "memory")))
            test_fail(__FILE__, __LINE__, "allocation %d: %d, %s", i, (int)st,
                      x.e.msg);
        if (datastore_file_open(&s, x.path, NULL, true, &x.e)) {
            if (n) test_fail(__FILE__, __LINE__, "%d: %s", i, x.e.msg);
            continue;
        }
        CHECK_INT(s->n_pairs, n);
        entries_drop(s);
    }
    CHECK(bad > all * 3 / 4);
    for (int i = 0; i < FEW; i++) store_pair_release(&pairs[i]);
    teardown(&x);
}

/* ---- killed processes ---------------------------------------------------- */

/* Go through the states, and begin again from the first, until the process is
 * killed. Reports each state that was acknowledged. */
_Noreturn static void work_until_killed(const char *path, int out)
{
    struct datastore_kind k = work_kind();
    struct datastore_writer *w;
    struct err e;

    for (;;) {
        int state = -1;

        unlink(path);
        if (write(out, &state, sizeof state) != sizeof state) _exit(4);
        if (datastore_writer_create(&w, path, &k, NULL, &e)) _exit(1);
        for (state = 0; state < LAST_STATE;) {
            if (step(w, state, &e)) _exit(2);
            state++;
            if (write(out, &state, sizeof state) != sizeof state) _exit(4);
        }
        datastore_writer_close(w);
    }
}

TEST(killed_at_any_moment_it_opens_again)
{
    struct fix x;

    if (!setup(&x)) return;
    for (int turn = 0; turn < 40; turn++) {
        struct timespec t = { .tv_nsec = 200000 + turn * 77000 };
        int to[2], status, said, last = -1, got;
        pid_t pid;

        REQUIRE(!pipe(to));
        fcntl(to[1], F_SETPIPE_SZ, 1 << 20);
        fflush(stdout);
        pid = fork();
        if (!pid) {
            close(to[0]);
            work_until_killed(x.path, to[1]);
        }
        close(to[1]);
        nanosleep(&t, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        CHECK(WIFSIGNALED(status));
        while (read(to[0], &said, sizeof said) == sizeof said) last = said;
        close(to[0]);
        got = state_of(x.path);
        if (last >= 0) CHECK(got == last || got == last + 1 || got == -1);
        CHECK(got >= -1);
        CHECK_INT(do_work(x.path, got, &x.e), LAST_STATE);
        CHECK_INT(state_of(x.path), LAST_STATE);
    }
    teardown(&x);
}

/* ---- reading and writing at the same time -------------------------------- */

struct reading {
    const char *path;
    atomic_bool stop, bad;
    atomic_int opened;
};

static void *read_all_the_time(void *arg)
{
    struct datastore_kind k = work_kind();
    struct reading *r = arg;

    while (!atomic_load(&r->stop)) {
        struct entries *s;
        struct err e;

        if (datastore_file_open(&s, r->path, NULL, true, &e)) {
            test_fail(__FILE__, __LINE__, "%s", e.msg);
            return NULL;
        }
        if (!store_has_range(s, &k, 0, s->n_pairs)) r->bad = true;
        entries_drop(s);
        r->opened++;
    }
    return NULL;
}

TEST(a_file_is_read_while_it_is_written)
{
    struct datastore_kind k = work_kind();
    struct datastore_writer *w;
    struct reading r = { .path = NULL };
    pthread_t thread;
    struct fix x;

    if (!setup(&x)) return;
    r.path = x.path;
    REQUIRE_OK(datastore_writer_create(&w, x.path, &k, NULL, &x.e), &x.e);
    REQUIRE(!pthread_create(&thread, NULL, read_all_the_time, &r));
    for (int i = 0; i < 900 && (i < 150 || atomic_load(&r.opened) < 20); i++) {
        CHECK_OK(store_add(w, &k, i, &x.e), &x.e);
        CHECK_OK(datastore_writer_commit(w, i, &x.e), &x.e);
    }
    atomic_store(&r.stop, true);
    pthread_join(thread, NULL);
    CHECK(!r.bad);
    CHECK(r.opened > 0);
    CHECK_OK(datastore_writer_finish(w, &x.e), &x.e);
    datastore_writer_close(w);
    teardown(&x);
}
