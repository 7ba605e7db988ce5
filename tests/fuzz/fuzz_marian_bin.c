/* fuzz_marian_bin.c - reads any bytes as a .bin file of Marian, and all of its
 * tensors, by rows and as a whole. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../memory_stream.h"
#include "convert/marian_bin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
    if (!ok) abort();
}

static void read_bin_tensor(struct tensor_file *f, const struct file_tensor *t)
{
    int64_t rows = file_tensor_rows(t), cols = file_tensor_cols(t);
    struct err e = { 0 };
    float *all, *one;

    if (t->type == ELEMENT_OTHER || t->n_dims > 2 || !rows || !cols) return;
    /* A tensor has at least a byte for each value. */
    all = malloc((size_t)(rows * cols) * sizeof *all);
    one = malloc((size_t)cols * sizeof *one);
    must(all && one);
    if (tensor_file_read(f, t, 0, rows, all, &e)) {
        must(e.msg[0] != 0);
    } else {
        must(!tensor_file_read(f, t, rows - 1, 1, one, &e));
        must(!memcmp(all + (rows - 1) * cols, one,
                     (size_t)cols * sizeof *one));
    }
    free(all);
    free(one);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tensor_file *f;
    struct err e = { 0 };

    if (marian_bin_open(&f, memory_stream_new(data, size), &e)) {
        must(!f && e.msg[0]);
        return 0;
    }
    for (int i = 0; i < f->n; i++) {
        must(f->at[i].index == i);
        read_bin_tensor(f, &f->at[i]);
    }
    tensor_file_close(f);
    return 0;
}
