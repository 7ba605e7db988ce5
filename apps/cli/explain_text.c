/* explain_text.c - explanations as text; see explain.h.
 *
 *     Having regard to Article 81 (1)
 *       trust  word       who voted: pair, its similarity, place in its target
 *         98%  Having     #1 85% at 0, #2 71% at 0
 *       0-41%  81         #1 85% at 15 for "75"
 *       #1   85%  gestützt auf Artikel 75 Absatz 1
 *                 {Having regard to Article} 75 {(1)}
 *                 id 17, main
 *                 gave: Having regard to Article .. (1)
 *
 * On a terminal trust is color and underline instead of nothing, and braces
 * are an underline. */
#include <stdio.h>
#include <string.h>

#include "explain.h"
#include "tm_print.h"

enum { WORD_COLUMNS = 16, MOST_VOICES = 24 };

static const char usual[] = "\033[0m", dim[] = "\033[2m", bold[] = "\033[1m",
    voted[] = "\033[32;4m";

/* Underlined as well from the half on: not all see green and yellow. */
static const char *style(double trust)
{
    if (trust >= 0.8) return "\033[1;32;4m";
    if (trust >= 0.5) return "\033[32;4m";
    if (trust >= 0.2) return "\033[33m";
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

/* Spaces are not marked: a line under them says nothing. */
static void put_trusted(struct explain_layout *y, const char *s, size_t n,
                        double trust)
{
    size_t skip = strspn(s, " "), back = n;
    const char *code = y->color ? style(trust) : "";

    if (skip > n) skip = n;
    while (back > skip && s[back - 1] == ' ') back--;
    if (back == skip) code = "";
    textbuf_add(y->t, s, skip);
    textbuf_adds(y->t, code);
    put_visible(y->t, s + skip, back - skip);
    if (code[0]) textbuf_adds(y->t, usual);
    textbuf_add(y->t, s + back, n - back);
}

/* What lies between the pieces that are known is space, or a sentence that was
 * taken from the memory. */
static void explain_text_put_translation(struct explain_layout *y,
                                         const skmt_result *r, int hyp)
{
    size_t len = 0, at = 0;
    const char *text = skmt_result_text(r, hyp, &len);
    double trust = 0;

    for (int seg = 0; seg < skmt_result_segs(r); seg++) {
        int n = skmt_result_target_pieces(r, hyp, seg);
        skmt_steering s;

        skmt_result_pair(r, seg, 0, &s);
        if (s.exact) trust = 1;
        for (int i = 0; i < n; i++) {
            skmt_piece p;

            skmt_result_target_piece(r, hyp, seg, i, &p);
            if (p.begin > at)
                put_trusted(y, text + at, p.begin - at, trust);
            put_trusted(y, text + p.begin, p.end - p.begin,
                        skmt_result_trust(r, hyp, seg, i, NULL));
            at = p.end;
            trust = 0;
        }
    }
    put_trusted(y, text + at, len - at, trust);
    textbuf_adds(y->t, "\n");
}

/* ---- words and who voted ---------------------------------------------- */

struct voting_pair {            /* votes of one pair at places in a row */
    int pair, from, to;
    bool heard;
    const char *text;           /* what it was for */
};

/* Into the list, or to one there already; what is too much is left out. */
static int add_voice(struct voting_pair *list, int n, const skmt_vote *v,
                     bool heard)
{
    for (int i = 0; i < n; i++) {
        if (list[i].pair != v->pair || list[i].heard != heard) continue;
        if (v->position >= list[i].from && v->position <= list[i].to
            && (heard || !strcmp(list[i].text, v->text))) return n;
        if (heard && v->position == list[i].to + 1) {
            list[i].to++;
            return n;
        }
    }
    if (n == MOST_VOICES) return n;
    list[n] = (struct voting_pair){ v->pair, v->position, v->position, heard,
                              v->text };
    return n + 1;
}

static int find_voices(const struct explain *x, const struct explain_word *w,
                       struct voting_pair *list)
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
                n = add_voice(list, n, &v, v.id == p.id);
        }
    }
    return n;
}

static void put_voice(struct explain_layout *y, const struct voting_pair *v)
{
    textbuf_addf(y->t, "#%d %d%% at %d", v->pair + 1,
                 similarity_percent(y->x->pairs[v->pair].is.similarity),
                 v->from);
    if (v->to > v->from) textbuf_addf(y->t, "-%d", v->to);
    if (v->heard) return;
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

static int rounded(double trust) { return (int)(trust * 100 + 0.5); }

/* "0-41%" or "98%"; "-" where the memory had no say. */
static void put_trust(struct explain_layout *y, const struct explain_word *w)
{
    int low = rounded(w->low), high = rounded(w->high);
    char range[32] = "-";

    if (w->high > 0 && low == high)
        snprintf(range, sizeof range, "%d%%", high);
    else if (w->high > 0)
        snprintf(range, sizeof range, "%d-%d%%", low, high);
    textbuf_addf(y->t, "%*s", 8 - (int)strlen(range), "");
    explain_text_paint(y, style(w->high));
    textbuf_adds(y->t, range);
    if (style(w->high)[0]) explain_text_paint(y, usual);
    textbuf_adds(y->t, "  ");
}

static void explain_text_put_word(struct explain_layout *y,
                                  const struct explain_word *w)
{
    struct explain *x = y->x;
    struct voting_pair list[MOST_VOICES];
    int n = find_voices(x, w, list);
    size_t from;

    put_trust(y, w);
    from = y->t->len;
    if (w->end > w->begin)
        put_visible(y->t, x->text + w->begin, w->end - w->begin);
    else
        textbuf_adds(y->t, "(end)");
    put_padding(y->t, from, n ? WORD_COLUMNS : 0);
    for (int i = 0; i < n; i++) {
        textbuf_adds(y->t, i ? ", " : "  ");
        put_voice(y, &list[i]);
    }
    textbuf_adds(y->t, "\n");
}

static void explain_text_put_words(struct explain_layout *y)
{
    explain_text_paint(y, dim);
    textbuf_adds(y->t, "   trust  word              who voted: pair, its "
                 "similarity, place in its target");
    explain_text_paint(y, usual);
    textbuf_adds(y->t, "\n");
    for (int i = 0; i < y->x->n_words; i++)
        explain_text_put_word(y, &y->x->words[i]);
}

/* ---- pairs that spoke ------------------------------------------------- */

/* Bytes of places in a row that were heard, from place *i on, which moves past
 * them; false: none. */
static bool next_stretch(const struct explain_layout *y,
                         const struct explain_pair *p, int *i, size_t *begin,
                         size_t *end)
{
    const struct explain_place *at = y->x->places;
    int last = p->first + p->n;

    while (*i < last && !(at[*i].heard && at[*i].end > at[*i].begin)) ++*i;
    if (*i == last) return false;
    *begin = at[*i].begin;
    do {
        *end = at[*i].end;
        ++*i;
    } while (*i < last && at[*i].heard && at[*i].end > at[*i].begin
             && at[*i].position == at[*i - 1].position + 1);
    while (*end > *begin && p->is.target[*end - 1] == ' ') --*end;
    return true;
}

/* The target with the stretches that were heard between braces. */
static void put_marked(struct explain_layout *y, const struct explain_pair *p)
{
    const char *s = p->is.target;
    size_t at = 0, begin, end;
    int i = p->first;

    while (next_stretch(y, p, &i, &begin, &end)) {
        if (end == begin) continue;     /* a space: nothing to be seen */
        put_visible(y->t, s + at, begin - at);
        textbuf_adds(y->t, y->color ? voted : "{");
        put_visible(y->t, s + begin, end - begin);
        textbuf_adds(y->t, y->color ? usual : "}");
        at = end;
    }
    put_visible(y->t, s + at, strlen(s) - at);
}

/* The words it gave, ".." where others come between them. */
static void put_given(struct explain_layout *y, int pair)
{
    const struct explain *x = y->x;
    int last = -1;

    for (int i = 0; i < x->n_words; i++) {
        const struct explain_word *w = &x->words[i];

        if (w->pair != pair || w->end == w->begin) continue;
        textbuf_adds(y->t, last < 0 ? "            gave: "
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
    textbuf_addf(t, "%3d%%", similarity_percent(p->is.similarity));
    explain_text_paint(y, usual);
    textbuf_adds(t, "  ");
    put_visible(t, p->is.source, strlen(p->is.source));
    textbuf_adds(t, "\n            ");
    if (y->x->exact) put_visible(t, p->is.target, strlen(p->is.target));
    else put_marked(y, p);
    textbuf_adds(t, "\n");
    if (p->is.id) {
        explain_text_paint(y, dim);
        textbuf_addf(t, "            id %lld, ", (long long)p->is.id);
        put_visible(t, p->is.memory, strlen(p->is.memory));
        explain_text_paint(y, usual);
        textbuf_adds(t, "\n");
    }
    put_given(y, i);
}

/* ---- a sentence, and all of them -------------------------------------- */

static void put_silent(struct explain_layout *y, int n)
{
    textbuf_adds(y->t, "  ");
    put_noun(y->t, n, "pair", "pairs");
    textbuf_adds(y->t, " more had no say\n");
}

static void put_taken(struct explain_layout *y)
{
    int others = y->x->n_pairs - 1;

    textbuf_adds(y->t, "  this very sentence is stored, and its "
                 "translation was taken\n");
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
    int spoke = explain_spoke(x);

    if (x->exact) {
        put_taken(y);
        return;
    }
    if (!spoke) {
        textbuf_adds(y->t, x->n_pairs ? "  no stored pair is near enough: the "
                     "model alone\n" : "  no stored pair is like it: the "
                     "model alone\n");
        return;
    }
    explain_text_put_words(y);
    for (int i = 0; i < x->n_pairs; i++)
        if (x->pairs[i].n) explain_text_put_pair(y, i);
    if (x->n_pairs > spoke) put_silent(y, x->n_pairs - spoke);
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
