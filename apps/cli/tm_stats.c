/* tm_stats.c - skmt tm stats: prints the size of a memory, and how well it
 * covers a text.
 *
 * With --against, the similarity of each line to its most similar stored source
 * is counted in a histogram with steps of 0.1. The paper "Simple and Scalable
 * Nearest Neighbor Machine Translation" (2023) uses the same table to show
 * where a memory helps. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/jput.h"
#include "tm_call.h"
#include "tm_print.h"

#define BUCKETS 10
#define BAR_WIDTH 40

struct histogram {
    int64_t count[BUCKETS];     /* [0, 0.1) .. [0.9, 1] */
    int64_t lines, exact;
    double sum, seconds;
    const char *unit;           /* "pieces" or "words" */
};

struct stats_context {
    struct histogram *h;
    struct progress progress;
    uint64_t bytes;             /* of the file read so far */
};

/* ---- properties of the memory ----------------------------------------- */

static void tm_stats_put_name(struct textbuf *t, const char *name)
{
    size_t at = t->len;

    textbuf_addf(t, "%-16s ", name);
    for (; at < t->len; at++)
        if (t->data[at] == '_') t->data[at] = ' ';
}

static void put_memory(struct textbuf *t, const skmt_tm_info *m)
{
    tm_stats_put_name(t, "memory");
    put_visible(t, m->name, strlen(m->name));
    textbuf_adds(t, ": ");
    put_noun(t, m->pairs, "pair", "pairs");
    textbuf_adds(t, ", ");
    put_noun(t, m->texts, "text", "texts");
    textbuf_adds(t, ", ");
    put_count(t, m->source_bytes);
    textbuf_adds(t, " + ");
    put_count(t, m->target_bytes);
    textbuf_addf(t, " bytes, %.30s > %.30s",
                 m->source_lang[0] ? m->source_lang : "?",
                 m->target_lang[0] ? m->target_lang : "?");
    textbuf_adds(t, "\n");
}

static void tm_stats_put_facts(struct tm_call *c)
{
    struct textbuf *t = &c->out;
    const char *name;
    int64_t value;

    for (int i = 0; (name = skmt_tm_stat(c->tm, i, &value)); i++) {
        if (c->json) {
            jput_int_field(t, name, value);
        } else {
            tm_stats_put_name(t, name);
            put_count(t, value);
            textbuf_adds(t, "\n");
        }
    }
}

static int tm_stats_put_all(struct tm_call *c)
{
    struct textbuf *t = &c->out;
    int status;

    if (c->json) {
        jput_text_field(t, "file", c->path);
        jput_key(t, "memories");
        jput_array(t);
    } else {
        tm_stats_put_name(t, "file");
        textbuf_adds(t, c->path);
        textbuf_adds(t, "\n");
    }
    if ((status = tm_put_memories(c, put_memory))) return status;
    if (c->json) jput_array_end(t);
    tm_stats_put_facts(c);
    return EXIT_DONE;
}

/* ---- the histogram ---------------------------------------------------- */

/* Count a similarity. The addend 1e-9 is for values such as 1 - 9/10, which is
 * slightly below 0.1 but belongs to the bucket that begins at 0.1. */
static void tm_stats_count(struct histogram *h, double similarity)
{
    int bucket = (int)(similarity * BUCKETS + 1e-9);

    assert(bucket >= 0);
    h->count[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
    h->lines++;
    h->sum += similarity;
    if (similarity >= 1 - 1e-9) h->exact++;
}

/* Search for the first column of a line and count the similarity of the best
 * match, or 0 if there is none. Blank lines are not counted. */
static int tm_stats_measure(struct tm_call *c, struct input_line *line,
                            struct histogram *h)
{
    skmt_matches *m;
    skmt_match best = SKMT_INIT(skmt_match);
    skmt_error err;

    if (memchr(line->text, 0, line->len))
        return tm_bad_line(line, "the line contains a NUL byte");
    line->text[strcspn(line->text, "\t")] = 0;
    if (!line->text[strspn(line->text, " ")]) return EXIT_DONE;
    if (skmt_tm_search(c->tm, line->text, c->options, c->model, &m, &err)) {
        if (err.status != SKMT_ERR_TEXT) return tm_failed(c, &err);
        return tm_bad_line(line, err.message);
    }
    if (skmt_matches_count(m) > 0) skmt_matches_get(m, 0, &best);
    tm_stats_count(h, best.similarity);
    skmt_matches_free(m);
    return EXIT_DONE;
}

static uint64_t file_bytes(const char *path)
{
    struct stat file;

    return !strcmp(path, "-") || stat(path, &file) || !S_ISREG(file.st_mode)
               ? 0 : (uint64_t)file.st_size;
}

static int measure_line(struct tm_call *c, struct input_line *line, void *user)
{
    struct stats_context *s = user;
    int status = tm_stats_measure(c, line, s->h);

    s->bytes += line->bytes;
    progress_update(&s->progress, s->bytes, (uint64_t)s->h->lines);
    return status;
}

static int measure_lines(struct tm_call *c, const char *path,
                         struct histogram *h)
{
    struct stats_context s = { .h = h };
    int status;

    progress_begin(&s.progress, "lines", file_bytes(path),
                   !tm_has_option(c, "quiet"));
    status = tm_each_line(c, path, measure_line, &s);
    progress_end(&s.progress);
    return status;
}

static double tm_stats_share(const struct histogram *h, int64_t n)
{
    return h->lines ? (double)n / (double)h->lines : 0;
}

static void put_bucket(struct textbuf *t, const struct histogram *h, int i,
                       int64_t max_count)
{
    int width = 0;
    char bar[BAR_WIDTH + 1];

    if (max_count)
        width = (int)((h->count[i] * BAR_WIDTH + max_count - 1) / max_count);
    memset(bar, '#', sizeof bar);
    textbuf_addf(t, "[%.1f, %.1f%c", i / 10.0, (i + 1) / 10.0,
                 i + 1 < BUCKETS ? ')' : ']');
    put_aligned(t, h->count[i], 12);
    textbuf_addf(t, "  %6.1f%%%s%.*s\n", 100 * tm_stats_share(h, h->count[i]),
                 width ? "  " : "", width, bar);
}

static void put_histogram(struct textbuf *t, const struct histogram *h)
{
    int64_t max_count = 0;

    for (int i = 0; i < BUCKETS; i++)
        if (h->count[i] > max_count) max_count = h->count[i];
    textbuf_addf(t, "\nsimilarity       lines  percent  in %s\n", h->unit);
    for (int i = 0; i < BUCKETS; i++) put_bucket(t, h, i, max_count);
    textbuf_adds(t, "all       ");
    put_aligned(t, h->lines, 12);
    textbuf_addf(t, "           mean %.3f, exact ",
                 h->lines ? h->sum / (double)h->lines : 0.0);
    put_count(t, h->exact);
    textbuf_adds(t, "\n");
    textbuf_addf(t, "%.2f s, %.2f ms per line\n", h->seconds,
                 h->lines ? 1000 * h->seconds / (double)h->lines : 0.0);
}

static void jput_histogram(struct textbuf *t, const struct histogram *h)
{
    jput_key(t, "similarity");
    jput_object(t);
    jput_text_field(t, "unit", h->unit);
    jput_int_field(t, "sentences", h->lines);
    jput_int_field(t, "exact", h->exact);
    jput_number_field(t, "mean", h->lines ? h->sum / (double)h->lines : 0);
    jput_number_field(t, "seconds", h->seconds);
    jput_key(t, "buckets");
    jput_array(t);
    for (int i = 0; i < BUCKETS; i++) {
        jput_object(t);
        jput_fixed_field(t, "from", i / 10.0, 1);
        jput_fixed_field(t, "to", (i + 1) / 10.0, 1);
        jput_int_field(t, "count", h->count[i]);
        jput_number_field(t, "share", tm_stats_share(h, h->count[i]));
        jput_object_end(t);
    }
    jput_array_end(t);
    jput_object_end(t);
}

static int measure_all(struct tm_call *c, const char *path,
                       struct histogram *h)
{
    double begin = wall_seconds();
    int status;

    /* Only the best match is counted. */
    skmt_options_set(c->options, "matches", "1", NULL);
    h->unit = c->model ? "pieces" : "words";
    status = measure_lines(c, path, h);
    h->seconds = wall_seconds() - begin;
    return status;
}

/* The searches run first because they may create index files, which the
 * properties count. */
int cmd_tm_stats(struct tm_call *c)
{
    const char *against = tm_value(c, "against");
    struct histogram h = { .lines = 0 };
    int status = tm_open_search(c, against != NULL);

    if (!status && against) status = measure_all(c, against, &h);
    if (!status && c->json) jput_object(&c->out);
    if (!status) status = tm_stats_put_all(c);
    if (status) return status;
    if (against && c->json) jput_histogram(&c->out, &h);
    if (against && !c->json) put_histogram(&c->out, &h);
    if (c->json) jput_line_end(&c->out);
    return tm_print(c);
}
