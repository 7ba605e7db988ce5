/* skmt_lines.c - the part of include/skmt_tools.h that reads a text file line
 * by line. Decompression and charsets are handled in formats/input.c. */
#include <stdlib.h>

#include "api/handles.h"
#include "formats/input.h"
#include "formats/linescan.h"
#include "skmt_tools.h"

#define LINE_MAX_MIB 64

struct skmt_lines {
    struct input *in;
    struct linescan scan;
};

skmt_status skmt_lines_open(skmt_lines **out, const char *path,
                            skmt_error *err)
{
    skmt_lines *lines = calloc(1, sizeof *lines);
    enum status st;

    err_clear(err_of(err));
    *out = NULL;
    if (!lines) return (skmt_status)err_nomem(err_of(err), "lines");
    st = input_open(&lines->in, path, err_of(err));
    if (!st)
        st = linescan_init(&lines->scan, lines->in,
                           (size_t)LINE_MAX_MIB << 20, err_of(err));
    if (st) skmt_lines_close(lines);
    else *out = lines;
    return (skmt_status)st;
}

void skmt_lines_close(skmt_lines *lines)
{
    if (!lines) return;
    linescan_release(&lines->scan);
    input_close(lines->in);
    free(lines);
}

skmt_status skmt_lines_next(skmt_lines *lines, const char **text, size_t *len,
                            skmt_error *err)
{
    struct scanned_line line;
    enum status st;

    err_clear(err_of(err));
    *text = NULL;
    *len = 0;
    st = linescan_next(&lines->scan, &line, err_of(err));
    if (!st && line.too_long)
        st = err_set(err_of(err), ST_LIMIT, "%s:%llu: the line is longer than "
                     "%d MiB", input_name(lines->in),
                     (unsigned long long)lines->scan.line, LINE_MAX_MIB);
    if (st || !line.found) return (skmt_status)st;
    *text = line.text.p;
    *len = line.text.n;
    return SKMT_OK;
}
