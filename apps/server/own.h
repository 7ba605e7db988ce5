/* own.h - what the files of skmt's own API share (api_own.c, own_*.c). */
#ifndef SERVER_OWN_H
#define SERVER_OWN_H

#include <jansson.h>
#include <stdbool.h>

#include "account.h"
#include "common/explain.h"
#include "offsets.h"
#include "route.h"
#include "translate_call.h"

enum {
    OWN_MAX_NBEST = 32,         /* translations of a text */
    OWN_MAX_MATCHES = 100,      /* pairs of a search */
    OWN_MAX_PAGE = 1000,        /* pairs of a page of a list */
    OWN_MAX_ADDED = 1000        /* pairs that one request adds */
};

/* ---- the functions of the routes ----------------------------------------- */

route_fn own_translate;                                 /* own_translate.c */
route_fn own_complete, own_alternatives;                /* own_complete.c */
route_fn own_memories_list, own_memories_create, own_memory_get,
    own_memory_change, own_memory_delete;               /* own_memories.c */
route_fn own_import, own_export;                        /* own_transfer.c */
route_fn own_pairs_list, own_pairs_add, own_pair_get, own_pair_put,
    own_pair_delete;                                    /* own_pairs.c */
route_fn own_search, own_feedback;                      /* own_search.c */
route_fn own_info, own_health, own_ready, own_metrics, own_openapi;
                                                        /* own_info.c */
/* The routes, for a test of openapi.json. */
extern const struct route own_routes[];

/* ---- objects of answers, own_json.c: new; NULL if out of memory ---------- */

/* {"error":{..}}, as the API answers. */
json_t *own_failure_json(const struct call *c, const struct failure *f);
/* A string. Bytes that are not valid UTF-8 become U+FFFD. */
json_t *own_string(const char *s);
/* "2026-11-18T21:30:00Z" */
json_t *own_time_json(int64_t seconds);
json_t *own_pair_json(const skmt_pair *p);
json_t *own_card_json(const struct memory_card *card);
/* {"begin":..,"end":..} of a span in bytes. */
json_t *own_span_json(struct offsets *o, size_t begin, size_t end);
/* The word-by-word comparison of a stored text with another. `shift` is the
 * byte offset of `text` in that of `whole`, to whose units '+' refers. */
json_t *own_edits_json(const char *stored, const char *text, size_t shift,
                       struct offsets *whole);

/* ---- arguments, own_wish.c ----------------------------------------------- */

/* What translating calls ask for. */
struct own_wish {
    struct wish wish;
    enum offset_unit unit;
    json_t *options;            /* of the wish */
    struct memory_cards cards;  /* the memories of the wish */
    const char **names;
};
/* Reads the arguments that all translating calls have: source, target,
 * memories, options, replaces, deadline_ms, offsets. Returns false after it
 * has failed the call; release it in any case. */
bool own_wish_read(struct call *c, struct own_wish *out);
void own_wish_release(struct own_wish *w);
/* An integer in [low, high]; *out keeps its value if it is absent. Returns
 * false after it has failed the call. */
bool own_read_int(struct call *c, const char *name, int64_t low, int64_t high,
                  int64_t *out);
/* Argument "offsets". Returns false after it has failed the call. */
bool own_read_unit(struct call *c, enum offset_unit *out);
/* A string that must be there and have a text. NULL after it has failed the
 * call. */
const char *own_read_text(struct call *c, const char *name);
/* Whether a text has more than white space. */
bool own_has_text(const char *s);
/* A string; NULL if absent. Returns false after it has failed the call because
 * it is not a string. */
bool own_read_optional(struct call *c, const char *name, const char **out);
/* Fails the call if the account has no memory. */
bool own_need_memory(struct call *c);
/* The memory that the path or an argument names. Returns false after it has
 * failed the call. Release it with memory_card_release. field: the argument, or
 * "". */
bool own_find_memory(struct call *c, const char *what, const char *field,
                     struct memory_card *out);
/* Completes the languages of a pair that is to be stored: those of the memory
 * (NULL: not chosen yet), else the only ones that are served. Fails the call if
 * that leaves one unknown, or if the memory has others. */
bool own_pair_languages(struct call *c, const struct memory_card *m,
                        struct correction *x);
/* Argument `name` as a list of memories. Returns false after it has failed the
 * call. *cards and *names are then empty; both are released by
 * own_release_memories. */
bool own_read_memories(struct call *c, const char *name,
                       struct memory_cards *cards, const char ***names);
void own_release_memories(struct memory_cards *cards, const char ***names);

/* ---- explanations, own_explain.c ----------------------------------------- */

/* The segments of a text: an array. x keeps its tokenizer from text to text.
 * NULL on failure, with the error in *err. */
json_t *own_explain_json(struct explain *x, const struct text_answer *a,
                         const char *text, enum offset_unit unit,
                         skmt_error *err);

#endif
