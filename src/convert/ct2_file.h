/* ct2_file.h - read model.bin of a CTranslate2 model, versions 2 to 6.
 *
 * Every variable is a tensor. An alias (two names for one variable) is a tensor
 * too: it has a name of its own and reads the same values.
 *
 * A compressed matrix "X/weight" with a "X/weight_scale" is read as floats,
 * each integer divided by the scale of its row (int8) or of the matrix (int16;
 * 1000 if the file has no scale). Quantizing such a row to int8 again gives the
 * same integers. Its scale is listed like any other tensor, but is marked as
 * used from the start, because it is read together with its matrix.
 *
 * Settings of the model ("encoder/num_heads") are scalars, which
 * tensor_file_scalar() reads. */
#ifndef CONVERT_CT2_FILE_H
#define CONVERT_CT2_FILE_H

#include "base/strbuf.h"
#include "convert/file_set.h"
#include "convert/tensor_file.h"

/* Fails with ST_VERSION if the version of the file is not known. The stream
 * belongs to the file, also on failure. */
enum status ct2_file_open(struct tensor_file **out, struct file_stream *in,
                          struct err *e);

/* The functions below are for files from ct2_file_open(). */

int ct2_file_version(const struct tensor_file *f);      /* 2 to 6 */
/* The kind of model, "TransformerSpec", and the revision of its variables. */
const char *ct2_file_spec(const struct tensor_file *f);
int ct2_file_revision(const struct tensor_file *f);

/* The variable that t is another name of; NULL if t is a variable itself. */
struct file_tensor *ct2_file_alias(const struct tensor_file *f,
                                   const struct file_tensor *t);

/* Append the text of a variable of int8 characters, such as "unk_token" in
 * versions before 6. Fails with ST_FORMAT if t is no such variable. */
enum status ct2_file_text(struct tensor_file *f, const struct file_tensor *t,
                          struct strbuf *out, struct err *e);

#endif
