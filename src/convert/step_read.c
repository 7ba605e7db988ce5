/* step_read.c - reads rows of a tensor.h matrix or vector from the tensors that
 * it is made of.
 *
 * A transposed tensor is read in whole rows, of which the columns that are
 * asked for are kept. A row map is followed in runs of rows that lie one after
 * another in the file. */
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "convert/tensor_step.h"

#define BARRED_BIAS -1e9f
#define READ_MOST (1 << 20)     /* elements of a transposed tensor at a time */

/* ---- matrices ---- */

/* How many of the rows from `row` on lie one after another; zeros count as one
 * row. */
static int run_length(const int32_t *map, int n)
{
    int k = 1;

    while (k < n && map[0] >= 0 && map[k] == map[0] + k) k++;
    return k;
}

static enum status read_mapped(const struct tensor_step *s,
                               const struct step_part *part, int row, int n,
                               float *out, struct err *e)
{
    enum status st = ST_OK;

    for (int k; n && !st; n -= k, row += k, out += (size_t)k * s->cols) {
        const int32_t *map = s->row_map + row;

        k = run_length(map, n);
        if (*map < 0) memset(out, 0, (size_t)s->cols * sizeof *out);
        else st = tensor_file_read(part->file, part->tensor, *map, k, out, e);
    }
    return st;
}

/* Copy the columns of some rows of a transposed tensor, which are inputs
 * `input` .. input + n_inputs - 1, to the rows of out. */
static void take_columns(const struct tensor_step *s,
                         const struct step_part *part, int row, int n,
                         const float *from, int64_t width, int64_t input,
                         int64_t n_inputs, float *out)
{
    for (int o = 0; o < n; o++) {
        int64_t at = s->row_map ? s->row_map[row + o] : part->first + row + o;
        float *to = out + (size_t)o * s->cols + input;

        for (int64_t i = 0; i < n_inputs; i++)
            to[i] = at < 0 ? 0 : from[i * width + at];
    }
}

static enum status read_transposed(const struct tensor_step *s,
                                   const struct step_part *part, int row,
                                   int n, float *out, struct err *e)
{
    int64_t width = file_tensor_cols(part->tensor);
    int64_t step = width < READ_MOST ? READ_MOST / width : 1;
    float *buf = mem_alloc((size_t)(step * width), sizeof *buf);
    enum status st = buf ? ST_OK : err_nomem(e, s->name);

    for (int64_t i = 0; i < s->cols && !st; i += step) {
        int64_t k = s->cols - i < step ? s->cols - i : step;

        st = tensor_file_read(part->file, part->tensor, i, k, buf, e);
        if (!st) take_columns(s, part, row, n, buf, width, i, k, out);
    }
    mem_free(buf);
    return st;
}

/* Read rows of one part, counted from its first one. */
static enum status read_part(const struct tensor_step *s,
                             const struct step_part *part, int row, int n,
                             float *out, struct err *e)
{
    if (part->transposed) return read_transposed(s, part, row, n, out, e);
    if (s->row_map) return read_mapped(s, part, row, n, out, e);
    return tensor_file_read(part->file, part->tensor, part->first + row, n,
                            out, e);
}

static enum status read_rows(const struct tensor_step *s, int row, int n,
                             float *out, struct err *e)
{
    enum status st = ST_OK;

    while (n && !st) {
        const struct step_part *part = &s->part[row / s->part_rows];
        int at = row % s->part_rows, k = s->part_rows - at;

        if (k > n) k = n;
        st = read_part(s, part, at, k, out, e);
        row += k;
        n -= k;
        out += (size_t)k * s->cols;
    }
    return st;
}

/* ---- vectors ---- */

/* Put a part of a vector where it belongs among the rows row .. row + n - 1. */
static void put_elements(const struct tensor_step *s, int i,
                         const float *whole, int row, int n, float *out)
{
    const struct step_part *part = &s->part[i];

    for (int k = 0; k < s->part_rows; k++) {
        int at = i * s->part_rows + k - row;
        int64_t from = s->row_map ? s->row_map[k] : part->first + k;

        if (at >= 0 && at < n && from >= 0) out[at] = whole[from];
    }
}

static enum status read_vector(const struct tensor_step *s, int row, int n,
                               float *out, struct err *e)
{
    enum status st = ST_OK;

    memset(out, 0, (size_t)n * sizeof *out);
    for (int i = 0; i < s->n_parts && !st; i++) {
        const struct step_part *part = &s->part[i];
        float *whole;

        if (!part->tensor) continue;
        whole = mem_alloc((size_t)file_tensor_cols(part->tensor),
                          sizeof *whole);
        st = whole ? tensor_file_read(part->file, part->tensor, 0, 1, whole,
                                      e)
                   : err_nomem(e, s->name);
        if (!st) put_elements(s, i, whole, row, n, out);
        mem_free(whole);
    }
    for (int k = 0; s->barred && k < n && row + k < s->part_rows; k++)
        if (s->barred[row + k]) out[k] = BARRED_BIAS;
    return st;
}

enum status tensor_step_read(const struct tensor_step *s, int row, int n,
                             float *out, struct err *e)
{
    assert(row >= 0 && n > 0 && row + n <= s->rows);
    if (s->kind == STEP_VECTOR) return read_vector(s, row, n, out, e);
    assert(s->rows == s->n_parts * s->part_rows);
    return read_rows(s, row, n, out, e);
}
