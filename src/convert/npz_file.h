/* npz_file.h - read the arrays of an .npz file: a zip archive of .npy files, as
 * numpy and Marian write them.
 *
 * An array is a tensor with the name of its entry, without ".npy". The header
 * of each entry (versions 1 to 3) is read when the file is opened, and the size
 * of the entry must be that of its shape and type. Arrays in Fortran order and
 * in big-endian order are refused. Arrays of other types than integers and
 * floats cannot be read. */
#ifndef CONVERT_NPZ_FILE_H
#define CONVERT_NPZ_FILE_H

#include "convert/file_stream.h"
#include "convert/tensor_file.h"

/* The stream belongs to the file, also on failure. */
enum status npz_file_open(struct tensor_file **out, struct file_stream *in,
                          struct err *e);

#endif
