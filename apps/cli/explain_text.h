/* explain_text.h - writes explanations as text. */
#ifndef EXPLAIN_TEXT_H
#define EXPLAIN_TEXT_H

#include <stdbool.h>

#include "common/explain.h"

/* Appends the translation, with its tokens colored by weight if color is true,
 * a newline, and the explanation. Returns false on failure, with the error in
 * *err. */
bool explain_put(struct explain *x, struct textbuf *t, const skmt_result *r,
                 int hyp, bool color, skmt_error *err);

#endif
