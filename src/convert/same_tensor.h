/* same_tensor.h - whether two tensors have the same values. */
#ifndef CONVERT_SAME_TENSOR_H
#define CONVERT_SAME_TENSOR_H

#include "convert/checkpoint.h"

/* Both must exist. Tensors of different shapes differ. Reads both in blocks, so
 * that tables of any size need little memory. */
enum status same_tensor(bool *same, const struct checkpoint *c, const char *a,
                        const char *b, struct err *e);

#endif
