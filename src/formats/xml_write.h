/* xml_write.h - XML put together in memory, escaped and looked through. */
#ifndef FORMATS_XML_WRITE_H
#define FORMATS_XML_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/strbuf.h"

struct output;
struct unit;

/* Append escaped: in text & < > and carriage returns; in attributes also
 * quotes, tabs and line breaks. false: no memory or limit. */
bool xml_put_text(struct strbuf *out, const char *s, size_t n);
bool xml_put_attr(struct strbuf *out, const char *name, const char *s,
                  size_t n);                    /* with a space before */
bool xml_put_start(struct strbuf *out, const char *name, const char **attrs);
bool xml_put_end(struct strbuf *out, const char *name);
/* Elements as they were read, on a line of their own; nothing when that is
 * not well-formed. */
bool xml_put_line(struct strbuf *out, const char *indent, struct str raw);

/* Back to what it was when it had this length. */
void xml_cut(struct strbuf *sb, size_t len);

/* Is this well-formed content of an element; a name? */
bool xml_is_content(struct str s);
bool xml_is_name(const char *s);

/* Offset of the first character XML cannot hold (or invalid UTF-8), or n. */
size_t xml_check(const char *s, size_t n);
/* The same for a unit ready to be written; the error names the unit. */
enum status xml_check_unit(const struct strbuf *xml, const struct unit *u,
                           uint64_t number, struct err *e);
enum status xml_flush(struct strbuf *xml, struct output *to, struct err *e);

#endif
