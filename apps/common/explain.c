/* explain.c - computes the explanation of a sentence, and writes it as JSON.
 *
 * Invariant after explain_load(): the tokens of the words are consecutive;
 * places are sorted by pair and position, and places [first, first + n) of a
 * pair are those with its number; the word of a place is in [0, n_words). */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/explain.h"
#include "common/jput.h"

/* ---- creation and destruction ----------------------------------------- */

void explain_init(struct explain *x, const skmt_model *model)
{
    memset(x, 0, sizeof *x);
    x->model = model;
}

void explain_release(struct explain *x)
{
    skmt_session_free(x->tokenizer);
    free(x->words);
    free(x->places);
    free(x->pairs);
    memset(x, 0, sizeof *x);
}

static bool explain_out_of_memory(skmt_error *err)
{
    err->status = SKMT_ERR_NOMEM;
    snprintf(err->message, sizeof err->message, "out of memory");
    return false;
}

/* Make room for one more item of `size` bytes in a list of n items. */
static bool explain_grow(void *list, size_t *cap, int n, size_t size)
{
    void *old, *grown;
    size_t want = 2 * *cap + 32;

    if ((size_t)n < *cap) return true;
    memcpy(&old, list, sizeof old);
    grown = realloc(old, want * size);
    if (!grown) return false;
    memcpy(list, &grown, sizeof grown);
    *cap = want;
    return true;
}

const char *explain_piece(const char *text)
{
    static const char space[] = "\xE2\x96\x81";         /* U+2581 */

    if (strncmp(text, space, 3) || !text[3]) return text;
    return text + 3;
}

int explain_n_voting(const struct explain *x)
{
    int n = 0;

    for (int i = 0; i < x->n_pairs; i++) n += x->pairs[i].n > 0;
    return n;
}

int explain_put_reasons(const struct explain *x, struct textbuf *t, int i)
{
    skmt_reason why = SKMT_INIT(skmt_reason);
    int n = 0;

    for (int k = 0; skmt_result_reason(x->r, x->hyp, x->seg, i, k, &why); k++)
        if (why.effect > 0 || why.effect < 0)
            textbuf_addf(t, "%s%s (%s)", n++ ? ", " : "", why.text,
                         why.effect > 0 ? "+" : "-");
    return n;
}

/* ---- words ------------------------------------------------------------ */

static bool explain_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Whether the text is in a script without spaces between words, roughly: Thai
 * to Burmese, Chinese and Japanese with their full-width forms. Each piece is
 * then a word. */
static bool is_unspaced(const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;

    if (n < 3 || u[0] < 0xE0) return false;
    if (u[0] == 0xE0) return u[1] >= 0xB8;
    if (u[0] == 0xE1) return u[1] < 0x82;
    if (u[0] == 0xE2) return u[1] >= 0xBA;
    if (u[0] == 0xEF) return u[1] >= 0xBC;
    return u[0] < 0xEA || u[0] == 0xF0;
}

/* Whether a piece begins a new word. A word that so far is only a space is
 * continued. */
static bool begins_word(const struct explain *x, const skmt_piece *p)
{
    const struct explain_word *w = x->words + x->n_words;
    const char *s = x->text + p->begin;

    if (x->n_words == 0) return true;
    w--;
    return w->end > w->begin
           && (explain_is_space(s[0]) || is_unspaced(s, p->end - p->begin)
               || is_unspaced(x->text + w->begin, w->end - w->begin));
}

static bool explain_add_word(struct explain *x, int i, const skmt_piece *p)
{
    struct explain_word *w;

    if (!explain_grow(&x->words, &x->cap_words, x->n_words, sizeof *x->words))
        return false;
    w = &x->words[x->n_words++];
    *w = (struct explain_word){ .first = i, .begin = p->begin,
                                .end = p->begin, .pair = -1 };
    return true;
}

static void extend_word(struct explain *x, struct explain_word *w, int i,
                        const skmt_piece *p)
{
    double weight = skmt_result_weight(x->r, x->hyp, x->seg, i, NULL);

    assert(i == w->first + w->n);
    if (w->end == w->begin) {   /* forget spaces before the word */
        w->low = 1;
        w->high = 0;
    }
    w->n++;
    w->end = p->end;            /* there is no gap between pieces */
    while (w->begin < w->end && explain_is_space(x->text[w->begin])) w->begin++;
    while (w->end > w->begin && explain_is_space(x->text[w->end - 1])) w->end--;
    if (weight < w->low) w->low = weight;
    if (weight > w->high) w->high = weight;
}

bool explain_counts(const struct explain *x, const struct explain_word *w,
                    const skmt_piece *p)
{
    size_t at = p->begin;

    while (at < p->end && explain_is_space(x->text[at])) at++;
    return at < p->end || w->end == w->begin;
}

/* Join the tokens of the sentence to words. EOS has no text: it is a word of
 * its own if there were votes at it, and is left out otherwise. */
static bool find_words(struct explain *x)
{
    int n = skmt_result_target_pieces(x->r, x->hyp, x->seg);

    for (int i = 0; i < n; i++) {
        bool last;
        skmt_piece p = SKMT_INIT(skmt_piece);

        skmt_result_target_piece(x->r, x->hyp, x->seg, i, &p);
        last = i + 1 == n && p.begin == p.end;
        if (i == 0) x->begin = p.begin;
        x->end = p.end;
        if (last && skmt_result_weight(x->r, x->hyp, x->seg, i, NULL) <= 0)
            break;
        if (last || begins_word(x, &p))
            if (!explain_add_word(x, i, &p)) return false;
        extend_word(x, &x->words[x->n_words - 1], i, &p);
    }
    return true;
}

/* ---- votes ------------------------------------------------------------ */

/* Return the place of a vote, which is added if it is new. Return NULL if out
 * of memory. */
static struct explain_place *place_of(struct explain *x, const skmt_vote *v)
{
    struct explain_place *p;

    for (int i = 0; i < x->n_places; i++)
        if (x->places[i].pair == v->pair
            && x->places[i].position == v->position) return &x->places[i];
    if (!explain_grow(&x->places, &x->cap_places, x->n_places,
                      sizeof *x->places))
        return NULL;
    p = &x->places[x->n_places++];
    *p = (struct explain_place){ .pair = v->pair, .position = v->position,
                                 .id = v->id, .text = v->text,
                                 .word = -1 };
    return p;
}

/* Add a vote for a token of a word. output: the token in the translation. */
static bool add_vote(struct explain *x, int word, const skmt_vote *v,
                     int32_t output)
{
    struct explain_place *p = place_of(x, v);
    bool matches_output = v->id == output;

    if (!p) return false;
    if (p->word < 0 || (matches_output && !p->matches_output)) p->word = word;
    p->matches_output |= matches_output;
    return true;
}

/* Add the votes for the tokens of a word. The pair of the word is the one whose
 * votes for the tokens of the translation have the most weight. weight: scratch
 * space for n_pairs numbers. */
static bool add_votes(struct explain *x, int word, double *weight)
{
    struct explain_word *w = &x->words[word];
    double max_weight = 0;

    memset(weight, 0, (size_t)x->n_pairs * sizeof *weight);
    for (int i = w->first; i < w->first + w->n; i++) {
        double lambda;
        skmt_piece p = SKMT_INIT(skmt_piece);
        int n;

        skmt_result_target_piece(x->r, x->hyp, x->seg, i, &p);
        lambda = skmt_result_weight(x->r, x->hyp, x->seg, i, &n);
        for (int k = 0; k < n; k++) {
            skmt_vote v = SKMT_INIT(skmt_vote);

            skmt_result_vote(x->r, x->hyp, x->seg, i, k, &v);
            if (v.pair < 0 || v.pair >= x->n_pairs) continue;
            if (!add_vote(x, word, &v, p.id)) return false;
            if (v.id == p.id && explain_counts(x, w, &p))
                weight[v.pair] += lambda * v.share;
            if (weight[v.pair] > max_weight) {
                max_weight = weight[v.pair];
                w->pair = v.pair;
            }
        }
    }
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct explain_place *left = a, *right = b;

    if (left->pair != right->pair) return left->pair - right->pair;
    return left->position - right->position;
}

static bool find_places(struct explain *x)
{
    double *weight = calloc((size_t)x->n_pairs + 1, sizeof *weight);
    bool ok = weight != NULL;

    for (int i = 0; ok && i < x->n_words; i++) ok = add_votes(x, i, weight);
    free(weight);
    if (!ok || !x->n_places) return ok;
    qsort(x->places, (size_t)x->n_places, sizeof *x->places, by_place);
    for (int i = x->n_places; i-- > 0;) {
        struct explain_pair *p = &x->pairs[x->places[i].pair];

        assert(x->places[i].word >= 0 && x->places[i].word < x->n_words);
        assert(p->n == 0 || p->first == i + 1);
        p->first = i;
        p->n++;
    }
    return true;
}

/* ---- positions of the votes in the text of a pair --------------------- */

/* The library has no function that splits a text into pieces. But it reports
 * the pieces of a translation's source with their positions, so the stored
 * target is "translated" with the least possible work. */
static bool make_tokenizer(struct explain *x, skmt_error *err)
{
    static const char *const settings[][2] = {
        { "beam", "1" }, { "batch", "1" }, { "max-len-a", "0" },
        { "max-len-b", "1" }, { "split", "none" }, { "invalid", "replace" },
    };
    skmt_options *o;
    bool ok;

    if (x->tokenizer) return true;
    ok = !skmt_options_new(&o, NULL);
    if (!ok) explain_out_of_memory(err);
    for (size_t i = 0; ok && i < sizeof settings / sizeof *settings; i++)
        ok = !skmt_options_set(o, settings[i][0], settings[i][1], err);
    ok = ok && !skmt_session_new(&x->tokenizer, x->model, o, err);
    skmt_options_free(o);
    return ok;
}

/* Get piece i of the source, counted over all sentences of a result. */
static bool piece_at(const skmt_result *r, int i, skmt_piece *out)
{
    for (int sentence = 0; sentence < skmt_result_sentences(r); sentence++) {
        int n = skmt_result_source_pieces(r, sentence);

        if (i < n) {
            skmt_result_source_piece(r, sentence, i, out);
            return true;
        }
        i -= n;
    }
    return false;
}

/* Set begin and end of the places of a pair. EOS has no position. */
static bool explain_locate(struct explain *x, const struct explain_pair *pair,
                           skmt_error *err)
{
    size_t len = strlen(pair->match.target);
    skmt_result *split;

    if (!make_tokenizer(x, err)
        || skmt_session_translate(x->tokenizer, pair->match.target, NULL,
                                  &split, err)) return false;
    for (int i = pair->first; i < pair->first + pair->n; i++) {
        struct explain_place *p = &x->places[i];
        skmt_piece piece = SKMT_INIT(skmt_piece);

        p->begin = p->end = 0;
        if (!piece_at(split, p->position, &piece) || piece.id != p->id
            || piece.end > len) continue;
        p->begin = piece.begin;
        p->end = piece.end;
    }
    skmt_result_free(split);
    return true;
}

/* ---- a sentence ------------------------------------------------------- */

static bool explain_add_pairs(struct explain *x)
{
    int n = skmt_result_pairs(x->r, x->seg);

    for (int i = 0; i < n; i++) {
        if (!explain_grow(&x->pairs, &x->cap_pairs, i, sizeof *x->pairs))
            return false;
        x->pairs[i] = (struct explain_pair){ .n = 0 };
        x->pairs[i].match = SKMT_INIT(skmt_found_pair);
        skmt_result_pair(x->r, x->seg, i, &x->pairs[i].match);
        x->n_pairs++;
    }
    x->exact = n > 0 && x->pairs[0].match.exact;
    return true;
}

bool explain_load(struct explain *x, const skmt_result *r, int hyp, int seg,
                  skmt_error *err)
{
    x->r = r;
    x->hyp = hyp;
    x->seg = seg;
    x->n_words = x->n_places = x->n_pairs = 0;
    x->text = skmt_result_text(r, hyp);
    x->begin = x->end = 0;
    if (!explain_add_pairs(x)) return explain_out_of_memory(err);
    if (x->exact) {
        x->text = x->pairs[0].match.target;
        x->end = strlen(x->text);
        return true;
    }
    if (!find_words(x) || !find_places(x)) return explain_out_of_memory(err);
    for (int i = 0; i < x->n_pairs; i++)
        if (x->pairs[i].n && !explain_locate(x, &x->pairs[i], err))
            return false;
    return true;
}

/* ---- JSON ------------------------------------------------------------- */

void explain_json_pairs(struct textbuf *t, const skmt_result *r, int seg)
{
    int n = skmt_result_pairs(r, seg);

    jput_key(t, "pairs");
    jput_array(t);
    for (int i = 0; i < n; i++) {
        skmt_found_pair s = SKMT_INIT(skmt_found_pair);

        skmt_result_pair(r, seg, i, &s);
        if (s.exact) n = 1;
        jput_object(t);
        jput_int_field(t, "id", s.id);
        if (explain_has_similarity(&s)) jput_text_field(t, "memory", s.memory);
        jput_text_field(t, "source", s.source);
        jput_text_field(t, "target", s.target);
        if (explain_has_similarity(&s))
            jput_number_field(t, "similarity", s.similarity);
        jput_bool_field(t, "exact", s.exact);
        jput_object_end(t);
    }
    jput_array_end(t);
}

static void jput_alternative(struct textbuf *t, const skmt_found_pair *s)
{
    jput_object(t);
    jput_int_field(t, "id", s->id);
    jput_text_field(t, "memory", s->memory);
    jput_text_field(t, "source", s->source);
    jput_text_field(t, "target", s->target);
    jput_object_end(t);
}

int explain_json_alternatives(struct textbuf *t, const skmt_result *r, int seg,
                              int end)
{
    int n = 0;

    for (; seg < end; seg++) {
        skmt_found_pair s = SKMT_INIT(skmt_found_pair);

        skmt_result_pair(r, seg, 0, &s);
        for (int i = 1; s.exact && i < skmt_result_pairs(r, seg); i++) {
            skmt_found_pair other = SKMT_INIT(skmt_found_pair);

            skmt_result_pair(r, seg, i, &other);
            if (!n++) jput_array(t);
            jput_alternative(t, &other);
        }
    }
    if (n) jput_array_end(t);
    return n;
}

/* Append "reasons" if the system gave reasons for the weight. */
static void explain_json_reasons(struct textbuf *t, const skmt_result *r,
                                 int hyp, int seg, int i)
{
    skmt_reason why = SKMT_INIT(skmt_reason);
    int n = 0;

    for (; skmt_result_reason(r, hyp, seg, i, n, &why); n++) {
        if (!n) {
            jput_key(t, "reasons");
            jput_array(t);
        }
        jput_object(t);
        jput_text_field(t, "text", why.text);
        jput_number_field(t, "effect", why.effect);
        jput_object_end(t);
    }
    if (n) jput_array_end(t);
}

void explain_json_token(struct textbuf *t, const skmt_result *r, int hyp,
                        int seg, int i)
{
    int n;

    jput_number_field(t, "trust", skmt_result_weight(r, hyp, seg, i, &n));
    jput_key(t, "votes");
    jput_array(t);
    for (int k = 0; k < n; k++) {
        skmt_vote v = SKMT_INIT(skmt_vote);

        skmt_result_vote(r, hyp, seg, i, k, &v);
        jput_object(t);
        jput_int_field(t, "pair", v.pair);
        jput_int_field(t, "position", v.position);
        jput_text_field(t, "token", v.text);
        jput_number_field(t, "distance", v.distance);
        jput_number_field(t, "share", v.share);
        jput_object_end(t);
    }
    jput_array_end(t);
    explain_json_reasons(t, r, hyp, seg, i);
}
