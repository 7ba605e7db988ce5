/* test_base.c - tests of src/base: errors, string buffers, memory, files,
 * threads, the CPU and the clock. */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/strbuf.h"
#include "test.h"

/* ---- err ------------------------------------------------------------- */

TEST(err_holds_a_status_and_a_sentence)
{
    struct err e;

    CHECK_INT(err_set(&e, ST_IO, "%s: %d", "file", 3), ST_IO);
    CHECK_INT(e.status, ST_IO);
    CHECK_STR(e.msg, "file: 3");
    CHECK_INT(err_set(NULL, ST_TEXT, "x"), ST_TEXT);
    CHECK_INT(err_nomem(&e, "rows"), ST_NOMEM);
    CHECK_STR(e.msg, "out of memory (rows)");
    err_clear(&e);
    CHECK(e.status == ST_OK && !e.msg[0]);
    err_clear(NULL);
    for (int i = 0; i <= ST_DEVICE; i++)
        CHECK(status_text((enum status)i)[0] != '\0');
}

/* A message that is too long ends in "...", never inside a character. */
TEST(err_cuts_between_characters)
{
    char text[900];
    struct err e;

    for (int shift = 0; shift < 4; shift++) {
        size_t n, at = (size_t)shift;

        memset(text, 'x', at);
        for (; at + 4 < sizeof text; at += 3)
            memcpy(text + at, "\xe2\x82\xac", 3);       /* the euro sign */
        text[at] = '\0';
        err_set(&e, ST_IO, "%s", text);
        n = strlen(e.msg);
        CHECK(n < sizeof e.msg && n > sizeof e.msg - 8);
        CHECK_STR(e.msg + n - 3, "...");
        CHECK_INT((n - 3 - (size_t)shift) % 3, 0);
    }
    text[499] = '\0';
    memset(text, 'y', 499);
    err_set(&e, ST_IO, "%s", text);
    CHECK_STR(e.msg, text);                             /* just fits */
}

/* ---- strbuf ---------------------------------------------------------- */

TEST(strbuf_grows_and_ends_in_nul)
{
    struct strbuf sb;

    strbuf_init(&sb, 0);
    CHECK_STR(sb.data, "");
    for (int i = 0; i < 1000; i++) {
        CHECK(strbuf_addc(&sb, (char)('a' + i % 26)));
        CHECK_INT(sb.data[sb.len], 0);
    }
    CHECK_INT(sb.len, 1000);
    CHECK(strbuf_addf(&sb, "%d-%s", 42, "x"));
    CHECK_STR(sb.data + 1000, "42-x");
    CHECK(strbuf_adds(&sb, "") && strbuf_add(&sb, NULL, 0));
    CHECK(strbuf_addf(&sb, "%s", ""));
    CHECK_INT(sb.len, 1004);
    strbuf_reset(&sb);
    CHECK_STR(sb.data, "");
    CHECK(sb.cap > 1000);
    strbuf_release(&sb);
    CHECK_STR(sb.data, "");
    strbuf_release(&sb);
}

/* The limit is the length of the longest text. An append that does not fit
 * leaves the text unchanged. */
TEST(strbuf_keeps_its_limit)
{
    struct strbuf sb;

    strbuf_init(&sb, 5);
    CHECK(strbuf_adds(&sb, "1234"));
    CHECK(!strbuf_adds(&sb, "56"));
    CHECK(!strbuf_addf(&sb, "%d", 56));
    CHECK_STR(sb.data, "1234");
    CHECK(strbuf_addc(&sb, '5'));
    CHECK(!strbuf_addc(&sb, '6'));
    CHECK(!strbuf_reserve(&sb, SIZE_MAX));
    CHECK(!strbuf_reserve(&sb, SIZE_MAX / 2));
    CHECK_STR(sb.data, "12345");
    strbuf_release(&sb);
    CHECK_INT(sb.limit, 5);
}

TEST(strbuf_take_moves_the_text)
{
    struct strbuf sb;
    char *s;

    strbuf_init(&sb, 0);
    s = strbuf_take(&sb);
    CHECK_STR(s, "");
    free(s);
    strbuf_adds(&sb, "abc");
    s = strbuf_take(&sb);
    CHECK_STR(s, "abc");
    CHECK(sb.len == 0 && sb.cap == 0);
    free(s);
    strbuf_release(&sb);
}

/* ---- mem ------------------------------------------------------------- */

TEST(mem_is_aligned_and_checks_products)
{
    for (size_t n = 0; n < 200; n += 7) {
        unsigned char *p = mem_zalloc(n, 3);

        REQUIRE(p != NULL);
        CHECK_INT((uintptr_t)p % MEM_ALIGN, 0);
        for (size_t i = 0; i < 3 * n; i++) CHECK(p[i] == 0);
        memset(p, 1, 3 * n);
        mem_free(p);
    }
    CHECK(mem_alloc(SIZE_MAX / 2, 3) == NULL);
    CHECK(mem_alloc(SIZE_MAX, 1) == NULL);
    CHECK(mem_zalloc(SIZE_MAX / 4, 8) == NULL);
    mem_free(NULL);
}

TEST(mem_grow_keeps_what_is_there)
{
    int *p = NULL;
    size_t cap = 0;

    for (size_t i = 0; i < 5000; i++) {
        REQUIRE(mem_grow(&p, &cap, i + 1, sizeof *p));
        CHECK(cap >= i + 1);
        p[i] = (int)i;
    }
    for (int i = 0; i < 5000; i++) CHECK_INT(p[i], i);
    CHECK(!mem_grow(&p, &cap, SIZE_MAX / 2, sizeof *p));
    CHECK_INT(p[4999], 4999);
    free(p);
}

/* ---- files ----------------------------------------------------------- */

static char dir[] = "/tmp/skmt-base-XXXXXX";

static const char *in_dir(const char *name)
{
    static char path[4][64];
    static int turn;
    char *p = path[turn++ % 4];

    if (strstr(dir, "XXXXXX") && !mkdtemp(dir)) abort();
    snprintf(p, sizeof path[0], "%s/%s", dir, name);
    return p;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (!f || fputs(text, f) < 0 || fclose(f)) abort();
}

static void check_content(const char *path, const char *want)
{
    struct err e;
    char *text;
    size_t n;

    REQUIRE_OK(file_read(&text, &n, path, 1 << 20, &e), &e);
    CHECK_STR(text, want);
    CHECK_INT(n, strlen(want));
    free(text);
}

static int count_files(void)
{
    DIR *d = opendir(dir);
    int n = 0;

    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

TEST(file_read_takes_whole_files_up_to_a_limit)
{
    const char *path = in_dir("read");
    char *big = calloc(1, 10001), *text;
    struct err e;
    size_t n;

    memset(big, 'z', 10000);
    write_file(path, big);
    check_content(path, big);
    CHECK_OK(file_read(&text, &n, path, 10000, &e), &e);
    free(text);
    CHECK_INT(file_read(&text, &n, path, 9999, &e), ST_LIMIT);
    CHECK(text == NULL && strstr(e.msg, "larger than 9999 bytes"));
    for (int k = 4090; k < 4100; k++) {         /* around the first block */
        big[k] = '\0';
        write_file(path, big);
        check_content(path, big);
        big[k] = 'z';
    }
    write_file(path, "");
    check_content(path, "");
    CHECK_INT(file_read(&text, &n, in_dir("missing"), 10, &e), ST_IO);
    CHECK(strstr(e.msg, "missing: No such file"));
    CHECK_INT(file_read(&text, &n, dir, 10, &e), ST_IO);
    unlink(path);
    free(big);
}

TEST(mapping_shows_the_bytes)
{
    const char *path = in_dir("mapped");
    struct mapping m;
    struct err e;

    write_file(path, "hello");
    REQUIRE_OK(mapping_open(&m, path, &e), &e);
    CHECK_INT(m.size, 5);
    CHECK_MEM(m.data, "hello", 5);
    mapping_close(&m);
    CHECK(m.data == NULL);
    mapping_close(&m);
    write_file(path, "");
    CHECK_OK(mapping_open(&m, path, &e), &e);
    CHECK(m.data == NULL && m.size == 0);
    mapping_close(&m);
    CHECK_INT(mapping_open(&m, dir, &e), ST_IO);
    CHECK(strstr(e.msg, "not a regular file"));
    CHECK_INT(mapping_open(&m, in_dir("missing"), &e), ST_IO);
    unlink(path);
}

TEST(a_replacement_appears_whole)
{
    const char *path = in_dir("replaced");
    struct replacement r;
    struct err e;

    write_file(path, "old");
    REQUIRE_OK(replacement_begin(&r, path, &e), &e);
    CHECK_OK(replacement_write(&r, "0000 and more", 13, &e), &e);
    CHECK_OK(replacement_patch(&r, 0, "1234", 4, &e), &e);
    CHECK_OK(replacement_write(&r, "!", 1, &e), &e);
    CHECK_INT(r.size, 14);
    check_content(path, "old");
    CHECK_OK(replacement_commit(&r, &e), &e);
    check_content(path, "1234 and more!");
    replacement_abort(&r);                      /* a no-op now */
    check_content(path, "1234 and more!");
    CHECK_INT(count_files(), 1);
    unlink(path);
}

TEST(an_aborted_replacement_leaves_the_old_file)
{
    const char *path = in_dir("kept");
    struct replacement r;
    struct err e;

    write_file(path, "old");
    REQUIRE_OK(replacement_begin(&r, path, &e), &e);
    CHECK_OK(replacement_write(&r, "new", 3, &e), &e);
    CHECK_INT(count_files(), 2);
    replacement_abort(&r);
    CHECK_INT(count_files(), 1);
    check_content(path, "old");
    unlink(path);
}

/* On a full disk, the write fails, and so does the commit. */
TEST(a_full_disk_leaves_the_old_file)
{
    const char *path = in_dir("full");
    int full = open("/dev/full", O_WRONLY);
    struct replacement r;
    struct err e;

    if (full < 0) SKIP("there is no /dev/full here");
    write_file(path, "old");
    REQUIRE_OK(replacement_begin(&r, path, &e), &e);
    CHECK(dup2(full, r.fd) >= 0);
    CHECK_INT(replacement_write(&r, "new", 3, &e), ST_IO);
    CHECK(strstr(e.msg, "full: No space left"));
    CHECK_INT(r.size, 0);
    CHECK(replacement_commit(&r, &e) != ST_OK);         /* cannot be synced */
    check_content(path, "old");
    CHECK_INT(count_files(), 1);
    unlink(path);
    close(full);
}

TEST(a_replacement_is_not_for_pipes)
{
    struct replacement r;
    struct stat sb;
    struct err e;
    const char *path = in_dir("pipe");

    REQUIRE(!mkfifo(path, 0600));
    CHECK_INT(replacement_begin(&r, path, &e), ST_IO);
    CHECK(strstr(e.msg, "not a regular file"));
    CHECK(!stat(path, &sb) && S_ISFIFO(sb.st_mode));
    unlink(path);
}

TEST(a_replacement_needs_its_folder)
{
    struct replacement r;
    struct err e;

    CHECK_INT(replacement_begin(&r, in_dir("no/such/file"), &e), ST_IO);
    CHECK(strstr(e.msg, "no/such/file: No such file"));
    replacement_abort(&r);
    rmdir(dir);
}

/* ---- pool ------------------------------------------------------------ */

struct sum { atomic_int calls; int part[4], n_parts; };

static void add_part(void *arg, int part, int n_parts)
{
    struct sum *s = arg;

    atomic_fetch_add(&s->calls, 1);
    s->part[part]++;            /* no other thread works on this part */
    if (part == 0) s->n_parts = n_parts;
}

static void check_pool(int threads, int runs)
{
    struct sum s = { 0 };
    struct pool *p;
    struct err e;

    REQUIRE_OK(pool_new(&p, threads, &e), &e);
    CHECK_INT(pool_threads(p), threads);
    for (int i = 0; i < runs; i++) {
        pool_run(p, add_part, &s);
        /* All parts are done when pool_run() returns, so reading the counts
         * needs no fence. */
        if (atomic_load(&s.calls) != (i + 1) * threads) {
            test_fail(__FILE__, __LINE__, "run %d: %d calls", i,
                      atomic_load(&s.calls));
            break;
        }
        if (i % 1000 == 999) usleep(300);       /* let the threads sleep */
    }
    for (int i = 0; i < threads; i++) CHECK_INT(s.part[i], runs);
    CHECK_INT(s.n_parts, threads);
    pool_free(p);
}

TEST(pool_runs_each_part_once)
{
    check_pool(1, 10000);
    check_pool(2, 10000);
    check_pool(3, 10000);
}

/* Each pool is freed right after a run: no thread may take another part. */
TEST(pools_come_and_go)
{
    struct sum s = { 0 };
    struct err e;
    int calls = 0;

    for (int i = 0; i < 1000; i++) {
        int n = 1 + i % 4;
        struct pool *p;

        REQUIRE_OK(pool_new(&p, n, &e), &e);
        for (int k = 0; k < i % 3; k++, calls += n)
            pool_run(p, add_part, &s);
        pool_free(p);
        CHECK_INT(atomic_load(&s.calls), calls);
    }
    CHECK_INT(pool_threads(NULL), 1);
    pool_run(NULL, add_part, &s);
    CHECK_INT(s.n_parts, 1);
    pool_free(NULL);
}

/* ---- CPU and clock --------------------------------------------------- */

TEST(isa_names_read_back)
{
    enum isa isa;

    for (enum isa i = ISA_REF; i < ISA_COUNT; i++)
        CHECK(isa_parse(isa_name(i), &isa) && isa == i);
    CHECK(!isa_parse("sse9", &isa) && !isa_parse("", &isa));
    CHECK(cpu_best_isa() < ISA_COUNT);
    CHECK(strlen(cpu_name()) > 0);
}

TEST(the_clock_goes_forward)
{
    double t = clock_seconds();

    usleep(2000);
    CHECK(clock_seconds() > t + 0.001);
    CHECK(peak_rss_mb() >= 0);
}
