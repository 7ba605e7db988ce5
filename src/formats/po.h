/* po.h - one entry of a gettext PO file, from its lines and back.
 *
 *     #, c-format
 *     msgctxt "menu"
 *     msgid "%d file"
 *     msgid_plural "%d files"
 *     msgstr[0] "%d Datei"
 *     msgstr[1] "%d Dateien"
 *
 * An entry is filled line by line (UTF-8; the reader converts) and knows by
 * the line after its last that it is complete. */
#ifndef FORMATS_PO_H
#define FORMATS_PO_H

#include <stdint.h>

#include "base/str.h"
#include "base/strbuf.h"

enum po_state {                 /* what strings are added to */
    PO_NOTHING, PO_DOMAIN, PO_CONTEXT, PO_ID, PO_PLURAL, PO_STR
};

struct po_entry {
    enum po_state state;
    bool has_string;            /* one came for the newest keyword */
    bool obsolete, fuzzy, has_context, has_plural;
    struct strbuf domain;       /* holds until another is named */
    struct strbuf comments;     /* lines beginning with #, as they are */
    struct strbuf context, id, plural;
    struct strbuf *str;         /* [cap_str] */
    size_t n_str, cap_str;
    size_t limit;               /* bytes of one text */
};

void po_entry_init(struct po_entry *en, size_t limit);
void po_entry_release(struct po_entry *en);
void po_entry_reset(struct po_entry *en);       /* the domain stays */
/* Another msgstr, empty. NULL: no memory. */
struct strbuf *po_entry_add_str(struct po_entry *en);

enum po_step {
    PO_TAKEN,
    PO_COMPLETE,                /* what is left belongs to the next entry */
    PO_BAD,
    PO_NOMEM
};
/* Use a line from *at on, which becomes where it stopped. PO_BAD: *why says
 * what was expected there. */
enum po_step po_entry_line(struct po_entry *en, struct str line, size_t *at,
                           const char **why);
/* What the entry lacks, NULL: nothing. Asked when PO_COMPLETE or at the end
 * of the file, where an entry of comments alone has state <= PO_DOMAIN. */
const char *po_entry_lacks(const struct po_entry *en);

/* Append it as lines. Texts are broken behind \n and nowhere else, as
 * `msgcat --no-wrap` does. false: no memory. */
bool po_entry_write(const struct po_entry *en, struct strbuf *out);
/* One keyword of it and its strings. */
bool po_put_text(bool obsolete, const char *keyword, struct str s,
                 struct strbuf *out);

/* A field of the header entry's text ("Language"), without space around it;
 * empty when it has none. */
struct str po_header_field(struct str header, const char *name);
/* The charset its Content-Type names. */
struct str po_header_charset(struct str header);

#endif
