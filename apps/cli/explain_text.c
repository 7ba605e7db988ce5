/* explain_text.c - writes explanations as text (see explain.h).
 *
 *     Having regard to Article 81 (1)
 *      weight  word       votes: pair, its similarity, position in its target
 *         98%  Having     #1 85% at 0, #2 71% at 0
 *       0-41%  81         #1 85% at 15 for "75"
 *       #1   85%  gestützt auf Artikel 75 Absatz 1
 *                 {Having regard to Article} 75 {(1)}
 *                 id 17, main
 *                 contributed: Having regard to Article .. (1)
 *
 * The weight of a word is the lowest and the highest weight of its tokens. On a
 * terminal, it is also shown by color and underlining, and underlining replaces
 * the braces.
 *
 * If the system gives reasons, a line below a word has those of its token with
 * the highest weight:
 *
 *         98%  Having     #1 85% at 0, #2 71% at 0
 *                         weight 0.98: close state (+), model disagrees (-) */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "explain_text.h"
#include "tm_print.h"

enum { WORD_COLUMNS = 16, MAX_VOTE_RUNS = 24 };

static const char reset_style[] = "\033[0m", dim[] = "\033[2m",
    bold[] = "\033[1m", vote_style[] = "\033[32;4m";

/* Text with a weight of 0.5 or more is also underlined, for color-blind
 * users. */
static const char *weight_style(double weight)
{
    if (weight >= 0.8) return "\033[1;32;4m";
    if (weight >= 0.5) return "\033[32;4m";
    if (weight >= 0.2) return "\033[33m";
    return "";
}

struct explain_output {         /* of one call of explain_put() */
    struct explain *x;
    struct textbuf *t;
    bool color;
};

static void explain_text_put_style(struct explain_output *o,
                                   const char *escape)
{
    if (o->color) textbuf_adds(o->t, escape);
}

/* ---- the translation -------------------------------------------------- */

/* Append s in the style for its weight. Spaces around it are not underlined. */
static void put_weighted(struct explain_output *o, const char *s, size_t n,
                         double weight)
{
    size_t begin = strspn(s, " "), end = n;
    const char *escape = o->color ? weight_style(weight) : "";

    if (begin > n) begin = n;
    while (end > begin && s[end - 1] == ' ') end--;
    if (end == begin) escape = "";
    textbuf_add(o->t, s, begin);
    textbuf_adds(o->t, escape);
    put_visible(o->t, s + begin, end - begin);
    if (escape[0]) textbuf_adds(o->t, reset_style);
    textbuf_add(o->t, s + end, n - end);
}

/* A reused sentence has no tokens. Its text is therefore part of the gap before
 * the next token, and gets weight 1. Other gaps are only spaces. */
static void explain_text_put_translation(struct explain_output *o,
                                         const skmt_result *r, int hyp)
{
    const char *text = skmt_result_text(r, hyp);
    size_t len = strlen(text), at = 0;
    double weight = 0;          /* of the text from `at` to the next token */

    for (int sentence = 0; sentence < skmt_result_sentences(r); sentence++) {
        int n = skmt_result_target_pieces(r, hyp, sentence);
        skmt_found_pair s = SKMT_INIT(skmt_found_pair);

        skmt_result_pair(r, sentence, 0, &s);
        if (s.exact) weight = 1;
        for (int i = 0; i < n; i++) {
            skmt_piece p = SKMT_INIT(skmt_piece);

            skmt_result_target_piece(r, hyp, sentence, i, &p);
            if (p.begin > at)
                put_weighted(o, text + at, p.begin - at, weight);
            put_weighted(o, text + p.begin, p.end - p.begin,
                         skmt_result_weight(r, hyp, sentence, i, NULL));
            at = p.end;
            weight = 0;
        }
    }
    assert(at <= len);
    put_weighted(o, text + at, len - at, weight);
    textbuf_adds(o->t, "\n");
}

/* ---- words and their votes -------------------------------------------- */

struct vote_run {               /* votes of one pair at consecutive positions */
    int pair, first, last;      /* the positions */
    bool matches_output;        /* the tokens voted for are those in the
                                   translation */
    const char *text;           /* the token voted for, if it is another */
};

/* Add a vote to a run that it repeats or extends, or else as a new run. If the
 * list is full, the vote is dropped. Returns the new number of runs. */
static int add_to_runs(struct vote_run *list, int n, const skmt_vote *v,
                       bool matches_output)
{
    for (int i = 0; i < n; i++) {
        if (list[i].pair != v->pair
            || list[i].matches_output != matches_output) continue;
        if (v->position >= list[i].first && v->position <= list[i].last
            && (matches_output || !strcmp(list[i].text, v->text))) return n;
        if (matches_output && v->position == list[i].last + 1) {
            list[i].last++;
            return n;
        }
    }
    if (n == MAX_VOTE_RUNS) return n;
    list[n] = (struct vote_run){ v->pair, v->position, v->position,
                                 matches_output, v->text };
    return n + 1;
}

static int find_vote_runs(const struct explain *x,
                          const struct explain_word *w, struct vote_run *list)
{
    int n = 0;

    for (int i = w->first; i < w->first + w->n; i++) {
        skmt_piece p = SKMT_INIT(skmt_piece);
        int votes;

        skmt_result_target_piece(x->r, x->hyp, x->seg, i, &p);
        if (!explain_counts(x, w, &p)) continue;
        /* This is only called for the number of votes. */
        skmt_result_weight(x->r, x->hyp, x->seg, i, &votes);
        for (int k = 0; k < votes; k++) {
            skmt_vote v = SKMT_INIT(skmt_vote);

            skmt_result_vote(x->r, x->hyp, x->seg, i, k, &v);
            if (v.pair >= 0 && v.pair < x->n_pairs)
                n = add_to_runs(list, n, &v, v.id == p.id);
        }
    }
    return n;
}

static void put_vote_run(struct explain_output *o, const struct vote_run *v)
{
    const skmt_found_pair *p = &o->x->pairs[v->pair].match;

    textbuf_addf(o->t, "#%d", v->pair + 1);
    if (explain_has_similarity(p))
        textbuf_addf(o->t, " %d%%", similarity_percent(p->similarity));
    textbuf_addf(o->t, " at %d", v->first);
    if (v->last > v->first) textbuf_addf(o->t, "-%d", v->last);
    if (v->matches_output) return;
    textbuf_adds(o->t, " for \"");
    put_visible(o->t, explain_piece(v->text), strlen(explain_piece(v->text)));
    textbuf_adds(o->t, "\"");
}

/* Append spaces until the text after `from` has `width` columns. */
static void put_padding(struct textbuf *t, size_t from, int width)
{
    int columns = 0;

    for (size_t i = from; i < t->len; i++)
        columns += (t->data[i] & 0xC0) != 0x80;
    for (; columns < width; columns++) textbuf_adds(t, " ");
}

static int rounded_percent(double weight) { return (int)(weight * 100 + 0.5); }

/* Append the lowest and the highest weight of the word's tokens: "0-41%", or
 * "98%" if they are equal, or "-" if the memory had no weight. */
static void put_weight(struct explain_output *o, const struct explain_word *w)
{
    int low = rounded_percent(w->low), high = rounded_percent(w->high);
    char range[32] = "-";

    if (w->high > 0 && low == high)
        snprintf(range, sizeof range, "%d%%", high);
    else if (w->high > 0)
        snprintf(range, sizeof range, "%d-%d%%", low, high);
    textbuf_addf(o->t, "%*s", 8 - (int)strlen(range), "");
    explain_text_put_style(o, weight_style(w->high));
    textbuf_adds(o->t, range);
    if (weight_style(w->high)[0]) explain_text_put_style(o, reset_style);
    textbuf_adds(o->t, "  ");
}

static void explain_text_put_word(struct explain_output *o,
                                  const struct explain_word *w)
{
    struct explain *x = o->x;
    struct vote_run list[MAX_VOTE_RUNS];
    int n = find_vote_runs(x, w, list);
    size_t from;

    put_weight(o, w);
    from = o->t->len;
    if (w->end > w->begin)
        put_visible(o->t, x->text + w->begin, w->end - w->begin);
    else
        textbuf_adds(o->t, "(end)");
    put_padding(o->t, from, n ? WORD_COLUMNS : 0);
    for (int i = 0; i < n; i++) {
        textbuf_adds(o->t, i ? ", " : "  ");
        put_vote_run(o, &list[i]);
    }
    textbuf_adds(o->t, "\n");
}

/* The token of a word that has the highest weight. */
static int heaviest_token(const struct explain *x,
                          const struct explain_word *w)
{
    int best = -1;
    double most = -1;

    for (int i = w->first; i < w->first + w->n; i++) {
        double weight = skmt_result_weight(x->r, x->hyp, x->seg, i, NULL);
        skmt_piece p = SKMT_INIT(skmt_piece);

        skmt_result_target_piece(x->r, x->hyp, x->seg, i, &p);
        if (!explain_counts(x, w, &p) || weight <= most) continue;
        most = weight;
        best = i;
    }
    return best;
}

static void explain_text_put_reasons(struct explain_output *o,
                                     const struct explain_word *w)
{
    int i = heaviest_token(o->x, w);
    size_t from = o->t->len;

    if (i < 0) return;
    explain_text_put_style(o, dim);
    textbuf_addf(o->t, "%*sweight %.2f: ", WORD_COLUMNS + 12, "",
                 skmt_result_weight(o->x->r, o->x->hyp, o->x->seg, i, NULL));
    if (!explain_put_reasons(o->x, o->t, i)) {
        o->t->len = from;
        return;
    }
    explain_text_put_style(o, reset_style);
    textbuf_adds(o->t, "\n");
}

static void explain_text_put_words(struct explain_output *o)
{
    explain_text_put_style(o, dim);
    textbuf_addf(o->t, "  weight  word              votes: pair, %sposition "
                 "in its target",
                 o->x->n_pairs && explain_has_similarity(&o->x->pairs[0].match)
                 ? "its similarity, " : "");
    explain_text_put_style(o, reset_style);
    textbuf_adds(o->t, "\n");
    for (int i = 0; i < o->x->n_words; i++) {
        explain_text_put_word(o, &o->x->words[i]);
        explain_text_put_reasons(o, &o->x->words[i]);
    }
}

/* ---- pairs that voted ------------------------------------------------- */

/* Find the next run of consecutive places, from place *i on, whose tokens are
 * in the translation. *i moves past it. Returns false if there is none. */
static bool next_matching_run(const struct explain_output *o,
                              const struct explain_pair *p, int *i,
                              size_t *begin, size_t *end)
{
    const struct explain_place *at = o->x->places;
    int last = p->first + p->n;

    while (*i < last
           && !(at[*i].matches_output && at[*i].end > at[*i].begin)) ++*i;
    if (*i == last) return false;
    *begin = at[*i].begin;
    do {
        *end = at[*i].end;
        ++*i;
    } while (*i < last && at[*i].matches_output
             && at[*i].end > at[*i].begin
             && at[*i].position == at[*i - 1].position + 1);
    while (*end > *begin && p->match.target[*end - 1] == ' ') --*end;
    return true;
}

/* Append the target. Tokens whose vote won are put in braces. */
static void put_marked(struct explain_output *o, const struct explain_pair *p)
{
    const char *s = p->match.target;
    size_t at = 0, begin, end;
    int i = p->first;

    while (next_matching_run(o, p, &i, &begin, &end)) {
        if (end == begin) continue;     /* only a space */
        put_visible(o->t, s + at, begin - at);
        textbuf_adds(o->t, o->color ? vote_style : "{");
        put_visible(o->t, s + begin, end - begin);
        textbuf_adds(o->t, o->color ? reset_style : "}");
        at = end;
    }
    put_visible(o->t, s + at, strlen(s) - at);
}

/* Append the words that come from a pair, with ".." for other words between
 * them. */
static void put_contribution(struct explain_output *o, int pair)
{
    const struct explain *x = o->x;
    int last = -1;

    for (int i = 0; i < x->n_words; i++) {
        const struct explain_word *w = &x->words[i];

        if (w->pair != pair || w->end == w->begin) continue;
        textbuf_adds(o->t, last < 0 ? "            contributed: "
                     : i == last + 1 ? " " : " .. ");
        put_visible(o->t, x->text + w->begin, w->end - w->begin);
        last = i;
    }
    if (last >= 0) textbuf_adds(o->t, "\n");
}

static void explain_text_put_pair(struct explain_output *o, int i)
{
    const struct explain_pair *p = &o->x->pairs[i];
    struct textbuf *t = o->t;

    textbuf_addf(t, "  #%-3d", i + 1);
    explain_text_put_style(o, bold);
    if (explain_has_similarity(&p->match))
        textbuf_addf(t, "%3d%%", similarity_percent(p->match.similarity));
    else textbuf_adds(t, "    ");
    explain_text_put_style(o, reset_style);
    textbuf_adds(t, "  ");
    put_visible(t, p->match.source, strlen(p->match.source));
    textbuf_adds(t, "\n            ");
    if (o->x->exact) put_visible(t, p->match.target, strlen(p->match.target));
    else put_marked(o, p);
    textbuf_adds(t, "\n");
    if (p->match.id) {
        explain_text_put_style(o, dim);
        textbuf_addf(t, "            id %lld%s", (long long)p->match.id,
                     p->match.memory[0] ? ", " : "");
        put_visible(t, p->match.memory, strlen(p->match.memory));
        explain_text_put_style(o, reset_style);
        textbuf_adds(t, "\n");
    }
    put_contribution(o, i);
}

/* ---- a sentence, and all of them -------------------------------------- */

static void put_nonvoting_count(struct explain_output *o, int n)
{
    textbuf_adds(o->t, "  ");
    put_noun(o->t, n, "more pair", "more pairs");
    textbuf_adds(o->t, " did not vote\n");
}

/* Append the explanation of a sentence whose stored translation was reused. */
static void put_reused(struct explain_output *o)
{
    int others = o->x->n_pairs - 1;

    textbuf_adds(o->t, "  this sentence is stored; its translation was "
                 "reused\n");
    explain_text_put_pair(o, 0);
    if (!others) return;
    textbuf_adds(o->t, "  ");
    put_noun(o->t, others, "other translation of it is stored",
             "other translations of it are stored");
    textbuf_adds(o->t, ":\n");
    for (int i = 1; i <= others; i++) explain_text_put_pair(o, i);
}

static void explain_text_put_sentence(struct explain_output *o)
{
    const struct explain *x = o->x;
    int n_voting = explain_n_voting(x);

    if (x->exact) {
        put_reused(o);
        return;
    }
    if (!n_voting) {
        textbuf_adds(o->t, x->n_pairs ? "  similar pairs were found, but none "
                     "of them voted; translated by the model alone\n"
                     : "  no similar pair is stored; translated by the model "
                     "alone\n");
        return;
    }
    explain_text_put_words(o);
    for (int i = 0; i < x->n_pairs; i++)
        if (x->pairs[i].n) explain_text_put_pair(o, i);
    if (x->n_pairs > n_voting)
        put_nonvoting_count(o, x->n_pairs - n_voting);
}

bool explain_put(struct explain *x, struct textbuf *t, const skmt_result *r,
                 int hyp, bool color, skmt_error *err)
{
    struct explain_output o = { x, t, color };
    int n = skmt_result_sentences(r);

    explain_text_put_translation(&o, r, hyp);
    for (int sentence = 0; sentence < n; sentence++) {
        if (!explain_load(x, r, hyp, sentence, err)) return false;
        if (n > 1) {
            textbuf_addf(t, "  sentence %d of %d: ", sentence + 1, n);
            put_visible(t, x->text + x->begin, x->end - x->begin);
            textbuf_adds(t, "\n");
        }
        explain_text_put_sentence(&o);
    }
    if (n) textbuf_adds(t, "\n");
    return true;
}
