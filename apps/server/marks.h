/* marks.h - what must come back unchanged from a translation: placeholders such
 * as [X12X], {name}, %s; and the escapes of XML.
 *
 * The model copies a placeholder most of the time, but may drop it or lose a
 * character of it. So a line with marks has up to three forms that are tried
 * one after the other, until the translation has each mark exactly as often as
 * the line:
 *   1. the line as it is, which may also be stored in the memory;
 *   2. "masked", if it has marks of another kind than [X12X]: all of them are
 *      written as [X1X], [X2X], .., which the model copies best;
 *   3. "bare": without marks. They are put where the attention of the decoder
 *      says that the words around them went, in the order of the source.
 * Form 3 cannot fail. */
#ifndef SERVER_MARKS_H
#define SERVER_MARKS_H

#include <stdbool.h>
#include <stddef.h>

#include "skmt.h"

struct mark {
    size_t begin, end;          /* in the text */
    size_t at;                  /* where it was in the bare text */
    bool blank_before, blank_after;     /* white space beside it in the text */
};
struct marks {
    struct mark *list;          /* [n] in order */
    int n;
    const char *text;           /* borrowed */
    size_t len;
    char *masked;               /* NULL: all marks are like [X12X] */
    char *bare;                 /* may be empty */
};

/* The length of the mark at s, 0 if there is none. The text begins at `begin`
 * and ends at `end`. */
size_t mark_length(const char *begin, const char *s, const char *end);
/* Finds the marks of a text, which must stay valid. Returns false if out of
 * memory. */
bool marks_find(struct marks *m, const char *text, size_t n);
void marks_release(struct marks *m);
/* Whether a translation has exactly the marks of the text, in any order. */
bool marks_are_kept(const struct marks *m, const char *translation);
/* Puts the marks back into a translation of the masked text. *out is NULL if
 * some mark is not there exactly once, else a new string. Returns false if out
 * of memory. */
bool marks_unmask(const struct marks *m, const char *translation, char **out);

/* Where the words of a translation come from. */
struct mark_sentence {
    size_t begin, end;          /* span in the bare text */
    int n_source, n_target;
    size_t *source_end;         /* [n_source] ends of pieces in the bare text */
    size_t *target_end;         /* [n_target] ends of pieces in the
                                   translation */
    float *weight;              /* [n_target * n_source] attention */
};
struct mark_pieces {
    struct mark_sentence *list; /* [n] */
    int n;
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
