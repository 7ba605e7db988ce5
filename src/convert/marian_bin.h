/* marian_bin.h - read the tensors of a .bin file of Marian, which marian-conv
 * writes for fast loading.
 *
 * Read are floats of 32 and 16 bits, integers, and the types intgemm8 and
 * intgemm16, integers with one factor per matrix. Marian stores matrices of
 * the latter types transposed, except tables of embeddings; here they have
 * their usual shape and order again. Types that are arranged for one kind of
 * processor are listed, but cannot be read. */
#ifndef CONVERT_MARIAN_BIN_H
#define CONVERT_MARIAN_BIN_H

#include "convert/file_stream.h"
#include "convert/tensor_file.h"

/* Fails with ST_VERSION if the file is encrypted or of an unknown version. The
 * stream belongs to the file, also on failure. */
enum status marian_bin_open(struct tensor_file **out, struct file_stream *in,
                            struct err *e);

#endif
