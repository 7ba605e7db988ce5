/* split_text.c - prints where the sentences of each line of standard input end,
 * as byte offsets, for bench/split_eval.py.
 *
 *     split_text [LANG] < paragraphs
 *     split_text -t [LANG] < paragraphs     only the processor time, in ns for
 *                                           each byte
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text/split.h"

/* Returns the number of sentences; -1 on failure. */
static long split_line(const char *line, size_t len, const char *lang,
                       bool print)
{
    struct spans s = { 0 };
    struct err e;
    long n = -1;

    if (split_sentences(line, len, lang, &s, &e))
        fprintf(stderr, "%s\n", e.msg);
    else n = (long)s.n;
    for (size_t i = 0; print && i < s.n; i++)
        printf("%s%zu", i ? " " : "", s.at[i].end);
    if (print) putchar('\n');
    spans_release(&s);
    return n;
}

int main(int argc, char **argv)
{
    bool timing = argc > 1 && !strcmp(argv[1], "-t");
    const char *lang = argc > 1 + timing ? argv[1 + timing] : NULL;
    char *line = NULL;
    size_t cap = 0, bytes = 0;
    clock_t spent = 0;
    ssize_t n;

    while ((n = getline(&line, &cap, stdin)) > 0) {
        clock_t begin = clock();

        if (line[n - 1] == '\n') n--;
        if (split_line(line, (size_t)n, lang, !timing) < 0) return 1;
        spent += clock() - begin;
        bytes += (size_t)n;
    }
    free(line);
    if (timing)
        printf("%.1f\n", 1e9 * (double)spent / CLOCKS_PER_SEC /
                             (double)(bytes ? bytes : 1));
    return 0;
}
