/* pairset.h - one stored pair with its keys, and the set of pairs of a
 * sentence.
 *
 * A pairset is filled by the pairfinder (pairfinder.h). It belongs to its
 * sentence and is freed with it. The worker that decodes the sentence fills in
 * the missing keys and the datastore (datastore_builder.h).
 *
 * Invariants:
 *   - A steering_pair holds one reference to its keys, if it has any. Without
 *     keys, ids are the tokens to compute them from, or n_tgt is 0 and the pair
 *     cannot steer. If the system needs no keys, pairs have none.
 *   - pairs has n entries in use, then n_alternatives. Alternatives exist only
 *     inside the pairfinder, until it is known whether the sentence is
 *     stored. */
#ifndef ENGINE_PAIRSET_H
#define ENGINE_PAIRSET_H

#include "align/aligner.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "engine/piece_match.h"
#include "knn/key_cache.h"
#include "knn/system.h"

/* Each text of a pair is cut after this many pieces, as in the reference
 * implementation. */
enum { PAIR_PIECES = 199 };

struct steering_pair {
    struct key_id id;           /* identifies its keys */
    struct pair_keys *keys;     /* held; NULL: to be computed */
    bool lookup_counted;        /* the cache has counted a hit or miss */
    int32_t *ids;               /* [n_src + n_tgt] tokens, source first */
    int n_src, n_tgt;           /* source with special tokens, target without
                                   EOS */
    int32_t *foreign;           /* [n_foreign] pieces of its source that the
                                   sentence does not have; NULL: not needed */
    int n_foreign;
    struct piece_match match;   /* of its source with the sentence */
    uint8_t *kept;              /* [n_kept] which pieces of its source are
                                   unedited; NULL: not needed */
    int n_kept;
    struct word_link *links;    /* [n_links] of its pieces; NULL: there is no
                                   alignment */
    int n_links;
    double similarity;
    int64_t pair;               /* its number; 0: given by the caller */
    char *source, *target, *memory;     /* for explanations, or NULL */
};

struct shared_keys;

struct pairset {
    struct steering_pair *pairs;  /* [n] best first. For an exact match: the
                                     pair whose target is the translation, then
                                     a pair for each other translation. */
    int n;
    int n_alternatives;         /* after the n pairs: other translations of
                                   their sources, which do not steer */
    bool has_texts;             /* all pairs have their texts */
    struct shared_keys *keys;   /* borrowed; where its keys are cached */
    bool needs_no_keys;         /* the system uses tokens and links only */
    const struct steering_system *system;
    struct mixer *mixer;        /* owned; NULL: nothing steers. It may have a
                                   list of pairs of its own; then n is 0. */
};

/* Make a set with room for `most` pairs. */
enum status pairset_new(struct pairset **out, size_t most, struct err *e);
void pairset_free(struct pairset *r);           /* NULL is fine */
/* Release the keys and tokens of all pairs. The texts stay, for results. */
void pairset_drop_keys(struct pairset *r);
void pairset_drop_alternatives(struct pairset *r);

/* What a result says about pair i. The texts and the memory are "" and the
 * number is 0, unless the texts were kept: with option explain, and for exact
 * matches. */
struct pair_report {
    const char *source, *target, *memory;
    int64_t pair;
    double similarity;          /* -1: the pair was not found by it */
    int entries;                /* 0: not known */
};
/* The number of pairs that votes may name. NULL has none. */
int pairset_count(const struct pairset *r);
struct pair_report pairset_report(const struct pairset *r, int i);

/* If one of the n pairs has the sentence `text` as its source, reduce the set
 * to the exact matches: the one with the highest precedence first, then one
 * for each other translation. The pairs are in the order of tm/precedence.h
 * already. Otherwise drop the alternatives and return false. */
bool pairset_keep_exact(struct pairset *r, struct str text);

void steering_pair_release(struct steering_pair *p);
/* The id of a pair: a hash of its texts without tags. The same pair has the
 * same id, and so the same keys, in every memory, and when the caller gives
 * it. */
struct key_id steering_pair_id(struct str source, struct str target);
/* Tokenize a pair: sets ids, n_src and n_tgt of `to`. n_tgt is 0 when a text is
 * empty. */
enum status steering_pair_encode(const struct engine *en, struct str source,
                                 struct str target, struct steering_pair *to,
                                 struct err *e);
/* Set `foreign` and `match` of a pair: its source is compared with the tokens
 * src [n_src] of the sentence. */
enum status steering_pair_compare(const struct engine *en, struct str source,
                                  const int32_t *src, int n_src,
                                  struct steering_pair *to, struct err *e);
/* Set `kept` of a pair: its source is compared with the tokens src [n_src] of
 * the sentence, which have no special tokens. With an aligner, whose model is
 * one of pieces, also set `links`. */
enum status steering_pair_align(const struct engine *en, struct aligner *a,
                                const struct align_model *m,
                                struct str source, struct str target,
                                const int32_t *src, int n_src,
                                struct steering_pair *to, struct err *e);
/* Set the id of the pair, and its keys if the cache has them. Otherwise
 * tokenize it. A pair without keys and with n_tgt 0 cannot steer. A cache whose
 * file cannot be read has no keys. */
enum status steering_pair_prepare(const struct engine *en,
                                  struct key_cache *cache, struct str source,
                                  struct str target, struct steering_pair *to,
                                  struct err *e);
/* Look the keys of a pair up in the cache; they stay NULL after a miss. May be
 * called again: the statistics of the cache count a pair once. */
enum status steering_pair_find_keys(struct key_cache *cache,
                                    struct steering_pair *p, struct err *e);
/* Copy the texts and the name of the memory, for explanations. */
enum status steering_pair_copy_texts(struct steering_pair *to,
                                     struct str source, struct str target,
                                     const char *memory, struct err *e);
/* Strip the tags of both texts. sb points to two buffers, which hold the
 * stripped texts. */
enum status steering_pair_plain(struct strbuf *sb, struct str *source,
                                struct str *target, struct err *e);

/* A number that identifies the keys that a model computes under these options:
 * the `maker` of a key file. */
uint64_t pairset_fingerprint(const struct engine *en, const struct options *o);

#endif
