/* job.h - a sentence to be decoded, with room for its results. */
#ifndef SEARCH_JOB_H
#define SEARCH_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "nn/net.h"
#include "search/penalty.h"

struct search_options {
    int beam, nbest, lanes;     /* lanes: sentences at a time */
    enum lenpen lenpen_type;
    double lenpen;
    double max_len_a;
    int max_len_b;
    bool early_stop;
    double prune;               /* 0: never */
    double prune_steered;       /* the same for jobs with mixer data */
    int max_source;             /* longest source, with special tokens */
    bool attention;
    bool explain;               /* have the mixer explain the results */
    int draft;                  /* most draft rows in a pass */
};

/* The most tokens that a translation of n_src source ids may have, EOS
 * included. */
int search_max_len(const struct search_options *o, const struct net *net,
                   int n_src);

struct hypothesis {
    int32_t *tokens;            /* [n], EOS last when `ended` */
    float *logprobs;            /* [n] */
    float *attention;           /* [n][n_src] or NULL */
    int n;
    bool ended;                 /* false: cut off by the length limit */
    double logprob, score;
};

struct job {
    int32_t *src;               /* [n_src] ids with special tokens */
    int n_src;
    int32_t *prefix;            /* [n_prefix] forced first tokens */
    int n_prefix;
    int max_len;                /* most tokens of a translation */
    void *mixer_data;           /* for the mixer; NULL: no mixing */
    void *owner;                /* the caller's */
    struct hypothesis *hyps;    /* [nbest], best first */
    int n_hyps;                 /* how many are filled */
    int n_passes;               /* decoder passes it took part in */
    struct job *next;           /* for lists of the current holder */
    void *block;                /* the allocation that holds all of this */
};

/* Make a job with room for its results in one allocation; src and prefix are
 * copied. Jobs are made before decoding, so that decoding allocates nothing. */
enum status job_new(struct job **out, const struct search_options *o,
                    const struct net *net, const int32_t *src, int n_src,
                    const int32_t *prefix, int n_prefix, struct err *e);
void job_free(struct job *j);                   /* NULL is fine */

#endif
