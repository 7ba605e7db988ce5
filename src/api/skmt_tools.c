/* skmt_tools.c - include/skmt_tools.h: converts models and lists their tensors.
 * The conversion itself is in convert/. */
#include "skmt_tools.h"

#include <string.h>

#include "convert/convert.h"
#include "engine/engine.h"

skmt_status skmt_convert(const char *dir, const char *type, const char *out,
                         skmt_progress_fn *progress, void *user,
                         skmt_error *err)
{
    static const enum dtype types[] = { DT_F32, DT_BF16, DT_I8 };
    struct err *e = (struct err *)(void *)err;

    err_clear(e);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(type, dtype_name(types[i])))
            return (skmt_status)convert_model(dir, types[i], out, progress,
                                              user, e);
    return (skmt_status)err_set(e, ST_ARGUMENT, "type: \"%.40s\" is not one "
                                "of f32, bf16, int8", type);
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
