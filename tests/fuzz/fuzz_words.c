/* fuzz_words.c - splits any bytes into words, terms and units, and compares
 * texts.
 *
 * The first line is compared with the rest. The fuzzer checks what must hold
 * for any bytes, not only memory safety. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text/utf8.h"
#include "text/words.h"
#include "tm/analyze.h"
#include "tm/similar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
    if (!ok) abort();
}

static size_t count_chars(const char *s, size_t n)
{
    size_t chars = 0;
    int len;

    for (size_t i = 0; i < n; i += (size_t)len, chars++)
        (void)utf8_next(s + i, n - i, &len);
    return chars;
}

static void check_words(struct str text)
{
    char lower[WORD_LOWER_MAX];
    size_t done = 0, n_terms = 0;
    struct terms t = { 0 };
    struct analyzer standard = { 0 };
    struct words w;

    words_begin(&w, text);
    while (words_next(&w)) {
        struct str word = { text.p + w.begin, w.end - w.begin };

        must(w.begin == done && w.end > w.begin);
        must(count_chars(word.p, word.n) <= WORD_CHARS_MAX);
        must(words_lower(word, lower) <= sizeof lower);
        if (w.kind == WORD_TERM)        /* terms are valid UTF-8 */
            must(utf8_check(word.p, word.n) == word.n);
        n_terms += w.kind == WORD_TERM;
        done = w.end;
    }
    must(done == text.n);
    must(analyze(&standard, text, &t, NULL) == ST_OK && t.n == n_terms);
    terms_release(&t);
}

static void check_distance(struct str a, struct str b)
{
    struct symbols x = { 0 }, y = { 0 };
    struct similar *s;
    bool ok;

    must(symbols_of(NULL, a, &x, NULL) == ST_OK);
    must(symbols_of(NULL, b, &y, NULL) == ST_OK);
    must(similar_new(&s, NULL) == ST_OK);
    must(similar_set(s, x.at, x.n, NULL) == ST_OK);
    must(similar_distance(s, y.at, y.n) ==
         similar_reference(x.at, x.n, y.at, y.n, &ok) || !ok);
    similar_free(s);
    symbols_release(&x);
    symbols_release(&y);
}

/* The stretches must reproduce both texts. */
static void check_differences(struct str a, struct str b)
{
    struct stretches s = { 0 };
    size_t t = 0, o = 0;

    must(differences(a, b, &s, NULL) == ST_OK);
    for (size_t i = 0; i < s.n; i++) {
        struct stretch x = s.at[i];
        size_t n = x.end - x.begin;

        must(n > 0 && x.begin == (x.kind == EDIT_ADD ? o : t));
        if (x.kind == EDIT_KEEP)
            must(o + n <= b.n && !memcmp(a.p + t, b.p + o, n));
        if (x.kind != EDIT_ADD) t += n;
        if (x.kind != EDIT_DROP) o += n;
    }
    must(t == a.n && o == b.n);
    stretches_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
    size_t n = line ? (size_t)(line - data) : size, m = size - n;
    /* Copies of the exact size, so that ASan detects reads past the end. */
    struct str a = { malloc(n ? n : 1), n }, b = { malloc(m ? m : 1), m };

    if (n) memcpy((char *)a.p, data, n);
    if (m) memcpy((char *)b.p, data + n, m);
    check_words(a);
    check_words(b);
    check_distance(a, b);
    check_differences(a, b);
    free((char *)a.p);
    free((char *)b.p);
    return 0;
}
