/* skmt_output.c - the part of include/skmt_tools.h that writes a file. Atomic
 * replacement and compression are done in formats/output.c. */
#include <stdlib.h>

#include "api/handles.h"
#include "formats/output.h"
#include "skmt_tools.h"

struct skmt_output {
    struct output *o;
};

skmt_status skmt_output_open(skmt_output **out, const char *path,
                             skmt_error *err)
{
    skmt_output *o = calloc(1, sizeof *o);
    enum status st;

    err_clear(err_of(err));
    *out = NULL;
    if (!o) return (skmt_status)err_nomem(err_of(err), path);
    st = output_open(&o->o, path, err_of(err));
    if (st) skmt_output_close(o);
    else *out = o;
    return (skmt_status)st;
}

void skmt_output_close(skmt_output *o)
{
    if (!o) return;
    output_close(o->o);
    free(o);
}

skmt_status skmt_output_write(skmt_output *o, const char *bytes, size_t n,
                              skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)output_write(o->o, bytes, n, err_of(err));
}

skmt_status skmt_output_commit(skmt_output *o, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)output_commit(o->o, err_of(err));
}
