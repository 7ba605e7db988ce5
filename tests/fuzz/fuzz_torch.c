/* fuzz_torch.c - reads any bytes as a file of torch.save().
 *
 * The first byte of an input selects the dict that is opened: the root or
 * "model". All tensors of a file that opens are read, whole and row by row,
 * which must give the same values. */
#include <stdlib.h>
#include <string.h>

#include "../memory_stream.h"
#include "convert/torch_file.h"

#define ELEMENTS_MOST (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
    if (!ok) abort();
}

static void read_tensor(struct tensor_file *f, const struct file_tensor *t)
{
    int64_t rows = file_tensor_rows(t), cols = file_tensor_cols(t), n;
    struct err e = { 0 };
    float *all, *one;

    must(rows >= 0 && cols >= 0 && t->name);
    if (t->type == ELEMENT_OTHER || t->n_dims > 2) return;
    if (__builtin_mul_overflow(rows, cols, &n) || n > ELEMENTS_MOST) return;
    all = malloc((size_t)n * sizeof *all + 1);
    one = malloc((size_t)cols * sizeof *one + 1);
    must(all && one);
    if (tensor_file_read(f, t, 0, rows, all, &e)) {
        must(e.msg[0] != 0);
        rows = 0;
    }
    for (int64_t row = 0; row < rows && row < 1000; row++) {
        must(!tensor_file_read(f, t, row, 1, one, &e));
        must(!memcmp(one, all + row * cols, (size_t)cols * sizeof *one));
    }
    free(all);
    free(one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tensor_file *f;
    struct err e = { 0 };

    if (!size) return 0;
    if (torch_file_open(&f, memory_stream_new(data + 1, size - 1),
                        data[0] % 2 ? "model" : NULL, &e)) {
        must(!f && e.msg[0]);
        return 0;
    }
    must(f->n > 0 && torch_file_root(f) != NULL);
    for (int i = 0; i < f->n; i++) {
        must(f->at[i].index == i);
        read_tensor(f, &f->at[i]);
    }
    tensor_file_close(f);
    return 0;
}
