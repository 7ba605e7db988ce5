/* translate_call.h - translates the texts of a call.
 *
 *     struct wish w = { .source = "de", .target = "en", .nbest = 1 };
 *     struct answer a;
 *
 *     if (!answer_texts(c, &w, texts, n, &a)) return;     // has replied
 *     .. a.texts[i].alternatives[0].text ..
 *     answer_release(&a);
 *
 * All texts of all calls go into one queue and are translated together. A text
 * is cut into lines, and white space at the ends of a line, empty lines and
 * texts without letters come back as they are. What must come back unchanged,
 * such as [X12X], does (marks.h). Equal texts with equal wishes that are being
 * translated for the same account are translated once. */
#ifndef SERVER_TRANSLATE_CALL_H
#define SERVER_TRANSLATE_CALL_H

#include "call.h"

/* What is wanted. Zero is the default of each field. */
struct wish {
    const char *source;         /* language as the client wrote it; NULL, "" or
                                   "auto": detect, or the only one */
    const char *target;
    int nbest;                  /* translations of each text; 0: 1 */
    bool explain;               /* keep results that say what the memory did */
    bool attention;             /* with explain: results also have the attention
                                   of each piece (skmt_result_attention) */
    const char *prefix;         /* of the translation; only with one text of
                                   one line; NULL: none */
    const char *const *memories;        /* names; NULL: all of the account */
    int n_memories;
    bool without_memory;        /* use no memory at all */
    const json_t *options;      /* engine options by name; NULL: none. Only
                                   those that may be set by a client */
    int wait_ms;                /* 0: wait_ms of the API */
    int64_t deadline_ms;        /* from now; 0: that of the server */
    int priority;               /* -1 background, 0 normal, 1 interactive */
    const char *replaces;       /* an id that the client chose: a newer call
                                   with the same id and account cancels this
                                   one; NULL: none */
};

struct line_result {
    size_t begin, end;          /* of the line's text in the whole text */
    size_t out_begin, out_end;  /* in alternative 0 of the whole text */
    skmt_result *result;        /* of this line; NULL: it has no letters, or
                                   its marks had to be put back (marks.h), so
                                   that no result is about it */
    skmt_request *request;      /* owns the result */
};
struct alternative { char *text; double score; };
struct text_answer {
    const char *source, *target;        /* languages; static strings */
    bool detected;
    double confidence;          /* 0 to 100, if detected */
    struct alternative *alternatives;   /* [n], best first, all different,
                                           n >= 1. Of several lines: all but
                                           the first differ from the first in
                                           one line */
    int n;
    double exact;               /* share of its lines that are stored word for
                                   word, 0 to 1 */
    double similarity;          /* of the best pair, 0 to 1; over the lines,
                                   the least */
    struct line_result *lines;  /* [n_lines] if explain, else NULL; without
                                   blank lines */
    int n_lines;
};
struct answer {
    struct text_answer *texts;  /* [n] */
    int n;
    void *keep;                 /* private */
};

/* Whether a client may set this engine option (wish.options): those that change
 * a translation, not those of the machine or of files. */
bool wish_option_allowed(const char *name);

/* Translates n texts. Returns false after it has failed the call, or when the
 * call was canceled. */
bool answer_texts(struct call *c, const struct wish *w,
                  const char *const *texts, int n, struct answer *out);
void answer_release(struct answer *a);

/* The same for one text in many calls with different prefixes: begins the
 * translation of texts[i] with prefixes[i], which may be NULL. */
bool answer_prefixes(struct call *c, const struct wish *w,
                     const char *const *texts, const char *const *prefixes,
                     int n, struct answer *out);

#endif
