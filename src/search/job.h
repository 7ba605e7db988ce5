/* job.h - a sentence on its way through search, and what came of it. */
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
    double prune_steered;       /* the same for jobs that have a user */
    int max_source;             /* longest source, with its end mark */
    bool attention;
    bool tell;                  /* the mixer is told what came out */
    int draft;                  /* rows a pass may have for guesses */
};

/* Most tokens a translation of n_src ids may have, the end mark counted. */
int search_max_len(const struct search_options *o, const struct net *net,
                   int n_src);

struct hyp {
    int32_t *tokens;            /* [n], the end mark last when `ended` */
    float *logprobs;            /* [n] */
    float *attention;           /* [n][n_src] or NULL */
    int n;
    bool ended;                 /* false: cut off by the length limit */
    double logprob, score;
};

struct job {
    int32_t *src;               /* [n_src] ids with the model's marks */
    int n_src;
    int32_t *prefix;            /* [n_prefix] forced first tokens */
    int n_prefix;
    int max_len;                /* most tokens of a translation */
    void *user;                 /* for the mixer */
    void *owner;                /* for whoever made it */
    struct hyp *hyps;           /* [nbest] room, best first */
    int n_hyps;                 /* filled */
    int steps;                  /* decoder passes it took part in */
    struct job *next;           /* for whoever holds it */
    void *block;                /* all of the above is in here */
};

/* A job with room for its results, all in one block; src and prefix are
 * copied. Jobs are made before decoding, so that decoding allocates nothing. */
enum status job_new(struct job **out, const struct search_options *o,
                    const struct net *net, const int32_t *src, int n_src,
                    const int32_t *prefix, int n_prefix, struct err *e);
void job_free(struct job *j);                   /* NULL is fine */

#endif
