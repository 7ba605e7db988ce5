/* position_table.c - reads a table row by row and drops the formulas that do
 * not fit. Of those that are left at the end, the one that comes nearest is
 * taken: in a short table of few bits, two may be left. One row may be zeros,
 * that of the padding, which no formula gives. */
#include "convert/position_table.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/sinusoid.h"

#define OFFSETS 3               /* 0, 1, 2 */
/* Programs that compute with 32 bits get angles that are wrong by up to about
 * this part of them. */
#define ANGLE_ERROR 2e-6

static const enum positions formulas[] = {
    POS_HALVES, POS_HALVES_HF, POS_INTERLEAVED,
};
enum { CANDIDATES = OFFSETS * (sizeof formulas / sizeof *formulas) };

struct position_fit {
    struct position_table is;
    double worst;               /* largest difference so far */
    bool out;                   /* does not fit */
};

static double type_error(enum element type)
{
    return type == ELEMENT_F16 ? 2e-3 : type == ELEMENT_BF16 ? 2e-2 : 1e-4;
}

static void compare_row(struct position_fit *fit, const float *row,
                        float *formula, int p, int d, double error)
{
    sinusoid_row(formula, p, d, fit->is.kind);
    for (int i = 0; i < d; i++) {
        double off = fabs((double)row[i] - (double)formula[i]);

        if (off > fit->worst) fit->worst = off;
    }
    if (fit->worst > error + ANGLE_ERROR * p) fit->out = true;
}

static void start_fits(struct position_fit *fits)
{
    for (int i = 0; i < CANDIDATES; i++)
        fits[i] = (struct position_fit){
            { formulas[i / OFFSETS], i % OFFSETS }, 0, false,
        };
}

static void choose_fit(struct position_table *out,
                       const struct position_fit *fits)
{
    double best = INFINITY;

    *out = (struct position_table){ POS_LEARNED, 0 };
    for (int i = 0; i < CANDIDATES; i++) {
        if (fits[i].out || fits[i].worst >= best) continue;
        best = fits[i].worst;
        *out = fits[i].is;
    }
}

static bool all_zero(const float *row, int d)
{
    for (int i = 0; i < d; i++)
        if (row[i] != 0) return false;
    return true;
}

/* `row` has room for two rows. */
static enum status compare_table(struct position_fit *fits,
                                 struct tensor_file *f,
                                 const struct file_tensor *t, float *row,
                                 struct err *e)
{
    int d = (int)file_tensor_cols(t);
    int64_t n = file_tensor_rows(t);
    int left = CANDIDATES, zeros = 0;

    for (int64_t p = 0; p < n && left; p++) {
        enum status st = tensor_file_read(f, t, p, 1, row, e);

        if (st) return st;
        if (all_zero(row, d) && !zeros++) continue;
        left = 0;
        for (int i = 0; i < CANDIDATES; i++) {
            if (fits[i].out) continue;
            compare_row(&fits[i], row, row + d, (int)p + fits[i].is.offset, d,
                        type_error(t->type));
            left += !fits[i].out;
        }
    }
    return ST_OK;
}

enum status position_table_recognize(struct position_table *out,
                                     struct tensor_file *f,
                                     const struct file_tensor *t,
                                     struct err *e)
{
    struct position_fit fits[CANDIDATES];
    int64_t d = file_tensor_cols(t), n = file_tensor_rows(t);
    enum status st;
    float *row;

    *out = (struct position_table){ POS_LEARNED, 0 };
    if (t->n_dims != 2 || d < 4 || d % 2 || d > 65536 || n < 2 || n > 1 << 20)
        return ST_OK;
    row = mem_alloc((size_t)d, 2 * sizeof *row);
    if (!row) return err_nomem(e, t->name);
    start_fits(fits);
    st = compare_table(fits, f, t, row, e);
    if (!st) choose_fit(out, fits);
    mem_free(row);
    return st;
}
