/* test_position_table.c - tests of recognizing the formula of stored
 * positions. */
#include "base/splitmix.h"
#include "convert/position_table.h"
#include "model/sinusoid.h"
#include "tensor/tensor.h"
#include "test.h"

enum { MOST = 600, D = 16 };

/* A file with one tensor. */
struct table_file {
    struct tensor_file base;
    struct file_tensor t;
    float at[MOST * 64];
};

static enum status table_read(struct tensor_file *f,
                              const struct file_tensor *t, int64_t row,
                              int64_t n, float *out, struct err *e)
{
    const struct table_file *s = (struct table_file *)f;

    (void)e;
    memcpy(out, s->at + row * t->shape[1],
           (size_t)(n * t->shape[1]) * sizeof *out);
    return ST_OK;
}

static const struct tensor_file_ops table_ops = { .read = table_read };

static float rounded(float x, enum element type)
{
    if (type == ELEMENT_BF16) return bf16_to_f32(f32_to_bf16(x));
    return type == ELEMENT_F16 ? f16_to_f32(f32_to_f16(x)) : x;
}

static void make_table(struct table_file *f, int n, int d, enum element type,
                       enum positions kind, int offset)
{
    *f = (struct table_file){ .base = { .ops = &table_ops, .name = "f" } };
    f->t = (struct file_tensor){ .name = "table", .type = type, .n_dims = 2,
                                 .shape = { n, d, 1, 1 } };
    for (int p = 0; p < n; p++)
        sinusoid_row(f->at + p * d, p + offset, d, kind);
    for (int i = 0; i < n * d; i++) f->at[i] = rounded(f->at[i], type);
}

static void check_table(struct table_file *f, enum positions kind, int offset)
{
    struct position_table got = { POS_LEARNED, 9 };
    struct err e;

    REQUIRE_OK(position_table_recognize(&got, &f->base, &f->t, &e), &e);
    CHECK_INT(got.kind, kind);
    CHECK_INT(got.offset, offset);
}

static struct table_file file;

static void check_formula(int n, int d, enum element type,
                          enum positions kind, int offset)
{
    make_table(&file, n, d, type, kind, offset);
    check_table(&file, kind, offset);
}

static const enum positions kinds[] = {
    POS_HALVES, POS_HALVES_HF, POS_INTERLEAVED,
};
static const enum element types[] = { ELEMENT_F32, ELEMENT_F16, ELEMENT_BF16 };

TEST(recognizes_every_formula)
{
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (size_t t = 0; t < COUNT(types); t++)
            for (int offset = 0; offset < 3; offset++) {
                check_formula(MOST, D, types[t], kinds[k], offset);
                check_formula(16, D, types[t], kinds[k], offset);
                check_formula(MOST, 64, types[t], kinds[k], offset);
            }
}

TEST(one_row_may_be_zeros)
{
    make_table(&file, 40, D, ELEMENT_F16, POS_HALVES, 0);
    memset(file.at + D, 0, D * sizeof *file.at);
    check_table(&file, POS_HALVES, 0);
    memset(file.at + 5 * D, 0, D * sizeof *file.at);
    check_table(&file, POS_LEARNED, 0);
}

TEST(other_tables_are_learned)
{
    uint64_t r = 1;

    make_table(&file, 40, D, ELEMENT_F32, POS_HALVES, 3);
    check_table(&file, POS_LEARNED, 0);
    make_table(&file, 40, D, ELEMENT_F32, POS_HALVES, 2);
    file.at[39 * D] += 1e-3f;
    check_table(&file, POS_LEARNED, 0);
    for (int i = 0; i < 40 * D; i++)
        file.at[i] = (float)splitmix_unit(&r);
    check_table(&file, POS_LEARNED, 0);
    make_table(&file, 1, D, ELEMENT_F32, POS_HALVES, 2);
    check_table(&file, POS_LEARNED, 0);
    file.t.shape[0] = 8;
    file.t.shape[1] = 5;
    check_table(&file, POS_LEARNED, 0);
    file.t.n_dims = 1;
    check_table(&file, POS_LEARNED, 0);
}

TEST(a_table_that_is_not_finite_is_an_error)
{
    struct position_table got;
    struct err e = { 0 };

    make_table(&file, 40, D, ELEMENT_F32, POS_HALVES, 2);
    file.at[2 * D + 3] = NAN;
    CHECK(position_table_recognize(&got, &file.base, &file.t, &e) ==
          ST_FORMAT);
    CHECK_STR(e.msg, "f: tensor \"table\" contains NaN or infinite values "
              "(row 2, column 3)");
}
