/* gather.h - collects the parts of a unit for the XML readers, within limits.
 *
 * Attributes are collected as members of a JSON object. Elements that the
 * reader does not understand are copied as XML text, including their content.
 * When a limit is exceeded or memory runs out, these functions tell the XML
 * parser, which then stops; they return no error themselves. Call them only
 * from the parser's handlers.
 *
 * While `copying` is set, all events belong to the element that is being
 * copied. Its start tag was at depth copy_depth; the copy ends when the end
 * tag at that depth arrives. */
#ifndef FORMATS_GATHER_H
#define FORMATS_GATHER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "formats/xml.h"

/* Limit in bytes for the attributes of one element or for a header. */
#define GATHER_HEAD ((size_t)1 << 20)

struct gather {
    struct xml *x;                      /* borrowed */
    const char *what;                   /* user's word for a unit: "<tu>" */
    size_t max_bytes;                   /* limit for one unit */
    size_t bytes_used;                  /* by this unit; the reader sets it to
                                           0 when a unit begins */
    bool copying;
    struct strbuf *copy;                /* destination; NULL to discard */
    size_t copy_from;                   /* copy->len when copying began */
    int copy_depth;                     /* depth of the copied element */
};

void gather_init(struct gather *g, struct xml *x, const char *what,
                 size_t max_text);

/* Must be called after each append to `to`. `ok` says whether the append
 * succeeded, n is the number of input bytes it consumed. Stops the parser if
 * the append failed or the unit is too large. */
void gather_check(struct gather *g, bool ok, const struct strbuf *to,
                  size_t n);

void gather_attr(struct gather *g, struct strbuf *to, const char *name,
                 const char *value);
void gather_attrs(struct gather *g, struct strbuf *to, const char **attrs);
void gather_set(struct gather *g, struct strbuf *to, const char *value);

/* Starts to copy the element whose start tag is being handled. If `to` is
 * NULL, the element is skipped. */
void gather_copy(struct gather *g, struct strbuf *to, const char *name,
                 const char **attrs);
/* Offer an event to the copy. They return true if an element is being copied;
 * the event needs no further handling then. */
bool gather_start(struct gather *g, const char *name, const char **attrs);
bool gather_end(struct gather *g, const char *name);
bool gather_text(struct gather *g, const char *s, size_t n);
/* Removes an incomplete copy from its destination. */
void gather_drop_copy(struct gather *g);

#endif
