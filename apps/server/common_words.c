/* common_words.c - looks up words and letters in the list of frequent words. It
 * does not decide: detector.c does. */
#include "common_words.h"

#include <stdlib.h>
#include <string.h>

#define LETTER_VOTE 0.4         /* of a typical letter; a word has 1 */

static const struct common_row {
    const char *codes, *letters, *words;
} common_table[COMMON_ROWS] = {
#define WORDS(codes, letters, words) { codes, letters, words },
#include "server/common_words.def"
#undef WORDS
};

struct common_entry { const char *word; int len, row; };
struct common_words {
    struct common_entry *list;  /* [n], in the order of common_order */
    int n;
    bool used[COMMON_ROWS];
};

/* ---- the list ---------------------------------------------------------- */

/* Sets the next word of a list; returns the rest, or NULL after the last. */
static const char *next_word(const char *s, struct common_entry *out)
{
    s += strspn(s, " ");
    out->word = s;
    out->len = (int)strcspn(s, " ");
    return out->len ? s + out->len : NULL;
}

int common_words_row(const char *code)
{
    int len = (int)strlen(code);

    for (int row = 0; row < COMMON_ROWS; row++) {
        struct common_entry x;
        const char *s = common_table[row].codes;

        while ((s = next_word(s, &x)))
            if (x.len == len && !memcmp(x.word, code, (size_t)len)) return row;
    }
    return -1;
}

static int common_compare(const void *a, const void *b)
{
    const struct common_entry *x = a, *y = b;
    int order = memcmp(x->word, y->word,
                       (size_t)(x->len < y->len ? x->len : y->len));

    return order ? order : x->len - y->len;
}

/* Appends the words of all rows in use, or only counts them. */
static int list_words(const struct common_words *c, struct common_entry *out)
{
    int n = 0;

    for (int row = 0; row < COMMON_ROWS; row++) {
        const char *s = c->used[row] ? common_table[row].words : "";
        struct common_entry x = { .row = row };

        while ((s = next_word(s, &x))) {
            if (out) out[n] = x;
            n++;
        }
    }
    return n;
}

static int common_order(const void *a, const void *b)
{
    const struct common_entry *x = a, *y = b;
    int order = common_compare(a, b);

    return order ? order : x->row - y->row;
}

/* A word counts once in its row, also if it was written twice. */
static void drop_doubles(struct common_words *c)
{
    int n = 0;

    for (int i = 0; i < c->n; i++)
        if (!i || common_order(&c->list[i - 1], &c->list[i]))
            c->list[n++] = c->list[i];
    c->n = n;
}

struct common_words *common_words_new(const char *const *codes, int n)
{
    struct common_words *c = calloc(1, sizeof *c);

    if (!c) return NULL;
    for (int i = 0; i < n; i++) {
        int row = common_words_row(codes[i]);

        if (row >= 0) c->used[row] = true;
    }
    c->n = list_words(c, NULL);
    c->list = calloc((size_t)c->n + 1, sizeof *c->list);
    if (!c->list) {
        free(c);
        return NULL;
    }
    list_words(c, c->list);
    qsort(c->list, (size_t)c->n, sizeof *c->list, common_order);
    drop_doubles(c);
    return c;
}

void common_words_free(struct common_words *c)
{
    if (!c) return;
    free(c->list);
    free(c);
}

/* ---- votes ------------------------------------------------------------- */

/* Writes a letter of at most 16 bits as UTF-8. Returns its bytes; 0: none. */
static int letter_bytes(char out[4], unsigned c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return c > 0;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | c >> 12);
    out[1] = (char)(0x80 | (c >> 6 & 0x3f));
    out[2] = (char)(0x80 | (c & 0x3f));
    return c < 0x10000 ? 3 : 0;
}

void common_words_letter(const struct common_words *c, struct common_votes *v,
                         unsigned letter)
{
    char text[4];
    int n = letter_bytes(text, letter);

    text[n] = 0;
    for (int row = 0; n > 1 && row < COMMON_ROWS; row++)
        if (c->used[row] && strstr(common_table[row].letters, text))
            v->votes[row] += LETTER_VOTE;
    if (v->len + n >= (int)sizeof v->word) v->len = (int)sizeof v->word;
    else memcpy(v->word + v->len, text, (size_t)n);
    if (v->len < (int)sizeof v->word) v->len += n;
}

/* The first entry that is not before the word. */
static int find_word(const struct common_words *c,
                     const struct common_entry *word)
{
    int low = 0, high = c->n;

    while (low < high) {
        int mid = low + (high - low) / 2;

        if (common_compare(&c->list[mid], word) < 0) low = mid + 1;
        else high = mid;
    }
    return low;
}

void common_words_end(const struct common_words *c, struct common_votes *v)
{
    const struct common_entry word = { .word = v->word, .len = v->len };

    v->len = 0;
    if (!word.len || word.len >= (int)sizeof v->word) return;
    for (int i = find_word(c, &word);
         i < c->n && !common_compare(&c->list[i], &word); i++)
        v->votes[c->list[i].row] += 1;
}
