/* own_search.c - searching a memory, and corrections of users. */
#include <string.h>

#include "models.h"
#include "own.h"
#include "server.h"

/* ---- search ----------------------------------------------------------- */

struct own_query {
    const char *text, *source, *target;
    int64_t limit;
    struct offsets offsets;     /* of the text */
    skmt_options *options;
    const struct served_model *model;
    struct memory_cards cards;  /* memories to search */
    const char **names;
};

static json_t *own_match_json(const skmt_matches *m, int i,
                              struct own_query *q)
{
    skmt_match match = SKMT_INIT(skmt_match);

    skmt_matches_get(m, i, &match);
    return json_pack("{s:f, s:f, s:I, s:o, s:o}",
                     "similarity", match.similarity, "score", match.score,
                     "occurrences", (json_int_t)match.occurrences,
                     "pair", own_pair_json(match.pair),
                     "edits", own_edits_json(match.pair->source, q->text, 0,
                                             &q->offsets));
}

/* The model whose pieces are compared: that of the languages, else the first
 * that fits. */
static bool own_find_model(struct call *c, struct own_query *q)
{
    const char *source = NULL, *target = NULL;

    if (q->source && *q->source && !(source = skmt_language_code(q->source))) {
        call_fail_field(c, "source", "source is no code of a language");
        return false;
    }
    if (q->target && *q->target && !(target = skmt_language_code(q->target))) {
        call_fail_field(c, "target", "target is no code of a language");
        return false;
    }
    q->model = models_find(call_server(c)->models, source, target);
    if (!q->model) call_fail(c, FAIL_LANGUAGE,
                             "this pair of languages is not served");
    return q->model != NULL;
}

static bool own_set_option(struct call *c, struct own_query *q,
                           const char *name, const char *value,
                           const char *field)
{
    skmt_error err;

    if (!skmt_options_set(q->options, name, value, &err)) return true;
    call_fail_field(c, field, "%s", err.message);
    return false;
}

/* The options of the model, with the limits of the request. */
static bool own_query_options(struct call *c, struct own_query *q)
{
    char limit[24];
    const char *least;
    skmt_error err;

    if (models_copy_options(q->model, &q->options, &err)) {
        call_fail_error(c, &err);
        return false;
    }
    snprintf(limit, sizeof limit, "%lld", (long long)q->limit);
    least = call_arg(c, "min_similarity");
    return own_set_option(c, q, "matches", limit, "limit")
           && (q->limit <= 64
               || own_set_option(c, q, "candidates", limit, "limit"))
           && (!least || own_set_option(c, q, "min-similarity", least,
                                        "min_similarity"));
}

static bool own_query_read(struct call *c, struct own_query *q)
{
    enum offset_unit unit;

    q->limit = 16;
    q->text = own_read_text(c, "q");
    if (!q->text || !own_read_int(c, "limit", 1, OWN_MAX_MATCHES, &q->limit)
        || !own_read_optional(c, "source", &q->source)
        || !own_read_optional(c, "target", &q->target)
        || !own_read_unit(c, &unit)) return false;
    offsets_init(&q->offsets, q->text, unit);
    return own_need_memory(c) && own_find_model(c, q)
           && own_query_options(c, q)
           && own_read_memories(c, "memories", &q->cards, &q->names);
}

static void own_reply_matches(struct call *c, struct own_query *q)
{
    struct account *a = call_account(c);
    skmt_matches *m = NULL;
    skmt_error err;
    skmt_tm *tm;
    skmt_status st = account_borrow(a, q->names, q->cards.n, &tm, &err);
    json_t *list;

    if (!st && tm) {
        st = skmt_tm_search(tm, q->text, q->options, q->model->model, &m,
                            &err);
        account_return(a, tm);
    }
    if (st) {
        call_fail_error(c, &err);
        return;
    }
    list = json_array();
    for (int i = 0; m && i < skmt_matches_count(m); i++)
        json_array_append_new(list, own_match_json(m, i, q));
    skmt_matches_free(m);
    call_reply_json(c, 200, json_pack("{s:o}", "matches", list));
}

void own_search(struct call *c)
{
    struct own_query q = { .text = NULL };

    if (own_query_read(c, &q)) own_reply_matches(c, &q);
    skmt_options_free(q.options);
    own_release_memories(&q.cards, &q.names);
}

/* ---- feedback --------------------------------------------------------- */

static bool own_read_feedback(struct call *c, struct correction *x,
                              const char **translation)
{
    x->source = own_read_text(c, "source");
    if (!x->source || !own_read_optional(c, "translation", translation))
        return false;
    x->target = own_read_text(c, "corrected");
    return x->target && own_read_optional(c, "source_lang", &x->source_lang)
           && own_read_optional(c, "target_lang", &x->target_lang)
           && own_read_optional(c, "document", &x->document)
           && own_read_optional(c, "author", &x->author);
}

/* Adds how the correction differs from the translation. */
static void own_add_edits(json_t *j, const char *translation,
                          const char *corrected, enum offset_unit unit)
{
    struct offsets o;

    offsets_init(&o, corrected, unit);
    json_object_set_new(j, "changed",
                        json_boolean(strcmp(translation, corrected)));
    json_object_set_new(j, "edits", own_edits_json(translation, corrected, 0,
                                                   &o));
}

static void own_store_feedback(struct call *c, const struct correction *x,
                               const char *translation, enum offset_unit unit)
{
    struct account *a = call_account(c);
    skmt_pair p = SKMT_INIT(skmt_pair);
    skmt_error err;
    skmt_tm *tm;
    int64_t id;
    json_t *j;

    if (account_store(a, x, &id, &err)
        || account_borrow_some(a, &tm, &err)) {
        call_fail_error(c, &err);
        return;
    }
    /* The pair tells which memory it is in. */
    if (skmt_tm_get(tm, id, &p, &err)) {
        account_return(a, tm);
        call_fail_error(c, &err);
        return;
    }
    j = json_pack("{s:I, s:o}", "id", (json_int_t)id, "memory",
                  own_string(p.memory));
    account_return(a, tm);
    if (translation) own_add_edits(j, translation, x->target, unit);
    call_reply_json(c, 201, j);
}

void own_feedback(struct call *c)
{
    struct correction x = { .replace = true, .from = "own" };
    struct memory_card card = { .id = 0 };
    const char *memory, *translation;
    enum offset_unit unit;

    if (!own_read_feedback(c, &x, &translation)
        || !own_read_unit(c, &unit)
        || !own_read_optional(c, "memory", &memory)) return;
    if (!own_need_memory(c)
        || (memory && !own_find_memory(c, memory, "memory", &card))) return;
    x.memory = card.name;
    if (own_pair_languages(c, memory ? &card : NULL, &x))
        own_store_feedback(c, &x, translation, unit);
    if (memory) memory_card_release(&card);
}
