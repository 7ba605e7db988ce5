/* xml_write.h - builds XML in memory: escaping, checking, writing. */
#ifndef FORMATS_XML_WRITE_H
#define FORMATS_XML_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"

struct output;
struct unit;

/* These append escaped text. In text, & < > and carriage returns are escaped;
 * in attributes also quotes, tabs and line breaks. They return false when
 * memory runs out or the limit is reached. */
bool xml_put_text(struct strbuf *out, const char *s, size_t n);
bool xml_put_attr(struct strbuf *out, const char *name, const char *s,
                  size_t n);                    /* with a space before it */
bool xml_put_start(struct strbuf *out, const char *name, const char **attrs);
bool xml_put_end(struct strbuf *out, const char *name);
/* Appends XML that was copied from a file, on a line of its own. Appends
 * nothing if it is not well-formed. */
bool xml_put_line(struct strbuf *out, const char *indent, struct str raw);

/* Truncates the text to this length; does nothing if it is shorter. */
void xml_cut(struct strbuf *sb, size_t len);

/* Return whether s is well-formed element content, or a valid name. */
bool xml_is_content(struct str s);
bool xml_is_name(const char *s);

/* Returns the offset of the first character that XML does not allow (or that
 * is not valid UTF-8), or n. */
size_t xml_check(const char *s, size_t n);
/* Checks the XML of a unit before it is written. The error names the unit. */
enum status xml_check_unit(const struct strbuf *xml, const struct unit *u,
                           uint64_t number, struct err *e);
/* Writes the text to the output and empties the buffer. */
enum status xml_flush(struct strbuf *xml, struct output *to, struct err *e);

#endif
