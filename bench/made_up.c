/* made_up.c - writes synthetic translation memories of any size for benchmarks.
 *
 *     made_up N [FILE]     print N lines of the form source TAB target
 *
 * Each line is drawn at random from FILE, and three words in ten are replaced
 * by random words of the same side. Frequent words thus stay frequent, and most
 * lines have others that are similar. Without FILE the words are invented; the
 * word of rank r occurs with a frequency proportional to 1/r (Zipf's law). The
 * same FILE always gives the same lines, and a smaller N gives the first lines
 * of a larger one. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { SIDES = 2, INVENTED_WORDS = 60000, INVENTED_LENGTH = 20 };
#define REPLACED 0.3

/* The words of all sources or of all targets, and where each line begins. */
struct side {
    uint32_t *words;            /* [n] offsets into text */
    size_t n, cap;
    uint32_t *lines;            /* [n_lines + 1] indexes of words */
    size_t n_lines, cap_lines;
    char *text;                 /* the words, each followed by a NUL */
    size_t len, cap_text;
};

static uint64_t state = 88172645463325252u;

_Noreturn static void die(const char *what)
{
    fprintf(stderr, "made_up: %s\n", what);
    exit(2);
}

/* xorshift64* (Vigna 2016). */
static uint64_t draw(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 2685821657736338717u;
}

static size_t below(size_t n)
{
    return (size_t)((draw() >> 32) * (uint64_t)n >> 32);
}

static double share(void) { return (double)(draw() >> 11) * 0x1p-53; }

/* ---- reading ------------------------------------------------------------- */

static void put_word(struct side *s, const char *word, size_t n)
{
    if (!mem_grow(&s->words, &s->cap, s->n + 1, sizeof *s->words)
        || !mem_grow(&s->text, &s->cap_text, s->len + n + 1, 1))
        die("out of memory");
    s->words[s->n++] = (uint32_t)s->len;
    memcpy(s->text + s->len, word, n);
    s->text[s->len + n] = '\0';
    s->len += n + 1;
}

static void begin_line(struct side *s)
{
    if (!mem_grow(&s->lines, &s->cap_lines, s->n_lines + 2, sizeof *s->lines))
        die("out of memory");
    s->lines[s->n_lines++] = (uint32_t)s->n;
}

static void put_line(struct side *s, const char *text)
{
    begin_line(s);
    for (;;) {
        size_t n;

        text += strspn(text, " ");
        n = strcspn(text, " ");
        if (!n) break;
        put_word(s, text, n);
        text += n;
    }
    s->lines[s->n_lines] = (uint32_t)s->n;
}

static void read_file(struct side side[SIDES], const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL, *tab;
    size_t cap = 0;

    if (!f) die("cannot open FILE");
    while (getline(&line, &cap, f) > 0) {
        line[strcspn(line, "\n")] = '\0';
        tab = strchr(line, '\t');
        if (!tab) continue;
        *tab = '\0';
        put_line(&side[0], line);
        put_line(&side[1], tab + 1);
    }
    free(line);
    fclose(f);
    if (!side[0].n_lines) die("FILE has no pairs");
}

/* ---- writing ------------------------------------------------------------- */

static void write_side(const struct side *s, size_t line, char end)
{
    size_t from = s->lines[line], to = s->lines[line + 1];

    for (size_t i = from; i < to; i++) {
        size_t word = share() < REPLACED ? below(s->n) : i;

        if (i > from) putchar(' ');
        fputs(s->text + s->words[word], stdout);
    }
    putchar(end);
}

/* Returns a random rank; the probability of rank r is about 1/r times a
 * constant. */
static size_t common_rank(void)
{
    return (size_t)pow(INVENTED_WORDS, share());
}

static void write_invented(char letter, char end)
{
    static const char *const parts[] = { "ba", "ken", "di", "for", "gu", "hal",
        "jo", "kri", "lum", "mes", "nor", "pa", "rit", "sche", "tra", "wo" };
    size_t n = 1 + below(INVENTED_LENGTH);

    for (size_t i = 0; i < n; i++) {
        size_t word = common_rank();

        if (i) putchar(' ');
        putchar(letter);
        for (; word; word /= 16) fputs(parts[word % 16], stdout);
    }
    putchar(end);
}

static void release(struct side *s)
{
    free(s->words);
    free(s->lines);
    free(s->text);
}

int main(int argc, char **argv)
{
    struct side side[SIDES] = { 0 };
    long n = argc > 1 ? atol(argv[1]) : 0;

    if (n < 1) die("usage: made_up N [FILE]; N must be 1 or more");
    if (argc > 2) read_file(side, argv[2]);
    for (long i = 0; i < n; i++) {
        if (argc > 2) {
            size_t line = below(side[0].n_lines);

            write_side(&side[0], line, '\t');
            write_side(&side[1], line, '\n');
        } else {
            write_invented('s', '\t');
            write_invented('t', '\n');
        }
    }
    for (int i = 0; i < SIDES; i++) release(&side[i]);
    return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
