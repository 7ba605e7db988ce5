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
 * On a terminal, the weight is also shown by color and underlining, and the
 * text between braces is underlined instead. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "explain.h"
#include "tm_print.h"

enum { WORD_COLUMNS = 16, MAX_VOTE_RUNS = 24 };

static const char reset_style[] = "\033[0m", dim[] = "\033[2m",
    bold[] = "\033[1m", vote_style[] = "\033[32;4m";

/* From one half on, text is also underlined, for the color blind. */
static const char *weight_style(double weight)
{
    if (weight >= 0.8) return "\033[1;32;4m";
    if (weight >= 0.5) return "\033[32;4m";
    if (weight >= 0.2) return "\033[33m";
    return "";
}

struct explain_layout {         /* one call of explain_put */
    struct explain *x;
    struct textbuf *t;
    bool color;
};

static void explain_text_paint(struct explain_layout *y, const char *code)
{
    if (y->color) textbuf_adds(y->t, code);
}

/* ---- the translation -------------------------------------------------- */

/* A text in the style of a weight. Spaces around it are not underlined. */
static void put_weighted(struct explain_layout *y, const char *s, size_t n,
                         double weight)
{
    size_t skip = strspn(s, " "), back = n;
    const char *code = y->color ? weight_style(weight) : "";

    if (skip > n) skip = n;
    while (back > skip && s[back - 1] == ' ') back--;
    if (back == skip) code = "";
    textbuf_add(y->t, s, skip);
    textbuf_adds(y->t, code);
    put_visible(y->t, s + skip, back - skip);
    if (code[0]) textbuf_adds(y->t, reset_style);
    textbuf_add(y->t, s + back, n - back);
}

/* The text between tokens is space, or a sentence whose stored translation was
 * reused. */
static void explain_text_put_translation(struct explain_layout *y,
                                         const skmt_result *r, int hyp)
{
    size_t len = 0, at = 0;
    const char *text = skmt_result_text(r, hyp, &len);
    double weight = 0;          /* of the text from `at` to the next token */

    for (int seg = 0; seg < skmt_result_segs(r); seg++) {
        int n = skmt_result_target_pieces(r, hyp, seg);
        skmt_steering s;

        skmt_result_pair(r, seg, 0, &s);
        if (s.exact) weight = 1;
        for (int i = 0; i < n; i++) {
            skmt_piece p;

            skmt_result_target_piece(r, hyp, seg, i, &p);
            if (p.begin > at)
                put_weighted(y, text + at, p.begin - at, weight);
            put_weighted(y, text + p.begin, p.end - p.begin,
                         skmt_result_trust(r, hyp, seg, i, NULL));
            at = p.end;
            weight = 0;
        }
    }
    assert(at <= len);
    put_weighted(y, text + at, len - at, weight);
    textbuf_adds(y->t, "\n");
}

/* ---- words and their votes -------------------------------------------- */

struct vote_run {               /* votes of one pair at consecutive positions */
    int pair, from, to;
    bool followed;              /* the votes are for the written tokens */
    const char *text;           /* the token voted for, if not followed */
};

/* Add a vote to one of the n runs, or as a new run. Votes that do not fit are
 * left out. Returns the new n. */
static int add_to_runs(struct vote_run *list, int n, const skmt_vote *v,
                       bool followed)
{
    for (int i = 0; i < n; i++) {
        if (list[i].pair != v->pair || list[i].followed != followed) continue;
        if (v->position >= list[i].from && v->position <= list[i].to
            && (followed || !strcmp(list[i].text, v->text))) return n;
        if (followed && v->position == list[i].to + 1) {
            list[i].to++;
            return n;
        }
    }
    if (n == MAX_VOTE_RUNS) return n;
    list[n] = (struct vote_run){ v->pair, v->position, v->position, followed,
                                 v->text };
    return n + 1;
}

static int find_vote_runs(const struct explain *x,
                          const struct explain_word *w, struct vote_run *list)
{
    int n = 0;

    for (int i = w->first; i < w->first + w->n; i++) {
        skmt_piece p;
        int votes;

        skmt_result_target_piece(x->r, x->hyp, x->seg, i, &p);
        if (!explain_counts(x, w, &p)) continue;
        skmt_result_trust(x->r, x->hyp, x->seg, i, &votes);
        for (int k = 0; k < votes; k++) {
            skmt_vote v;

            skmt_result_vote(x->r, x->hyp, x->seg, i, k, &v);
            if (v.pair >= 0 && v.pair < x->n_pairs)
                n = add_to_runs(list, n, &v, v.id == p.id);
        }
    }
    return n;
}

static void put_vote_run(struct explain_layout *y, const struct vote_run *v)
{
    textbuf_addf(y->t, "#%d %d%% at %d", v->pair + 1,
                 similarity_percent(y->x->pairs[v->pair].match.similarity),
                 v->from);
    if (v->to > v->from) textbuf_addf(y->t, "-%d", v->to);
    if (v->followed) return;
    textbuf_adds(y->t, " for \"");
    put_visible(y->t, explain_piece(v->text), strlen(explain_piece(v->text)));
    textbuf_adds(y->t, "\"");
}

static void put_padding(struct textbuf *t, size_t from, int width)
{
    int columns = 0;

    for (size_t i = from; i < t->len; i++)
        columns += (t->data[i] & 0xC0) != 0x80;
    for (; columns < width; columns++) textbuf_adds(t, " ");
}

static int rounded_percent(double weight) { return (int)(weight * 100 + 0.5); }

/* "0-41%" or "98%"; "-" if the memory had no weight. */
static void put_weight(struct explain_layout *y, const struct explain_word *w)
{
    int low = rounded_percent(w->low), high = rounded_percent(w->high);
    char range[32] = "-";

    if (w->high > 0 && low == high)
        snprintf(range, sizeof range, "%d%%", high);
    else if (w->high > 0)
        snprintf(range, sizeof range, "%d-%d%%", low, high);
    textbuf_addf(y->t, "%*s", 8 - (int)strlen(range), "");
    explain_text_paint(y, weight_style(w->high));
    textbuf_adds(y->t, range);
    if (weight_style(w->high)[0]) explain_text_paint(y, reset_style);
    textbuf_adds(y->t, "  ");
}

static void explain_text_put_word(struct explain_layout *y,
                                  const struct explain_word *w)
{
    struct explain *x = y->x;
    struct vote_run list[MAX_VOTE_RUNS];
    int n = find_vote_runs(x, w, list);
    size_t from;

    put_weight(y, w);
    from = y->t->len;
    if (w->end > w->begin)
        put_visible(y->t, x->text + w->begin, w->end - w->begin);
    else
        textbuf_adds(y->t, "(end)");
    put_padding(y->t, from, n ? WORD_COLUMNS : 0);
    for (int i = 0; i < n; i++) {
        textbuf_adds(y->t, i ? ", " : "  ");
        put_vote_run(y, &list[i]);
    }
    textbuf_adds(y->t, "\n");
}

static void explain_text_put_words(struct explain_layout *y)
{
    explain_text_paint(y, dim);
    textbuf_adds(y->t, "  weight  word              votes: pair, its "
                 "similarity, position in its target");
    explain_text_paint(y, reset_style);
    textbuf_adds(y->t, "\n");
    for (int i = 0; i < y->x->n_words; i++)
        explain_text_put_word(y, &y->x->words[i]);
}

/* ---- pairs that voted ------------------------------------------------- */

/* Find the next run of consecutive places whose votes were followed, from place
 * *i on. *i moves past it. Returns false if there is none. */
static bool next_followed_run(const struct explain_layout *y,
                              const struct explain_pair *p, int *i,
                              size_t *begin, size_t *end)
{
    const struct explain_place *at = y->x->places;
    int last = p->first + p->n;

    while (*i < last && !(at[*i].followed && at[*i].end > at[*i].begin)) ++*i;
    if (*i == last) return false;
    *begin = at[*i].begin;
    do {
        *end = at[*i].end;
        ++*i;
    } while (*i < last && at[*i].followed && at[*i].end > at[*i].begin
             && at[*i].position == at[*i - 1].position + 1);
    while (*end > *begin && p->match.target[*end - 1] == ' ') --*end;
    return true;
}

/* The target, with the tokens whose votes were followed between braces. */
static void put_marked(struct explain_layout *y, const struct explain_pair *p)
{
    const char *s = p->match.target;
    size_t at = 0, begin, end;
    int i = p->first;

    while (next_followed_run(y, p, &i, &begin, &end)) {
        if (end == begin) continue;     /* only a space */
        put_visible(y->t, s + at, begin - at);
        textbuf_adds(y->t, y->color ? vote_style : "{");
        put_visible(y->t, s + begin, end - begin);
        textbuf_adds(y->t, y->color ? reset_style : "}");
        at = end;
    }
    put_visible(y->t, s + at, strlen(s) - at);
}

/* The words that come from a pair, with ".." for other words between them. */
static void put_contribution(struct explain_layout *y, int pair)
{
    const struct explain *x = y->x;
    int last = -1;

    for (int i = 0; i < x->n_words; i++) {
        const struct explain_word *w = &x->words[i];

        if (w->pair != pair || w->end == w->begin) continue;
        textbuf_adds(y->t, last < 0 ? "            contributed: "
                     : i == last + 1 ? " " : " .. ");
        put_visible(y->t, x->text + w->begin, w->end - w->begin);
        last = i;
    }
    if (last >= 0) textbuf_adds(y->t, "\n");
}

static void explain_text_put_pair(struct explain_layout *y, int i)
{
    const struct explain_pair *p = &y->x->pairs[i];
    struct textbuf *t = y->t;

    textbuf_addf(t, "  #%-3d", i + 1);
    explain_text_paint(y, bold);
    textbuf_addf(t, "%3d%%", similarity_percent(p->match.similarity));
    explain_text_paint(y, reset_style);
    textbuf_adds(t, "  ");
    put_visible(t, p->match.source, strlen(p->match.source));
    textbuf_adds(t, "\n            ");
    if (y->x->exact) put_visible(t, p->match.target, strlen(p->match.target));
    else put_marked(y, p);
    textbuf_adds(t, "\n");
    if (p->match.id) {
        explain_text_paint(y, dim);
        textbuf_addf(t, "            id %lld, ", (long long)p->match.id);
        put_visible(t, p->match.memory, strlen(p->match.memory));
        explain_text_paint(y, reset_style);
        textbuf_adds(t, "\n");
    }
    put_contribution(y, i);
}

/* ---- a sentence, and all of them -------------------------------------- */

static void put_n_silent(struct explain_layout *y, int n)
{
    textbuf_adds(y->t, "  ");
    put_noun(y->t, n, "more pair", "more pairs");
    textbuf_adds(y->t, " did not vote\n");
}

/* A sentence whose stored translation was reused. */
static void put_reused(struct explain_layout *y)
{
    int others = y->x->n_pairs - 1;

    textbuf_adds(y->t, "  this sentence is stored; its translation was "
                 "reused\n");
    explain_text_put_pair(y, 0);
    if (!others) return;
    textbuf_adds(y->t, "  ");
    put_noun(y->t, others, "other translation of it is stored",
             "other translations of it are stored");
    textbuf_adds(y->t, ":\n");
    for (int i = 1; i <= others; i++) explain_text_put_pair(y, i);
}

static void explain_text_put_sentence(struct explain_layout *y)
{
    const struct explain *x = y->x;
    int n_voting = explain_n_voting(x);

    if (x->exact) {
        put_reused(y);
        return;
    }
    if (!n_voting) {
        textbuf_adds(y->t, x->n_pairs ? "  no stored pair is near enough to "
                     "vote; translated by the model alone\n"
                     : "  no similar pair is stored; translated by the model "
                     "alone\n");
        return;
    }
    explain_text_put_words(y);
    for (int i = 0; i < x->n_pairs; i++)
        if (x->pairs[i].n) explain_text_put_pair(y, i);
    if (x->n_pairs > n_voting) put_n_silent(y, x->n_pairs - n_voting);
}

bool explain_put(struct explain *x, struct textbuf *t, const skmt_result *r,
                 int hyp, bool color, skmt_error *err)
{
    struct explain_layout y = { x, t, color };
    int n = skmt_result_segs(r);

    explain_text_put_translation(&y, r, hyp);
    for (int seg = 0; seg < n; seg++) {
        if (!explain_load(x, r, hyp, seg, err)) return false;
        if (n > 1) {
            textbuf_addf(t, "  sentence %d of %d: ", seg + 1, n);
            put_visible(t, x->text + x->begin, x->end - x->begin);
            textbuf_adds(t, "\n");
        }
        explain_text_put_sentence(&y);
    }
    if (n) textbuf_adds(t, "\n");
    return true;
}
