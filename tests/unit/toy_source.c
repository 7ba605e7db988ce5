/* toy_source.c - a source of pairs that is an array in main memory. Pair i has
 * the id i + 1. The log has an entry for each add and each removal, so the
 * length of the log is the mark. Running out of memory ends the test. */
#include "toy_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

enum { MOST = 1000 };

struct toy_pair {
    char *source, *target;
    bool tagged, removed;
    int memory;
};

struct toy_source {
    struct pair_source source;
    uint64_t identity;
    struct memory_info memories[2];
    struct toy_pair pairs[MOST];
    size_t n;
    struct source_change log[2 * MOST];
    size_t n_log;
    struct candidate_texts texts[MOST]; /* of the last find */
};

static struct toy_source *toy_of(struct pair_source *s)
{
    return (struct toy_source *)s;
}

/* ---- finding ------------------------------------------------------------- */

static bool has_word(const char *text, struct str word)
{
    for (const char *p = text; *p; p += strspn(p, " ")) {
        struct str w = { p, strcspn(p, " ") };

        if (str_eq(w, word)) return true;
        p += w.n;
    }
    return false;
}

static double common_words(const char *text, struct str query)
{
    double n = 0;

    while (query.n) {
        const char *space = memchr(query.p, ' ', query.n);
        struct str w = { query.p, space ? (size_t)(space - query.p)
                                        : query.n };

        n += w.n && has_word(text, w);
        query.p += w.n + (space != NULL);
        query.n -= w.n + (space != NULL);
    }
    return n;
}

struct scored { double score; size_t pair; };

static int by_score(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;

    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return x->pair < y->pair ? -1 : x->pair > y->pair;
}

static bool add_candidates(struct toy_source *t, int memory,
                           const struct source_query *q,
                           struct candidates *out)
{
    struct scored best[MOST];
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++) {
        const struct toy_pair *p = &t->pairs[i];
        double score = common_words(p->source, q->text);

        if (p->removed || p->memory != memory || !(score > 0)) continue;
        best[n++] = (struct scored){ score, i };
    }
    qsort(best, n, sizeof *best, by_score);
    if (!candidates_begin_list(out, &t->memories[memory], 0)) return false;
    for (size_t i = 0; i < n && i < q->top; i++)
        if (!candidates_add(out, (int64_t)best[i].pair + 1, best[i].score,
                            &t->texts[best[i].pair]))
            return false;
    return true;
}

static enum status toy_find(struct pair_source *s,
                            const struct source_query *q,
                            struct candidates *out, struct err *e)
{
    struct toy_source *t = toy_of(s);

    for (size_t i = 0; i < t->n; i++)
        t->texts[i] = (struct candidate_texts){ str_of(t->pairs[i].source),
                                                str_of(t->pairs[i].target),
                                                t->pairs[i].tagged };
    for (int m = 0; m < 2; m++)
        if (!add_candidates(t, m, q, out))
            return err_nomem(e, "candidates");
    return ST_OK;
}

/* ---- fetching ------------------------------------------------------------ */

static struct source_pair toy_pair(struct toy_source *t, int64_t id)
{
    const struct toy_pair *p = &t->pairs[id - 1];
    struct unit u = { .source = str_of(p->source), .target = str_of(p->target),
                      .tagged = p->tagged };
    struct memory_info *m = &t->memories[p->memory];

    return (struct source_pair){
        .found = true, .memory = m, .occurrences = 1,
        .pair = { .id = id, .memory = m->id, .text = id, .unit = u },
        .confirmed = { .time = (double)id, .pair = id, .batch = 1,
                       .occurrences = 1 } };
}

static enum status toy_fetch(struct pair_source *s, const struct source_want *w,
                             size_t n, source_fetch_fn *fn, void *user,
                             struct err *e)
{
    struct toy_source *t = toy_of(s);
    enum status st = ST_OK;

    for (size_t i = 0; !st && i < n; i++) {
        struct source_pair p = { .found = false };

        if (w[i].id > 0 && w[i].id <= (int64_t)t->n &&
            !t->pairs[w[i].id - 1].removed)
            p = toy_pair(t, w[i].id);
        st = fn(user, i, &p, e);
    }
    return st;
}

/* ---- changes ------------------------------------------------------------- */

static enum status toy_changes(struct pair_source *s, struct source_mark *mark,
                               source_change_fn *fn, void *user,
                               enum source_news *news, struct err *e)
{
    struct toy_source *t = toy_of(s);
    bool reset = !mark->memories;

    (void)e;
    *news = reset ? SOURCE_RESET
          : mark->change < t->n_log ? SOURCE_CHANGED : SOURCE_SAME;
    for (size_t i = mark->change; fn && i < t->n_log; i++) {
        const struct source_change *c = &t->log[i];

        if (reset && (c->removed || t->pairs[c->id - 1].removed)) continue;
        if (fn(user, c)) return ST_CANCELED;
    }
    *mark = (struct source_mark){ .change = t->n_log, .memories = 1 };
    return ST_OK;
}

static uint64_t toy_identity(struct pair_source *s)
{
    return toy_of(s)->identity;
}

static const struct source_ops toy_ops = {
    .find = toy_find, .fetch = toy_fetch, .changes = toy_changes,
    .identity = toy_identity
};

/* ---- making and changing it ---------------------------------------------- */

struct toy_source *toy_source_new(uint64_t identity)
{
    struct toy_source *t = calloc(1, sizeof *t);

    if (!t) return NULL;
    t->source.ops = &toy_ops;
    t->identity = identity;
    t->memories[0] = (struct memory_info){ .id = 1, .name = "main" };
    t->memories[1] = (struct memory_info){ .id = 2, .name = "second",
                                           .priority = 1 };
    return t;
}

void toy_source_free(struct toy_source *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->n; i++) {
        free(t->pairs[i].source);
        free(t->pairs[i].target);
    }
    free(t);
}

struct pair_source *toy_source_of(struct toy_source *t) { return &t->source; }

int64_t toy_source_add(struct toy_source *t, int memory, const char *source,
                       const char *target, bool tagged)
{
    int64_t id = (int64_t)t->n + 1;

    assert(t->n < MOST && (memory == 0 || memory == 1));
    t->pairs[t->n++] = (struct toy_pair){ strdup(source), strdup(target),
                                          tagged, false, memory };
    t->log[t->n_log++] = (struct source_change){ false, id };
    return id;
}

void toy_source_remove(struct toy_source *t, int64_t id)
{
    assert(id > 0 && id <= (int64_t)t->n && !t->pairs[id - 1].removed);
    t->pairs[id - 1].removed = true;
    t->log[t->n_log++] = (struct source_change){ true, id };
}
