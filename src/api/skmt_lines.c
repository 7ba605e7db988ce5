/* skmt_lines.c - the part of include/skmt.h that reads a text file line by
 * line. Decompression and charsets are handled in formats/input.c. */
#include <stdlib.h>

#include "api/handles.h"
#include "formats/input.h"
#include "formats/linescan.h"

#define LINE_MAX_MIB 64

struct skmt_lines {
    struct input *in;
    struct linescan scan;
};

skmt_status skmt_lines_open(skmt_lines **out, const char *path,
                            skmt_error *err)
{
    skmt_lines *l = calloc(1, sizeof *l);
    enum status st;

    err_clear(inner(err));
    *out = NULL;
    if (!l) return (skmt_status)err_nomem(inner(err), "lines");
    st = input_open(&l->in, path, inner(err));
    if (!st) st = linescan_init(&l->scan, l->in, (size_t)LINE_MAX_MIB << 20,
                               inner(err));
    if (st) skmt_lines_close(l);
    else *out = l;
    return (skmt_status)st;
}

void skmt_lines_close(skmt_lines *l)
{
    if (!l) return;
    linescan_release(&l->scan);
    input_close(l->in);
    free(l);
}

skmt_status skmt_lines_next(skmt_lines *l, const char **text, size_t *len,
                            skmt_error *err)
{
    struct scanned_line line;
    enum status st;

    err_clear(inner(err));
    *text = NULL;
    *len = 0;
    st = linescan_next(&l->scan, &line, inner(err));
    if (!st && line.too_long)
        st = err_set(inner(err), ST_LIMIT, "%s:%llu: the line is longer than "
                     "%d MiB", input_name(l->in),
                     (unsigned long long)l->scan.line, LINE_MAX_MIB);
    if (st || !line.found) return (skmt_status)st;
    *text = line.text.p;
    *len = line.text.n;
    return SKMT_OK;
}
