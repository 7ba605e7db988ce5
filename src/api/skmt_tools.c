/* skmt_tools.c - the functions of include/skmt_tools.h that read the tensors
 * and the license of a model. */
#include "skmt_tools.h"

#include "engine/engine.h"

const char *skmt_model_notice(const skmt_model *model, size_t *len)
{
    const struct engine *en = (const struct engine *)(const void *)model;
    const struct mtensor *t = mfile_find(en->w->file, "notice");
    bool is_text = t && t->type == DT_BYTES;

    *len = is_text ? (size_t)t->bytes : 0;
    return is_text ? t->data : NULL;
}

skmt_status skmt_model_tensors(const skmt_model *model, skmt_tensor_fn *fn,
                               void *user)
{
    const struct engine *en = (const struct engine *)(const void *)model;

    for (int i = 0; i < mfile_count(en->w->file); i++) {
        const struct mtensor *t = mfile_at(en->w->file, i);
        fn(user, t->name, dtype_name(t->type), t->shape[0], t->shape[1],
           t->bytes, t->sum);
    }
    return SKMT_OK;
}
