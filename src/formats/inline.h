/* inline.h - a text with inline elements, as an XML reader comes by it.
 *
 * It is plain text until the first element; from then on it is in the tagged
 * form (tags.h). All that return bool: false is no memory, or the limit. */
#ifndef FORMATS_INLINE_H
#define FORMATS_INLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "formats/unit.h"

struct inline_text {
    struct strbuf text, spare;
    bool tagged;
    size_t opened;              /* text.len right after a start tag, or 0 */
};

void inline_init(struct inline_text *t, size_t limit);
void inline_release(struct inline_text *t);
void inline_reset(struct inline_text *t);

bool inline_start(struct inline_text *t, const char *name,
                  const char **attrs);
bool inline_end(struct inline_text *t, const char *name);
bool inline_text(struct inline_text *t, const char *s, size_t n);

bool inline_make_tagged(struct inline_text *t);
/* No language in it: nothing, white space or codes only. */
bool inline_is_blank(struct inline_text *t);
/* Both texts into a unit, in the same form. They belong to s and g. */
bool inline_pair(struct unit *u, struct inline_text *s,
                 struct inline_text *g);
/* Append as XML content. */
bool inline_put_xml(const struct inline_text *t, struct strbuf *out);

#endif
