/* own_explain.c - the explanation of a translation as JSON: what the memory did
 * for each word (common/explain.h).
 *
 * A text has lines, a line has sentences. The library's offsets count the bytes
 * of a line; those of the answer refer to the whole text and its whole
 * translation. */
#include <stdlib.h>
#include <string.h>

#include "own.h"

struct explain_json {
    struct explain *x;          /* the sentence */
    const struct line_result *line;
    struct offsets source, target;      /* the whole text and translation */
    enum offset_unit unit;
    size_t done;                /* bytes of the line's translation that belong
                                   to the sentences before */
    double *share, *won;        /* [n_pairs] votes on a word */
};

/* ---- tokens ----------------------------------------------------------- */

static json_t *own_reasons_json(const struct explain *x, int token)
{
    json_t *list = json_array();
    skmt_reason why = SKMT_INIT(skmt_reason);

    for (int k = 0;
         token >= 0 && skmt_result_reason(x->r, x->hyp, x->seg, token, k, &why);
         k++)
        json_array_append_new(list, json_pack("{s:o, s:f}", "text",
                                              own_string(why.text), "effect",
                                              why.effect));
    return list;
}

static json_t *own_vote_json(const skmt_vote *v)
{
    return json_pack("{s:i, s:i, s:o, s:f, s:f}", "pair", v->pair,
                     "position", v->position, "token", own_string(v->text),
                     "distance", v->distance, "share", v->share);
}

/* A span of the translation of the line. */
static json_t *target_span(struct explain_json *e, size_t begin, size_t end)
{
    return own_span_json(&e->target, e->line->out_begin + begin,
                         e->line->out_begin + end);
}

/* A token with the numbers of skmt translate --explain --json. */
static json_t *own_token_json(struct explain_json *e, int i,
                              const skmt_piece *p)
{
    const struct explain *x = e->x;
    json_t *j = target_span(e, p->begin, p->end), *votes = json_array();
    int n;
    double weight = skmt_result_weight(x->r, x->hyp, x->seg, i, &n);

    for (int k = 0; k < n; k++) {
        skmt_vote v = SKMT_INIT(skmt_vote);

        skmt_result_vote(x->r, x->hyp, x->seg, i, k, &v);
        json_array_append_new(votes, own_vote_json(&v));
    }
    json_object_set_new(j, "id", json_integer(p->id));
    json_object_set_new(j, "piece", own_string(p->text));
    json_object_set_new(j, "logprob", json_real(p->logprob));
    json_object_set_new(j, "trust", json_real(weight));
    json_object_set_new(j, "votes", votes);
    json_object_set_new(j, "reasons", own_reasons_json(x, i));
    return j;
}

/* ---- words ------------------------------------------------------------ */

/* Adds the votes on a token to those on its word. */
static void own_sum_votes(struct explain_json *e, int i, int32_t output)
{
    const struct explain *x = e->x;
    int n;

    skmt_result_weight(x->r, x->hyp, x->seg, i, &n);
    for (int k = 0; k < n; k++) {
        skmt_vote v = SKMT_INIT(skmt_vote);

        skmt_result_vote(x->r, x->hyp, x->seg, i, k, &v);
        if (v.pair < 0 || v.pair >= x->n_pairs) continue;
        e->share[v.pair] += v.share;
        if (v.id == output) e->won[v.pair] += v.share;
    }
}

/* What the tokens of a word have in common. */
struct own_word { json_t *tokens; int counted, heaviest; double most; };

static void own_sum_tokens(struct explain_json *e,
                           const struct explain_word *w, struct own_word *out)
{
    const struct explain *x = e->x;
    size_t bytes = (size_t)x->n_pairs * sizeof *e->share;

    *out = (struct own_word){ json_array(), 0, -1, -1 };
    memset(e->share, 0, bytes);
    memset(e->won, 0, bytes);
    for (int i = w->first; i < w->first + w->n; i++) {
        skmt_piece p = SKMT_INIT(skmt_piece);
        double weight = skmt_result_weight(x->r, x->hyp, x->seg, i, NULL);

        skmt_result_target_piece(x->r, x->hyp, x->seg, i, &p);
        json_array_append_new(out->tokens, own_token_json(e, i, &p));
        if (!explain_counts(x, w, &p)) continue;
        out->counted++;
        own_sum_votes(e, i, p.id);
        if (weight <= out->most) continue;
        out->most = weight;
        out->heaviest = i;
    }
}

/* The pairs that voted on a word, by the index of the pair. */
static json_t *own_votes_json(const struct explain_json *e, int counted)
{
    json_t *list = json_array();

    for (int i = 0; i < e->x->n_pairs; i++)
        if (e->share[i] > 0)
            json_array_append_new(list, json_pack(
                "{s:i, s:f, s:f}", "pair", i, "share", e->share[i] / counted,
                "won", e->won[i] / counted));
    return list;
}

static json_t *own_word_json(struct explain_json *e,
                             const struct explain_word *w)
{
    const struct explain *x = e->x;
    json_t *j = target_span(e, w->begin, w->end);
    char *text = strndup(x->text + w->begin, w->end - w->begin);
    struct own_word sum;

    own_sum_tokens(e, w, &sum);
    json_object_set_new(j, "text", text ? own_string(text) : NULL);
    free(text);
    json_object_set_new(j, "weight", json_real(w->high));
    json_object_set_new(j, "weight_low", json_real(w->low));
    json_object_set_new(j, "pair", w->pair >= 0 ? json_integer(w->pair)
                                                : json_null());
    json_object_set_new(j, "votes", own_votes_json(e, sum.counted));
    json_object_set_new(j, "reasons", own_reasons_json(x, sum.heaviest));
    json_object_set_new(j, "tokens", sum.tokens);
    return j;
}

static json_t *own_words_json(struct explain_json *e)
{
    json_t *list = json_array();

    for (int i = 0; i < e->x->n_words; i++)
        json_array_append_new(list, own_word_json(e, &e->x->words[i]));
    return list;
}

/* ---- pairs ------------------------------------------------------------ */

/* The tokens of a pair's target that voted. */
static json_t *own_places_json(const struct explain_json *e,
                               const struct explain_pair *p)
{
    json_t *list = json_array();
    struct offsets o;

    offsets_init(&o, p->match.target, e->unit);
    for (int i = p->first; i < p->first + p->n; i++) {
        const struct explain_place *at = &e->x->places[i];
        json_t *j = own_span_json(&o, at->begin, at->end);

        json_object_set_new(j, "position", json_integer(at->position));
        json_object_set_new(j, "word", json_integer(at->word));
        json_object_set_new(j, "won", json_boolean(at->matches_output));
        json_array_append_new(list, j);
    }
    return list;
}

/* What identifies a pair and what it says. */
static json_t *own_found_json(const skmt_found_pair *p)
{
    return json_pack("{s:I, s:o, s:o, s:o}", "id", (json_int_t)p->id,
                     "memory", own_string(p->memory), "source",
                     own_string(p->source), "target", own_string(p->target));
}

/* sentence: the text of the sentence, which begins at byte `at` of the whole
 * text. */
static json_t *own_steering_json(struct explain_json *e,
                                 const struct explain_pair *p,
                                 const char *sentence, size_t at)
{
    json_t *j = own_found_json(&p->match);

    json_object_set_new(j, "similarity", explain_has_similarity(&p->match)
                        ? json_real(p->match.similarity) : json_null());
    json_object_set_new(j, "exact", json_boolean(p->match.exact));
    json_object_set_new(j, "voted", json_boolean(p->n > 0));
    json_object_set_new(j, "edits", own_edits_json(p->match.source, sentence,
                                                   at, &e->source));
    json_object_set_new(j, "places", own_places_json(e, p));
    return j;
}

/* ---- sentences -------------------------------------------------------- */

static bool own_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The span of the sentence in the translation of the line. The tokens tell it.
 * A stored translation has no tokens: it follows the sentence before. */
static void find_target(struct explain_json *e, size_t *begin, size_t *end)
{
    const char *line = skmt_result_text(e->x->r, 0), *at;

    *begin = e->x->begin;
    *end = e->x->end;
    if (e->x->exact) {
        at = strstr(line + e->done, e->x->text);
        *begin = at ? (size_t)(at - line) : e->done;
        *end = *begin + (at ? strlen(e->x->text) : 0);
    }
    while (*begin < *end && own_is_blank(line[*begin])) ++*begin;
    while (*end > *begin && own_is_blank(line[*end - 1])) --*end;
    e->done = *end;
}

static json_t *own_pairs_json(struct explain_json *e, const char *text,
                              size_t begin, size_t end)
{
    const struct explain *x = e->x;
    json_t *list = json_array();
    char *sentence = strndup(text + begin, end - begin);

    for (int i = 0; sentence && i < (x->exact ? 1 : x->n_pairs); i++)
        json_array_append_new(list, own_steering_json(e, &x->pairs[i],
                                                      sentence, begin));
    free(sentence);
    return list;
}

/* Other stored translations of a sentence whose stored translation was used. */
static json_t *own_stored_json(const struct explain *x)
{
    json_t *list = json_array();

    for (int i = 1; x->exact && i < x->n_pairs; i++)
        json_array_append_new(list, own_found_json(&x->pairs[i].match));
    return list;
}

/* The sentence that was loaded. */
static json_t *own_segment_json(struct explain_json *e, const char *text)
{
    struct explain *x = e->x;
    size_t begin, end, out_begin, out_end;
    json_t *j = json_object();

    skmt_result_sentence_span(x->r, x->seg, &begin, &end);
    begin += e->line->begin;
    end += e->line->begin;
    find_target(e, &out_begin, &out_end);
    json_object_set_new(j, "source", own_span_json(&e->source, begin, end));
    json_object_set_new(j, "target", target_span(e, out_begin, out_end));
    json_object_set_new(j, "score", json_real(
        skmt_result_sentence_score(x->r, 0, x->seg)));
    json_object_set_new(j, "exact", json_boolean(x->exact));
    json_object_set_new(j, "pairs", own_pairs_json(e, text, begin, end));
    json_object_set_new(j, "others", own_stored_json(x));
    json_object_set_new(j, "words", own_words_json(e));
    return j;
}

/* Adds the sentences of a line. */
static bool own_explain_line(struct explain_json *e, const char *text,
                             json_t *list, skmt_error *err)
{
    int n = skmt_result_sentences(e->line->result);

    e->done = 0;
    for (int i = 0; i < n; i++) {
        size_t pairs;

        if (!explain_load(e->x, e->line->result, 0, i, err)) return false;
        pairs = (size_t)e->x->n_pairs + 1;
        free(e->share);
        e->share = calloc(2 * pairs, sizeof *e->share);
        if (!e->share) {
            err->status = SKMT_ERR_NOMEM;
            snprintf(err->message, sizeof err->message, "out of memory");
            return false;
        }
        e->won = e->share + pairs;
        json_array_append_new(list, own_segment_json(e, text));
    }
    return true;
}

json_t *own_explain_json(struct explain *x, const struct text_answer *a,
                         const char *text, enum offset_unit unit,
                         skmt_error *err)
{
    struct explain_json e = { .x = x, .unit = unit };
    json_t *list = json_array();
    bool ok = true;

    offsets_init(&e.source, text, unit);
    offsets_init(&e.target, a->alternatives[0].text, unit);
    for (int i = 0; ok && i < a->n_lines; i++) {
        e.line = &a->lines[i];
        if (e.line->result) ok = own_explain_line(&e, text, list, err);
    }
    free(e.share);
    if (ok) return list;
    json_decref(list);
    return NULL;
}
