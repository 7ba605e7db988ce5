/* explain_html.h - explanations as one page that needs nothing else.
 *
 * No script, no font, no picture: a browser shows it from the disk, and the
 * page itself forbids it to fetch anything. Each word of a translation is
 * shaded by trust; pointing at it, or coming to it by the Tab key, shows who
 * voted; it leads to the token of the stored pair, and that leads back. Any
 * text is safe in it. */
#ifndef EXPLAIN_HTML_H
#define EXPLAIN_HTML_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "explain.h"

struct html {
    const char *path;
    FILE *file;
    const char *source_lang, *target_lang;      /* the model's */
    struct textbuf t, source;   /* what is being put together */
    uint64_t lines, sentences, exact, steered;
    double trust;               /* sums over the tokens of translations */
    uint64_t tokens;
};

/* The page is emptied and begun. False: err says why. */
bool html_open(struct html *h, const char *path, const skmt_model *model,
               skmt_error *err);
/* The best translation of a line of input and why it is so. */
bool html_add(struct html *h, struct explain *x, const skmt_result *r,
              const char *source, size_t len, skmt_error *err);
/* Its end; what was written before is a whole page also after an error. */
bool html_close(struct html *h, skmt_error *err);       /* zeroed is fine */

#endif
