/* test_ct2_file.c - tests of reading model.bin of CTranslate2: all versions and
 * types, scales, aliases, texts, and what is refused. */
#include "../memory_stream.h"
#include "convert/ct2_file.h"
#include "made_ct2.h"
#include "tensor/pack.h"
#include "test.h"

/* A file of this version. Its name in messages is "memory". */
static void begin(struct made_ct2 *m, int version)
{
    ct2_begin(m, version, "TransformerSpec", 7);
}

/* One variable follows, which is not made by ct2_head(). */
static void begin_one(struct made_ct2 *m, int version)
{
    begin(m, version);
    ct2_set_count(m, 1);
}

/* The file may be used until the next one is opened. It reads a copy without
 * spare bytes, so that a read behind it is noticed. */
static struct tensor_file *open_bytes(const char *bytes, size_t n,
                                      struct err *e)
{
    static char *copy;
    struct tensor_file *f;

    free(copy);
    copy = malloc(n + !n);
    if (n) memcpy(copy, bytes, n);
    if (!ct2_file_open(&f, memory_stream_new(copy, n), e)) CHECK(f != NULL);
    else CHECK(!f && e->msg[0]);
    return f;
}

static struct tensor_file *end(struct made_ct2 *m)
{
    struct err e = { 0 };
    struct tensor_file *f = open_bytes(m->b.data, m->b.len, &e);

    if (!f) CHECK_STR(e.msg, "");
    strbuf_release(&m->b);
    return f;
}

/* The file is refused with this message. */
static void end_refused(struct made_ct2 *m, const char *why)
{
    struct err e = { 0 };
    struct tensor_file *f = open_bytes(m->b.data, m->b.len, &e);

    CHECK(!f);
    CHECK_STR(e.msg, why);
    tensor_file_close(f);
    strbuf_release(&m->b);
}

/* Rows of a tensor are these values. */
static void check_rows(struct tensor_file *f, const char *name, int row, int n,
                       const float *want)
{
    struct file_tensor *t = tensor_file_find(f, name);
    float got[16];
    struct err e;

    REQUIRE(t != NULL && n * file_tensor_cols(t) <= 16);
    REQUIRE_OK(tensor_file_read(f, t, row, n, got, &e), &e);
    for (int i = 0; i < n * file_tensor_cols(t); i++)
        CHECK_NEAR(got[i], want[i], 0);
}

static void check_number(struct tensor_file *f, const char *name, double want)
{
    struct file_tensor *t = tensor_file_find(f, name);
    double got;
    struct err e;

    REQUIRE(t != NULL);
    REQUIRE_OK(tensor_file_scalar(f, t, &got, &e), &e);
    CHECK_NEAR(got, want, 0);
}

static const float two_rows[] = { 1, -2, 3.5f, 4, 5, -6 };

/* ---- what is read ---- */

TEST(reads_floats_of_every_version)
{
    for (int version = 2; version <= 6; version++) {
        struct made_ct2 m;
        struct tensor_file *f;

        begin(&m, version);
        ct2_floats(&m, "encoder/a/weight", 2, 3, two_rows);
        ct2_floats(&m, "decoder/scale", 0, 0, two_rows + 2);
        if (version >= 3) {
            ct2_put(&m, 1, 4);
            ct2_alias(&m, "decoder/a/weight", "encoder/a/weight");
        }
        f = end(&m);
        REQUIRE(f != NULL);
        CHECK_INT(ct2_file_version(f), version);
        CHECK_STR(ct2_file_spec(f), "TransformerSpec");
        CHECK_INT(ct2_file_revision(f), 7);
        CHECK_INT(f->n, version >= 3 ? 3 : 2);
        check_rows(f, "encoder/a/weight", 0, 2, two_rows);
        check_rows(f, "encoder/a/weight", 1, 1, two_rows + 3);
        check_number(f, "decoder/scale", 3.5);
        if (version >= 3) check_rows(f, "decoder/a/weight", 0, 2, two_rows);
        tensor_file_close(f);
    }
}

TEST(reads_every_type)
{
    static const float ints[] = { -7, 5 }, halves[] = { 1.5f, -2 };
    struct made_ct2 m;
    struct tensor_file *f;

    begin(&m, 4);
    ct2_head(&m, "a", 2, 0, CT2_I8), ct2_put(&m, 0x05F9, 2);
    ct2_head(&m, "b", 2, 0, CT2_I16), ct2_put(&m, 0x0005FFF9, 4);
    ct2_head(&m, "c", 0, 0, CT2_I32), ct2_put(&m, 70000, 4);
    ct2_head(&m, "d", 2, 0, CT2_F16), ct2_put(&m, 0xC0003E00, 4);
    ct2_head(&m, "e", 2, 0, CT2_BF16), ct2_put(&m, 0xC0003FC0, 4);
    ct2_put(&m, 0, 4);
    f = end(&m);
    REQUIRE(f != NULL);
    check_rows(f, "a", 0, 1, ints);
    check_rows(f, "b", 0, 1, ints);
    check_number(f, "c", 70000);
    check_rows(f, "d", 0, 1, halves);
    check_rows(f, "e", 0, 1, halves);
    CHECK(tensor_file_find(f, "a")->type == ELEMENT_I8);
    CHECK(tensor_file_find(f, "e")->type == ELEMENT_BF16);
    tensor_file_close(f);
}

TEST(reads_int8_with_a_scale_for_each_row)
{
    static const float scales[] = { 2, 0.5f };
    static const float want[] = { 63.5f, -0.5f, -254, 6 };
    struct made_ct2 m;
    struct tensor_file *f;

    begin(&m, 3);
    ct2_head(&m, "x/weight", 2, 2, CT2_I8), ct2_put(&m, 0x0381FF7F, 4);
    ct2_floats(&m, "x/weight_scale", 2, 0, scales);
    ct2_put(&m, 2, 4);
    ct2_alias(&m, "y/weight", "x/weight");
    ct2_alias(&m, "y/weight_scale", "x/weight_scale");
    f = end(&m);
    REQUIRE(f != NULL);
    check_rows(f, "x/weight", 0, 2, want);
    check_rows(f, "y/weight", 1, 1, want + 2);
    check_rows(f, "x/weight_scale", 0, 1, scales);
    CHECK(tensor_file_find(f, "x/weight_scale")->used);
    CHECK(tensor_file_find(f, "y/weight_scale")->used);
    CHECK(!tensor_file_find(f, "x/weight")->used);
    CHECK(!tensor_file_find(f, "y/weight")->used);
    tensor_file_close(f);
}

/* Each row has 127 or -127, as CTranslate2 makes them since version 5. */
TEST(int8_becomes_the_same_integers_again)
{
    enum { N = 4096, K = 40 };
    static int8_t ints[N][K], got[K * N];
    static float rows[N * K], scale[N];
    uint64_t seed = 7;
    struct made_ct2 m;
    struct tensor_file *f;
    struct err e;

    begin(&m, 6);
    ct2_head(&m, "x/weight_scale", N, 0, CT2_F32);
    for (int i = 0; i < N; i++)
        ct2_put_f32(&m, (float)exp(10 * splitmix_unit(&seed)));
    ct2_head(&m, "x/weight", N, K, CT2_I8);
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < K; k++)
            ints[i][k] = (int8_t)((int)splitmix_below(&seed, 255) - 127);
        ints[i][splitmix_below(&seed, K)] = i % 2 ? 127 : -127;
        strbuf_add(&m.b, ints[i], K);
    }
    ct2_put(&m, 0, 4);
    f = end(&m);
    REQUIRE(f != NULL);
    CHECK_OK(tensor_file_read(f, tensor_file_find(f, "x/weight"), 0, N, rows,
                              &e), &e);
    pack_by_input(rows, N, K, got, N, scale);
    for (int i = 0; i < N; i++)
        for (int k = 0; k < K; k++) CHECK_INT(got[k * N + i], ints[i][k]);
    tensor_file_close(f);
}

TEST(reads_int16_with_one_scale_or_none)
{
    static const float scale = 4, want[] = { 0.25f, -2 };
    static const float fixed[] = { 0.001f, -0.008f };
    struct made_ct2 m;
    struct tensor_file *f;

    begin(&m, 2);
    ct2_head(&m, "x/weight", 1, 2, CT2_I16), ct2_put(&m, 0xFFF80001, 4);
    ct2_floats(&m, "x/weight_scale", 0, 0, &scale);
    ct2_head(&m, "y/weight", 1, 2, CT2_I16), ct2_put(&m, 0xFFF80001, 4);
    f = end(&m);
    REQUIRE(f != NULL);
    check_rows(f, "x/weight", 0, 1, want);
    check_rows(f, "y/weight", 0, 1, fixed);
    CHECK(!tensor_file_find(f, "y/weight")->used);
    tensor_file_close(f);
}

/* More rows than the reader keeps scales of. */
TEST(finds_the_scale_of_any_row)
{
    enum { N = 10001 };
    static const int rows[] = { 0, 4096, 10000, 4095, 8192, 9999, 1 };
    struct made_ct2 m;
    struct tensor_file *f;

    begin(&m, 6);
    ct2_head(&m, "x/weight_scale", N, 0, CT2_F32);
    for (int i = 0; i < N; i++) ct2_put_f32(&m, (float)(i + 1));
    ct2_head(&m, "x/weight", N, 1, CT2_I8);
    for (int i = 0; i < N; i++) ct2_put(&m, (uint64_t)(i % 100), 1);
    ct2_put(&m, 0, 4);
    f = end(&m);
    REQUIRE(f != NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        float want[2];

        for (int k = 0; k < 2; k++)
            want[k] = (float)((rows[i] + k) % 100) / (float)(rows[i] + k + 1);
        check_rows(f, "x/weight", rows[i], rows[i] + 1 < N ? 2 : 1, want);
    }
    tensor_file_close(f);
}

TEST(knows_aliases_and_texts)
{
    struct made_ct2 m;
    struct tensor_file *f;
    struct strbuf text;
    struct err e = { 0 };

    begin(&m, 5);
    ct2_head(&m, "unk_token", 5, 0, CT2_I8);
    strbuf_adds(&m.b, "<unk>");
    ct2_head(&m, "n", 0, 0, CT2_I16), ct2_put(&m, 8, 2);
    ct2_put(&m, 1, 4);
    ct2_alias(&m, "other", "n");
    f = end(&m);
    REQUIRE(f != NULL);
    CHECK(ct2_file_alias(f, tensor_file_find(f, "other")) ==
          tensor_file_find(f, "n"));
    CHECK(!ct2_file_alias(f, tensor_file_find(f, "n")));
    CHECK(tensor_file_find(f, "other")->alias);
    CHECK(!tensor_file_find(f, "n")->alias);
    check_number(f, "other", 8);
    strbuf_init(&text, 0);
    CHECK_OK(ct2_file_text(f, tensor_file_find(f, "unk_token"), &text, &e),
             &e);
    CHECK_STR(text.data, "<unk>");
    CHECK(ct2_file_text(f, tensor_file_find(f, "n"), &text, &e) == ST_FORMAT);
    CHECK_STR(e.msg, "memory: tensor \"n\" should be a text");
    strbuf_release(&text);
    tensor_file_close(f);
}

/* ---- what is refused ---- */

TEST(refuses_other_versions)
{
    static const struct { int version; const char *why; } cases[] = {
        { 1, "memory: version 1 of the CTranslate2 format cannot be read; "
             "convert the original model again with a newer CTranslate2" },
        { 0, "memory: not a CTranslate2 model, or one of a newer version: its "
             "version is 0, and 2 to 6 can be read" },
        { 7, "memory: not a CTranslate2 model, or one of a newer version: its "
             "version is 7, and 2 to 6 can be read" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_ct2 m;
        struct err e = { 0 };
        struct tensor_file *f;

        begin(&m, cases[i].version);
        CHECK(ct2_file_open(&f, memory_stream_new(m.b.data, m.b.len), &e) ==
              ST_VERSION);
        CHECK_STR(e.msg, cases[i].why);
        strbuf_release(&m.b);
    }
}

/* A complete file with all that there is. */
static void put_all(struct made_ct2 *m, int version)
{
    static const float scale[] = { 1, 2 };

    begin(m, version);
    ct2_head(m, "x/weight", 2, 2, CT2_I8), ct2_put(m, 0x0381FF7F, 4);
    ct2_floats(m, "x/weight_scale", 2, 0, scale);
    ct2_head(m, "n", 0, 0, CT2_I16), ct2_put(m, 8, 2);
    if (version < 3) return;
    ct2_put(m, 1, 4);
    ct2_alias(m, "y/weight", "x/weight");
}

TEST(refuses_files_that_are_cut)
{
    for (int version = 2; version <= 6; version++) {
        struct made_ct2 m;

        put_all(&m, version);
        for (size_t n = 0; n < m.b.len; n++) {
            struct err e = { 0 };
            struct tensor_file *f = open_bytes(m.b.data, n, &e);

            CHECK(!f && !strncmp(e.msg, "memory: ", 8));
            tensor_file_close(f);
        }
        tensor_file_close(end(&m));
    }
}

TEST(refuses_files_that_are_too_long)
{
    struct made_ct2 m;

    put_all(&m, 6);
    ct2_put(&m, 0, 3);
    end_refused(&m, "memory: damaged: 3 bytes follow its last entry");
    put_all(&m, 2);
    ct2_put(&m, 0, 1);
    end_refused(&m, "memory: damaged: 1 bytes follow its last entry");
}

TEST(refuses_bad_names)
{
    struct made_ct2 m;

    begin_one(&m, 6);
    ct2_put(&m, 0, 2);
    end_refused(&m, "memory: damaged: a variable at byte 30 has 0 bytes");
    begin_one(&m, 6);
    ct2_put(&m, 1001, 2);
    end_refused(&m, "memory: damaged: a variable at byte 30 has 1001 bytes");
    begin_one(&m, 6);
    ct2_put_name(&m, "");
    end_refused(&m, "memory: damaged: a variable has no name");
    begin_one(&m, 6);
    ct2_put(&m, 2, 2), ct2_put(&m, 'a' | 'b' << 8, 2);
    end_refused(&m, "memory: damaged: a variable at byte 30 is not a name");
    begin_one(&m, 6);
    ct2_put_name(&m, "a\tb");
    end_refused(&m, "memory: damaged: a variable at byte 30 is not a name");
    begin(&m, 6);
    ct2_head(&m, "a", 0, 0, CT2_I8), ct2_put(&m, 0, 1);
    ct2_head(&m, "a", 0, 0, CT2_I8), ct2_put(&m, 0, 1);
    ct2_put(&m, 0, 4);
    end_refused(&m, "memory: tensor \"a\" occurs twice");
    begin(&m, 6);
    ct2_head(&m, "a", 0, 0, CT2_I8), ct2_put(&m, 0, 1);
    ct2_put(&m, 1, 4);
    ct2_alias(&m, "a", "a");
    end_refused(&m, "memory: tensor \"a\" occurs twice");
    begin(&m, 6);
    ct2_put(&m, 1, 4);
    ct2_alias(&m, "a", "b");
    end_refused(&m, "memory: \"a\" is an alias of \"b\", which does not exist");
}

TEST(refuses_counts_that_are_too_large)
{
    struct made_ct2 m;

    begin(&m, 6);
    ct2_set_count(&m, UINT32_MAX);
    end_refused(&m, "memory: damaged: it would have 4294967295 variables");
    begin(&m, 6);
    ct2_put(&m, 100001, 4);
    end_refused(&m, "memory: damaged: it would have 100001 aliases");
}

/* A variable of version 6 with these fields and no data. */
static void put_fields(struct made_ct2 *m, int rank, uint32_t dim, int type,
                       uint32_t size)
{
    begin_one(m, 6);
    ct2_put_name(m, "a");
    ct2_put(m, (uint64_t)rank, 1);
    for (int i = 0; i < rank; i++) ct2_put(m, dim, 4);
    ct2_put(m, (uint64_t)type, 1);
    ct2_put(m, size, 4);
}

TEST(refuses_bad_shapes_and_sizes)
{
    struct made_ct2 m;

    put_fields(&m, 2, 0xFFFFFFFF, CT2_F32, 4);
    end_refused(&m, "memory: tensor \"a\" has a size that does not match its "
                "shape");
    put_fields(&m, 3, 0xFFFFFFFF, CT2_F32, 4);
    end_refused(&m, "memory: tensor \"a\" has a shape that is not valid");
    /* 2^64 bytes. */
    put_fields(&m, 2, 0x80000000, CT2_F32, 0);
    end_refused(&m, "memory: tensor \"a\" has a size that does not match its "
                "shape");
    put_fields(&m, 0, 0, CT2_F32, 5);
    end_refused(&m, "memory: tensor \"a\" has a size that does not match its "
                "shape");
    put_fields(&m, 0, 0, 6, 4);
    end_refused(&m, "memory: tensor \"a\" has an unknown type");
    put_fields(&m, 1, 1000, CT2_I8, 1000);
    end_refused(&m, "memory: tensor \"a\" is longer than the rest of the file "
                "(truncated?)");
    begin_one(&m, 3);
    ct2_put_name(&m, "a");
    ct2_put(&m, 0, 1), ct2_put(&m, 8, 1), ct2_put(&m, 1, 4), ct2_put(&m, 0, 8);
    end_refused(&m, "memory: tensor \"a\" has an unknown type");
}

TEST(keeps_tensors_with_many_dimensions)
{
    struct made_ct2 m;
    struct tensor_file *f;
    struct err e = { 0 };
    float x;

    put_fields(&m, 6, 1, CT2_F32, 4);
    ct2_put_f32(&m, 1);
    ct2_put(&m, 0, 4);
    f = end(&m);
    REQUIRE(f != NULL);
    CHECK_INT(f->at[0].n_dims, 6);
    CHECK(tensor_file_read(f, &f->at[0], 0, 1, &x, &e) == ST_FORMAT);
    CHECK_STR(e.msg, "memory: tensor \"a\" has 6 dimensions and cannot be "
              "read");
    tensor_file_close(f);
}

TEST(refuses_bad_scales)
{
    static const float scale[] = { 1, 0, 3 };
    struct made_ct2 m;
    struct tensor_file *f;
    struct err e = { 0 };
    float x[2];

    begin(&m, 2);
    ct2_head(&m, "x/weight", 1, 2, CT2_I8), ct2_put(&m, 0, 2);
    end_refused(&m, "memory: tensor \"x/weight\" is int8, but there is no "
                "scale for it");
    begin(&m, 2);
    ct2_head(&m, "x/weight", 2, 1, CT2_I8), ct2_put(&m, 0, 2);
    ct2_floats(&m, "x/weight_scale", 3, 0, scale);
    end_refused(&m, "memory: tensor \"x/weight_scale\" should be one float for "
                "each row of the matrix, or one for all");
    begin(&m, 2);
    ct2_head(&m, "x/weight", 2, 1, CT2_I8), ct2_put(&m, 0x0101, 2);
    ct2_floats(&m, "x/weight_scale", 2, 0, scale);
    f = end(&m);
    REQUIRE(f != NULL);
    CHECK(tensor_file_read(f, tensor_file_find(f, "x/weight"), 0, 2, x, &e) ==
          ST_FORMAT);
    CHECK_STR(e.msg, "memory: tensor \"x/weight\" contains NaN or infinite "
              "values (row 1, column 0)");
    tensor_file_close(f);
}
