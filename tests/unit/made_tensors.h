/* made_tensors.h - a file of tensors in memory, for tests of what is done with
 * the tensors of other projects. All functions are static. */
#ifndef MADE_TENSORS_H
#define MADE_TENSORS_H

#include "convert/checkpoint.h"
#include "test.h"

enum { MADE_TENSORS = 60 };

struct made_file {
    struct tensor_file base;
    struct file_tensor tensor[MADE_TENSORS];
    char names[MADE_TENSORS][80];
    float *values[MADE_TENSORS];
    int reads;                  /* calls of read */
};

static inline enum status made_read(struct tensor_file *f,
                                    const struct file_tensor *t, int64_t row,
                                    int64_t n, float *out, struct err *e)
{
    struct made_file *m = (struct made_file *)f;
    size_t cols = (size_t)file_tensor_cols(t);

    (void)e;
    m->reads++;
    memcpy(out, m->values[t->index] + (size_t)row * cols,
           (size_t)n * cols * sizeof *out);
    return ST_OK;
}

static inline void made_close(struct tensor_file *f)
{
    struct made_file *m = (struct made_file *)f;

    for (int i = 0; i < f->n; i++) free(m->values[i]);
    free(m);
}

static const struct tensor_file_ops made_ops = { made_read, made_close };

static inline struct made_file *made_new(void)
{
    struct made_file *m = calloc(1, sizeof *m);

    if (!m) abort();
    m->base.ops = &made_ops;
    m->base.name = "made.bin";
    m->base.at = m->tensor;
    return m;
}

/* Add a tensor [rows, cols], or [cols] if rows is 0. Element i is first + i. */
static inline float *made_add(struct made_file *m, const char *name, int rows,
                              int cols, float first)
{
    int i = m->base.n++, n = (rows ? rows : 1) * cols;

    if (i >= MADE_TENSORS) abort();
    snprintf(m->names[i], sizeof m->names[i], "%s", name);
    m->tensor[i] = (struct file_tensor){
        .name = m->names[i], .n_dims = rows ? 2 : 1,
        .shape = { rows ? rows : cols, rows ? cols : 1, 1, 1 }, .index = i };
    m->values[i] = calloc((size_t)n, sizeof(float));
    for (int k = 0; k < n; k++) m->values[i][k] = first + (float)k;
    return m->values[i];
}

/* A checkpoint of one file, which it owns. */
static inline struct checkpoint *made_checkpoint(struct made_file *m)
{
    struct checkpoint *c = NULL;
    struct err e;

    CHECK_OK(checkpoint_new(&c, &e), &e);
    CHECK_OK(checkpoint_add(c, &m->base, &e), &e);
    return c;
}

#endif
