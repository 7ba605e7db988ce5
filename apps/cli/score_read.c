/* score_read.c - reads the files of skmt score and computes the scores.
 *
 * The references are read into memory. Then each file of translations is read
 * line by line and compared with them. The score handles of all files are
 * kept, because the later files are compared with the first. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "score_call.h"

#define LINES_MAX ((size_t)100000000)   /* of references */

/* ---- lines -------------------------------------------------------------- */

struct text_line {
    const char *file;           /* file name for messages */
    uint64_t number;            /* from 1 */
    const char *text;
    size_t len;
};

static int score_read_bad_line(const struct text_line *line, const char *why)
{
    fprintf(stderr, "%s:%" PRIu64 ": %s\n", line->file, line->number, why);
    return EXIT_TROUBLE;
}

static int score_out_of_memory(void)
{
    return complain(EXIT_TROUBLE, "out of memory");
}

typedef int line_fn(struct score_call *c, const struct text_line *line,
                    void *user);

/* Call fn for every line of a file, until it returns something else than
 * EXIT_DONE. */
static int score_read_each_line(struct score_call *c, const char *file,
                                line_fn *fn, void *user)
{
    struct text_line line = { strcmp(file, "-") ? file : "standard input",
                              0, NULL, 0 };
    int status = EXIT_DONE;
    skmt_lines *in;
    skmt_error err;

    if (skmt_lines_open(&in, file, &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    while (!status) {
        if (skmt_lines_next(in, &line.text, &line.len, &err))
            status = complain(EXIT_TROUBLE, "%s", err.message);
        if (status || !line.text) break;
        line.number++;
        status = fn(c, &line, user);
    }
    skmt_lines_close(in);
    return status;
}

/* Get a column of a line; column 0 is the whole line. Returns false if the line
 * has fewer columns. */
static bool get_column(const struct text_line *line, long column,
                       const char **text, size_t *len)
{
    const char *at = line->text, *end = line->text + line->len, *tab;

    for (long i = 1; i < column; i++) {
        at = memchr(at, '\t', (size_t)(end - at));
        if (!at) return false;
        at++;
    }
    tab = column ? memchr(at, '\t', (size_t)(end - at)) : NULL;
    *text = at;
    *len = (size_t)((tab ? tab : end) - at);
    return true;
}

/* ---- references --------------------------------------------------------- */

/* Make room for one more item. Returns the items, which may have moved; or NULL
 * if out of memory, and then they are unchanged. */
static void *score_read_make_room(void *items, size_t n, size_t *cap,
                                  size_t size)
{
    size_t more = *cap ? *cap * 2 : 1024;
    void *grown;

    if (n < *cap) return items;
    grown = more > SIZE_MAX / size ? NULL : realloc(items, more * size);
    if (grown) *cap = more;
    return grown;
}

static bool score_read_same_document(const struct score_call *c, const char *id,
                                     size_t len)
{
    const struct document *d;

    if (!c->n_documents) return false;
    d = &c->documents[c->n_documents - 1];
    return d->id_len == len && !memcmp(c->ids.data + d->id, id, len);
}

/* Begin a new document if the line names another one than the last line. */
static int add_document(struct score_call *c, const struct text_line *line)
{
    struct document *grown;
    const char *id;
    size_t len;

    if (!c->docs) return EXIT_DONE;
    get_column(line, 1, &id, &len);
    if (!len)
        return score_read_bad_line(
            line, "the first column, the name of the document, is empty");
    if (score_read_same_document(c, id, len)) return EXIT_DONE;
    grown = score_read_make_room(c->documents, c->n_documents,
                                 &c->cap_documents, sizeof *grown);
    if (!grown) return score_out_of_memory();
    c->documents = grown;
    c->documents[c->n_documents++] =
        (struct document){ c->n_refs, c->ids.len, len };
    textbuf_add(&c->ids, id, len);
    if (!c->ids.failed) return EXIT_DONE;
    return complain(EXIT_TROUBLE, "%s", textbuf_why(&c->ids));
}

static int add_reference(struct score_call *c, const struct text_line *line,
                         void *user)
{
    const char *text;
    size_t len, *ends;
    int status;

    (void)user;
    if (!get_column(line, c->column, &text, &len)) {
        char why[64];

        snprintf(why, sizeof why, "there is no column %ld", c->column);
        return score_read_bad_line(line, why);
    }
    status = add_document(c, line);
    if (status) return status;
    if (c->n_refs == LINES_MAX)
        return score_read_bad_line(line,
                                   "the file has more than 100 million lines");
    ends = score_read_make_room(c->ends, c->n_refs, &c->cap_refs, sizeof *ends);
    if (!ends) return score_out_of_memory();
    c->ends = ends;
    textbuf_add(&c->refs, text, len);
    if (c->refs.failed)
        return complain(EXIT_TROUBLE, "%s", textbuf_why(&c->refs));
    c->ends[c->n_refs++] = c->refs.len;
    return EXIT_DONE;
}

struct document_name { const char *id; size_t len, first; };

static int score_read_by_name(const void *a, const void *b)
{
    const struct document_name *left = a, *right = b;
    size_t len = left->len < right->len ? left->len : right->len;
    int order = memcmp(left->id, right->id, len);

    if (!order) order = (left->len > right->len) - (left->len < right->len);
    if (order) return order;
    return (left->first > right->first) - (left->first < right->first);
}

/* Check that the lines of each document are consecutive. Otherwise a document
 * would be counted as two. */
static int score_read_check_documents(const struct score_call *c)
{
    struct document_name *all = calloc(c->n_documents + 1, sizeof *all);
    int status = EXIT_DONE;

    if (!all) return score_out_of_memory();
    for (size_t i = 0; i < c->n_documents; i++)
        all[i] = (struct document_name){ c->ids.data + c->documents[i].id,
                                         c->documents[i].id_len,
                                         c->documents[i].first };
    if (c->n_documents)
        qsort(all, c->n_documents, sizeof *all, score_read_by_name);
    for (size_t i = 1; !status && i < c->n_documents; i++)
        if (all[i].len == all[i - 1].len
            && !memcmp(all[i].id, all[i - 1].id, all[i].len)) {
            fprintf(stderr, "%s:%zu: this line belongs to the document of "
                    "line %zu; the lines of a document must be consecutive\n",
                    c->ref, all[i].first + 1, all[i - 1].first + 1);
            status = EXIT_TROUBLE;
        }
    free(all);
    return status;
}

static void ref_at(const struct score_call *c, size_t i, const char **text,
                   size_t *len)
{
    size_t begin = i ? c->ends[i - 1] : 0;

    assert(i < c->n_refs && begin <= c->ends[i]);
    *text = c->refs.data ? c->refs.data + begin : "";
    *len = c->ends[i] - begin;
}

/* ---- translations ------------------------------------------------------- */

struct score_reader {
    skmt_score *score;
    skmt_words *words;          /* NULL without --words */
    size_t at, document;        /* the next line; the next document */
};

static int score_read_add_line(struct score_call *c,
                               const struct text_line *line, void *user)
{
    struct score_reader *r = user;
    skmt_status st;
    const char *ref;
    skmt_error err;
    size_t len;

    if (r->at == c->n_refs)
        return complain(EXIT_TROUBLE, "%s has more lines than %s, which has "
                        "%zu", line->file, c->ref, c->n_refs);
    if (r->document < c->n_documents
        && c->documents[r->document].first == r->at) {
        skmt_score_document(r->score);
        r->document++;
    }
    ref_at(c, r->at, &ref, &len);
    st = skmt_score_add(r->score, line->text, line->len, ref, len, &err);
    if (!st && r->words)
        st = skmt_words_add(r->words, line->text, line->len, ref, len, &err);
    if (st) return score_read_bad_line(line, err.message);
    r->at++;
    return EXIT_DONE;
}

static int count_line_words(struct score_call *c,
                            const struct text_line *line, void *user)
{
    skmt_error err;

    (void)c;
    if (skmt_words_learn(user, line->text, line->len, &err))
        return score_read_bad_line(line, err.message);
    return EXIT_DONE;
}

static int count_ref_words(struct score_call *c, skmt_words *words)
{
    struct text_line line = { c->ref, 0, NULL, 0 };
    int status = EXIT_DONE;

    for (size_t i = 0; !status && i < c->n_refs; i++) {
        ref_at(c, i, &line.text, &line.len);
        line.number = i + 1;
        status = count_line_words(c, &line, words);
    }
    return status;
}

/* Count the frequencies of words in the corpus or the references. *words is
 * NULL without --words. */
static int count_words(struct score_call *c, skmt_words **words)
{
    skmt_error err;

    *words = NULL;
    if (!c->words) return EXIT_DONE;
    if (skmt_words_new(words, &err))
        return complain(EXIT_TROUBLE, "%s", err.message);
    return c->freq_corpus ? score_read_each_line(c, c->freq_corpus,
                                                 count_line_words, *words)
                          : count_ref_words(c, *words);
}

/* Copy the results of a file and prepare the handle for the next one. */
static void copy_word_results(struct score_call *c, struct score_file *f,
                              skmt_words *words)
{
    int n = 0;

    if (!words) return;
    for (; n < FREQUENCIES_MAX; n++) {
        f->words[n] = SKMT_INIT(skmt_words_info);
        if (!skmt_words_get(words, n, &f->words[n])) break;
    }
    c->n_frequencies = n;
    skmt_words_reset(words);
}

static int read_file(struct score_call *c, struct score_file *f,
                     skmt_words *words)
{
    struct score_reader r = { .words = words };
    skmt_error err;
    int status;

    if (skmt_score_new(&r.score, c->metrics, &err))
        return complain(err.status == SKMT_ERR_ARGUMENT ? EXIT_USAGE
                                                        : EXIT_TROUBLE,
                        "%s", err.message);
    f->scores[0] = r.score;
    status = score_read_each_line(c, f->name, score_read_add_line, &r);
    if (!status && r.at < c->n_refs)
        status = complain(EXIT_TROUBLE, "%s has %zu lines, but %s has %zu",
                          f->name, r.at, c->ref, c->n_refs);
    if (!status) copy_word_results(c, f, words);
    return status;
}

static int read_files(struct score_call *c)
{
    skmt_words *words;
    int status = count_words(c, &words);

    for (int i = 0; !status && i < c->n_files; i++)
        status = read_file(c, &c->files[i], words);
    skmt_words_free(words);
    return status;
}

/* ---- groups ------------------------------------------------------------- */

/* Set the range of lengths of a group, and its label. */
static void set_group_range(struct score_group *g, size_t min, size_t max)
{
    g->min_lines = min;
    g->max_lines = max;
    if (max == SIZE_MAX) snprintf(g->label, sizeof g->label, ">%zu", min - 1);
    else if (min == max) snprintf(g->label, sizeof g->label, "%zu", max);
    else snprintf(g->label, sizeof g->label, "%zu-%zu", min, max);
}

static size_t document_lines(const struct score_call *c, size_t document)
{
    size_t end = document + 1 < c->n_documents
                     ? c->documents[document + 1].first : c->n_refs;

    return end - c->documents[document].first;
}

static void count_group(const struct score_call *c, struct score_group *g)
{
    g->lines = g->documents = 0;
    for (size_t d = 0; d < c->n_documents; d++) {
        size_t lines = document_lines(c, d);

        if (lines < g->min_lines || lines > g->max_lines) continue;
        g->lines += lines;
        g->documents++;
    }
}

/* Make a group for each range of lengths that has documents, and the last one
 * for all lines. */
static void make_groups(struct score_call *c)
{
    struct score_group *g = c->groups;

    for (int i = 0; c->docs && i <= c->n_bounds; i++) {
        set_group_range(g, i ? c->bounds[i - 1] + 1 : 1,
                        i < c->n_bounds ? c->bounds[i] : SIZE_MAX);
        count_group(c, g);
        if (g->documents) g++;
    }
    *g = (struct score_group){ "all", 1, SIZE_MAX, c->n_refs, c->n_documents };
    c->n_groups = (int)(g - c->groups) + 1;
    assert(c->n_groups <= GROUPS_MAX);
}

/* Make the handles of the groups. scores[0] was used to read all lines; it
 * becomes the handle of the last group. */
static int select_groups(struct score_call *c, struct score_file *f)
{
    skmt_score *all = f->scores[0];
    skmt_error err;

    f->scores[0] = NULL;
    f->scores[c->n_groups - 1] = all;
    for (int g = 0; g < c->n_groups - 1; g++)
        if (skmt_score_select(&f->scores[g], all, c->groups[g].min_lines,
                              c->groups[g].max_lines, &err))
            return complain(EXIT_TROUBLE, "%s", err.message);
    return EXIT_DONE;
}

/* ---- results ------------------------------------------------------------ */

bool is_r_indicator(const char *metric)
{
    return !strcmp(metric, "r") || !strcmp(metric, "r-all");
}

/* Compute a result. first: the handle of the first file, to compare with. */
static int compute_result(const struct score_call *c, skmt_score *s,
                          const skmt_score *first, struct score_result *r)
{
    uint64_t seed = (uint64_t)c->seed;
    int resamples = (int)c->resamples;
    skmt_status st;
    skmt_error err;

    r->has_interval = resamples && skmt_score_size(s, NULL);
    r->has_p = r->has_interval && s != first;
    st = skmt_score_get(s, r->metric, &r->score, &err);
    if (!st && r->has_interval)
        st = skmt_score_interval(s, r->metric, resamples, seed, &r->low,
                                 &r->high, &err);
    if (!st && r->has_p)
        st = skmt_score_compare(first, s, r->metric, resamples, seed, &r->p,
                                &err);
    return st ? complain(EXIT_TROUBLE, "%s", err.message) : EXIT_DONE;
}

static int compute_results(struct score_call *c, struct score_file *f)
{
    int status = EXIT_DONE;

    f->results = calloc((size_t)(c->n_groups * c->n_metrics) + 1,
                        sizeof *f->results);
    if (!f->results) return score_out_of_memory();
    for (int g = 0; g < c->n_groups; g++)
        for (int k = 0; !status && k < c->n_metrics; k++) {
            struct score_result *r = &f->results[g * c->n_metrics + k];

            r->metric = skmt_score_metric(f->scores[g], k, &r->title,
                                          &r->signature);
            status = compute_result(c, f->scores[g], c->files[0].scores[g], r);
        }
    return status;
}

int score_read(struct score_call *c)
{
    int status = score_read_each_line(c, c->ref, add_reference, NULL);

    if (!status) status = score_read_check_documents(c);
    if (!status) status = read_files(c);
    if (status) return status;
    make_groups(c);
    while (skmt_score_metric(c->files[0].scores[0], c->n_metrics, NULL, NULL))
        c->n_metrics++;
    for (int i = 0; !status && i < c->n_files; i++)
        status = select_groups(c, &c->files[i]);
    for (int i = 0; !status && i < c->n_files; i++)
        status = compute_results(c, &c->files[i]);
    return status;
}
