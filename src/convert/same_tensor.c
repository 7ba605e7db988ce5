/* same_tensor.c - compares two tensors block by block, as floats. It stops at
 * the first block that differs. Tensors that cannot be read are an error. */
#include "convert/same_tensor.h"

#include "base/invariant.h"
#include "base/mem.h"

#define BLOCK 65536             /* elements, unless a row is longer */

struct same_side {
    struct tensor_file *file;
    const struct file_tensor *tensor;
    float *block;
};

static void find_side(struct same_side *s, const struct checkpoint *c,
                      const char *name)
{
    s->tensor = checkpoint_find(c, name, &s->file);
    assert(s->tensor);
}

static bool same_values(const float *a, const float *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (a[i] != b[i]) return false;
    return true;
}

static enum status compare_blocks(bool *same, struct same_side *a,
                                  struct same_side *b, int64_t block,
                                  struct err *e)
{
    int64_t rows = file_tensor_rows(a->tensor);
    int64_t cols = file_tensor_cols(a->tensor);

    *same = true;
    for (int64_t row = 0; row < rows && *same; row += block) {
        int64_t n = rows - row < block ? rows - row : block;
        enum status st = tensor_file_read(a->file, a->tensor, row, n, a->block,
                                          e);

        if (!st)
            st = tensor_file_read(b->file, b->tensor, row, n, b->block, e);
        if (st) return st;
        *same = same_values(a->block, b->block, n * cols);
    }
    return ST_OK;
}

static bool same_shape(const struct file_tensor *a, const struct file_tensor *b)
{
    return file_tensor_rows(a) == file_tensor_rows(b) &&
           file_tensor_cols(a) == file_tensor_cols(b);
}

enum status same_tensor(bool *same, const struct checkpoint *c, const char *a,
                        const char *b, struct err *e)
{
    struct same_side x, y;
    int64_t cols, block;
    enum status st;

    *same = false;
    find_side(&x, c, a);
    find_side(&y, c, b);
    if (!same_shape(x.tensor, y.tensor)) return ST_OK;
    cols = file_tensor_cols(x.tensor);
    block = cols >= BLOCK ? 1 : cols > 0 ? BLOCK / cols : BLOCK;
    x.block = mem_alloc((size_t)(block * cols) + 1, sizeof *x.block);
    y.block = mem_alloc((size_t)(block * cols) + 1, sizeof *y.block);
    if (x.block && y.block)
        st = compare_blocks(same, &x, &y, block, e);
    else
        st = err_nomem(e, a);
    if (st) *same = false;
    mem_free(x.block);
    mem_free(y.block);
    return st;
}
