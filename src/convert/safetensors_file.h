/* safetensors_file.h - read the tensors of a .safetensors file.
 *
 * The file starts with an 8-byte length and a JSON header of that many bytes
 * (name -> dtype, shape, data_offsets). The data follows. Every tensor must
 * have the size that its shape and type say, and the tensors must fill the
 * data without gaps or overlaps, as the format requires. */
#ifndef CONVERT_SAFETENSORS_FILE_H
#define CONVERT_SAFETENSORS_FILE_H

#include "convert/file_stream.h"
#include "convert/tensor_file.h"

/* The stream belongs to the file, also on failure. */
enum status safetensors_file_open(struct tensor_file **out,
                                  struct file_stream *in, struct err *e);

#endif
