/* tensor_file.c - what the readers of all containers share: finding a tensor,
 * its shape as a matrix, and the checks before and after reading.
 *
 * No reader is asked for rows that a tensor does not have, and no value that is
 * not finite leaves this file. */
#include "convert/tensor_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/strbuf.h"

void tensor_file_close(struct tensor_file *f)
{
    if (f) f->ops->close(f);
}

struct file_tensor *tensor_file_find(struct tensor_file *f, const char *name)
{
    for (int i = 0; i < f->n; i++)
        if (!strcmp(f->at[i].name, name)) return &f->at[i];
    return NULL;
}

int64_t file_tensor_rows(const struct file_tensor *t)
{
    return t->n_dims < 2 ? 1 : t->shape[0];
}

int64_t file_tensor_cols(const struct file_tensor *t)
{
    return t->n_dims < 2 ? t->shape[0] : t->shape[1];
}

/* The first value that is NaN or infinite; -1 if there is none. */
static int64_t find_not_finite(const float *v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(v[i])) return i;
    return -1;
}

enum status tensor_file_read(struct tensor_file *f,
                             const struct file_tensor *t, int64_t row,
                             int64_t n, float *out, struct err *e)
{
    int64_t cols = file_tensor_cols(t), bad;
    enum status st;

    if (t->type == ELEMENT_OTHER)
        return err_set(e, ST_FORMAT, "%s: tensor \"%.100s\" has a type that "
                       "cannot be read", f->name, t->name);
    if (t->n_dims > 2)
        return err_set(e, ST_FORMAT, "%s: tensor \"%.100s\" has %d dimensions "
                       "and cannot be read", f->name, t->name, t->n_dims);
    assert(row >= 0 && n >= 0 && row <= file_tensor_rows(t) &&
           n <= file_tensor_rows(t) - row);
    if (!n || !cols) return ST_OK;
    st = f->ops->read(f, t, row, n, out, e);
    if (st) return st;
    bad = find_not_finite(out, n * cols);
    if (bad < 0) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: tensor \"%.100s\" contains NaN or "
                   "infinite values (row %" PRId64 ", column %" PRId64 ")",
                   f->name, t->name, row + bad / cols, bad % cols);
}

enum status tensor_file_scalar(struct tensor_file *f,
                               const struct file_tensor *t, double *out,
                               struct err *e)
{
    float v;
    enum status st;

    if (t->n_dims > 2 || file_tensor_rows(t) != 1 || file_tensor_cols(t) != 1)
        return err_set(e, ST_FORMAT, "%s: \"%.100s\" should be one number",
                       f->name, t->name);
    st = tensor_file_read(f, t, 0, 1, &v, e);
    if (!st) *out = v;
    return st;
}

/* Append numbers that are bytes. false: out of memory. */
static bool add_bytes(struct strbuf *out, const float *v, int64_t n)
{
    while (n && v[n - 1] == 0) n--;
    if (!strbuf_reserve(out, (size_t)n)) return false;
    for (int64_t i = 0; i < n; i++) strbuf_addc(out, (char)(int)v[i]);
    return true;
}

enum status tensor_file_text(struct tensor_file *f,
                             const struct file_tensor *t, size_t most,
                             struct strbuf *out, struct err *e)
{
    int64_t n = file_tensor_cols(t);
    enum status st;
    float *v;

    if ((t->type != ELEMENT_I8 && t->type != ELEMENT_U8) || t->n_dims > 2 ||
        file_tensor_rows(t) != 1 || (uint64_t)n > most)
        return err_set(e, ST_FORMAT, "%s: \"%.100s\" should be a text of at "
                       "most %zu bytes", f->name, t->name, most);
    v = malloc(((size_t)n + !n) * sizeof *v);
    if (!v) return err_nomem(e, f->name);
    st = tensor_file_read(f, t, 0, 1, v, e);
    if (!st && !add_bytes(out, v, n)) st = err_nomem(e, f->name);
    free(v);
    return st;
}
