/* job.h - a sentence to be decoded, with its options and room for its
 * results. */
#ifndef SEARCH_JOB_H
#define SEARCH_JOB_H

#include "nn/backend.h"
#include "nn/mixer.h"
#include "search/penalty.h"

/* The options of one job. The jobs of a batch may have different options. */
struct search_options {
    int beam, nbest;
    enum lenpen lenpen_type;
    double lenpen;
    double max_len_a;
    int max_len_b;
    bool early_stop;
    double prune;               /* 0: never */
    bool attention;             /* fill in the attention of the results */
    bool explain;               /* have the mixer explain the results */
    int draft;                  /* most draft rows in a pass */
};

/* The most tokens that a translation of n_src source ids may have, EOS
 * included, when the model allows max_pos positions. */
int search_max_len(const struct search_options *o, int max_pos, int n_src);

struct hypothesis {
    int32_t *tokens;            /* [n], EOS last when `ended` */
    float *logprobs;            /* [n] */
    float *attention;           /* [n][n_src] or NULL */
    int n;
    bool ended;                 /* false: cut off by the length limit */
    double logprob;             /* the sum of logprobs */
    double score;               /* with rewards and the length penalty */
};

struct sentence;                /* of the engine */

struct job {
    struct search_options o;
    int32_t *src;               /* [n_src] ids with special tokens */
    int n_src;
    int32_t *prefix;            /* [n_prefix] forced first tokens */
    int n_prefix;
    int max_len;                /* most tokens of a translation */
    struct mixer *mixer;        /* borrowed; NULL: the model alone decides */
    struct sentence *sentence;  /* what it translates; search ignores it */
    struct hypothesis *hyps;    /* [o.nbest], best first */
    int n_hyps;                 /* how many are filled */
    int n_passes;               /* decoder passes it took part in */
    struct job *next;           /* for lists of the current holder */
    void *block;                /* the allocation that holds all of this */
};

/* Make a job with room for its results in one allocation; src and prefix are
 * copied. Jobs are made before decoding, so that decoding allocates nothing. */
enum status job_new(struct job **out, const struct search_options *o,
                    int max_pos, const int32_t *src, int n_src,
                    const int32_t *prefix, int n_prefix, struct err *e);
void job_free(struct job *j);                   /* NULL is fine */

#endif
