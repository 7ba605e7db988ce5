/* ct2_settings.h - what a model of CTranslate2 says about itself besides its
 * weights: scalars in model.bin and, since version 6, config.json. */
#ifndef CONVERT_CT2_SETTINGS_H
#define CONVERT_CT2_SETTINGS_H

#include "base/strbuf.h"
#include "convert/file_set.h"
#include "convert/tensor_file.h"
#include "tensor/kernels.h"

struct ct2_settings {
    int heads;
    bool pre_norm;
    enum act activation;
    double embedding_scale;
    double layer_norm_eps;
    bool zero_start;            /* the decoder begins with a zero vector, as
                                   Marian's does */
    struct strbuf unk, bos, eos;        /* tokens */
    struct strbuf start;        /* the first token of the decoder */
    bool source_bos, source_eos;        /* added to the source */
};

/* `f` is model.bin, `folder` where it is in the set: "" or "model/". d is the
 * width of the model. All scalars that are known are marked as used. Refuses
 * what skmt does not compute, and names the scalar or the key. The struct need
 * not be initialized, and must be released on failure too. */
enum status ct2_settings_read(struct ct2_settings *c, struct tensor_file *f,
                              struct file_set *s, const char *folder, int d,
                              struct err *e);
void ct2_settings_release(struct ct2_settings *c);

#endif
