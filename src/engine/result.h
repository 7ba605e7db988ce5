/* result.h - one input text on its way to a translation: cut into sentences,
 * and joined again.
 *
 * result_prepare() cuts a text into sentences and makes a job for each. When
 * search has filled all jobs, result_finish() joins the translations. A result
 * owns its sentences, and a sentence owns its job and its pairset, of which it
 * knows no more.
 *
 * Invariants:
 *   - sentences[i].owner is the result, and job->sentence is the sentence.
 *   - The spans of the sentences ascend and do not overlap.
 *   - A sentence has no job if it is empty or its translation is stored. */
#ifndef ENGINE_RESULT_H
#define ENGINE_RESULT_H

#include "base/strbuf.h"
#include "engine/engine.h"
#include "search/job.h"
#include "text/split.h"
#include "text/subword.h"

struct target_text {            /* one translation of a sentence, as text */
    char *text;
    size_t len;
    uint32_t *ends;             /* [pieces] end of each piece in text */
};

struct pairset;
struct request;

struct sentence {
    size_t begin, end;          /* bytes [begin, end) of the input */
    struct piece *pieces;       /* [n_pieces], spans of the input */
    size_t n_pieces;
    bool continues;             /* this and the sentence before it are parts of
                                   one sentence that was too long */
    struct job *job;            /* NULL: nothing to translate */
    struct pairset *pairset;    /* pairs found in the memory, or NULL */
    bool stored;                /* its translation was in the memory */
    struct target_text *targets;  /* [1] if stored; else [job->n_hyps], set by
                                     result_finish */
    struct result *owner;
};

struct translation {            /* a translation of the whole text */
    char *text;
    size_t len;
    double score, logprob;
    int *choice;                /* [n_sentences] index of its translation */
    size_t *offset;             /* [n_sentences] its beginning in text */
};

struct result {
    const struct engine *engine;
    char *source;               /* the input, with invalid bytes replaced */
    size_t source_len;
    struct sentence *sentences; /* [n_sentences] in order */
    int n_sentences;
    struct translation *hyps;   /* [n_hyps] best first; set by result_finish */
    int n_hyps;
    int tokens;                 /* target pieces of the best translation, with
                                   EOS */
    struct request *request;    /* that it answers, or NULL */
};

/* Sentence i, or NULL if there is none. */
static inline const struct sentence *result_sentence(const struct result *r,
                                                     int i)
{
    return i >= 0 && i < r->n_sentences ? &r->sentences[i] : NULL;
}

/* Cut a text without NUL bytes into sentences and make their jobs. prefix is
 * the forced beginning of the translation, or NULL; a text with a prefix is one
 * sentence. *out is NULL after an error. */
enum status result_prepare(struct result **out, const struct engine *en,
                           const struct options *o,
                           const struct search_options *so, const char *text,
                           size_t len, const char *prefix, struct err *e);
/* Replace the n sentences from `first` on by one sentence with their whole
 * text. It keeps the job of the first. These sentences may not have pairsets
 * yet. */
enum status result_join_sentences(struct result *r, int first, int n,
                                  struct err *e);
/* Make this stored text, without white space at its ends, the translation of a
 * sentence. The sentence loses its job. */
enum status result_use_stored(struct sentence *s, const char *text,
                              struct err *e);
/* Make the translations of the text from those of its sentences, at most
 * nbest. */
enum status result_finish(struct result *r, int nbest, struct err *e);
void result_free(struct result *r);             /* NULL is fine */

#endif
