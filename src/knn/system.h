/* system.h - the interface of a steering system: a method by which stored pairs
 * change the distribution of the next token.
 *
 *   1. sentence_new makes the mixer of a sentence, in the thread that submits
 *      the text. The sentence may wait in the queue for a long time then, so
 *      this allocates only what must exist until the result is freed, such as
 *      the room for explanations.
 *   2. prepare gets the keys of the sentence's pairs, in the worker, before the
 *      sentence enters the batch. It allocates all that decoding needs, because
 *      decoding allocates nothing.
 *   3. The batch calls the mixer (nn/mixer.h) after each pass. When the
 *      sentence leaves, `end` releases what prepare allocated.
 *   4. The result asks the mixer for explanations and frees it.
 *
 * A system may keep state for each worker, such as caches or scratch memory.
 * worker_new makes it in the thread of the worker, before the first prepare of
 * a sentence of the system. worker_free frees it when the worker is freed; by
 * then all its sentences have left the batch. A mixer may use the state of the
 * worker from `prepare` to `end` only.
 *
 * To add a system, define a struct steering_system as knn/sk.c does, and add it
 * to the list in knn/systems.c. The tests run system_suite.h on all listed
 * systems. engine/pairfinder.c chooses the system of a sentence by option
 * "system". */
#ifndef KNN_SYSTEM_H
#define KNN_SYSTEM_H

#include "align/symmetrize.h"
#include "knn/chunks.h"
#include "knn/entries.h"
#include "knn/metak.h"
#include "knn/online_view.h"
#include "knn/pair_keys.h"
#include "knn/trust.h"
#include "knn/weigh.h"
#include "nn/mixer.h"

/* What a system needs for a sentence. */
enum {
    NEEDS_PAIRS = 1,            /* similar pairs and their keys */
    NEEDS_FOREIGN = 2,          /* the pieces of the pairs' sources */
    NEEDS_ENTRIES = 4,          /* a datastore of all pairs (entries), or the
                                   corrections so far (online) */
    NEEDS_ONLINE = 8,           /* the corrections so far */
    NEEDS_SOURCES = 16,         /* a datastore with source tokens */
    NEEDS_KEPT = 32             /* which pieces of the pairs' sources are
                                   unedited, and links if there is an
                                   alignment; with links, no keys */
};

/* The largest weight of rewards: e^20 times a probability is more than any
 * other token can have. */
enum { PIECES_WEIGHT_MOST = 20 };

/* The options of all systems; each uses those that it lists. Values that come
 * from a preset or the model are filled in. */
struct system_options {
    int k;                      /* neighbors per step, 1 .. KNN_MAX_K */
    struct weigh_options weigh; /* tau, adapter, lambda. A system without an
                                   adapter uses lambda, 0 to 1, as the weight
                                   of the memory. */
    int repeat_votes;           /* how many times in a row the memory may vote
                                   for a phrase (repeat.h); 0: no limit */
    bool eos_abstains;          /* the weight of a vote for `eos` goes to the
                                   model */
    int32_t eos;
    const struct trust *trust;  /* the network (trust.h), borrowed while the
                                   mixer is made; NULL: there is none */
    double model_tau;           /* the unit of distances for the network */
    struct entries *entries;    /* a datastore of all pairs; the mixer holds it.
                                   NULL: none */
    struct online_view *online; /* the corrections so far, held likewise */
    double cache;               /* threshold of query_cache.h; 0: no cache */
    struct chunk_options chunk;
    double chunk_tau, chunk_lambda;     /* between two searches */
    int occurrences;            /* of a source token, see source_index.h */
    const struct metak *metak;  /* the network of system adaptive, borrowed
                                   while the mixer is made; NULL: none */
    double pieces_weight;       /* lambda of rewards, 0 ..
                                   PIECES_WEIGHT_MOST */
    bool pieces_normalize;      /* rewarded probabilities are divided by their
                                   sum */
};

/* The options of KoK: its own defaults with k and tau. */
static inline struct kok_options kok_options_of(const struct system_options *o)
{
    struct kok_options k = kok_options_defaults();

    k.k = o->k;
    k.temperature = o->weigh.tau;
    return k;
}

/* The sentence that a mixer is made for. */
struct system_sentence {
    int rows;                   /* most rows of the sentence in a pass: its
                                   beam and its drafts */
    int nbest, max_len;         /* most translations, and tokens of each */
    bool explain;               /* room for explanations is needed */
    const int32_t *source;      /* [n_source] its pieces, with special tokens;
                                   borrowed until `end` */
    int n_source;
    int n_prefix, n_suffix;     /* special tokens at its two ends */
};

/* Whether id is among the n pieces. */
static inline bool has_piece(const int32_t *ids, int n, int32_t id)
{
    for (int i = 0; i < n; i++)
        if (ids[i] == id) return true;
    return false;
}

/* A pair of the sentence. */
struct system_pair {
    struct pair_keys *keys;     /* borrowed for the call; NULL only with
                                   NEEDS_KEPT and links */
    float similarity;           /* of its source to the sentence, 0 to 1 */
    const int32_t *foreign;     /* [n_foreign] the pieces of its source that the
                                   sentence does not have; borrowed until
                                   `end`. Only with NEEDS_FOREIGN. */
    int n_foreign;
    const int32_t *match;       /* [n_match] by piece of its source: the equal
                                   token of the sentence, or -1; borrowed
                                   likewise. Long sources may be cut, so
                                   n_match may be less than positions in
                                   keys->from. */
    const float *same_word;     /* [n_match] by piece of its source: how far it
                                   belongs to the same word in both, 0 to 1 */
    int n_match;
    /* Only with NEEDS_KEPT; borrowed for the call. */
    const uint8_t *kept;        /* [n_kept] by piece of its source: 1 if it is
                                   unedited (unedited.h) */
    int n_kept;
    const int32_t *target;      /* [n_target] the tokens of its target */
    int n_target;
    const struct word_link *links;      /* [n_links] pieces of its source and
                                   target; NULL: there is no alignment */
    int n_links;
};

struct steering_system {
    const char *name;           /* unique; see system_named */
    const char *title;          /* one line */
    const char *paper;          /* authors, title, where and when; "-": none */
    const char *const *options; /* the names in engine/steer.def of the options
                                   that it uses, NULL-terminated */
    unsigned needs;             /* NEEDS_.. */

    /* State of a worker; both may be NULL. An error of worker_new counts like
     * one of prepare. */
    enum status (*worker_new)(void **out, const struct backend *b,
                              struct err *e);
    void (*worker_free)(void *worker);

    /* NULL: the system never changes anything. Fails with ST_ARGUMENT when an
     * option that the system uses is out of range or what it needs is missing,
     * or with ST_NOMEM. *out is NULL then. o and s are borrowed for the
     * call. */
    enum status (*sentence_new)(struct mixer **out,
                                const struct system_options *o,
                                const struct system_sentence *s,
                                struct err *e);
    /* Called at most once for a mixer. The best pair is the first; n may be 0:
     * the mixer changes nothing then. The mixer takes its own references to the
     * keys and drops them in `end` or `free`. The array is borrowed for the
     * call. worker is the state made by worker_new, or NULL.
     * An error fails the request of the sentence, and no other. The sentence
     * does not enter the batch then, and only `free` of the mixer is called. */
    enum status (*prepare)(struct mixer *m, void *worker,
                           const struct system_pair *pairs, int n,
                           struct err *e);
};

/* There are at most this many systems. */
enum { MOST_SYSTEMS = 16 };
/* System i of the list, or NULL if i is not in it; and the system of this name,
 * or NULL. */
const struct steering_system *system_at(int i);
const struct steering_system *system_named(const char *name);

#endif
