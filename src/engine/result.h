/* result.h - one input text: cut into sentences, and put together again.
 *
 * result_prepare() turns a text into jobs, one per sentence; when search has
 * filled them all, result_finish() joins their translations. A result belongs
 * to whoever holds it; its jobs are part of it. */
#ifndef ENGINE_RESULT_H
#define ENGINE_RESULT_H

#include "base/strbuf.h"
#include "engine/engine.h"
#include "search/job.h"
#include "text/split.h"
#include "text/subword.h"

struct target_text {            /* a sentence's i-th translation, as text */
    char *text;
    size_t len;
    uint32_t *ends;             /* [pieces] where each piece's text ends */
};

struct pairset;

struct sentence {
    size_t begin, end;          /* bytes of the input */
    struct piece *pieces;       /* [n_pieces], spans of the input */
    size_t n_pieces;
    bool continues;             /* the sentence of the segment before it, which
                                   was too long and was cut */
    struct job *job;            /* NULL: nothing to translate; its owner is
                                   the segment */
    struct pairset *pairset;    /* what the memory had for it, or NULL */
    bool exact;                 /* its translation is that of the one pair */
    struct target_text *targets;  /* [job->n_hyps] after result_finish */
    struct result *owner;
};

struct translation {            /* a translation of the whole text */
    char *text;
    size_t len;
    double score, logprob;
    int *choice;                /* [n_sentences] which translation of each */
    size_t *offset;             /* [n_sentences] where it begins in text */
};

struct result {
    const struct engine *engine;
    char *source;               /* the input, repaired if it had to be */
    size_t source_len;
    struct sentence *sentences;
    int n_sentences;
    struct translation *hyps;   /* best first, at least one when finished */
    int n_hyps;
    int pending;                /* jobs not yet decided */
    int tokens;                 /* target pieces of the best, ends counted */
    struct err err;             /* why it failed, when it did */
    uint64_t number;            /* for the stream */
    struct result *next;
};

/* prefix may be NULL; a text with a prefix is not cut into sentences. On an
 * error *out is NULL. */
enum status result_prepare(struct result **out, const struct engine *en,
                           const struct options *o,
                           const struct search_options *so, const char *text,
                           size_t len, const char *prefix, struct err *e);
/* One segment with the text of the n segments from number `first` on, in their
 * place. Before any of them has pairs. */
enum status result_join_sentences(struct result *r, int first, int n,
                                  struct err *e);
/* Failure is kept in r->err too. */
enum status result_finish(struct result *r, int nbest, struct err *e);
void result_free(struct result *r);             /* NULL is fine */

#endif
