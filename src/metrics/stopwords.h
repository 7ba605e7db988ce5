/* stopwords.h - English stop words: frequent words such as "the" and "of" that
 * say little about a text's subject. The list is the one of stopwords-iso. */
#ifndef METRICS_STOPWORDS_H
#define METRICS_STOPWORDS_H

#include "base/str.h"

bool stopwords_has(struct str word);    /* word must be in lower case */

#endif
