/* po.h - parses and writes single entries of a gettext PO file.
 *
 *     #, c-format
 *     msgctxt "menu"
 *     msgid "%d file"
 *     msgid_plural "%d files"
 *     msgstr[0] "%d Datei"
 *     msgstr[1] "%d Dateien"
 *
 * An entry is filled line by line. The lines are UTF-8; the reader converts
 * them. Only the line after the last one shows that an entry is complete.
 *
 * Invariants: `state` only moves forward until the entry is reset. A string is
 * added to the text of the current state. In PO_STR, n_str >= 1 and strings
 * are added to str[n_str - 1]. has_plural is set exactly if there was a
 * msgid_plural; without it, n_str <= 1. */
#ifndef FORMATS_PO_H
#define FORMATS_PO_H

#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"

enum po_state {                 /* the newest keyword */
    PO_NOTHING, PO_DOMAIN, PO_CONTEXT, PO_ID, PO_PLURAL, PO_STR
};

struct po_entry {
    enum po_state state;
    bool has_string;            /* the newest keyword has a string */
    bool obsolete, fuzzy, has_context, has_plural;
    struct strbuf domain;       /* remains until another one is named */
    struct strbuf comments;     /* lines that begin with #, verbatim */
    struct strbuf context, id, plural;
    struct strbuf *str;         /* [cap_str]; n_str are in use */
    size_t n_str, cap_str;
    size_t limit;               /* maximum bytes of one text */
};

void po_entry_init(struct po_entry *en, size_t limit);
void po_entry_release(struct po_entry *en);
void po_entry_reset(struct po_entry *en);       /* keeps the domain */
/* Adds an empty msgstr and returns it; NULL when out of memory. */
struct strbuf *po_entry_add_str(struct po_entry *en);

enum po_step {
    PO_TAKEN,                   /* the whole line was used */
    PO_COMPLETE,                /* the entry is complete; the rest of the line
                                   belongs to the next one */
    PO_BAD,
    PO_NOMEM
};
/* Parses a line from *at on and sets *at to where it stopped. After PO_BAD,
 * *why says what was expected there. */
enum po_step po_entry_line(struct po_entry *en, struct str line, size_t *at,
                           const char **why);
/* Returns what the entry lacks, or NULL. Call it after PO_COMPLETE and at the
 * end of the file; an entry that consists only of comments has
 * state <= PO_DOMAIN there. */
const char *po_entry_lacks(const struct po_entry *en);

/* Appends the entry as lines. Texts are broken after \n and nowhere else, like
 * `msgcat --no-wrap` does. Returns false when out of memory. */
bool po_entry_write(const struct po_entry *en, struct strbuf *out);
/* Appends one keyword and its strings. */
bool po_put_text(bool obsolete, const char *keyword, struct str s,
                 struct strbuf *out);

/* Returns a field of the header entry's text ("Language") without surrounding
 * space; empty if there is no such field. */
struct str po_header_field(struct str header, const char *name);
/* Returns the charset that the header's Content-Type names. */
struct str po_header_charset(struct str header);

#endif
