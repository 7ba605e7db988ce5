/* states.h - the decoder states of one sentence that search needs or may need.
 *
 * A state stands for a beginning of a translation: its parent state plus one
 * token. Each live hypothesis is at one state. Other states are drafts: they
 * are computed ahead of time because a guess says that search may reach them.
 * Each state holds a slot of the executor (nn/backend.h). Once a decoder pass
 * has computed a state, it is known: it has the tokens that may come next, with
 * their log-probabilities. These do not depend on why it was computed.
 *
 * Invariants:
 *   - A state in use holds its slot exactly once.
 *   - The parent of a state in use is in use and lower in the tree, or -1 when
 *     it was given up.
 *   - No two states in use have the same parent (not -1) and the same token.
 *   - States at index n and above were never used. */
#ifndef SEARCH_STATES_H
#define SEARCH_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "nn/mixer.h"

struct continuation { int32_t token; float logprob, reward; };

struct state {
    int32_t token;              /* the last token of the beginning */
    int32_t slot;               /* of the executor, held */
    int parent;                 /* index; -1: none, or no longer in use */
    bool in_use;
    bool known;                 /* a pass has computed it */
    bool drafted;               /* no hypothesis was at it when it was made */
    bool unreachable;           /* scratch of states_keep */
    int n;                      /* continuations that search may take */
    struct continuation *next;  /* [width] the voted tokens, then best first */
    /* Known: guesses for the tokens after the next one. Not known: at most
     * one guess, for the next token on. */
    int n_guesses;
    struct guess guesses[MIXTURE_GUESSES];
};

struct states {
    struct state *at;           /* [cap] */
    int cap, n;                 /* n: states from here on were never used */
    int width;                  /* most continuations of a state */
    struct continuation *room;  /* [cap, width] memory of at[].next */
    struct executor *x;
};

enum status states_init(struct states *s, int cap, int width,
                        struct executor *x, struct err *e);
void states_release(struct states *s);  /* does not drop the slots */
void states_clear(struct states *s);    /* drops all slots */

/* Make the state that follows `parent` (-1: the first state) by `token`.
 * Returns its index, or -1 when there is no room. The new state inherits the
 * parent's guess for this token. */
int states_new(struct states *s, int parent, int32_t token);
/* Find the state that follows `parent` by `token`; -1 when there is none. */
int states_child(const struct states *s, int parent, int32_t token);

int states_room(const struct states *s);        /* how many more fit */

/* Give up all states except the n listed ones and those that continue them. */
void states_keep(struct states *s, const int *live, int n);

/* Whether the invariants above hold; for PARANOID_CHECK and tests. */
bool states_sound(const struct states *s);

#endif
