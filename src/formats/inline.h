/* inline.h - a text with inline elements, assembled from XML events.
 *
 * The text is plain until its first inline element; from then on it is in the
 * tagged form (tags.h). Functions that return bool return false when memory
 * runs out or the limit is reached. */
#ifndef FORMATS_INLINE_H
#define FORMATS_INLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "pair/unit.h"

struct inline_text {
    struct strbuf text;
    struct strbuf spare;        /* scratch space; swapped with `text` */
    bool tagged;                /* text is in the tagged form */
    size_t opened;              /* text.len right after a start tag, else 0:
                                   an end tag there makes an empty element */
};

void inline_init(struct inline_text *t, size_t limit);
void inline_release(struct inline_text *t);
void inline_reset(struct inline_text *t);

bool inline_start(struct inline_text *t, const char *name,
                  const char **attrs);
bool inline_end(struct inline_text *t, const char *name);
bool inline_text(struct inline_text *t, const char *s, size_t n);

bool inline_make_tagged(struct inline_text *t);
/* Returns whether the text is empty apart from white space and codes. */
bool inline_is_blank(struct inline_text *t);
/* Sets the source and target of a unit, both in the same form. The unit
 * borrows the texts from `source` and `target`. */
bool inline_pair(struct unit *u, struct inline_text *source,
                 struct inline_text *target);
/* Appends the text as XML content. */
bool inline_put_xml(const struct inline_text *t, struct strbuf *out);

#endif
