/* open_subword.h - opens the de-en tokenizer for tests.
 *
 * It comes from the full test sets beside the checkout, else from
 * models/de-en.skmt or the file that SKMT_MODEL names. NULL if there is
 * neither. */
#ifndef OPEN_SUBWORD_H
#define OPEN_SUBWORD_H

#include <unistd.h>

#include "base/file.h"
#include "model/mfile.h"
#include "test.h"
#include "text/subword.h"

struct test_subword {
    struct subword *sw;
    struct mapping map;
    struct mfile *file;
    const void *bytes;          /* of the model */
    size_t size;
};

static inline struct subword *open_test_subword(struct test_subword *t)
{
    const char *path = test_shared("model/spm.model");
    const char *model = getenv("SKMT_MODEL");
    const struct mtensor *bytes;
    struct err e;

    memset(t, 0, sizeof *t);
    if (!model) model = "models/de-en.skmt";
    if (path) {
        if (!CHECK_OK(mapping_open(&t->map, path, &e), &e)) return NULL;
        t->bytes = t->map.data;
        t->size = t->map.size;
    } else if (!access(model, R_OK)) {
        if (!CHECK_OK(mfile_open(&t->file, model, &e), &e)) return NULL;
        bytes = mfile_find(t->file, "tokenizer.spm");
        if (!CHECK(bytes != NULL)) return NULL;
        t->bytes = bytes->data;
        t->size = (size_t)bytes->bytes;
    }
    if (t->bytes)
        CHECK_OK(subword_open(&t->sw, t->bytes, t->size, &e), &e);
    return t->sw;
}

static inline void close_test_subword(struct test_subword *t)
{
    subword_close(t->sw);
    mapping_close(&t->map);
    mfile_close(t->file);
}

#endif
