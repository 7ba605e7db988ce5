/* gather.h - what a reader of XML keeps of a unit, within limits.
 *
 * Attributes are kept as members of a JSON object, elements that are not
 * understood as text with all inside. What goes over a limit, or has no
 * memory, is said to the XML parser, which then stops: nothing is returned.
 * Called from its handlers. */
#ifndef FORMATS_GATHER_H
#define FORMATS_GATHER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "formats/xml.h"

#define GATHER_HEAD ((size_t)1 << 20)   /* bytes of attributes, of a header */

struct gather {
    struct xml *x;                      /* borrowed */
    const char *what;                   /* a unit, as a user calls it */
    size_t most, spent;                 /* bytes of a unit, and of this one:
                                           to be set to 0 where one begins */
    bool copying;
    struct strbuf *copy;                /* where to; NULL: nowhere */
    size_t copy_from;                   /* its length, and the depth, */
    int copy_depth;                     /* where that began */
};

void gather_init(struct gather *g, struct xml *x, const char *what,
                 size_t max_text);

/* After each append: whether it went well, to what, n bytes of the file. */
void gathered(struct gather *g, bool ok, const struct strbuf *to, size_t n);

void gather_attr(struct gather *g, struct strbuf *to, const char *name,
                 const char *value);
void gather_attrs(struct gather *g, struct strbuf *to, const char **attrs);
void gather_set(struct gather *g, struct strbuf *to, const char *value);

/* Copy the element that starts here; to NULL: pass over it. */
void gather_copy(struct gather *g, struct strbuf *to, const char *name,
                 const char **attrs);
/* Events while something is copied. True: it was, and that is all. */
bool gather_start(struct gather *g, const char *name, const char **attrs);
bool gather_end(struct gather *g, const char *name);
bool gather_text(struct gather *g, const char *s, size_t n);
/* Take back what is copied only in part. */
void gather_drop_copy(struct gather *g);

#endif
