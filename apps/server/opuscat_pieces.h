/* opuscat_pieces.h - the pieces of a translation and how they are aligned, as
 * OPUS-CAT's plug-ins want them. */
#ifndef SERVER_OPUSCAT_PIECES_H
#define SERVER_OPUSCAT_PIECES_H

#include <jansson.h>
#include <stdbool.h>

#include "common/textbuf.h"
#include "translate_call.h"

struct opuscat_pieces {
    json_t *source, *target;    /* lists of strings */
    json_t *forward, *backward; /* index: list of indices of the other side */
    struct textbuf links;       /* "0-0 1-2" */
    struct textbuf raw;         /* the target pieces with blanks between them */
};

/* Reads the pieces of the translation of a text. It was made with w, which asks
 * for attention and results. A line whose translation is stored has no
 * attention; it is translated again with the stored translation as a prefix.
 * Returns false after it has failed the call. Release it in any case. */
bool opuscat_pieces_read(struct opuscat_pieces *p, struct call *c,
                         const struct wish *w, const char *text,
                         const struct text_answer *a);
void opuscat_pieces_release(struct opuscat_pieces *p);
/* The answer of TranslateJson. NULL if out of memory. */
json_t *opuscat_pieces_json(struct opuscat_pieces *p, const char *translation);

#endif
