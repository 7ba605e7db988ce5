/* skmt_tools.c - the function of include/skmt_tools.h that lists the tensors of
 * a model. */
#include "skmt_tools.h"

#include "engine/engine.h"

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
