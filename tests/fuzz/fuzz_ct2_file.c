/* fuzz_ct2_file.c - opens any bytes as a CTranslate2 model.bin, and reads
 * everything that it has. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../memory_stream.h"
#include "convert/ct2_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
    if (!ok) abort();
}

static void read_tensor(struct tensor_file *f, struct file_tensor *t)
{
    int64_t rows = file_tensor_rows(t), cols = file_tensor_cols(t);
    struct err e = { 0 };
    struct strbuf text;
    double number;
    float *row;

    if (t->n_dims <= 2 && cols <= 1 << 20 && rows <= 1 << 20) {
        row = malloc((size_t)cols * sizeof *row + 1);
        for (int64_t i = rows; i-- > 0 && !e.msg[0];)
            if (tensor_file_read(f, t, i, 1, row, &e)) must(e.msg[0] != 0);
        free(row);
    }
    strbuf_init(&text, 0);
    if (ct2_file_text(f, t, &text, &e)) must(e.msg[0] && !text.len);
    else must(strlen(text.data) == text.len);
    strbuf_release(&text);
    if (tensor_file_scalar(f, t, &number, &e)) must(e.msg[0] != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tensor_file *f;
    struct err e = { 0 };

    if (ct2_file_open(&f, memory_stream_new(data, size), &e)) {
        must(!f && e.msg[0]);
        return 0;
    }
    must(ct2_file_version(f) >= 2 && ct2_file_version(f) <= 6);
    must(ct2_file_spec(f) && ct2_file_revision(f) >= 0);
    for (int i = 0; i < f->n; i++) {
        struct file_tensor *t = &f->at[i], *of = ct2_file_alias(f, t);

        must(tensor_file_find(f, t->name) == t);
        must(!of || (of != t && !ct2_file_alias(f, of)));
        read_tensor(f, t);
    }
    tensor_file_close(f);
    return 0;
}
