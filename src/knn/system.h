/* system.h - the interface of a steering system: a method by which stored pairs
 * change the distribution of the next token.
 *
 *   1. sentence_new makes the mixer of a sentence, in the thread that submits
 *      the text. It allocates all that decoding will need.
 *   2. prepare gets the keys of the sentence's pairs, in the worker, before the
 *      sentence enters the batch.
 *   3. The batch calls the mixer (nn/mixer.h) after each pass, and frees what
 *      only decoding needs when the sentence leaves.
 *   4. The result asks the mixer for explanations and frees it.
 *
 * A system may keep state for each worker, such as caches or scratch memory:
 * worker_new makes it when the worker first meets a sentence of the system.
 *
 * knn/systems.c lists all systems. */
#ifndef KNN_SYSTEM_H
#define KNN_SYSTEM_H

#include "knn/pair_keys.h"
#include "knn/weigh.h"
#include "nn/mixer.h"

/* What a system needs for a sentence. */
enum {
    NEEDS_PAIRS = 1,            /* similar pairs and their keys */
};

/* The options of all systems; each uses those that it lists. */
struct system_options {
    int k;                      /* neighbors per step, 1 .. KNN_MAX_K */
    struct weigh_options weigh; /* tau, adapter, lambda */
    int repeat_votes;           /* how many times in a row the memory may vote
                                   for a phrase (repeat.h); 0: no limit */
    bool eos_abstains;          /* the weight of a vote for `eos` goes to the
                                   model */
    int32_t eos;
};

/* The sentence that a mixer is made for. */
struct system_sentence {
    int rows;                   /* most rows of the sentence in a pass: its
                                   beam and its drafts */
    int nbest, max_len;         /* most translations, and tokens of each */
    bool explain;               /* room for explanations is needed */
};

/* A pair of the sentence. */
struct system_pair {
    struct pair_keys *keys;     /* borrowed */
    float similarity;           /* of its source to the sentence, 0 to 1 */
};

struct steering_system {
    const char *name;           /* for option "system" */
    const char *title;          /* one line */
    const char *paper;          /* author and year */
    const char *const *options; /* names of its options, NULL-terminated */
    unsigned needs;             /* NEEDS_.. */

    /* State of a worker; both may be NULL. */
    enum status (*worker_new)(void **out, const struct backend *b,
                              struct err *e);
    void (*worker_free)(void *worker);

    /* Fails with ST_ARGUMENT when an option is out of range. */
    enum status (*sentence_new)(struct mixer **out,
                                const struct system_options *o,
                                const struct system_sentence *s,
                                struct err *e);
    /* The best pair is the first; the mixer takes its own references to the
     * keys. worker is the state made by worker_new, or NULL. */
    enum status (*prepare)(struct mixer *m, void *worker,
                           const struct system_pair *pairs, int n,
                           struct err *e);
};

/* There are at most this many systems. */
enum { MOST_SYSTEMS = 16 };
/* System i, or NULL after the last; and the system of this name, or NULL. */
const struct steering_system *system_at(int i);
const struct steering_system *system_named(const char *name);

#endif
