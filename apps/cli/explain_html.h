/* explain_html.h - writes explanations as a self-contained web page.
 *
 * The page has no scripts, fonts or pictures, and its content security policy
 * forbids the browser to load anything. Each word of a translation is shaded by
 * its weight (see explain.h). Pointing at a word, or reaching it with the Tab
 * key, shows the votes for it; it links to the token of the stored pair, which
 * links back. All texts are escaped. */
#ifndef EXPLAIN_HTML_H
#define EXPLAIN_HTML_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/explain.h"

struct html {
    const char *path;
    FILE *file;
    const char *source_lang, *target_lang;      /* the model's */
    struct textbuf t;           /* text not yet written to file */
    struct textbuf source;      /* the input line, repaired */
    uint64_t lines, sentences;
    uint64_t exact, steered;    /* sentences reused; influenced by a memory */
    double weight_sum;          /* over the tokens of translations */
    uint64_t tokens;
};

/* The functions return false on failure, with the error in *err. */

/* Creates the file, or empties it, and writes the beginning of the page. */
bool html_open(struct html *h, const char *path, const skmt_model *model,
               skmt_error *err);
/* Adds the best translation of an input line and its explanation. */
bool html_add(struct html *h, struct explain *x, const skmt_result *r,
              const char *source, size_t len, skmt_error *err);
/* Writes the end of the page and closes it; also call this after an error. h
 * may be zeroed. */
bool html_close(struct html *h, skmt_error *err);

#endif
