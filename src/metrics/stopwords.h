/* stopwords.h - English words that say little of what a text is about: the
 * list of stopwords-iso. */
#ifndef METRICS_STOPWORDS_H
#define METRICS_STOPWORDS_H

#include "base/str.h"

bool stopwords_has(struct str word);            /* in lower case */

#endif
