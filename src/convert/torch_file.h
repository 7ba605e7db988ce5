/* torch_file.h - read a file that torch.save() wrote: pytorch_model.bin of
 * Hugging Face, checkpoints of fairseq.
 *
 * Both forms are read: the zip archive of PyTorch 1.6 and later, and the older
 * one (a row of pickles, then the data). Nothing in the file is executed
 * (pickle.h). Only the pickles are kept in memory, the data are read from the
 * stream when rows are asked for.
 *
 * A tensor is a view of a storage, with an offset and strides; several may
 * share one, and each is read as what it shows. All of its elements lie inside
 * its storage, and the storage inside the file. Values of the dict that are not
 * tensors (numbers, nested dicts, ..) are not listed; torch_file_root() leads
 * to them. Tensors of an unknown kind (quantized, sparse) are listed as
 * ELEMENT_OTHER. Files in big-endian order are refused. */
#ifndef CONVERT_TORCH_FILE_H
#define CONVERT_TORCH_FILE_H

#include "convert/file_set.h"
#include "convert/pickle.h"
#include "convert/tensor_file.h"

/* Open the tensors of the root dict (dict NULL), or of the dict that is its
 * entry `dict` ("model" in a checkpoint of fairseq). Fails with ST_FORMAT if
 * there are no tensors. The stream belongs to the file, also on failure. */
enum status torch_file_open(struct tensor_file **out, struct file_stream *in,
                            const char *dict, struct err *e);

/* The value that was saved, with everything besides tensors: in a checkpoint of
 * fairseq a dict with "args" (an object with fields), "cfg", "model". It lives
 * as long as the file. f must come from torch_file_open(). */
const struct pickle_value *torch_file_root(const struct tensor_file *f);

#endif
