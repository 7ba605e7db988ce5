/* test_marian_bin.c - reads tensors of .bin files of Marian, and refuses
 * damaged ones. */
#include "test.h"

#include "../memory_stream.h"
#include "base/strbuf.h"
#include "convert/marian_bin.h"
#include "made_bin.h"

static const float floats[6] = { 1, 2, 3, 4, 5, 6.5f };
static const uint16_t halves[2] = { 0x3C00, 0xC000 };   /* 1, -2 */
static const char settings[8] = "a: 1\n";
static const int32_t integers[2] = { -3, 70000 };

/* Integers and a factor of 4 after them: [2, 3] stored as [3, 2]. */
static const struct { int8_t v[6]; uint8_t factor[4]; } packed8 = {
    { 4, 8, 12, 16, 20, -24 }, { 0, 0, 0x80, 0x40 }
};
static const struct { int16_t v[4]; uint8_t factor[4]; } packed16 = {
    { 400, -800, 1200, 1600 }, { 0, 0, 0x80, 0x40 }
};

static const struct made_bin items[] = {
    { "Wemb", BIN_INTGEMM8, 2, { 2, 3 }, &packed8, 10 },
    { "l1_Wq", BIN_INTGEMM8, 2, { 2, 3 }, &packed8, 10 },
    { "l1_Wk", BIN_INTGEMM16, 2, { 2, 2 }, &packed16, 12 },
    { "l1_Wv", BIN_F32, 2, { 3, 2 }, floats, 24 },
    { "bias", BIN_F16, 2, { 1, 2 }, halves, 4 },
    { "special:model.yml", BIN_I8, 1, { 8 }, settings, 8 },
    { "numbers", BIN_I32, 1, { 2 }, integers, 8 },
    { "scalar", BIN_F32, 0, { 0 }, floats, 4 },
    { "cube", BIN_F32, 3, { 1, 2, 3 }, floats, 24 },
    { "packed", BIN_PACKED, 2, { 100, 100 }, floats, 24 },
};

/* The bytes stay in `file` while *f is open. */
static enum status open_items(struct tensor_file **f, struct strbuf *file,
                              const struct made_bin *at, size_t n,
                              struct err *e)
{
    strbuf_init(file, 0);
    made_bin_write(file, 1, at, n);
    return marian_bin_open(f, memory_stream_new(file->data, file->len), e);
}

static void expect_values(struct tensor_file *f, const char *name, int64_t row,
                          int64_t n, int count, const float *want)
{
    struct file_tensor *t = tensor_file_find(f, name);
    float v[6] = { 0 };
    struct err e;

    if (!CHECK(t != NULL)) return;
    CHECK_INT(n * file_tensor_cols(t), count);
    CHECK_OK(tensor_file_read(f, t, row, n, v, &e), &e);
    for (int i = 0; i < count; i++)
        if (v[i] != want[i])
            test_fail(__FILE__, __LINE__, "%s[%d]: %g, want %g", name, i, v[i],
                      want[i]);
}

#define VALUES(...) (int)(sizeof (float[]){ __VA_ARGS__ } / sizeof (float)), \
                    (float[]){ __VA_ARGS__ }

TEST(values_of_all_bin_types)
{
    struct tensor_file *f;
    struct strbuf file, text;
    struct err e;
    float v;

    REQUIRE_OK(open_items(&f, &file, items, COUNT(items), &e), &e);
    CHECK_INT(f->n, COUNT(items));
    expect_values(f, "Wemb", 0, 2, VALUES(1, 2, 3, 4, 5, -6));
    expect_values(f, "l1_Wq", 0, 2, VALUES(1, 3, 5, 2, 4, -6));
    expect_values(f, "l1_Wq", 1, 1, VALUES(2, 4, -6));
    expect_values(f, "l1_Wk", 0, 2, VALUES(100, 300, -200, 400));
    expect_values(f, "l1_Wv", 1, 2, VALUES(3, 4, 5, 6.5f));
    expect_values(f, "bias", 0, 1, VALUES(1, -2));
    expect_values(f, "numbers", 0, 1, VALUES(-3, 70000));
    expect_values(f, "scalar", 0, 1, VALUES(1));
    strbuf_init(&text, 0);
    CHECK_OK(tensor_file_text(f, tensor_file_find(f, "special:model.yml"), 100,
                              &text, &e), &e);
    CHECK_STR(text.data, "a: 1\n");
    strbuf_release(&text);
    CHECK_INT(tensor_file_read(f, tensor_file_find(f, "packed"), 0, 1, &v, &e),
              ST_FORMAT);
    CHECK_INT(tensor_file_read(f, tensor_file_find(f, "cube"), 0, 1, &v, &e),
              ST_FORMAT);
    tensor_file_close(f);
    strbuf_release(&file);
}

static void expect_bad_items(const struct made_bin *at, const char *want)
{
    struct tensor_file *f;
    struct strbuf file;
    struct err e = { 0 };

    CHECK_INT(open_items(&f, &file, at, 1, &e), ST_FORMAT);
    CHECK(f == NULL);
    strbuf_release(&file);
    if (!strstr(e.msg, want))
        test_fail(__FILE__, __LINE__, "\"%s\", want \"%s\"", e.msg, want);
}

TEST(wrong_bin_tensors_are_named)
{
    static const struct { int8_t v[4]; uint8_t factor[4]; } no_factor = {
        { 1, 2, 3, 4 }, { 0 }
    };

    expect_bad_items(&(struct made_bin){ "w", BIN_F32, 2, { 100, 100 }, floats,
                                         24 },
                     "tensor \"w\" has fewer bytes than its shape needs");
    expect_bad_items(&(struct made_bin){ "w", BIN_F32, 2, { -1, 2 }, floats,
                                         24 },
                     "tensor \"w\" has a shape that is not valid");
    expect_bad_items(&(struct made_bin){ "w", BIN_INTGEMM8, 2, { 16, 16 },
                                         floats, 24 }, "fewer bytes");
    expect_bad_items(&(struct made_bin){ "w", BIN_INTGEMM8, 2, { 2, 2 },
                                         &no_factor, 8 },
                     "tensor \"w\" has a factor that is not valid");
    expect_bad_items(&(struct made_bin){ "w", BIN_F32, 3, { 1 << 30, 1 << 30,
                                         1 << 30 }, floats, 24 },
                     "a shape that is not valid");
}

static enum status open_numbers(const uint64_t *v, size_t n, struct err *e)
{
    struct tensor_file *f;
    struct strbuf file;
    enum status st;

    strbuf_init(&file, 0);
    for (size_t i = 0; i < n; i++) made_bin_number(&file, v[i], 8);
    st = marian_bin_open(&f, memory_stream_new(file.data, file.len), e);
    CHECK((f == NULL) == (st != ST_OK));
    tensor_file_close(f);
    strbuf_release(&file);
    return st;
}

TEST(other_files_than_bin)
{
    struct err e;

    CHECK_INT(open_numbers((uint64_t[]){ 2, 1 }, 2, &e), ST_VERSION);
    CHECK(strstr(e.msg, "encrypted") != NULL);
    CHECK_INT(open_numbers((uint64_t[]){ 3, 1 }, 2, &e), ST_FORMAT);
    CHECK(strstr(e.msg, "version") != NULL);
    CHECK_INT(open_numbers((uint64_t[]){ 1, 0 }, 2, &e), ST_FORMAT);
    CHECK_INT(open_numbers((uint64_t[]){ 1, UINT64_MAX }, 2, &e), ST_FORMAT);
    CHECK(strstr(e.msg, "number of tensors") != NULL);
    CHECK_INT(open_numbers((uint64_t[]){ 1 }, 1, &e), ST_FORMAT);
    CHECK_INT(open_numbers((uint64_t[]){ 1, 1, 0, 0x404, 0, 0 }, 6, &e),
              ST_FORMAT);
    CHECK_INT(open_numbers((uint64_t[]){ 1, 1, 1, 0x404, UINT64_MAX, 0 }, 6,
                           &e), ST_FORMAT);
    CHECK(strstr(e.msg, "too long") != NULL);
}

TEST(truncated_bin_files)
{
    struct tensor_file *f;
    struct strbuf file;
    struct err e;

    strbuf_init(&file, 0);
    made_bin_write(&file, 1, items, COUNT(items));
    for (size_t n = 0; n < file.len; n += 97) {
        err_clear(&e);
        CHECK_INT(marian_bin_open(&f, memory_stream_new(file.data, n), &e),
                  ST_FORMAT);
        CHECK(f == NULL && e.msg[0]);
    }
    strbuf_release(&file);
}
