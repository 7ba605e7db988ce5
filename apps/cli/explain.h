/* explain.h - what the memory had to do with a translation, made readable.
 *
 * The library tells it piece by piece. Here pieces become words, and a vote
 * becomes a place in the text of a stored pair; explain_text.c and
 * explain_html.c show what was found, one sentence at a time. Results must
 * come from a stream or session with option "explain". Belongs to one thread
 * at a time. */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "skmt.h"
#include "textbuf.h"

struct explain_word {           /* what stands between two spaces */
    int first, n;               /* its pieces */
    size_t begin, end;          /* bytes of the text; no space around */
    double low, high;           /* trust in the memory, of its pieces */
    int pair;                   /* that had most to do with it; -1: none */
};

struct explain_place {          /* a token of a pair's target that voted */
    int pair, position;
    int32_t id;
    const char *text;           /* as in the vocabulary */
    bool heard;                 /* for what was written at least once */
    int word;                   /* there first, or where it was not heard */
    size_t begin, end;          /* bytes of the target, rising with position;
                                   none: it stands for no letter */
};

struct explain_pair {
    skmt_steering is;
    int first, n;               /* its places; 0: it was found and silent */
};

struct explain {
    const skmt_model *model;    /* borrowed */
    skmt_session *cutter;       /* cuts targets into pieces */

    const skmt_result *r;       /* the sentence: lives as long as this */
    int hyp, seg;
    bool exact;                 /* taken from its first pair as it stands; the
                                   others are alternatives */
    const char *text;           /* the translation is [begin, end) of it */
    size_t begin, end;
    struct explain_word *words;
    struct explain_place *places;       /* by pair and position */
    struct explain_pair *pairs;         /* best first */
    int n_words, n_places, n_pairs;
    size_t cap_words, cap_places, cap_pairs;
};

void explain_init(struct explain *x, const skmt_model *model);
void explain_release(struct explain *x);        /* zeroed is fine */
/* What is to be known of a sentence. False: err says why. */
bool explain_load(struct explain *x, const skmt_result *r, int hyp, int seg,
                  skmt_error *err);
int explain_spoke(const struct explain *x);     /* pairs that voted */
/* A piece that is only the space before a word tells nothing about the word,
 * and does not count in its trust and pair. */
bool explain_counts(const struct explain *x, const struct explain_word *w,
                    const skmt_piece *p);

/* A piece of the vocabulary as people write it. */
const char *explain_piece(const char *text);

/* ---- for people, explain_text.c */

/* The translation with its tokens marked by trust when there is color, a
 * newline, then why it is as it is. False: err says why. */
bool explain_put(struct explain *x, struct textbuf *t, const skmt_result *r,
                 int hyp, bool color, skmt_error *err);

/* ---- as JSON: members of a sentence's and of a token's object */

/* Without alternatives. */
void explain_json_pairs(struct textbuf *t, const skmt_result *r, int seg);
/* [..] of the sentences from seg up to end: other translations of those that
 * were taken as stored. Returns how many; nothing is written for 0. */
int explain_json_alternatives(struct textbuf *t, const skmt_result *r, int seg,
                              int end);
void explain_json_token(struct textbuf *t, const skmt_result *r, int hyp,
                        int seg, int i);

#endif
