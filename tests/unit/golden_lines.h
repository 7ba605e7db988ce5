/* golden_lines.h - reads golden numbers that a script in tools/ has printed.
 * A line is a name and numbers, separated by spaces. */
#ifndef GOLDEN_LINES_H
#define GOLDEN_LINES_H

#include "test.h"

/* Read the numbers of the line that begins with `name` from a file in
 * tests/golden. Returns how many there are, at most `most`; -1 if there is no
 * such line. */
static inline int golden_line(const char *file, const char *name, double *out,
                              int most)
{
    FILE *in = fopen(test_data(file), "r");
    char *line = NULL, *at, *end;
    size_t cap = 0, len = strlen(name);
    int n = -1;

    if (!in) {
        test_fail(__FILE__, __LINE__, "cannot read %s", file);
        return -1;
    }
    while (n < 0 && getline(&line, &cap, in) > 0) {
        if (strncmp(line, name, len) || !strchr(" \n", line[len])) continue;
        for (n = 0, at = line + len; n < most; n++, at = end) {
            out[n] = strtod(at, &end);
            if (end == at) break;
        }
    }
    if (n < 0) test_fail(__FILE__, __LINE__, "%s has no %s", file, name);
    free(line);
    fclose(in);
    return n;
}

#endif
