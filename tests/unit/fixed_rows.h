/* fixed_rows.h - an executor that has run nothing: the rows of its last pass
 * are those that a test gives. It can only be asked for distances to keys, for
 * copies of rows and for their attention. All functions are static. */
#ifndef FIXED_ROWS_H
#define FIXED_ROWS_H

#include "nn/backend.h"
#include "tensor/kernels.h"
#include "test.h"

struct fixed_rows {
    struct executor x;          /* must be the first member */
    const float *rows;          /* [n, ld], aligned to 64 bytes */
    size_t ld;
    int n;
    const float *attention;     /* [n, attention_ld]; NULL: zeros */
    size_t attention_ld;
};

static inline enum status fixed_distances(struct executor *x, int row, int n,
                                          const struct key_rows *keys,
                                          int from, int n_keys, float *out,
                                          size_t ldo, struct err *e)
{
    const struct fixed_rows *f = (const struct fixed_rows *)(void *)x;
    size_t size = keys->type == KEY_INT8 ? 1 : sizeof(float);
    struct distances a = { .q = f->rows + (size_t)row * f->ld, .ldq = f->ld,
        .n_q = n, .keys = (const char *)keys->keys + (size_t)from * keys->ld *
        size, .ldk = keys->ld, .n = n_keys, .d = keys->d, .out = out,
        .ldo = ldo, .scale = keys->scale + from };

    (void)e;
    CHECK(row >= 0 && n > 0 && row + n <= f->n);
    CHECK(from >= 0 && n_keys > 0 && from + n_keys <= keys->n);
    if (keys->type == KEY_INT8) kernels_pick(NULL)->distances_i8(&a);
    else kernels_pick(NULL)->distances_f32(&a);
    return ST_OK;
}

static inline enum status fixed_read(struct executor *x, enum state_kind kind,
                                     int row, int n, const float **states,
                                     size_t *ld, struct err *e)
{
    const struct fixed_rows *f = (const struct fixed_rows *)(void *)x;

    (void)e;
    CHECK(kind != STATE_SOURCE && row >= 0 && row + n <= f->n);
    *states = f->rows + (size_t)row * f->ld;
    *ld = f->ld;
    return ST_OK;
}

static inline enum status fixed_attention(struct executor *x, int row, int n,
                                          const float **weights, size_t *ld,
                                          struct err *e)
{
    static const float none[64];
    const struct fixed_rows *f = (const struct fixed_rows *)(void *)x;

    (void)e;
    CHECK(row >= 0 && row + n <= f->n);
    *ld = f->attention ? f->attention_ld : 0;
    *weights = f->attention ? f->attention + (size_t)row * *ld : none;
    return ST_OK;
}

static inline struct fixed_rows fixed_rows(const float *rows, size_t ld, int n)
{
    static const struct executor_ops ops = { .distances = fixed_distances,
                                             .read = fixed_read,
                                             .attention = fixed_attention };

    return (struct fixed_rows){ { .ops = &ops }, rows, ld, n, NULL, 0 };
}

#endif
