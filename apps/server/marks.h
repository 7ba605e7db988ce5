/* marks.h - what must come back unchanged from a translation: placeholders such
 * as [X12X], {name}, %s; and the escapes of XML.
 *
 *     marks_find(&m, line, n);
 *     .. if (m.n > 0): translate the line; if marks_are_kept() says no for the
 *        translation, translate m.bare with attention, and marks_insert() ..
 *     marks_release(&m);
 *
 * A model that was not trained for it copies a placeholder most of the time,
 * but sometimes loses a bracket of it. So the line is first translated as it
 * is. If the translation does not have each mark exactly as often as the line,
 * the line is translated without its marks, and they are put where the
 * attention of the decoder says that the words around them went. They keep the
 * order of the source then. */
#ifndef SERVER_MARKS_H
#define SERVER_MARKS_H

#include <stdbool.h>
#include <stddef.h>

#include "skmt.h"

struct mark {
    size_t begin, end;          /* in the text */
    size_t at;                  /* where it was in the bare text */
    bool blank_before, blank_after;     /* white space in the text beside it */
};
struct marks {
    struct mark *list;          /* [n] in order */
    int n;
    const char *text;           /* borrowed */
    char *bare;                 /* the text without marks, NUL-terminated; may
                                   be empty */
};

/* Finds the marks of a text. Returns false if out of memory. */
bool marks_find(struct marks *m, const char *text, size_t n);
void marks_release(struct marks *m);
/* Whether a translation has exactly the marks of the text, in any order. */
bool marks_are_kept(const struct marks *m, const char *translation);
/* The length of the mark at s, of which n bytes follow `begin`; 0 if there is
 * none. */
size_t mark_length(const char *begin, const char *s, size_t n);

/* Where the words of a translation come from: the share of attention of target
 * piece i that source piece k gets. */
struct mark_pieces {
    int n_source, n_target;
    size_t *source_end;         /* [n_source] end of a piece in the bare text */
    size_t *source_begin;
    size_t *target_begin, *target_end;  /* [n_target] in the translation */
    float *weight;              /* [n_target * n_source] */
};
/* Reads them from translation `hyp` of a result with option "attention". A
 * sentence whose translation was stored has no pieces. Returns false if out of
 * memory. */
bool mark_pieces_read(struct mark_pieces *p, const skmt_result *r, int hyp);
void mark_pieces_release(struct mark_pieces *p);

/* Puts the marks into the translation of the bare text; marks that the
 * translation has already are removed first. Returns a new string; NULL if out
 * of memory. */
char *marks_insert(const struct marks *m, const char *translation,
                   const struct mark_pieces *p);

/* ---- XML and HTML ------------------------------------------------------- */

/* Whether a text contains what looks like a tag, a comment or a declaration. */
bool text_has_markup(const char *text);
/* Replaces entities by their characters: the five of XML, numeric ones and
 * &nbsp;. Others stay. Returns a new string; NULL if out of memory. */
char *xml_unescape(const char *text);
/* Escapes &, < and >. Returns a new string; NULL if out of memory. */
char *xml_escape(const char *text);

#endif
