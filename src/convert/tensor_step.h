/* tensor_step.h - the tensors of a model file to be written, and what each of
 * them is made of.
 *
 * The list has one step for each entry of the lists in model/weights.h. Making
 * it finds all tensors of the plan's files and checks their shapes, so that a
 * missing or unused tensor is reported before anything is written. A step can
 * then be read row by row. The plan must stay valid and unchanged. */
#ifndef CONVERT_TENSOR_STEP_H
#define CONVERT_TENSOR_STEP_H

#include "convert/model_plan.h"
#include "model/mfile.h"

#define STEP_PARTS 3

enum step_kind {
    STEP_MATRIX,                /* a linear X.w [rows, cols] */
    STEP_TABLE,                 /* plain floats [rows, cols] */
    STEP_VECTOR                 /* plain floats [rows] */
};

struct step_part {
    struct tensor_file *file;
    const struct file_tensor *tensor;   /* NULL: all zeros */
    bool transposed;            /* the tensor is [inputs, outputs] */
    int64_t first;              /* the first of its outputs */
};

/* The parts are below one another. Rows after the last part are padding. */
struct tensor_step {
    enum step_kind kind;
    char name[MFILE_NAME_MAX + 1];
    int rows, cols;             /* as written; cols is 1 for a vector */
    int part_rows;              /* rows of each part */
    int n_parts;
    struct step_part part[STEP_PARTS];
    const int32_t *row_map;     /* [part_rows] the row of the tensor for each
                                   row, or -1; NULL: in order */
    const uint8_t *barred;      /* [part_rows] 1: the value is -1e9; or NULL */
};

struct step_list {
    struct tensor_step *at;     /* [n] */
    size_t n, cap;
};

/* Fails with ST_FORMAT if a tensor is missing, has another shape or is left
 * over. The list must be all zeros; it is released on failure too. */
enum status step_list_make(struct step_list *l, struct model_plan *p,
                           struct err *e);
void step_list_release(struct step_list *l);

/* Read n rows of a step as floats to out [n, cols]. Reading all rows of a
 * transposed tensor in blocks reads its file once for each block. */
enum status tensor_step_read(const struct tensor_step *s, int row, int n,
                             float *out, struct err *e);

#endif
