/* tune_set.c - the lines that skmt tune translates or a network learns from:
 * picks pairs of the memory, and searches it for pairs similar to the sentences
 * of the lines.
 *
 * Invariant: sentences are in the order of their lines, and set.text does not
 * move once the lines are read, because sentences point into it. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/steering.h"
#include "tune_set.h"

static skmt_status tune_set_out_of_memory(skmt_error *err)
{
    *err = (skmt_error){ .status = SKMT_ERR_NOMEM,
                         .message = "out of memory" };
    return SKMT_ERR_NOMEM;
}

static skmt_status tune_set_step(const struct tune_watch *w,
                                 enum tune_work work, size_t done,
                                 size_t total, skmt_error *err)
{
    if (w->go_on(w->user, work, done, total)) return SKMT_OK;
    *err = (skmt_error){ .status = SKMT_ERR_CANCELED, .message = "canceled" };
    return SKMT_ERR_CANCELED;
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

bool tune_set_add_line(struct tune_set *s, uint64_t number, const char *source,
                       size_t source_len, const char *target,
                       size_t target_len)
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

size_t tune_set_spread(size_t i, size_t n, size_t n_all)
{
    assert(i < n && n <= n_all);
    return (size_t)((2 * (double)i + 1) * (double)n_all / (2 * (double)n));
}

/* ---- pairs of the memory ---------------------------------------------- */

/* Whether pairs are picked from a memory. Without names, all that fit the model
 * are used. */
static bool is_selected_memory(const struct tune_source *from,
                               const skmt_tm_info *m)
{
    for (int i = 0; i < from->n_names; i++)
        if (!strcmp(from->names[i], m->name)) return true;
    return !from->n_names && memory_fits_model(m, from->model, from->options);
}

/* A memory to pick from. */
struct picked_memory {
    char *name;                 /* owned */
    size_t n_pairs;             /* 0 if the memory is not selected */
    size_t n_newest;            /* the last ones, which are all picked */
};

static skmt_status picked_memory_get(struct picked_memory *m,
                                     const struct tune_source *from, int i,
                                     skmt_error *err)
{
    skmt_tm_info info = SKMT_INIT(skmt_tm_info);
    skmt_status st = skmt_tm_get_info(from->tm, i, &info, err);

    memset(m, 0, sizeof *m);
    if (st) return st;
    if (is_selected_memory(from, &info) && info.pairs > 0)
        m->n_pairs = (size_t)info.pairs;
    if (from->newest_of && !strcmp(from->newest_of, info.name))
        m->n_newest = from->n_newest;
    if (from->limit && m->n_newest > from->limit) m->n_newest = from->limit;
    if (m->n_newest > m->n_pairs) m->n_newest = m->n_pairs;
    m->name = strdup(info.name);
    return m->name ? SKMT_OK : tune_set_out_of_memory(err);
}

/* Picks pairs of all memories, spread evenly or at random, and the newest pairs
 * of one memory in addition. */
struct pair_picker {
    size_t n_all;               /* pairs of all selected memories, except the
                                   newest */
    size_t n;                   /* pairs to pick of them */
    size_t n_visited, n_picked; /* so far */
    size_t n_newest;
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

/* Whether to pick the next pair. At random, each set of n pairs has the same
 * probability (Knuth's algorithm S). */
static bool pick_next(struct pair_picker *p)
{
    size_t at = p->n_visited++;

    if (p->n_picked == p->n) return false;
    if (p->at_random && at < p->n_all)
        return random_below(&p->random, p->n_all - at) < p->n - p->n_picked;
    return at >= tune_set_spread(p->n_picked, p->n, p->n_all);
}

/* Visit pair number `at` of a memory, and add it to the lines if it is
 * picked. */
static skmt_status visit_pair(struct tune_set *s, struct pair_picker *p,
                              const struct picked_memory *m, size_t at,
                              const skmt_pair *pair, skmt_error *err)
{
    size_t source = strlen(pair->source), target = strlen(pair->target);

    if (at + m->n_newest < m->n_pairs) {
        if (!pick_next(p)) return SKMT_OK;
        p->n_picked++;
    }
    if (!source || !target ||
        tune_set_add_line(s, (uint64_t)pair->id, pair->source, source,
                          pair->target, target)) return SKMT_OK;
    return tune_set_out_of_memory(err);
}

/* Visit the pairs of a memory. The file may get more pairs meanwhile; they are
 * ignored. */
static skmt_status visit_pairs(struct tune_set *s, struct pair_picker *p,
                               const struct tune_source *from,
                               const struct picked_memory *m,
                               const struct tune_watch *w, skmt_error *err)
{
    skmt_pair pair = SKMT_INIT(skmt_pair);
    skmt_tm_cursor *cursor;
    int found = 1;
    skmt_status st = skmt_tm_cursor_open(&cursor, from->tm, m->name, err);

    for (size_t at = 0; !st && at < m->n_pairs; at++) {
        st = skmt_tm_cursor_next(cursor, &pair, &found, err);
        if (st || !found) break;
        if (p->n_picked == p->n && !m->n_newest) break;
        st = tune_set_step(w, WORK_PICK, at, m->n_pairs, err);
        if (!st) st = visit_pair(s, p, m, at, &pair, err);
    }
    skmt_tm_cursor_close(cursor);
    return st;
}

/* Call visit_pairs() for each memory, or, if w is NULL, only count. */
static skmt_status each_memory(struct tune_set *s, struct pair_picker *p,
                               const struct tune_source *from,
                               const struct tune_watch *w, skmt_error *err)
{
    int n = 0;
    skmt_status st = skmt_tm_count(from->tm, &n, err);

    for (int i = 0; !st && i < n; i++) {
        struct picked_memory m;

        st = picked_memory_get(&m, from, i, err);
        if (!st && w && m.n_pairs)
            st = visit_pairs(s, p, from, &m, w, err);
        if (!w) {
            p->n_all += m.n_pairs - m.n_newest;
            p->n_newest += m.n_newest;
        }
        free(m.name);
    }
    return st;
}

skmt_status tune_set_pick(struct tune_set *s, const struct tune_source *from,
                          const struct tune_watch *watch, skmt_error *err)
{
    struct pair_picker p = { .at_random = from->at_random,
                             .random = from->seed };
    skmt_status st = each_memory(s, &p, from, NULL, err);

    if (st) return st;
    s->from_memory = s->leave_out = true;
    s->n_all = p.n_all + p.n_newest;
    p.n = p.n_all;
    if (from->limit && from->limit - p.n_newest < p.n)
        p.n = from->limit - p.n_newest;
    return each_memory(s, &p, from, watch, err);
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

    if (!all) return false;
    s->sentences = all;
    assert(line < s->n && begin <= end && end <= s->lines[line].source_len);
    assert(!s->n_sentences || all[s->n_sentences - 1].line <= line);
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

bool tune_set_add_whole_lines(struct tune_set *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!tune_set_add_sentence(s, i, 0, s->lines[i].source_len))
            return false;
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

/* Whether a pair is left out (leave-one-out), because it is the one that is
 * being translated or has the same source. */
static bool is_left_out(const struct tune_set *s,
                        const struct tune_sentence *sentence,
                        const char *source)
{
    const struct tune_line *line = &s->lines[sentence->line];

    return s->leave_out
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
static skmt_status copy_matches(struct tune_set *s,
                                struct tune_sentence *sentence,
                                const skmt_matches *m, int max_pairs,
                                skmt_error *err)
{
    skmt_similar *found = calloc((size_t)max_pairs, sizeof *found);
    bool same = false, ok;
    int n = 0;

    if (!found) return tune_set_out_of_memory(err);
    for (int i = 0; i < skmt_matches_count(m) && n < max_pairs; i++) {
        skmt_match match = SKMT_INIT(skmt_match);

        skmt_matches_get(m, i, &match);
        if (is_left_out(s, sentence, match.pair->source)) continue;
        same = same || equal_trimmed(sentence->text, sentence->len,
                                     match.pair->source);
        found[n++] = (skmt_similar){ .size = sizeof *found,
                                     .source = match.pair->source,
                                     .target = match.pair->target,
                                     .similarity = match.similarity };
    }
    if (n) s->similarity += found[0].similarity;
    if (same) s->n_same++;
    ok = copy_pairs(sentence, found, n);
    free(found);
    return ok ? SKMT_OK : tune_set_out_of_memory(err);
}

/* Set the number of matches that a search returns. If some matches will be
 * left out, get all candidates. */
static skmt_status set_matches(const struct tune_set *s,
                               const struct tune_source *from, skmt_error *err)
{
    const char *candidates = skmt_options_get(from->options, "candidates");
    int n = candidates && s->leave_out ? atoi(candidates) : 0;
    char text[16];

    if (n < from->max_pairs) n = from->max_pairs;
    if (n > 1000) n = 1000;     /* the maximum of the option */
    snprintf(text, sizeof text, "%d", n);
    return skmt_options_set(from->options, "matches", text, err);
}

skmt_status tune_set_search(struct tune_set *s, const struct tune_source *from,
                            const struct tune_watch *watch, skmt_error *err)
{
    skmt_status st = set_matches(s, from, err);
    skmt_matches *found;

    for (size_t i = 0; !st && i < s->n_sentences; i++) {
        struct tune_sentence *sentence = &s->sentences[i];

        st = tune_set_step(watch, WORK_SEARCH, i, s->n_sentences, err);
        if (st) break;
        st = skmt_tm_search(from->tm, sentence->query, from->options,
                            from->model, &found, err);
        if (st) break;
        st = copy_matches(s, sentence, found, from->max_pairs, err);
        skmt_matches_free(found);
    }
    if (s->n_sentences) s->similarity /= (double)s->n_sentences;
    return st;
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
