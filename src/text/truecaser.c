/* truecaser.c - two sorted lists of words, which are searched by bisection. */
#include "text/truecaser.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "text/moses_bpe.h"
#include "text/moses_chars.h"
#include "text/moses_detokenize.h"
#include "text/utf8.h"

static void sorted_words_release(struct sorted_words *s)
{
    free(s->key);
    free(s->value);
    *s = (struct sorted_words){ 0 };
}

void truecaser_release(struct truecaser *t)
{
    sorted_words_release(&t->best);
    sorted_words_release(&t->known);
}

static int compare_words(struct str a, struct str b)
{
    int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

    if (order) return order;
    return a.n < b.n ? -1 : a.n > b.n;
}

bool sorted_words_sound(const struct sorted_words *s)
{
    for (size_t i = 1; i < s->n; i++)
        if (compare_words(s->key[i - 1], s->key[i]) >= 0) return false;
    return true;
}

/* The index of a word, or n. */
static size_t find_word(const struct sorted_words *s, struct str word)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_words(s->key[middle], word);

        if (!order) return middle;
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return s->n;
}

/* ---- applying ----------------------------------------------------------- */

enum { LOWER_MAX = MOSES_BPE_TEXT_MAX + MOSES_CASE_MAX };

/* Write a word in lower case. Returns false if it is too long for any model. */
static bool lower_word(struct str word, char *out, size_t *n)
{
    int len;

    *n = 0;
    for (size_t at = 0; at < word.n; at += (size_t)len) {
        if (*n > MOSES_BPE_TEXT_MAX) return false;
        *n += moses_lower(utf8_next(word.p + at, word.n - at, &len), out + *n);
    }
    return *n <= MOSES_BPE_TEXT_MAX;
}

/* The form of a word; it may be the word itself. */
static struct str cased_form(const struct truecaser *t, struct str word,
                             bool start)
{
    char lower[LOWER_MAX];
    size_t i = t->best.n, n;

    if (lower_word(word, lower, &n))
        i = find_word(&t->best, (struct str){ lower, n });
    if (i == t->best.n) return word;
    if (!start && find_word(&t->known, word) < t->known.n) return word;
    return t->best.value[i];
}

/* Replace word [begin, end). If only letters have changed, each letter keeps
 * its origin. */
static void write_form(struct aligned_work *w, size_t begin, size_t end,
                       struct str form)
{
    const char *word = w->now.text;
    size_t at = begin;
    int from, to;

    if (utf8_count(form.p, form.n) != utf8_count(word + begin, end - begin)) {
        aligned_put(w, form.p, form.n, begin);
        return;
    }
    for (size_t i = 0; i < form.n && at < end; i += (size_t)to) {
        (void)utf8_next(word + at, end - at, &from);
        (void)utf8_next(form.p + i, form.n - i, &to);
        aligned_put(w, form.p + i, (size_t)to, at);
        at += (size_t)from;
    }
}

void truecaser_apply(const struct truecaser *t, struct aligned_work *w)
{
    const struct aligned_text *in = &w->now;
    bool start = true;
    size_t kept = 0;

    if (w->failed || !t->best.n) return;
    aligned_begin(w);
    for (size_t at = 0; at < in->n;) {
        const char *space = memchr(in->text + at, ' ', in->n - at);
        size_t end = space ? (size_t)(space - in->text) : in->n;
        struct str word = { in->text + at, end - at };
        struct str form = cased_form(t, word, start);

        if (form.p != word.p && !str_eq(form, word)) {
            aligned_keep(w, kept, at);
            write_form(w, at, end, form);
            kept = end;
        }
        if (!moses_delays_sentence(word)) start = moses_ends_sentence(word);
        at = end + 1;
    }
    aligned_keep(w, kept, in->n);
    aligned_end(w);
}

/* ---- reading a model ---------------------------------------------------- */

struct cased_word {
    struct str word, key;       /* key: in lower case, once all are read */
    size_t lower, n_lower;      /* where it is in lower->data */
    size_t line;
};

struct truecaser_reader {
    struct cased_word *best;    /* [n_best] */
    struct str *known;          /* [n_known] */
    size_t n_best, n_known, cap_best, cap_known;
    struct strbuf *lower;
    const char *name;
    size_t line;
};

/* Cut off the next field of a line, which ends at white space. */
static struct str next_cased_field(struct str *line)
{
    struct str field;
    size_t n = 0;
    int len;

    while (line->n && utf8_is_space(utf8_next(line->p, line->n, &len))) {
        line->p += len;
        line->n -= (size_t)len;
    }
    while (n < line->n
           && !utf8_is_space(utf8_next(line->p + n, line->n - n, &len)))
        n += (size_t)len;
    field = (struct str){ line->p, n };
    line->p += n;
    line->n -= n;
    return field;
}

static enum status cased_nomem(struct err *e)
{
    return err_nomem(e, "a truecasing model");
}

static enum status add_best(struct truecaser_reader *r, struct str word,
                            struct err *e)
{
    char lower[LOWER_MAX];
    size_t n;

    if (!lower_word(word, lower, &n)) n = 0;
    if (!n || word.n > MOSES_BPE_TEXT_MAX)
        return err_set(e, ST_FORMAT, "%s:%zu: a word has over %d bytes",
                       r->name, r->line, MOSES_BPE_TEXT_MAX);
    if (!mem_grow(&r->best, &r->cap_best, r->n_best + 1, sizeof *r->best))
        return cased_nomem(e);
    r->best[r->n_best++] = (struct cased_word){
        .word = word, .lower = r->lower->len, .n_lower = n, .line = r->line };
    return strbuf_add(r->lower, lower, n) ? ST_OK : cased_nomem(e);
}

static enum status add_known(struct truecaser_reader *r, struct str word,
                             struct err *e)
{
    if (r->n_known >= MOSES_BPE_WORDS_MAX)
        return err_set(e, ST_LIMIT, "%s: over %d words", r->name,
                       MOSES_BPE_WORDS_MAX);
    if (word.n > MOSES_BPE_TEXT_MAX)
        return err_set(e, ST_FORMAT, "%s:%zu: a word has over %d bytes",
                       r->name, r->line, MOSES_BPE_TEXT_MAX);
    if (!mem_grow(&r->known, &r->cap_known, r->n_known + 1, sizeof *r->known))
        return cased_nomem(e);
    r->known[r->n_known++] = word;
    return ST_OK;
}

static enum status read_cased_line(struct truecaser_reader *r,
                                   struct str line, struct err *e)
{
    struct str word = next_cased_field(&line), count;
    enum status st = ST_OK;

    if (utf8_check(line.p, line.n) < line.n
        || utf8_check(word.p, word.n) < word.n)
        return err_set(e, ST_FORMAT, "%s:%zu: not valid UTF-8", r->name,
                       r->line);
    if (memchr(word.p, 0, word.n + line.n))     /* one after the other */
        return err_set(e, ST_FORMAT, "%s:%zu: contains NUL", r->name, r->line);
    if (word.n) st = add_best(r, word, e);
    for (; !st && word.n; word = next_cased_field(&line)) {
        count = next_cased_field(&line);
        if (count.n < 3 || *count.p != '(' || count.p[count.n - 1] != ')')
            return err_set(e, ST_FORMAT, "%s:%zu: expected \"WORD (COUNT/ALL) "
                           "WORD (COUNT) ..\"", r->name, r->line);
        st = add_known(r, word, e);
    }
    return st;
}

static enum status read_cased_lines(struct truecaser_reader *r,
                                    struct str text, struct err *e)
{
    enum status st = ST_OK;

    while (text.n && !st) {
        const char *end = memchr(text.p, '\n', text.n);
        struct str line = { text.p, end ? (size_t)(end - text.p) : text.n };

        text.p += line.n + (end != NULL);
        text.n -= line.n + (end != NULL);
        r->line++;
        st = read_cased_line(r, line, e);
    }
    if (!st && !r->n_best)
        st = err_set(e, ST_FORMAT, "%s: no words", r->name);
    return st;
}

static int by_key_and_line(const void *a, const void *b)
{
    const struct cased_word *x = a, *y = b;
    int order = compare_words(x->key, y->key);

    if (order) return order;
    return x->line < y->line ? -1 : x->line > y->line;
}

static int by_text(const void *a, const void *b)
{
    return compare_words(*(const struct str *)a, *(const struct str *)b);
}

static bool sorted_words_reserve(struct sorted_words *s, size_t n)
{
    s->key = calloc(n + 1, sizeof *s->key);
    s->value = calloc(n + 1, sizeof *s->value);
    return s->key && s->value;
}

/* Sort the words. Of several lines with the same word, the last one counts. */
static enum status sort_words(struct truecaser *t, struct truecaser_reader *r,
                              struct err *e)
{
    if (!sorted_words_reserve(&t->best, r->n_best)
        || !sorted_words_reserve(&t->known, r->n_known))
        return cased_nomem(e);
    for (size_t i = 0; i < r->n_best; i++)
        r->best[i].key = (struct str){ r->lower->data + r->best[i].lower,
                                       r->best[i].n_lower };
    qsort(r->best, r->n_best, sizeof *r->best, by_key_and_line);
    qsort(r->known, r->n_known, sizeof *r->known, by_text);
    for (size_t i = 0; i < r->n_best; i++) {
        if (i + 1 < r->n_best && str_eq(r->best[i].key, r->best[i + 1].key))
            continue;
        t->best.key[t->best.n] = r->best[i].key;
        t->best.value[t->best.n++] = r->best[i].word;
    }
    for (size_t i = 0; i < r->n_known; i++)
        if (!i || !str_eq(r->known[i], r->known[i - 1]))
            t->known.key[t->known.n++] = r->known[i];
    return ST_OK;
}

enum status truecaser_read(struct truecaser *t, struct strbuf *lower,
                           struct str text, const char *name, struct err *e)
{
    struct truecaser_reader r = { .lower = lower, .name = name };
    enum status st = read_cased_lines(&r, text, e);

    *t = (struct truecaser){ 0 };
    if (!st) st = sort_words(t, &r, e);
    assert(st || (sorted_words_sound(&t->best)
                  && sorted_words_sound(&t->known)));
    free(r.best);
    free(r.known);
    return st;
}
