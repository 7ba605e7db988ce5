/* marks.c - finds placeholders, and puts them back into a translation.
 *
 * Where a mark goes. Let L(t) be the share of the attention of target piece t
 * that goes to source pieces before the mark. A place in the translation costs
 * 1 - L(t) for each piece before it and L(t) for each piece after it: this is
 * how many pieces would be on the wrong side of the mark. The cheapest place
 * wins; a place beside the same character as in the source is cheaper. L grows
 * from mark to mark, so the places of the marks ascend almost always, and the
 * search for each begins at the place of the one before. */
#include "marks.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/textbuf.h"

/* ---- finding ----------------------------------------------------------- */

enum { LONGEST_NAME = 64 };     /* of a placeholder */

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_.:-", c));
}

/* The length of a name at s with `closing` after it; 0 if there is none. */
static size_t enclosed(const char *s, const char *end, const char *closing)
{
    size_t n = 0, k = strlen(closing);

    while (s + n < end && n < LONGEST_NAME && is_name_char(s[n])) n++;
    return (size_t)(end - s) >= n + k && !memcmp(s + n, closing, k) ? n + k
                                                                    : 0;
}

/* [X12X] */
static size_t bracket_mark(const char *s, const char *end)
{
    size_t n = 2;

    if (end - s < 5 || s[1] != 'X') return 0;
    while (s + n < end && n < 12 && isdigit((unsigned char)s[n])) n++;
    return n > 2 && end - s >= (ptrdiff_t)n + 2 && s[n] == 'X'
           && s[n + 1] == ']' ? n + 2 : 0;
}

/* {}, {0}, {name}, {{name}} */
static size_t brace_mark(const char *s, const char *end)
{
    size_t n;

    if (end - s > 1 && s[1] == '{' && (n = enclosed(s + 2, end, "}}")) > 2)
        return n + 2;
    n = enclosed(s + 1, end, "}");
    return n ? n + 1 : 0;
}

static size_t count_digits(const char *s, const char *end, size_t most)
{
    size_t n = 0;

    while (n < most && s + n < end && isdigit((unsigned char)s[n])) n++;
    return n;
}

/* The length of what may stand between % and the letter: "1$", ".2", "(name)",
 * "l". */
static size_t percent_details(const char *s, const char *end)
{
    size_t n = 0, k;

    if (s < end && *s == '(') {
        n = enclosed(s + 1, end, ")");
        n = n > 1 ? n + 1 : 0;
    } else {
        k = count_digits(s, end, 3);
        if (k && s + k < end && s[k] == '$') n = k + 1;
        k = count_digits(s + n, end, 3);
        n += k;
        if (s + n < end && s[n] == '.')
            n += 1 + count_digits(s + n + 1, end, 3);
    }
    for (k = 0; k < 2 && s + n < end && s[n] && strchr("lzh", s[n]); k++) n++;
    return n;
}

/* %s, %d, %.2f, %1$s, %lu, %(name)s, %1. A letter or digit before or after it
 * means that it is something else: "100%", "%sum". */
static size_t percent_mark(const char *begin, const char *s, const char *end)
{
    size_t n = 1 + percent_details(s + 1, end);

    if (s > begin && isalnum((unsigned char)s[-1])) return 0;
    if (s + n < end && s[n] && strchr("sdiufxcg@", s[n])) {
        n++;
    } else {
        n = 1 + count_digits(s + 1, end, 2);
        if (n == 1 || s[1] == '0') return 0;
    }
    return s + n < end && isalnum((unsigned char)s[n]) ? 0 : n;
}

size_t mark_length(const char *begin, const char *s, const char *end)
{
    size_t n;

    switch (*s) {
    case '[': return bracket_mark(s, end);
    case '{': return brace_mark(s, end);
    case '%': return percent_mark(begin, s, end);
    case '$':
        if (end - s < 4 || s[1] != '{') return 0;
        n = enclosed(s + 2, end, "}");
        return n > 1 ? n + 2 : 0;
    default: return 0;
    }
}

static bool is_blank_char(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool marks_add(struct marks *m, size_t begin, size_t end)
{
    struct mark *list;

    if (m->n % 16 == 0) {
        list = realloc(m->list, ((size_t)m->n + 16) * sizeof *list);
        if (!list) return false;
        m->list = list;
    }
    m->list[m->n++] = (struct mark){
        .begin = begin, .end = end,
        .blank_before = begin && is_blank_char(m->text[begin - 1]),
        .blank_after = end < m->len && is_blank_char(m->text[end]) };
    return true;
}

/* Writes the text without its marks. Of white space on both sides of a mark,
 * one blank stays, and none before punctuation. */
static void marks_make_bare(struct marks *m)
{
    size_t out = 0, at = 0;

    for (int i = 0; i < m->n; i++) {
        struct mark *k = &m->list[i];
        char next = m->text[k->end];

        memcpy(m->bare + out, m->text + at, k->begin - at);
        out += k->begin - at;
        at = k->end;
        if ((!out || is_blank_char(m->bare[out - 1])) && k->blank_after)
            at++;
        else if (out && is_blank_char(m->bare[out - 1])
                 && (!next || ispunct((unsigned char)next))
                 && !(i + 1 < m->n && m->list[i + 1].begin == k->end))
            out--;
        k->at = out;
    }
    memcpy(m->bare + out, m->text + at, m->len - at);
    m->bare[out + m->len - at] = 0;
    for (int i = m->n - 1; i > 0; i--)
        if (m->list[i - 1].at > m->list[i].at)
            m->list[i - 1].at = m->list[i].at;
}

static bool marks_make_masked(struct marks *m)
{
    struct textbuf t = { 0 };
    bool needed = false;
    size_t at = 0;

    for (int i = 0; i < m->n; i++) {
        needed |= m->text[m->list[i].begin] != '[';
        textbuf_add(&t, m->text + at, m->list[i].begin - at);
        textbuf_addf(&t, "[X%dX]", i + 1);
        at = m->list[i].end;
    }
    textbuf_add(&t, m->text + at, m->len - at);
    textbuf_add(&t, "", 1);
    if (needed && !t.failed) m->masked = t.data;
    else textbuf_release(&t);
    return m->masked || !needed;
}

bool marks_find(struct marks *m, const char *text, size_t n)
{
    const char *end = text + n;
    size_t k;

    *m = (struct marks){ .text = text, .len = n };
    for (const char *s = text; s < end; s += k ? k : 1) {
        k = mark_length(text, s, end);
        if (k && !marks_add(m, (size_t)(s - text), (size_t)(s - text) + k))
            goto failed;
    }
    if (!m->n) return true;
    m->bare = malloc(n + 1);
    if (!m->bare || !marks_make_masked(m)) goto failed;
    marks_make_bare(m);
    return true;
failed:
    marks_release(m);
    return false;
}

void marks_release(struct marks *m)
{
    free(m->list);
    free(m->masked);
    free(m->bare);
    *m = (struct marks){ 0 };
}

/* ---- checking ---------------------------------------------------------- */

/* A list of marks by their text, sorted. */
struct mark_text { const char *s; size_t n; };

static int compare_mark_texts(const void *a, const void *b)
{
    const struct mark_text *x = a, *y = b;

    if (x->n != y->n) return x->n < y->n ? -1 : 1;
    return memcmp(x->s, y->s, x->n);
}

static bool same_mark_texts(struct mark_text *a, struct mark_text *b, int n)
{
    qsort(a, (size_t)n, sizeof *a, compare_mark_texts);
    qsort(b, (size_t)n, sizeof *b, compare_mark_texts);
    for (int i = 0; i < n; i++)
        if (compare_mark_texts(&a[i], &b[i])) return false;
    return true;
}

/* Lists the marks of a text, at most `most` of them. Returns their number, also
 * if it is larger. */
static int list_marks(const char *text, struct mark_text *list, int most)
{
    const char *end = text + strlen(text);
    int n = 0;
    size_t k;

    for (const char *s = text; s < end; s += k ? k : 1) {
        k = mark_length(text, s, end);
        if (k && n < most) list[n] = (struct mark_text){ s, k };
        n += k > 0;
    }
    return n;
}

bool marks_are_kept(const struct marks *m, const char *translation)
{
    struct mark_text *list = malloc((2 * (size_t)m->n + 1) * sizeof *list);
    bool kept;

    if (!list) return false;
    for (int i = 0; i < m->n; i++)
        list[i] = (struct mark_text){
            m->text + m->list[i].begin, m->list[i].end - m->list[i].begin };
    kept = list_marks(translation, list + m->n, m->n) == m->n
           && same_mark_texts(list, list + m->n, m->n);
    free(list);
    return kept;
}

bool marks_unmask(const struct marks *m, const char *translation, char **out)
{
    const char *end = translation + strlen(translation);
    struct textbuf t = { 0 };
    int seen = 0;
    size_t k;

    *out = NULL;
    for (const char *s = translation; s < end; s += k ? k : 1) {
        int number;

        k = mark_length(translation, s, end);
        if (!k) {
            textbuf_add(&t, s, 1);
            continue;
        }
        number = *s == '[' ? atoi(s + 2) : 0;
        seen++;
        if (number < 1 || number > m->n) {
            seen = m->n + 1;    /* it is none of ours */
            break;
        }
        textbuf_add(&t, m->text + m->list[number - 1].begin,
                    m->list[number - 1].end - m->list[number - 1].begin);
    }
    textbuf_add(&t, "", 1);
    if (t.failed) {
        textbuf_release(&t);
        return false;
    }
    /* Also finds a number that occurs twice instead of another one, and a mark
     * that grew together with what is beside it. */
    if (seen == m->n && marks_are_kept(m, t.data)) *out = t.data;
    else textbuf_release(&t);
    return true;
}

/* ---- attention --------------------------------------------------------- */

void mark_pieces_release(struct mark_pieces *p)
{
    for (int i = 0; i < p->n; i++) {
        free(p->list[i].source_end);
        free(p->list[i].target_end);
        free(p->list[i].weight);
    }
    free(p->list);
    *p = (struct mark_pieces){ 0 };
}

static bool mark_sentence_read(struct mark_sentence *s, const skmt_result *r,
                               int hyp, int sentence)
{
    skmt_piece piece = SKMT_INIT(skmt_piece);
    int n = s->n_source, columns;

    skmt_result_sentence_span(r, sentence, &s->begin, &s->end);
    s->source_end = calloc((size_t)n + 1, sizeof *s->source_end);
    s->target_end = calloc((size_t)s->n_target + 1, sizeof *s->target_end);
    s->weight = calloc((size_t)n * (size_t)s->n_target + 1,
                       sizeof *s->weight);
    if (!s->source_end || !s->target_end || !s->weight) return false;
    for (int i = 0; i < n; i++) {
        skmt_result_source_piece(r, sentence, i, &piece);
        s->source_end[i] = piece.end;
    }
    for (int t = 0; t < s->n_target; t++) {
        const float *w = skmt_result_attention(r, hyp, sentence, t, &columns);

        skmt_result_target_piece(r, hyp, sentence, t, &piece);
        s->target_end[t] = piece.end;
        /* EOS has no text, and says nothing about places. */
        if (piece.begin == piece.end || !w) continue;
        for (int c = 0; c < n && c < columns; c++)
            s->weight[(size_t)t * (size_t)n + (size_t)c] = w[c];
    }
    return true;
}

bool mark_pieces_read(struct mark_pieces *p, const skmt_result *r, int hyp)
{
    bool done = true;

    *p = (struct mark_pieces){ .n = skmt_result_sentences(r) };
    p->list = calloc((size_t)p->n + 1, sizeof *p->list);
    if (!p->list) p->n = 0;
    done = p->list != NULL;
    for (int i = 0; done && i < p->n; i++) {
        p->list[i].n_source = skmt_result_source_pieces(r, i);
        p->list[i].n_target = skmt_result_target_pieces(r, hyp, i);
        done = mark_sentence_read(&p->list[i], r, hyp, i);
    }
    if (!done) mark_pieces_release(p);
    return done;
}

/* ---- inserting --------------------------------------------------------- */

enum char_kind { KIND_BLANK, KIND_WORD, KIND_PUNCT };

static enum char_kind char_kind(char c)
{
    if (is_blank_char(c)) return KIND_BLANK;
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 ? KIND_WORD
                                                                 : KIND_PUNCT;
}

/* A translation with the places where a mark may go. */
struct places {
    const char *text;
    size_t len;
    size_t *list;               /* [n] offsets, ascending */
    double *cost;               /* [n] */
    int n;
};

/* Whether s is inside a number such as 12.5%, which does not begin at s. */
static bool inside_number(const char *begin, const char *s)
{
    bool after_digit = s > begin && isdigit((unsigned char)s[-1]);

    if (*s == '%') return after_digit;
    if (*s && strchr(".,:", *s))
        return after_digit && isdigit((unsigned char)s[1]);
    return isdigit((unsigned char)*s)
           && (after_digit || (s - begin > 1 && strchr(".,:", s[-1])
                               && isdigit((unsigned char)s[-2])));
}

/* Whether a mark may go before s, which is not the end. */
static bool is_place(const char *begin, const char *s)
{
    enum char_kind left, right = char_kind(*s);

    if (s == begin) return true;
    if (inside_number(begin, s)) return false;
    left = char_kind(s[-1]);
    return left != right || right == KIND_PUNCT;
}

/* Marks of the translation are not divided: they will be removed. */
static bool places_find(struct places *p, const char *text)
{
    const char *end = text + strlen(text);
    size_t k;

    *p = (struct places){ .text = text, .len = (size_t)(end - text) };
    p->list = calloc(p->len + 2, sizeof *p->list);
    p->cost = calloc(p->len + 2, sizeof *p->cost);
    if (!p->list || !p->cost) return false;
    for (const char *s = text; s <= end; s += k ? k : 1) {
        k = s < end ? mark_length(text, s, end) : 0;
        if (s == end || k || is_place(text, s))
            p->list[p->n++] = (size_t)(s - text);
    }
    return true;
}

static void places_release(struct places *p)
{
    free(p->list);
    free(p->cost);
}

/* The share of the attention of target piece t to what is before offset `at` of
 * the source; one half, which says nothing, if it has none. */
static double share_before(const struct mark_sentence *s, int t, size_t at)
{
    const float *w = s->weight + (size_t)t * (size_t)s->n_source;
    double before = 0, all = 0;

    if (at <= s->begin) return 0;
    if (at >= s->end) return 1;
    for (int i = 0; i < s->n_source; i++) {
        all += w[i];
        if (s->source_end[i] <= at) before += w[i];
    }
    return all > 0 ? before / all : 0.5;
}

/* Counts the pieces on the wrong side of a mark at each place, less the number
 * at the first place. */
static void places_count(struct places *p, const struct mark_pieces *from,
                         size_t at)
{
    double cost = 0;
    int i = 0;

    for (int s = 0; s < from->n; s++) {
        const struct mark_sentence *x = &from->list[s];

        for (int t = 0; t < x->n_target; t++) {
            while (i < p->n && p->list[i] < x->target_end[t])
                p->cost[i++] = cost;
            cost += 1 - 2 * share_before(x, t, at);
        }
    }
    while (i < p->n) p->cost[i++] = cost;
}

/* The character of the text before or after a mark; NUL at the ends. */
static char mark_left(const struct marks *m, const struct mark *k)
{
    return k->begin ? m->text[k->begin - 1] : 0;
}

static char mark_right(const struct marks *m, const struct mark *k)
{
    return k->end < m->len ? m->text[k->end] : 0;
}

/* Makes places cheaper that have the neighbors of the source, and those at
 * about the same distance from the ends, which decides if nothing else does. */
static void places_compare(struct places *p, const struct marks *m,
                           const struct mark *k)
{
    double bare = (double)strlen(m->bare), len = (double)p->len;
    double want = bare > 0 ? (double)k->at / bare : 1;

    for (int i = 0; i < p->n; i++) {
        size_t at = p->list[i];
        char left = at ? p->text[at - 1] : 0, right = p->text[at];
        double have = len > 0 ? (double)at / len : 1;

        p->cost[i] += 0.02 * (have > want ? have - want : want - have);
        if (left == mark_left(m, k)) p->cost[i] -= is_blank_char(left) ? 0.1
                                                                       : 0.6;
        if (right == mark_right(m, k))
            p->cost[i] -= is_blank_char(right) ? 0.1 : 0.6;
    }
}

/* The place for mark k, at or after place `from`. */
static int places_choose(struct places *p, const struct marks *m, int k,
                         const struct mark_pieces *pieces, int from)
{
    const struct mark *mark = &m->list[k];
    int best = from;

    places_count(p, pieces, mark->at);
    places_compare(p, m, mark);
    for (int i = from + 1; i < p->n; i++)
        if (p->cost[i] < p->cost[best]) best = i;
    return best;
}

/* Appends a part of the translation without marks that it has by itself. */
static void add_without_marks(struct textbuf *t, const char *text,
                              size_t begin, size_t end)
{
    size_t k;

    for (size_t i = begin; i < end; i += k ? k : 1) {
        k = mark_length(text, text + i, text + strlen(text));
        if (!k) textbuf_add(t, text + i, 1);
        else if (t->len && is_blank_char(t->data[t->len - 1])
                 && is_blank_char(text[i + k]))
            k++;
    }
}

/* Whether mark k stands directly behind the one before it. They stay
 * together. */
static bool mark_is_glued(const struct marks *m, int k)
{
    return k && k < m->n && m->list[k - 1].end == m->list[k].begin;
}

/* Whether a blank belongs between the output and mark k. */
static bool blank_before_mark(const struct marks *m, int k,
                              const struct textbuf *out)
{
    const struct mark *mark = &m->list[k];
    char left = mark_left(m, mark), have;

    if (!out->len) return false;
    have = out->data[out->len - 1];
    if (is_blank_char(have)) return false;
    if (!left || mark->blank_before) return !strchr("([{\"'", have);
    if (mark_is_glued(m, k)) return false;
    return left != have && (char_kind(have) == KIND_WORD
                            || strchr("[{%$", have));
}

/* The same between mark k and the next character. */
static bool blank_after_mark(const struct marks *m, int k, char next)
{
    const struct mark *mark = &m->list[k];
    char right = mark_right(m, mark);

    if (!next || is_blank_char(next)) return false;
    if (char_kind(next) == KIND_WORD) return right != next;
    if (right == next || strchr(".,;:!?)]}'\"%", next)) return false;
    return !right || mark->blank_after;
}

static void add_mark(struct textbuf *t, const struct marks *m, int k,
                     char next)
{
    const struct mark *mark = &m->list[k];

    if (blank_before_mark(m, k, t)) textbuf_add(t, " ", 1);
    textbuf_add(t, m->text + mark->begin, mark->end - mark->begin);
    if (blank_after_mark(m, k, next)) textbuf_add(t, " ", 1);
}

/* All marks behind the translation. This is for translations with pieces of
 * marks in them, which would grow together with the marks. */
static void add_behind(struct textbuf *t, const struct marks *m,
                       const char *translation)
{
    textbuf_reset(t);
    for (const char *s = translation; *s; s++)
        if (!strchr("[]{}%$", *s)) textbuf_add(t, s, 1);
    for (int k = 0; k < m->n; k++) {
        if (t->len) textbuf_add(t, " ", 1);
        textbuf_add(t, m->text + m->list[k].begin,
                    m->list[k].end - m->list[k].begin);
    }
    textbuf_add(t, "", 1);
}

char *marks_insert(const struct marks *m, const char *translation,
                   const struct mark_pieces *pieces)
{
    struct textbuf t = { 0 };
    struct places p;
    size_t at = 0;

    if (!places_find(&p, translation)) t.failed = true;
    for (int k = 0, place = 0; k < m->n && !t.failed; k++) {
        if (!mark_is_glued(m, k))
            place = places_choose(&p, m, k, pieces, place);
        add_without_marks(&t, translation, at, p.list[place]);
        at = p.list[place];
        /* A mark in front of a blank brings its own. */
        if (m->list[k].blank_before && is_blank_char(translation[at])
            && blank_before_mark(m, k, &t))
            textbuf_add(&t, " ", 1);
        add_mark(&t, m, k, mark_is_glued(m, k + 1) ? 0 : translation[at]);
    }
    add_without_marks(&t, translation, at, strlen(translation));
    textbuf_add(&t, "", 1);
    places_release(&p);
    if (!t.failed && !marks_are_kept(m, t.data))
        add_behind(&t, m, translation);
    if (!t.failed) return t.data;
    textbuf_release(&t);
    return NULL;
}

/* ---- XML and HTML ------------------------------------------------------- */

bool text_has_markup(const char *text)
{
    for (const char *s = text; (s = strchr(s, '<')); s++)
        if ((isalpha((unsigned char)s[1]) || (s[1] && strchr("/!?", s[1])))
            && strchr(s, '>'))
            return true;
    return false;
}

/* Appends a character. Returns false if it is none. */
static bool add_character(struct textbuf *t, unsigned long c)
{
    char s[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = { 0, 0, 0xC0, 0xE0, 0xF0 };

    if (!c || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return false;
    for (size_t i = n; i-- > 1; c >>= 6) s[i] = (char)(0x80 | (c & 0x3F));
    s[0] = (char)(lead[n] | c);
    textbuf_add(t, s, n);
    return true;
}

/* Appends the character of the entity at s. Returns its length, 0 if it is not
 * one. */
static size_t add_entity(struct textbuf *t, const char *s)
{
    static const struct { const char *name; unsigned long c; } known[] = {
        { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' },
        { "&apos;", '\'' }, { "&nbsp;", 0xA0 },
    };
    bool hex = s[1] == '#' && (s[2] == 'x' || s[2] == 'X');
    unsigned long c;
    char *end;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(s, known[i].name, strlen(known[i].name)))
            return add_character(t, known[i].c) ? strlen(known[i].name) : 0;
    if (s[1] != '#') return 0;
    s += hex ? 3 : 2;
    if (!isxdigit((unsigned char)*s)) return 0;
    c = strtoul(s, &end, hex ? 16 : 10);
    return end > s && *end == ';' && add_character(t, c)
           ? (size_t)(end - s) + (hex ? 4 : 3) : 0;
}

static char *textbuf_finish(struct textbuf *t)
{
    textbuf_add(t, "", 1);
    if (!t->failed) return t->data;
    textbuf_release(t);
    return NULL;
}

char *xml_unescape(const char *text)
{
    struct textbuf t = { 0 };
    size_t n;

    for (; *text; text += n ? n : 1) {
        n = *text == '&' ? add_entity(&t, text) : 0;
        if (!n) textbuf_add(&t, text, 1);
    }
    return textbuf_finish(&t);
}

char *xml_escape(const char *text)
{
    struct textbuf t = { 0 };

    for (; *text; text++) {
        if (*text == '&') textbuf_adds(&t, "&amp;");
        else if (*text == '<') textbuf_adds(&t, "&lt;");
        else if (*text == '>') textbuf_adds(&t, "&gt;");
        else textbuf_add(&t, text, 1);
    }
    return textbuf_finish(&t);
}
