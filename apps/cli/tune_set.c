/* tune_set.c - the lines that skmt tune translates: reads them from --dev or
 * selects them from the memory, and searches the memory for pairs similar to
 * their sentences.
 *
 * Invariant: sentences are in the order of their lines, and set.text does not
 * move once the lines are read, because sentences point into it. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/interrupt.h"
#include "common/utf8_scan.h"
#include "tune_call.h"

static int tune_set_out_of_memory(void)
{
    return complain(EXIT_TROUBLE, "out of memory");
}

static int tune_set_stopped(void) { return EXIT_SIGNAL + interrupt_signal(); }

static int tune_set_failed(const skmt_error *err)
{
    if (err->status == SKMT_ERR_CANCELED && interrupt_signal())
        return tune_set_stopped();
    return complain(EXIT_TROUBLE, "%s", err->message);
}

static const char *dev_name(const struct tune_call *c)
{
    return strcmp(c->dev, "-") ? c->dev : "standard input";
}

/* Print an error about a line or pair. number: as in struct tune_line. */
static int complain_at_number(const struct tune_call *c, uint64_t number,
                              const char *what)
{
    if (c->set.from_memory)
        return complain(EXIT_TROUBLE, "pair %" PRIu64 " of %s: %s", number,
                        c->steering.memory, what);
    fprintf(stderr, "%s:%" PRIu64 ": %s\n", dev_name(c), number, what);
    return EXIT_TROUBLE;
}

int tune_set_complain_at_index(const struct tune_call *c, size_t index,
                               const char *what)
{
    return complain_at_number(c, c->set.lines[index].number, what);
}

/* Make room for n items. Returns the items, which may have moved; or NULL if
 * out of memory, and then they are unchanged. */
static void *tune_set_make_room(void *items, size_t *cap, size_t n, size_t size)
{
    size_t want = *cap ? *cap : 64;
    void *grown;

    if (n <= *cap) return items;
    while (want < n && want <= SIZE_MAX / 2 / size) want *= 2;
    grown = want < n ? NULL : realloc(items, want * size);
    if (grown) *cap = want;
    return grown;
}

/* ---- lines ------------------------------------------------------------ */

static bool tune_set_add_line(struct tune_set *s, uint64_t number,
                              const char *source, size_t source_len,
                              const char *target, size_t target_len)
{
    struct tune_line *lines = tune_set_make_room(s->lines, &s->cap, s->n + 1,
                                                 sizeof *lines);

    if (!lines) return false;
    s->lines = lines;
    s->lines[s->n++] = (struct tune_line){
        .number = number, .source = s->text.len, .source_len = source_len,
        .target = s->text.len + source_len + 1, .target_len = target_len };
    textbuf_add(&s->text, source, source_len);
    textbuf_add(&s->text, "", 1);
    textbuf_add(&s->text, target, target_len);
    return !s->text.failed;
}

/* Parse a source, a tab and a translation. Further columns are ignored. */
static int parse_dev_line(struct tune_call *c, uint64_t number,
                          const char *text, size_t len)
{
    const char *tab = len ? memchr(text, '\t', len) : NULL, *end;
    size_t bad = utf8_first_bad(text, len), target_len;
    char what[80];

    if (!tab)
        return complain_at_number(c, number, "expected a source, a tab and a "
                                  "translation");
    target_len = len - (size_t)(tab + 1 - text);
    end = target_len ? memchr(tab + 1, '\t', target_len) : NULL;
    if (end) target_len = (size_t)(end - tab - 1);
    if (tab == text)
        return complain_at_number(c, number, "the source is empty");
    if (!target_len)
        return complain_at_number(c, number, "the translation is empty");
    snprintf(what, sizeof what, "byte %zu is not valid UTF-8", bad + 1);
    if (bad < len) return complain_at_number(c, number, what);
    if (memchr(text, 0, len))
        return complain_at_number(c, number, "the line contains a NUL byte");
    if (tune_set_add_line(&c->set, number, text, (size_t)(tab - text), tab + 1,
                          target_len))
        return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s", textbuf_why(&c->set.text));
}

/* Return index i of n indices spread evenly over 0 .. n_all-1. */
static size_t spread_index(size_t i, size_t n, size_t n_all)
{
    assert(i < n && n <= n_all);
    return (size_t)((2 * (double)i + 1) * (double)n_all / (2 * (double)n));
}

/* Return the number of lines to select. */
static size_t n_to_select(const struct tune_call *c, size_t n_all)
{
    return c->limit && (size_t)c->limit < n_all ? (size_t)c->limit : n_all;
}

static int tune_set_read_lines(struct tune_call *c)
{
    int status = EXIT_DONE;
    skmt_lines *in;
    skmt_error err;
    const char *text;
    size_t len;

    if (skmt_lines_open(&in, c->dev, &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    for (uint64_t number = 1; !status; number++) {
        if (skmt_lines_next(in, &text, &len, &err))
            status = complain(EXIT_TROUBLE, "%s", err.message);
        if (status || !text) break;
        status = parse_dev_line(c, number, text, len);
    }
    skmt_lines_close(in);
    return status;
}

static int read_dev(struct tune_call *c)
{
    struct tune_set *s = &c->set;
    int status;

    /* Reading lines may block, and it does not poll for signals. Therefore let
     * a signal end the program at once. */
    interrupt_set_polled(false);
    status = tune_set_read_lines(c);
    interrupt_set_polled(true);
    if (status) return status;
    if (!s->n) return complain(EXIT_TROUBLE, "%s is empty", dev_name(c));
    s->n_all = s->n;
    s->n = n_to_select(c, s->n_all);
    for (size_t i = 0; i < s->n; i++)
        s->lines[i] = s->lines[spread_index(i, s->n, s->n_all)];
    return EXIT_DONE;
}

/* ---- pairs of the memory ---------------------------------------------- */

/* Whether --name selects a memory. Without the option, all are selected. */
static bool is_selected_memory(const struct steering *s, const char *name)
{
    for (int i = 0; i < s->n_names; i++)
        if (!strcmp(s->names[i], name)) return true;
    return !s->n_names;
}

/* Get the name and the number of pairs of memory i. The caller frees *name.
 * *pairs is 0 if the memory is not selected. */
static int memory_at(struct tune_call *c, int i, char **name, size_t *pairs)
{
    skmt_tm_info info = SKMT_INIT(skmt_tm_info);
    skmt_error err;
    bool selected;

    *name = NULL;
    if (skmt_tm_get_info(c->steering.tm, i, &info, &err))
        return tune_set_failed(&err);
    selected = is_selected_memory(&c->steering, info.name);
    *pairs = selected && info.pairs > 0 ? (size_t)info.pairs : 0;
    *name = strdup(info.name);
    return *name ? EXIT_DONE : tune_set_out_of_memory();
}

/* Selects pairs of all memories, spread evenly or at random. */
struct pair_selector {
    size_t n_all;               /* pairs of all selected memories */
    size_t n;                   /* pairs to select */
    size_t n_visited, n_selected;       /* so far */
    bool at_random;
    uint64_t random;            /* state of the generator */
};

/* A random number below n (splitmix64). */
static size_t random_below(uint64_t *state, size_t n)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (size_t)((z ^ z >> 31) % n);
}

/* Whether to select the next pair. At random, each set of n pairs has the same
 * probability (Knuth's algorithm S). */
static bool select_next(struct pair_selector *sel)
{
    size_t at = sel->n_visited++;

    if (sel->n_selected == sel->n) return false;
    if (sel->at_random && at < sel->n_all)
        return random_below(&sel->random, sel->n_all - at)
               < sel->n - sel->n_selected;
    return at >= spread_index(sel->n_selected, sel->n, sel->n_all);
}

/* Visit the next pair. Add it to the lines if its index is the next one that
 * spread_index() gives. */
static int visit_pair(struct tune_call *c, struct pair_selector *sel,
                      const skmt_pair *p)
{
    size_t source = strlen(p->source), target = strlen(p->target);

    if (!select_next(sel)) return EXIT_DONE;
    sel->n_selected++;
    if (!source || !target) return EXIT_DONE;
    return tune_set_add_line(&c->set, (uint64_t)p->id, p->source, source,
                             p->target, target)
               ? EXIT_DONE
               : tune_set_out_of_memory();
}

static int visit_pairs(struct tune_call *c, struct pair_selector *sel,
                       const char *memory)
{
    int status = EXIT_DONE, found = 1;
    skmt_tm_cursor *cur;
    skmt_pair pair = SKMT_INIT(skmt_pair);
    skmt_error err;

    if (skmt_tm_cursor_open(&cur, c->steering.tm, memory, &err))
        return tune_set_failed(&err);
    while (!status && sel->n_selected < sel->n) {
        if (skmt_tm_cursor_next(cur, &pair, &found, &err))
            status = tune_set_failed(&err);
        if (status || !found) break;
        status = interrupt_signal() ? tune_set_stopped()
                                    : visit_pair(c, sel, &pair);
    }
    skmt_tm_cursor_close(cur);
    return status;
}

/* Count the pairs of all selected memories. */
static int count_pairs(struct tune_call *c, size_t *n_pairs)
{
    int n, status = EXIT_DONE;
    skmt_error err;

    *n_pairs = 0;
    if (skmt_tm_count(c->steering.tm, &n, &err)) return tune_set_failed(&err);
    for (int i = 0; !status && i < n; i++) {
        size_t pairs = 0;
        char *name;

        status = memory_at(c, i, &name, &pairs);
        *n_pairs += pairs;
        free(name);
    }
    return status;
}

static int select_pairs(struct tune_call *c, struct pair_selector *sel)
{
    int n, status = EXIT_DONE;
    skmt_error err;

    if (skmt_tm_count(c->steering.tm, &n, &err)) return tune_set_failed(&err);
    for (int i = 0; !status && i < n; i++) {
        size_t pairs = 0;
        char *name;

        status = memory_at(c, i, &name, &pairs);
        if (!status && pairs) status = visit_pairs(c, sel, name);
        free(name);
    }
    return status;
}

static int read_pairs(struct tune_call *c)
{
    struct pair_selector sel = { .at_random = c->learn,
                                 .random = (uint64_t)c->seed };
    int status = count_pairs(c, &sel.n_all);

    if (status) return status;
    c->set.n_all = sel.n_all;
    sel.n = n_to_select(c, sel.n_all);
    status = select_pairs(c, &sel);
    if (status || c->set.n) return status;
    return complain(EXIT_TROUBLE, "%s has no pairs to tune on",
                    c->steering.memory);
}

int tune_set_read(struct tune_call *c)
{
    c->set.from_memory = !c->dev;
    return c->dev ? read_dev(c) : read_pairs(c);
}

/* ---- sentences -------------------------------------------------------- */

/* Set the blanks before a sentence. The library joins the translations of
 * sentences with the blanks between the sources, or with one blank. */
static void set_gap(const struct tune_set *s, struct tune_sentence *sentence)
{
    const struct tune_sentence *before =
        sentence > s->sentences ? sentence - 1 : NULL;
    const char *end;

    sentence->gap = "";
    if (!before || before->line != sentence->line) return;
    end = before->text + before->len;
    sentence->gap_len = 0;
    if (sentence->text > end)
        sentence->gap_len = (size_t)(sentence->text - end);
    for (size_t i = 0; i < sentence->gap_len; i++)
        if (!strchr(" \t\n\r\v\f", end[i])) sentence->gap_len = 0;
    sentence->gap = sentence->gap_len ? end : " ";
    if (!sentence->gap_len) sentence->gap_len = 1;
}

bool tune_set_add_sentence(struct tune_set *s, size_t line, size_t begin,
                           size_t end)
{
    struct tune_sentence *all = tune_set_make_room(
        s->sentences, &s->cap_sentences, s->n_sentences + 1, sizeof *all);
    struct tune_sentence *sentence;

    assert(line < s->n && begin <= end && end <= s->lines[line].source_len);
    assert(!s->n_sentences || s->sentences[s->n_sentences - 1].line <= line);
    if (!all) return false;
    s->sentences = all;
    sentence = &all[s->n_sentences];
    *sentence = (struct tune_sentence){
        .text = s->text.data + s->lines[line].source + begin,
        .len = end - begin, .line = line };
    sentence->query = strndup(sentence->text, sentence->len);
    if (!sentence->query) return false;
    s->n_sentences++;
    s->lines[line].n_sentences++;
    set_gap(s, sentence);
    return true;
}

/* ---- pairs of a sentence ---------------------------------------------- */

/* Whether a stored text is equal to a text, except for blanks around them. */
static bool equal_trimmed(const char *text, size_t len, const char *stored)
{
    static const char blanks[] = " \t\r\n";
    size_t n;

    stored += strspn(stored, blanks);
    for (n = strlen(stored); n && strchr(blanks, stored[n - 1]);) n--;
    while (len && strchr(blanks, *text)) text++, len--;
    while (len && strchr(blanks, text[len - 1])) len--;
    return n == len && !memcmp(text, stored, n);
}

/* Whether pairs with the source of a line are left out of the memory. With
 * --learn they always are: in use, a stored sentence is not steered, so there
 * is nothing to learn from it. */
static bool leaves_out(const struct tune_call *c)
{
    return c->set.from_memory || c->learn;
}

/* Whether a pair is left out (leave-one-out), because it is the one that is
 * being translated or has the same source. */
static bool is_left_out(const struct tune_call *c,
                        const struct tune_sentence *sentence,
                        const char *source)
{
    const struct tune_set *s = &c->set;
    const struct tune_line *line = &s->lines[sentence->line];

    return leaves_out(c)
           && (equal_trimmed(sentence->text, sentence->len, source)
               || equal_trimmed(s->text.data + line->source, line->source_len,
                                source));
}

/* Copy pairs into one block of memory: the array, then their texts. */
static bool copy_pairs(struct tune_sentence *sentence,
                       const skmt_similar *from, int n)
{
    size_t bytes = (size_t)(n ? n : 1) * sizeof *from;
    char *at;

    for (int i = 0; i < n; i++)
        bytes += strlen(from[i].source) + strlen(from[i].target) + 2;
    sentence->pairs = malloc(bytes);
    if (!sentence->pairs) return false;
    at = (char *)(sentence->pairs + n);
    for (int i = 0; i < n; i++) {
        sentence->pairs[i] = from[i];
        sentence->pairs[i].source = at;
        at = stpcpy(at, from[i].source) + 1;
        sentence->pairs[i].target = at;
        at = stpcpy(at, from[i].target) + 1;
    }
    sentence->n_pairs = n;
    return true;
}

/* Copy the best matches that may be used, max_pairs at most. */
static int copy_matches(struct tune_call *c, struct tune_sentence *sentence,
                        const skmt_matches *m, int max_pairs)
{
    struct tune_set *s = &c->set;
    skmt_similar *found = calloc((size_t)max_pairs, sizeof *found);
    bool same = false;
    int n = 0;

    if (!found) return tune_set_out_of_memory();
    for (int i = 0; i < skmt_matches_count(m) && n < max_pairs; i++) {
        skmt_match match = SKMT_INIT(skmt_match);

        skmt_matches_get(m, i, &match);
        if (is_left_out(c, sentence, match.pair->source)) continue;
        same = same || equal_trimmed(sentence->text, sentence->len,
                                     match.pair->source);
        found[n++] = (skmt_similar){ .size = sizeof *found,
                                     .source = match.pair->source,
                                     .target = match.pair->target,
                                     .similarity = match.similarity };
    }
    if (n) s->similarity += found[0].similarity;
    if (same) s->n_same++;
    if (!copy_pairs(sentence, found, n)) {
        free(found);
        return tune_set_out_of_memory();
    }
    free(found);
    return EXIT_DONE;
}

/* Set the number of matches that a search returns. If some matches will be
 * left out, get all candidates. */
static int set_matches(struct tune_call *c, int max_pairs)
{
    const char *candidates = skmt_options_get(c->options, "candidates");
    int n = candidates && leaves_out(c) ? atoi(candidates) : 0;
    char text[16];
    skmt_error err;

    if (n < max_pairs) n = max_pairs;
    if (n > 1000) n = 1000;     /* the maximum of the option */
    snprintf(text, sizeof text, "%d", n);
    if (skmt_options_set(c->options, "matches", text, &err))
        /* The message begins with the name of the option. */
        return complain(EXIT_USAGE, "--%s", err.message);
    return EXIT_DONE;
}

/* The most pairs of a sentence that are needed. A network learns from as many
 * as skmt_trainer_add uses. */
static int most_pairs(const struct tune_call *c)
{
    const struct tune_axis *m = &c->axes[AXIS_M];

    return c->learn ? SKMT_TRAINER_PAIRS : (int)m->values[m->n - 1];
}

int tune_set_search(struct tune_call *c)
{
    int max_pairs = most_pairs(c), status = set_matches(c, max_pairs);
    struct tune_set *s = &c->set;
    skmt_matches *found;
    skmt_error err;

    progress_begin(&c->progress, "sentences", s->n_sentences, !c->quiet);
    c->progress.stage = "searching";
    for (size_t i = 0; !status && i < s->n_sentences; i++) {
        struct tune_sentence *sentence = &s->sentences[i];

        if (interrupt_signal()) status = tune_set_stopped();
        else if (skmt_tm_search(c->steering.tm, sentence->query, c->options,
                                c->model, &found, &err))
            status = tune_set_failed(&err);
        if (status) break;
        status = copy_matches(c, sentence, found, max_pairs);
        skmt_matches_free(found);
        progress_update(&c->progress, i + 1, i + 1);
    }
    progress_end(&c->progress);
    if (s->n_sentences) s->similarity /= (double)s->n_sentences;
    return status;
}

void tune_set_release(struct tune_set *s)
{
    for (size_t i = 0; i < s->n_sentences; i++) {
        free(s->sentences[i].query);
        free(s->sentences[i].pairs);
    }
    free(s->sentences);
    free(s->lines);
    textbuf_release(&s->text);
}
