/* detector.c - finds the language of a text among a few candidates.
 *
 * First the script decides: a text in Greek letters is not German. Among the
 * candidates that are left and have statistics, each word of the text votes:
 * with its own weight if it is frequent, else with those of its n-grams. The
 * confidence is the probability that the sum of the votes is right, from a
 * logistic curve that was fitted to short texts of the dev sets.
 *
 * If a candidate has no statistics, its frequent words are compared with those
 * of all others (common_words.h). Only if the text has none of them, the
 * statistics decide, and the confidence is low. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8_scan.h"
#include "common_words.h"
#include "detector.h"
#include "detector_data.h"

#define N_ROWS ((int)(sizeof detector_rows / sizeof *detector_rows))
#define SLOTS 16384             /* of the table of grams; a power of 2 */
#define STATS 8                 /* languages with statistics, at most */
#define LONGEST 4               /* letters of an n-gram */
#define WORD_LETTERS 64         /* a longer word is cut into several */
#define STEP 8.0                /* a weight of 1 in the rows */
#define GRAM_SCALE 0.3          /* n-grams overlap, so their sum is too sure */
#define WORD_MOST 4.0           /* largest vote of a word by its n-grams */
#define SLOPE 0.8               /* of the logistic curve */
#define BY_SCRIPT 90.0          /* confidence if only the script was seen */
#define UNSURE 50.0             /* at most, if a candidate has no statistics */
#define COMMON_SLOPE 1.2        /* of the votes of frequent words */

enum script {
    SCRIPT_NONE, SCRIPT_LATIN, SCRIPT_GREEK, SCRIPT_CYRILLIC, SCRIPT_ARMENIAN,
    SCRIPT_HEBREW, SCRIPT_ARABIC, SCRIPT_DEVANAGARI, SCRIPT_BENGALI,
    SCRIPT_TAMIL, SCRIPT_THAI, SCRIPT_GEORGIAN, SCRIPT_HANGUL, SCRIPT_KANA,
    SCRIPT_HAN, SCRIPT_OTHER, SCRIPTS
};

struct slot { const char *gram; int len, stat, weight; };
struct detector {
    const char *const *codes;
    int *stat;                  /* [n]: number of its statistics, or -1 */
    enum script *script;        /* [n] */
    int n, n_stats;
    struct slot *slots;         /* [SLOTS]; gram NULL: free */
    struct common_words *common;        /* NULL: all have statistics */
    int *row;                   /* [n]: of the frequent words, or -1 */
};

/* ---- letters ----------------------------------------------------------- */

static const struct { unsigned first, last; enum script script; } ranges[] = {
    { 'A', 'Z', SCRIPT_LATIN }, { 'a', 'z', SCRIPT_LATIN },
    { 0xaa, 0xaa, SCRIPT_LATIN }, { 0xba, 0xba, SCRIPT_LATIN },
    { 0xc0, 0xd6, SCRIPT_LATIN }, { 0xd8, 0xf6, SCRIPT_LATIN },
    { 0xf8, 0x24f, SCRIPT_LATIN }, { 0x250, 0x2af, SCRIPT_LATIN },
    { 0x300, 0x36f, SCRIPT_LATIN }, { 0x370, 0x3ff, SCRIPT_GREEK },
    { 0x400, 0x52f, SCRIPT_CYRILLIC }, { 0x531, 0x587, SCRIPT_ARMENIAN },
    { 0x5d0, 0x5f2, SCRIPT_HEBREW }, { 0x620, 0x6d3, SCRIPT_ARABIC },
    { 0x750, 0x77f, SCRIPT_ARABIC }, { 0x900, 0x963, SCRIPT_DEVANAGARI },
    { 0x985, 0x9e3, SCRIPT_BENGALI }, { 0xb82, 0xbd7, SCRIPT_TAMIL },
    { 0xe01, 0xe4e, SCRIPT_THAI }, { 0x10a0, 0x10ff, SCRIPT_GEORGIAN },
    { 0x1100, 0x11ff, SCRIPT_HANGUL }, { 0x1e00, 0x1eff, SCRIPT_LATIN },
    { 0x1f00, 0x1fff, SCRIPT_GREEK }, { 0x3041, 0x30ff, SCRIPT_KANA },
    { 0x3400, 0x9fff, SCRIPT_HAN }, { 0xac00, 0xd7a3, SCRIPT_HANGUL },
    { 0xf900, 0xfaff, SCRIPT_HAN }, { 0xfb00, 0xfb06, SCRIPT_LATIN },
    { 0xff21, 0xff5a, SCRIPT_LATIN }, { 0xff66, 0xff9f, SCRIPT_KANA },
    { 0x20000, 0x3ffff, SCRIPT_HAN },
};

static const struct { const char *code; enum script script; } scripts[] = {
    { "el", SCRIPT_GREEK }, { "ru", SCRIPT_CYRILLIC },
    { "uk", SCRIPT_CYRILLIC }, { "be", SCRIPT_CYRILLIC },
    { "bg", SCRIPT_CYRILLIC }, { "mk", SCRIPT_CYRILLIC },
    { "sr", SCRIPT_CYRILLIC }, { "kk", SCRIPT_CYRILLIC },
    { "ky", SCRIPT_CYRILLIC }, { "mn", SCRIPT_CYRILLIC },
    { "tg", SCRIPT_CYRILLIC }, { "tt", SCRIPT_CYRILLIC },
    { "hy", SCRIPT_ARMENIAN }, { "he", SCRIPT_HEBREW },
    { "yi", SCRIPT_HEBREW }, { "ar", SCRIPT_ARABIC },
    { "fa", SCRIPT_ARABIC }, { "ur", SCRIPT_ARABIC },
    { "ps", SCRIPT_ARABIC }, { "ug", SCRIPT_ARABIC },
    { "hi", SCRIPT_DEVANAGARI }, { "mr", SCRIPT_DEVANAGARI },
    { "ne", SCRIPT_DEVANAGARI }, { "sa", SCRIPT_DEVANAGARI },
    { "bn", SCRIPT_BENGALI }, { "as", SCRIPT_BENGALI },
    { "ta", SCRIPT_TAMIL }, { "th", SCRIPT_THAI }, { "ka", SCRIPT_GEORGIAN },
    { "ko", SCRIPT_HANGUL }, { "ja", SCRIPT_KANA }, { "zh", SCRIPT_HAN },
};

/* The script of a code point; SCRIPT_NONE if it is no letter. Letters of rare
 * scripts are SCRIPT_OTHER. Combining marks count as Latin ones. */
static enum script script_of(unsigned c)
{
    size_t i;

    for (i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return ranges[i].script;
    return c >= 0x7c0 && c < 0x1e00 ? SCRIPT_OTHER : SCRIPT_NONE;
}

/* The script that a language is written in. A few of them are also written in
 * Latin letters, such as Serbian; then the candidate is left out wrongly. */
static enum script script_of_language(const char *code)
{
    size_t i;

    for (i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (!strcmp(code, scripts[i].code))
            return scripts[i].script;
    return SCRIPT_LATIN;
}

/* Latin, Cyrillic and Vietnamese letters. Others stay as they are. */
static unsigned detector_lower(unsigned c)
{
    if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7))
        return c + 32;
    if (c < 0x100 || c == 0x130 || c == 0x131 || c == 0x138 || c == 0x149)
        return c == 0x130 ? 'i' : c;
    if (c == 0x178) return 0xff;
    if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e))
        return c + (c & 1);
    if (c < 0x178 || c == 0x218 || c == 0x21a || c == 0x1a0
        || (c >= 0x490 && c < 0x500) || (c >= 0x1ea0 && c < 0x1efa))
        return c | 1;
    if (c == 0x1af) return 0x1b0;
    if (c >= 0x410 && c < 0x430) return c + 32;
    return c >= 0x400 && c < 0x410 ? c + 80 : c;
}

/* The next code point of *s, which has n bytes left, in lower case. An invalid
 * byte is 0. */
static unsigned detector_letter(const char **s, size_t *n)
{
    static const unsigned char mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
    size_t size = utf8_char_bytes(*s, *n), i;
    unsigned c = size ? (unsigned char)**s & mask[size] : 0;

    for (i = 1; i < size; i++)
        c = c << 6 | ((unsigned char)(*s)[i] & 0x3f);
    *s += size ? size : 1;
    *n -= size ? size : 1;
    return detector_lower(c);
}

/* Appends a code point below 0x800 or, without meaning for the statistics, of
 * any other size as "?". Returns the number of bytes. */
static int put_letter(char *to, unsigned c)
{
    if (c < 0x80 || c >= 0x800) {
        to[0] = c < 0x80 ? (char)c : '?';
        return 1;
    }
    to[0] = (char)(0xc0 | c >> 6);
    to[1] = (char)(0x80 | (c & 0x3f));
    return 2;
}

/* ---- the table of grams ------------------------------------------------ */

static unsigned gram_hash(const char *s, int len)
{
    unsigned h = 2166136261u;

    while (len-- > 0)
        h = (h ^ (unsigned char)*s++) * 16777619u;
    return h ^ h >> 15;
}

/* The slot of a gram, or the free one where it belongs. With `stat`, other
 * languages are passed over, so that a gram can be listed for several. */
static struct slot *gram_slot(struct slot *slots, const char *gram, int len,
                              int stat)
{
    unsigned at = gram_hash(gram, len) % SLOTS;

    while (slots[at].gram && (slots[at].len != len || slots[at].stat != stat ||
                              memcmp(slots[at].gram, gram, (size_t)len)))
        at = (at + 1) % SLOTS;
    return &slots[at];
}

/* The number of a language with statistics; a new one if it has none yet. */
static int stat_number(const char *names[STATS], int *n, const char *language)
{
    int i;

    for (i = 0; i < *n; i++)
        if (!strcmp(names[i], language))
            return i;
    if (*n == STATS)
        return -1;
    names[*n] = language;
    return (*n)++;
}

static void add_row(struct detector *d, const struct detector_row *row,
                    int stat)
{
    const char *s = row->grams;
    struct slot *slot;
    int len;

    for (; *s; s += len + (s[len] == ' ')) {
        len = (int)strcspn(s, " ");
        slot = gram_slot(d->slots, s, len, stat);
        *slot = (struct slot){ s, len, stat, row->weight };
    }
}

/* ---- making a detector ------------------------------------------------- */

/* Returns false if out of memory. */
static bool fill_common(struct detector *d)
{
    bool wanted = false;

    for (int i = 0; i < d->n; i++) {
        d->row[i] = common_words_row(d->codes[i]);
        wanted |= d->stat[i] < 0 && d->row[i] >= 0;
    }
    if (wanted) d->common = common_words_new(d->codes, d->n);
    return !wanted || d->common;
}

static void fill(struct detector *d)
{
    const char *names[STATS];
    int i, k, stat;

    for (i = 0; i < N_ROWS; i++) {
        stat = stat_number(names, &d->n_stats, detector_rows[i].language);
        if (stat >= 0)
            add_row(d, &detector_rows[i], stat);
    }
    for (i = 0; i < d->n; i++) {
        d->script[i] = script_of_language(d->codes[i]);
        d->stat[i] = -1;
        for (k = 0; k < d->n_stats; k++)
            if (!strcmp(names[k], d->codes[i]))
                d->stat[i] = k;
    }
}

skmt_status detector_new(struct detector **out, const char *const *codes,
                         int n, skmt_error *err)
{
    struct detector *d = calloc(1, sizeof *d);
    size_t room = n > 0 ? (size_t)n : 1;

    *out = NULL;
    if (d) {
        d->codes = codes;
        d->n = n;
        d->stat = malloc(room * sizeof *d->stat);
        d->script = malloc(room * sizeof *d->script);
        d->row = malloc(room * sizeof *d->row);
        d->slots = calloc(SLOTS, sizeof *d->slots);
    }
    if (d && d->stat && d->script && d->row && d->slots) fill(d);
    if (!d || !d->stat || !d->script || !d->row || !d->slots
        || !fill_common(d)) {
        detector_free(d);
        if (err)
            *err = (skmt_error){ .status = SKMT_ERR_NOMEM,
                                 .message = "out of memory" };
        return SKMT_ERR_NOMEM;
    }
    *out = d;
    return SKMT_OK;
}

void detector_free(struct detector *d)
{
    if (!d)
        return;
    common_words_free(d->common);
    free(d->stat);
    free(d->script);
    free(d->row);
    free(d->slots);
    free(d);
}

/* ---- votes ------------------------------------------------------------- */

/* A word with its limits, as "^word$". at [n]: where its letters begin; the
 * last one is the end. */
struct word { char text[2 * WORD_LETTERS + 3]; int at[WORD_LETTERS + 3], n; };

static bool vote_gram(const struct detector *d, const char *gram, int len,
                      double votes[STATS])
{
    const struct slot *slot;
    bool found = false;
    int k;

    for (k = 0; k < d->n_stats; k++) {
        slot = gram_slot(d->slots, gram, len, k);
        if (slot->gram) {
            votes[k] += slot->weight / STEP;
            found = true;
        }
    }
    return found;
}

static void vote_grams(const struct detector *d, const struct word *w,
                       double votes[STATS])
{
    double own[STATS] = { 0 }, most = 0, scale = GRAM_SCALE;
    int i, size, k;

    for (i = 0; i < w->n; i++)
        for (size = 1; size <= LONGEST && i + size <= w->n; size++)
            vote_gram(d, w->text + w->at[i], w->at[i + size] - w->at[i], own);
    for (k = 0; k < d->n_stats; k++)
        for (i = 0; i < k; i++)
            most = fmax(most, fabs(own[k] - own[i]));
    if (most * scale > WORD_MOST)
        scale = WORD_MOST / most;
    for (k = 0; k < d->n_stats; k++)
        votes[k] += scale * own[k];
}

static void word_begin(struct word *w)
{
    w->text[0] = '^';
    w->at[0] = 0;
    w->at[1] = 1;
    w->n = 1;
}

static void word_add(struct word *w, unsigned letter)
{
    int at = w->at[w->n];

    w->at[++w->n] = at + put_letter(w->text + at, letter);
}

/* Counts the word and begins the next one. */
static void word_end(const struct detector *d, struct word *w,
                     double votes[STATS])
{
    if (w->n > 1) {
        word_add(w, '$');
        if (!vote_gram(d, w->text, w->at[w->n], votes))
            vote_grams(d, w, votes);
    }
    word_begin(w);
}

/* Gives a letter, or the end of a word, to the frequent words. */
static void read_common(const struct detector *d, struct common_votes *common,
                        enum script script, unsigned c)
{
    if (!d->common) return;
    if (script == SCRIPT_NONE) common_words_end(d->common, common);
    else common_words_letter(d->common, common, c);
}

/* Reads a text: the votes of its words, and the letters of each script. */
static void read_text(const struct detector *d, const char *text,
                      double votes[STATS], struct common_votes *common,
                      size_t letters[SCRIPTS])
{
    size_t n = strlen(text);
    enum script script;
    struct word w;
    unsigned c;

    word_begin(&w);
    while (n) {
        c = detector_letter(&text, &n);
        script = script_of(c);
        letters[script]++;
        read_common(d, common, script, c);
        if (script == SCRIPT_NONE || w.n > WORD_LETTERS)
            word_end(d, &w, votes);
        if (script != SCRIPT_NONE)
            word_add(&w, c);
    }
    word_end(d, &w, votes);
    read_common(d, common, SCRIPT_NONE, 0);
}

/* ---- the decision ------------------------------------------------------ */

/* The script of most letters. Japanese is a mixture, in which kana prove that
 * it is not Chinese. SCRIPT_NONE: the text has no letters. */
static enum script text_script(const size_t letters[SCRIPTS])
{
    enum script best = SCRIPT_NONE;
    int i;

    for (i = SCRIPT_NONE + 1; i < SCRIPTS; i++)
        if (letters[i] && (best == SCRIPT_NONE || letters[i] > letters[best]))
            best = (enum script)i;
    if (best == SCRIPT_HAN && letters[SCRIPT_KANA] > 0)
        best = SCRIPT_KANA;
    return best;
}

static bool written_in(const struct detector *d, int i, enum script script)
{
    return d->script[i] == script ||
           (script == SCRIPT_HAN && d->script[i] == SCRIPT_KANA);
}

/* The candidate with most votes among those that are written in `script` and
 * have statistics; the first one of equals. *odds: the sum of the others'
 * probabilities in relation to its own. -1: none has statistics. */
static int best_vote(const struct detector *d, enum script script,
                     const double votes[STATS], double *odds)
{
    int i, best = -1;

    for (i = 0; i < d->n; i++)
        if (written_in(d, i, script) && d->stat[i] >= 0 &&
            (best < 0 || votes[d->stat[i]] > votes[d->stat[best]]))
            best = i;
    *odds = 0;
    for (i = 0; i < d->n && best >= 0; i++)
        if (i != best && written_in(d, i, script) && d->stat[i] >= 0)
            *odds += exp(SLOPE * (votes[d->stat[i]] - votes[d->stat[best]]));
    return best;
}

/* Chooses by script alone: the first candidate, with an even chance. */
static int first_in_script(const struct detector *d, enum script script,
                           double *confidence)
{
    int i, first = -1, n = 0;

    for (i = 0; i < d->n; i++)
        if (written_in(d, i, script) && n++ == 0)
            first = i;
    *confidence = n > 1 ? 100.0 / n : d->n > 1 ? BY_SCRIPT : UNSURE;
    return first;
}

static double common_vote(const struct detector *d, int i,
                          const struct common_votes *common)
{
    return d->row[i] < 0 ? 0 : common->votes[d->row[i]];
}

/* The candidate in `script` with most votes of frequent words; the first one of
 * equals. -1: the text has none of these words. */
static int best_common(const struct detector *d, enum script script,
                       const struct common_votes *common, double *confidence)
{
    double most = 0, sum = 0;
    bool known = true;
    int best = -1;

    for (int i = 0; i < d->n && d->common; i++) {
        double votes = common_vote(d, i, common);

        if (!written_in(d, i, script)) continue;
        known = known && d->row[i] >= 0;
        if (votes <= most) continue;
        most = votes;
        best = i;
    }
    if (best < 0) return -1;
    for (int i = 0; i < d->n; i++)
        if (written_in(d, i, script))
            sum += exp(COMMON_SLOPE * (common_vote(d, i, common) - most));
    *confidence = 100 / sum;
    if (!known) *confidence = fmin(*confidence, UNSURE);
    return best;
}

const char *detector_find(const struct detector *d, const char *text,
                          double *confidence)
{
    double votes[STATS] = { 0 }, odds;
    struct common_votes common = { .len = 0 };
    size_t letters[SCRIPTS] = { 0 };
    enum script script;
    int first, best;

    *confidence = 0;
    read_text(d, text, votes, &common, letters);
    script = text_script(letters);
    if (script == SCRIPT_NONE || !d->n)
        return NULL;
    first = first_in_script(d, script, confidence);
    if (first < 0) {                    /* a script of none of the languages */
        *confidence = 0;
        return d->codes[0];
    }
    best = best_common(d, script, &common, confidence);
    if (best >= 0)
        return d->codes[best];
    best = best_vote(d, script, votes, &odds);
    if (best < 0 || odds == 0)
        return d->codes[first];
    *confidence = 100 / (1 + odds);
    for (first = 0; first < d->n; first++)
        if (written_in(d, first, script) && d->stat[first] < 0)
            *confidence = fmin(*confidence, UNSURE);
    return d->codes[best];
}
