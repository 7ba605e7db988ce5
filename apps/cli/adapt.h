/* adapt.h - trains the network of learned trust again on pairs of a memory, in
 * a thread of its own or at once, and writes it to a settings file.
 *
 * A training begins with the network in use and picks up to 200 pairs of the
 * memory. It opens the memory file with a handle of its own and copies the
 * options; the model and the keys are shared with the caller. The thread has a
 * low priority. The new network is written only if it is better than the one in
 * use. The settings file is replaced as a whole, so it is valid at any moment.
 *
 * The functions print nothing. One thread at a time may call them. */
#ifndef ADAPT_H
#define ADAPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "skmt_tools.h"

enum { ADAPT_PAIRS = 200 };     /* pairs to learn from, at most */

struct adapt;                   /* opaque */

/* All pointers must be valid until adapt_free(). */
struct adapt_setup {
    const skmt_model *model;
    skmt_keys *keys;            /* of the translations */
    const char *memory;         /* the memory file */
    const char *settings;       /* the settings file to write; NULL: none */
    bool background;            /* train in a thread; otherwise at once */
};

/* What to learn from. The pointers must be valid until the training ends. */
struct adapt_task {
    skmt_options *options;      /* those of the translations; copied before
                                   adapt_start() returns. Option "trust" is the
                                   network in use */
    const char *const *names;   /* [n_names] memories to use; n_names 0: all */
    int n_names;
    const char *newest_of;      /* a memory whose n_newest newest pairs are all
                                   learned from; may be NULL */
    size_t n_newest;            /* at most half of ADAPT_PAIRS is used */
    uint64_t seed;              /* of the random numbers */
};

enum adapt_outcome {
    ADAPT_NEW,                  /* there is a better network */
    ADAPT_SAME,                 /* the new network is not better */
    ADAPT_TOO_SMALL,            /* there is too little to learn from */
    ADAPT_CANCELED,
    ADAPT_FAILED
};

struct adapt_result {
    enum adapt_outcome outcome;
    char *network;              /* ADAPT_NEW: a value of option "trust" */
    size_t n_pairs, n_all;      /* pairs learned from; pairs of the memory */
    skmt_error error;           /* ADAPT_FAILED: the reason */
};
void adapt_result_release(struct adapt_result *r);

skmt_status adapt_new(struct adapt **out, const struct adapt_setup *setup,
                      skmt_error *err);
void adapt_free(struct adapt *a);       /* cancels first; a may be NULL */

/* Whether a training is running, or has a result that was not taken. */
bool adapt_is_busy(const struct adapt *a);
/* Starts a training. a must not be busy. An error of the training itself is its
 * result. */
skmt_status adapt_start(struct adapt *a, const struct adapt_task *task,
                        skmt_error *err);
/* Takes the result of a training that has ended. Returns false if there is
 * none. The caller releases it. */
bool adapt_take(struct adapt *a, struct adapt_result *out);
/* Cancels a training that is running, and waits for its end. This takes as long
 * as one pair or one epoch. The result is ADAPT_CANCELED, unless the training
 * came first. */
void adapt_cancel(struct adapt *a);

#endif
