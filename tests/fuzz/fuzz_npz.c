/* fuzz_npz.c - reads any bytes as an .npz file, or as the .npy file of its only
 * array, because random bytes rarely have the right checksum.
 *
 * The first byte of an input says which. All arrays are read. */
#include <stdint.h>
#include <stdlib.h>

#include "../memory_stream.h"
#include "../unit/made_zip.h"
#include "convert/npz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
    if (!ok) abort();
}

static void read_arrays(struct tensor_file *f)
{
    for (int i = 0; i < f->n; i++) {
        struct file_tensor *t = &f->at[i];
        int64_t rows = file_tensor_rows(t), cols = file_tensor_cols(t);
        struct err e = { 0 };
        float *v;

        must(tensor_file_find(f, t->name) == t && t->index == i);
        if (t->type == ELEMENT_OTHER || t->n_dims > 2) continue;
        /* Bytes of a deflated entry may be few for many elements. */
        if (cols && rows > 1000000 / cols) rows = 1000000 / cols;
        v = malloc((size_t)(rows * cols + 1) * sizeof *v);
        must(v && (!tensor_file_read(f, t, 0, rows, v, &e) || e.msg[0]));
        if (rows) must(!tensor_file_read(f, t, rows - 1, 1, v, &e) || e.msg[0]);
        free(v);
    }
}

static void try_npz(const void *bytes, size_t size)
{
    struct tensor_file *f;
    struct err e = { 0 };

    if (npz_file_open(&f, memory_stream_new(bytes, size), &e)) {
        must(!f && e.msg[0]);
        return;
    }
    read_arrays(f);
    tensor_file_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct made_zip z;

    if (!size) return 0;
    if (data[0] & 1) {
        try_npz(data + 1, size - 1);
        return 0;
    }
    made_zip_init(&z);
    made_zip_add(&z, "a.npy", data + 1, size - 1);
    made_zip_end(&z);
    try_npz(z.out.data, z.out.len);
    made_zip_release(&z);
    return 0;
}
