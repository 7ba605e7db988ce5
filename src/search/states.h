/* states.h - the decoder states of one sentence that are known or wanted.
 *
 * A state is a beginning of a translation: the state before it and one token
 * more. Search stands at some of them, one per live hypothesis; others were
 * drafted, that is computed ahead of time in the hope that search comes by.
 * Each has its slot in the cache of keys and values and, once a pass has been
 * through it, its outlook: the tokens that may come next with their
 * log-probabilities. What an outlook says does not depend on why it was
 * computed. */
#ifndef SEARCH_STATES_H
#define SEARCH_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "nn/kvcache.h"
#include "nn/mixer.h"

struct next { int32_t token; float logprob; };

struct state {
    int32_t token;              /* its last */
    int32_t slot;               /* held */
    int parent;                 /* -1: none, or gone */
    bool used;
    bool known;                 /* a pass has been through it */
    bool drafted;               /* nobody stood at it when it was made */
    bool gone;                  /* scratch of states_keep */
    int n;                      /* of next, as search wants them */
    struct next *next;          /* [width] best first but for the memory's */
    int n_guesses;              /* of what comes after the next token; of a */
    struct guess guesses[MIX_GUESSES];  /* state not known: next, at most one */
};

struct states {
    struct state *at;           /* [cap] */
    int cap, n;                 /* n: those beyond were never used */
    int width;
    struct next *room;
    struct kvcache *cache;
};

enum status states_init(struct states *s, int cap, int width,
                        struct kvcache *cache, struct err *e);
void states_release(struct states *s);          /* slots are not given back */
void states_clear(struct states *s);            /* gives all slots back */

/* The state after `parent` (-1: the first) and a token; -1: no room. It
 * inherits what its parent guesses of this token. */
int states_new(struct states *s, int parent, int32_t token);
/* The same if there is one; -1: none. */
int states_child(const struct states *s, int parent, int32_t token);

int states_room(const struct states *s);        /* for how many more */

/* Forget all but those listed and what continues them. */
void states_keep(struct states *s, const int *live, int n);

#endif
