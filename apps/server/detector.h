/* detector.h - finds the language of a text among a few candidates.
 *
 * A detector is made for the languages of a server. It has statistics of
 * German and English (detector_data.h), and lists of frequent words of some
 * thirty languages (common_words.def); others are told apart by their script
 * only. A detector never changes, so threads may share it. */
#ifndef SERVER_DETECTOR_H
#define SERVER_DETECTOR_H

#include "skmt.h"

struct detector;                /* opaque */

/* codes [n]: codes of ISO 639 as skmt_language_code returns them. They are not
 * copied. */
skmt_status detector_new(struct detector **out, const char *const *codes,
                         int n, skmt_error *err);
void detector_free(struct detector *d);

/* The language of a text, one of the codes. *confidence is 0 to 100. NULL,
 * with confidence 0, if the text has no letters. */
const char *detector_find(const struct detector *d, const char *text,
                          double *confidence);

#endif
