/* position_table.h - find out whether a stored table of positions follows a
 * formula. */
#ifndef CONVERT_POSITION_TABLE_H
#define CONVERT_POSITION_TABLE_H

#include "convert/tensor_file.h"
#include "model/config.h"

struct position_table {
    enum positions kind;        /* POS_LEARNED: no formula fits */
    int offset;                 /* the position of row 0: 0, 1 or 2. 0 if
                                   learned */
};

/* Compare all rows of t [positions, d] with the formulas of model/sinusoid.h. A
 * row of zeros, that of the padding, is passed over.
 * Differences that come from the type of the elements or from 32-bit arithmetic
 * do not count. Fails only if the tensor cannot be read. */
enum status position_table_recognize(struct position_table *out,
                                     struct tensor_file *f,
                                     const struct file_tensor *t,
                                     struct err *e);

#endif
