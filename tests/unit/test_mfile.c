/* test_mfile.c - tests that a model file reads back as it was written, and that
 * every kind of damage is rejected with a message. */
#include <sys/stat.h>
#include <unistd.h>

#include "../fuzz/reseal.h"
#include "base/mem.h"
#include "model/mfile.h"
#include "model/mfile_write.h"
#include "test.h"

static const char config[] = "a=1\nb=2\n";

static char dir[] = "/tmp/skmt-mfile-XXXXXX";
static char path[64];

static void make_dir(void)
{
    if (path[0]) return;
    if (!mkdtemp(dir)) abort();
    snprintf(path, sizeof path, "%s/m.skmt", dir);
}

/* A copy of the file in memory, so that ASan sees reads outside it. The caller
 * frees it. */
static uint8_t *slurp(size_t *size)
{
    char *text;
    uint8_t *copy;
    struct err e;

    if (file_read(&text, size, path, 1 << 28, &e)) abort();
    copy = mem_alloc(*size, 1);
    memcpy(copy, text, *size);
    free(text);
    return copy;
}

/* Write four tensors: plain floats, a matrix in panels, ints, bytes. */
static enum status write_sample(struct err *e)
{
    static float vec[5] = { 1, 2, 3, 4, 5 };
    static uint8_t packed[64 * 8];
    static int32_t ints[6] = { 1, -2, 3 };
    struct mfile_writer *w;
    enum status st;

    make_dir();
    for (size_t i = 0; i < sizeof packed; i++) packed[i] = (uint8_t)i;
    st = mfile_writer_new(&w, path, config, sizeof config - 1, e);
    if (!st) st = mfile_writer_add(w, "v", DT_F32, 5, 1, vec, 20, e);
    if (!st) st = mfile_writer_add(w, "m.w", DT_I8, 3, 7, packed, 512, e);
    if (!st) st = mfile_writer_add(w, "ints", DT_I32, 2, 3, ints, 24, e);
    if (!st) st = mfile_writer_add(w, "tok", DT_BYTES, 3, 1, "abc", 3, e);
    if (!st) st = mfile_writer_commit(w, e);
    mfile_writer_free(w);
    return st;
}

static enum status open_bytes(const uint8_t *p, size_t n, struct err *e)
{
    struct mfile *f;
    enum status st = mfile_open_memory(&f, p, n, "m.skmt", e);

    mfile_close(f);
    return st;
}

TEST(mfile_reads_what_was_written)
{
    struct mfile *f;
    struct err e;
    size_t len;
    const struct mtensor *t;

    REQUIRE_OK(write_sample(&e), &e);
    REQUIRE_OK(mfile_open(&f, path, &e), &e);
    CHECK_STR(mfile_name(f), path);
    CHECK_INT(mfile_count(f), 4);
    CHECK_MEM(mfile_config(f, &len), config, sizeof config - 1);
    CHECK_INT(len, sizeof config - 1);
    t = mfile_find(f, "m.w");
    REQUIRE(t != NULL);
    CHECK(t == mfile_at(f, 1));
    CHECK_INT(t->type, DT_I8);
    CHECK_INT(t->layout, LAYOUT_PANELS);
    CHECK_INT(t->shape[0], 3);
    CHECK_INT(t->shape[1], 7);
    CHECK_INT(t->bytes, 512);
    CHECK_INT(((const uint8_t *)t->data)[300], 300 % 256);
    CHECK_INT((uintptr_t)t->data % 64, 0);
    CHECK_MEM(mfile_find(f, "tok")->data, "abc", 3);
    CHECK_INT(((const int32_t *)mfile_find(f, "ints")->data)[1], -2);
    CHECK(!mfile_find(f, "nope") && !mfile_find(f, ""));
    CHECK(!mfile_at(f, 4) && !mfile_at(f, -1));
    mfile_close(f);
    mfile_close(NULL);
}

TEST(mfile_is_the_same_every_time)
{
    struct err e;
    size_t n, m;
    uint8_t *a, *b;

    REQUIRE_OK(write_sample(&e), &e);
    a = slurp(&n);
    REQUIRE_OK(write_sample(&e), &e);
    b = slurp(&m);
    CHECK_INT(n, m);
    CHECK_MEM(a, b, n);
    mem_free(a);
    mem_free(b);
}

/* mem_alloc() would round the size up, and ASan would miss a read past the
 * end. */
TEST(mfile_refuses_every_truncation)
{
    struct err e;
    size_t n;
    uint8_t *all;

    REQUIRE_OK(write_sample(&e), &e);
    all = slurp(&n);
    for (size_t cut = 0; cut < n; cut += cut < 200 ? 1 : 64) {
        void *part = NULL;

        REQUIRE(posix_memalign(&part, 64, cut) == 0);
        memcpy(part, all, cut);
        CHECK(open_bytes(part, cut, &e) == ST_FORMAT);
        free(part);
    }
    CHECK_INT(open_bytes(all, n, &e), ST_OK);
    mem_free(all);
}

/* This includes the bytes between the parts: each byte of the file is under a
 * checksum or must be zero. */
TEST(mfile_refuses_every_flipped_byte)
{
    struct err e;
    size_t n;
    uint8_t *p;

    REQUIRE_OK(write_sample(&e), &e);
    p = slurp(&n);
    for (size_t i = 0; i < n; i++)
        for (int bit = 1; bit < 256; bit = bit == 1 ? 0x80 : bit << 1) {
            p[i] ^= (uint8_t)bit;
            if (open_bytes(p, n, &e) == ST_OK)
                test_fail(__FILE__, __LINE__, "byte %zu changed unseen", i);
            CHECK(e.msg[0] != 0);
            p[i] ^= (uint8_t)bit;
        }
    mem_free(p);
}

/* ---- damage with correct checksums ---- */

struct parts {
    uint8_t *p;
    size_t n;
    struct mfile_header *h;
    struct mfile_entry *dir;
};

static struct parts take(void)
{
    struct parts s;
    struct err e;

    if (write_sample(&e)) abort();
    s.p = slurp(&s.n);
    s.h = (void *)s.p;
    s.dir = (void *)(s.p + s.h->directory_offset);
    return s;
}

/* The file must be rejected with a message that contains `says`. */
static void refused(struct parts *s, bool sealed, const char *says)
{
    struct err e = { 0 };

    if (sealed) reseal(s->p, s->n);
    CHECK(open_bytes(s->p, s->n, &e) != ST_OK);
    if (!strstr(e.msg, says))
        test_fail(__FILE__, __LINE__, "\"%s\" lacks \"%s\"", e.msg, says);
    if (strncmp(e.msg, "m.skmt: ", 8))
        test_fail(__FILE__, __LINE__, "\"%s\" lacks the name", e.msg);
    mem_free(s->p);
}

#define REFUSED(sealed, change, says) do {                                \
    struct parts s = take();                                              \
    change;                                                               \
    refused(&s, sealed, says); } while (0)

TEST(mfile_says_what_is_wrong_with_the_header)
{
    REFUSED(false, s.h->version = 7, "made by a newer skmt (version 7); "
            "this one reads version 1");
    REFUSED(false, s.h->version = 0, "older");
    REFUSED(false, s.h->endian = 0x04030201, "another byte order");
    REFUSED(false, s.h->endian = 5, "byte-order mark");
    REFUSED(false, s.h->file_size = 52341120, "truncated: the header says "
            "52,341,120 bytes, the file has 1,344; copy it again");
    REFUSED(false, s.h->file_size = 1000, "damaged: the header says 1,000");
    REFUSED(false, s.h->sum++, "checksum");
    REFUSED(true, s.h->reserved = 1, "unknown fields");
    REFUSED(true, s.h->config_offset = 1u << 30, "configuration");
    REFUSED(true, s.h->config_offset = 0, "configuration");
    REFUSED(true, s.h->config_size = 0, "configuration");
    REFUSED(true, s.h->config_size = 0xffffffff, "configuration");
    REFUSED(true, s.h->directory_offset = UINT64_MAX - 63, "directory");
    REFUSED(true, s.h->count = 0, "directory");
    REFUSED(true, s.h->count = 0xffffffff, "directory");
    REFUSED(true, s.h->count = 3, "between its parts");
    REFUSED(true, s.h->file_size = s.n -= 128, "directory");
}

TEST(mfile_says_what_is_wrong_with_an_entry)
{
    REFUSED(true, s.dir[1].name[0] = 'M', "tensor 1 has an invalid name");
    REFUSED(true, s.dir[1].name[0] = 0, "invalid name");
    REFUSED(true, s.dir[1].name[9] = 'x', "invalid name");
    REFUSED(true, memset(s.dir[1].name, 'x', 64), "invalid name");
    REFUSED(true, memcpy(s.dir[2].name, "v\0\0\0", 4),
            "\"v\" occurs twice");
    REFUSED(true, s.dir[0].type = 99, "\"v\" has an unknown type");
    REFUSED(true, s.dir[0].layout = 1, "does not match its name");
    REFUSED(true, s.dir[1].layout = 0, "does not match its name");
    REFUSED(true, s.dir[1].type = DT_I32, "invalid shape");
    REFUSED(true, s.dir[0].rows = 0, "invalid shape");
    REFUSED(true, s.dir[0].cols = UINT64_MAX, "invalid shape");
    REFUSED(true, s.dir[1].rows = 1ull << 33, "invalid shape");
    REFUSED(true, s.dir[0].rows = 6, "does not match its shape");
    REFUSED(true, s.dir[1].rows = 65, "does not match its shape");
    REFUSED(true, s.dir[0].offset += 4, "outside the file");
    REFUSED(true, s.dir[0].offset = 1u << 20, "outside the file");
    REFUSED(true, s.dir[0].offset = 0, "outside the file");
    REFUSED(true, s.dir[0].offset = s.dir[1].offset, "overlap");
    REFUSED(true, s.dir[0].offset = s.h->directory_offset, "overlap");
    REFUSED(true, s.h->config_offset = s.dir[3].offset, "overlap");
    REFUSED(true, s.p[s.dir[0].offset + 21] = 1, "between its parts");
    REFUSED(true, s.dir[2].reserved[1] = 1, "unknown fields");
}

TEST(mfile_refuses_bytes_after_the_end)
{
    struct parts s = take();
    uint8_t *p = mem_zalloc(s.n + 64, 1);

    memcpy(p, s.p, s.n);
    mem_free(s.p);
    s.p = p;
    s.n += 64;
    ((struct mfile_header *)p)->file_size = s.n;
    refused(&s, true, "after its last part");
}

TEST(mfile_names_the_tensor_that_changed)
{
    struct parts s = take();

    s.p[s.dir[1].offset + 5] ^= 4;
    refused(&s, false, "tensor \"m.w\" has changed");
}

TEST(mfile_says_what_it_was_given_instead)
{
    static const struct { const char *bytes; size_t n; const char *says; }
    wrong[] = {
        { "", 0, "is empty" },
        { "\x1f\x8b\x08\0\0\0\0\0\0\0", 10, "gzip" },
        { "\x20\0\0\0\0\0\0\0{\"a\":", 12, "safetensors" },
        { "Dear reader,\nthis is not a model.\n", 34, "text file" },
        { "PK\3\4aaaa", 8, "zip" },
        { "\1\2\3", 3, "another format" },
        { "SKMT", 4, "truncated" },
        { "SKMTMODX", 8, "text file" },
    };

    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct parts s = { mem_alloc(wrong[i].n + 1, 1), wrong[i].n, 0, 0 };

        memcpy(s.p, wrong[i].bytes, wrong[i].n);
        refused(&s, false, wrong[i].says);
    }
}

TEST(mfile_open_of_no_file)
{
    struct mfile *f = (void *)1;
    struct err e;

    make_dir();
    CHECK_INT(mfile_open(&f, "/no/such/model.skmt", &e), ST_IO);
    CHECK(!f && strstr(e.msg, "/no/such/model.skmt"));
    CHECK_INT(mfile_open(&f, dir, &e), ST_IO);
    CHECK(!f && strstr(e.msg, dir));
}

TEST(mfile_wants_aligned_bytes)
{
    struct parts s = take();
    uint8_t *p = mem_alloc(s.n + 4, 1);
    struct err e;

    memcpy(p + 4, s.p, s.n);
    CHECK_INT(open_bytes(p + 4, s.n, &e), ST_ARGUMENT);
    mem_free(p);
    mem_free(s.p);
}

/* ---- the writer ---- */

TEST(mfile_writer_refuses_nonsense)
{
    struct mfile_writer *w;
    struct err e;
    char longest[80];

    make_dir();
    memset(longest, 'x', sizeof longest);
    longest[64] = 0;
    CHECK(mfile_writer_new(&w, path, "", 0, &e) == ST_ARGUMENT && !w);
    CHECK(mfile_writer_new(&w, "/no/such/dir/x", "a=1", 3, &e) == ST_IO);
    CHECK(w == NULL);
    REQUIRE_OK(mfile_writer_new(&w, path, "a=1", 3, &e), &e);
    CHECK(mfile_writer_commit(w, &e) == ST_ARGUMENT);
    CHECK(mfile_writer_add(w, "", DT_I8, 1, 1, "a", 1, &e) == ST_ARGUMENT);
    CHECK(mfile_writer_add(w, "A", DT_I8, 1, 1, "a", 1, &e) == ST_ARGUMENT);
    CHECK(mfile_writer_add(w, longest, DT_I8, 1, 1, "a", 1, &e));
    CHECK(mfile_writer_add(w, "a", DT_I8, 1, 2, "a", 1, &e) == ST_ARGUMENT);
    CHECK(mfile_writer_add(w, "a", DT_I8, -1, -1, "a", 1, &e));
    CHECK(mfile_writer_add(w, "a.w", DT_I32, 1, 1, "a", 4, &e));
    REQUIRE_OK(mfile_writer_add(w, "a", DT_I8, 1, 1, "a", 1, &e), &e);
    CHECK(mfile_writer_add(w, "a", DT_I8, 1, 1, "a", 1, &e) == ST_ARGUMENT);
    mfile_writer_free(w);
    mfile_writer_free(NULL);
}

TEST(mfile_writer_takes_a_tensor_in_parts)
{
    struct mfile_writer *w;
    struct err e;
    size_t n, m;
    uint8_t *whole, *parts;
    char bytes[1000];

    make_dir();
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * 7);
    REQUIRE_OK(mfile_writer_new(&w, path, "a=1", 3, &e), &e);
    REQUIRE_OK(mfile_writer_add(w, "x", DT_I8, 10, 100, bytes, 1000, &e), &e);
    REQUIRE_OK(mfile_writer_commit(w, &e), &e);
    mfile_writer_free(w);
    whole = slurp(&n);
    REQUIRE_OK(mfile_writer_new(&w, path, "a=1", 3, &e), &e);
    REQUIRE_OK(mfile_writer_start(w, "x", DT_I8, 10, 100, &e), &e);
    CHECK_OK(mfile_writer_append(w, bytes, 1, &e), &e);
    CHECK_INT(mfile_writer_end(w, &e), ST_ARGUMENT);
    CHECK(strstr(e.msg, "\"x\" has fewer bytes"));
    CHECK_OK(mfile_writer_append(w, bytes + 1, 600, &e), &e);
    CHECK_INT(mfile_writer_append(w, bytes, 400, &e), ST_ARGUMENT);
    CHECK(strstr(e.msg, "\"x\" has more bytes"));
    CHECK_OK(mfile_writer_append(w, bytes + 601, 399, &e), &e);
    CHECK_OK(mfile_writer_end(w, &e), &e);
    REQUIRE_OK(mfile_writer_commit(w, &e), &e);
    mfile_writer_free(w);
    parts = slurp(&m);
    CHECK_INT(n, m);
    CHECK_MEM(whole, parts, n);
    mem_free(whole);
    mem_free(parts);
}

TEST(mfile_writer_leaves_the_old_file_until_commit)
{
    struct mfile_writer *w;
    struct err e;
    size_t n, m;
    uint8_t *a, *b;

    REQUIRE_OK(write_sample(&e), &e);
    a = slurp(&n);
    REQUIRE_OK(mfile_writer_new(&w, path, "a=1", 3, &e), &e);
    REQUIRE_OK(mfile_writer_add(w, "a", DT_I8, 1, 1, "a", 1, &e), &e);
    mfile_writer_free(w);
    b = slurp(&m);
    CHECK_INT(n, m);
    CHECK_MEM(a, b, n);
    mem_free(a);
    mem_free(b);
}

TEST(mfile_gives_big_tensors_their_own_pages)
{
    size_t bytes = 100000;
    char *zeros = calloc(bytes, 1);
    struct mfile_writer *w;
    struct mfile *f;
    struct err e;

    make_dir();
    REQUIRE_OK(mfile_writer_new(&w, path, "a=1", 3, &e), &e);
    CHECK_OK(mfile_writer_add(w, "x", DT_I8, 9, 1, zeros, 9, &e), &e);
    CHECK_OK(mfile_writer_add(w, "y", DT_I8, 100000, 1, zeros, bytes, &e), &e);
    CHECK_OK(mfile_writer_commit(w, &e), &e);
    mfile_writer_free(w);
    REQUIRE_OK(mfile_open(&f, path, &e), &e);
    CHECK_INT((uintptr_t)mfile_find(f, "y")->data % 4096, 0);
    mfile_close(f);
    free(zeros);
}

/* Not a test: removes the temporary files. */
__attribute__((destructor)) static void clean(void)
{
    if (!path[0]) return;
    unlink(path);
    rmdir(dir);
}
