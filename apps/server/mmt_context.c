/* mmt_context.c - ModernMT's /context-vector: the memories that fit a text.
 *
 * The weight of a memory is the mean, over lines of the text, of the similarity
 * of its best pair. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/textbuf.h"
#include "common/utf8_scan.h"
#include "languages.h"
#include "mmt.h"
#include "models.h"
#include "server.h"

enum {
    CONTEXT_LINES = 100,        /* lines that are searched for, at most */
    CONTEXT_MATCHES = 64,       /* pairs found for each */
    CONTEXT_BYTES = 4 << 20,    /* of a text, decompressed */
    CONTEXT_LIMIT = 10          /* memories in the answer */
};

struct context_memory {
    const struct memory_card *card;
    bool hinted;
    double best;                /* of the line that is searched for */
    double weight;
};
struct context {
    struct memory_cards cards;
    struct context_memory *list;        /* [cards.n] */
    json_t *hints;
};

/* ---- the text --------------------------------------------------------- */

static bool read_file(struct call *c, const struct upload *file,
                      struct textbuf *t)
{
    gzFile in = gzopen(file->path, "rb");       /* also reads plain files */
    char part[16384];
    int n = -1;

    while (in && t->len <= CONTEXT_BYTES &&
           (n = gzread(in, part, sizeof part)) > 0)
        textbuf_add(t, part, (size_t)n);
    if (in) gzclose(in);
    if (n < 0) call_fail(c, FAIL_ARGUMENT, "the file cannot be decompressed");
    else if (t->len > CONTEXT_BYTES)
        call_fail(c, FAIL_TEXT_LIMIT, "the text has more than %d bytes",
                  CONTEXT_BYTES);
    else if (t->len > 0 && (memchr(t->data, '\0', t->len) ||
                            utf8_first_bad(t->data, t->len) < t->len))
        call_fail(c, FAIL_ARGUMENT, "the file is not UTF-8 text");
    else
        return true;
    return false;
}

/* Reads the text, and ends it with a NUL. */
static bool context_text(struct call *c, struct textbuf *t)
{
    const struct upload *file = call_upload(c, "content");
    const char *text = call_arg(c, "text");

    if (!file && !text) {
        call_fail_field(c, "text", "Missing parameter text");
        return false;
    }
    if (!file) textbuf_adds(t, text);
    else if (file->bytes > 0 && !read_file(c, file, t)) return false;
    textbuf_add(t, "", 1);
    if (t->failed) call_fail(c, FAIL_INTERNAL, "out of memory");
    return !t->failed;
}

/* ---- weights ---------------------------------------------------------- */

static skmt_status search_line(struct context *x, skmt_tm *tm,
                               const skmt_options *options,
                               const skmt_model *model, const char *line,
                               skmt_error *err)
{
    skmt_matches *found;
    skmt_status status = skmt_tm_search(tm, line, options, model, &found, err);

    if (status) return status;
    for (int i = 0; i < x->cards.n; i++) x->list[i].best = 0;
    for (int k = 0; k < skmt_matches_count(found); k++) {
        skmt_match m = SKMT_INIT(skmt_match);

        skmt_matches_get(found, k, &m);
        for (int i = 0; i < x->cards.n; i++)
            if (!strcmp(x->list[i].card->name, m.pair->memory) &&
                m.similarity > x->list[i].best)
                x->list[i].best = m.similarity;
    }
    skmt_matches_free(found);
    for (int i = 0; i < x->cards.n; i++)
        x->list[i].weight += x->list[i].best;
    return SKMT_OK;
}

static int count_lines(const char *text)
{
    int n = 0;

    for (const char *s = text; *s; s += strcspn(s, "\n")) {
        s += strspn(s, " \t\r\n");
        if (*s) n++;
    }
    return n;
}

/* Searches for the lines; of a long text, for lines that are evenly spread. */
static skmt_status search_lines(struct call *c, struct context *x,
                                skmt_tm *tm, const skmt_options *options,
                                const skmt_model *model, char *text,
                                skmt_error *err)
{
    int lines = count_lines(text), at = 0, used = 0;
    int wanted = lines < CONTEXT_LINES ? lines : CONTEXT_LINES;
    skmt_status status = SKMT_OK;

    for (char *s = text, *end; *s && !status && !call_canceled(c); s = end) {
        end = s + strcspn(s, "\n");
        if (*end) *end++ = '\0';
        s += strspn(s, " \t\r");
        if (!*s) continue;
        if ((int64_t)at++ * wanted / lines < used) continue;
        used++;
        status = search_line(x, tm, options, model, s, err);
    }
    for (int i = 0; i < x->cards.n && used > 0; i++)
        x->list[i].weight /= used;
    return status;
}

static skmt_status context_search(struct call *c, struct context *x,
                                  const struct served_model *m, char *text,
                                  skmt_error *err)
{
    char matches[16];
    skmt_options *options;
    skmt_status status = models_copy_options(m, &options, err);
    skmt_tm *tm;

    if (status) return status;
    snprintf(matches, sizeof matches, "%d", CONTEXT_MATCHES);
    status = skmt_options_set(options, "matches", matches, err);
    if (!status) status = account_borrow_for(call_account(c), NULL, 0,
                                              m->source, m->target, &tm, err);
    if (!status && tm) {
        status = search_lines(c, x, tm, options, m->model, text, err);
        account_return(call_account(c), tm);
    }
    skmt_options_free(options);
    return status;
}

/* ---- the answer ------------------------------------------------------- */

/* Hinted memories first, then by weight. */
static int by_weight(const void *a, const void *b)
{
    const struct context_memory *x = a, *y = b;

    if (x->hinted != y->hinted) return x->hinted ? -1 : 1;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return x->card->id < y->card->id ? -1 : x->card->id > y->card->id;
}

static json_t *vector_json(const struct context *x, int64_t limit)
{
    struct textbuf t = { 0 };
    json_t *s;

    for (int i = 0; i < x->cards.n && i < limit; i++) {
        if (x->list[i].weight < 0.0005) continue;
        textbuf_addf(&t, "%s%lld:%.3f", t.len > 0 ? "," : "",
                     (long long)x->list[i].card->id, x->list[i].weight);
    }
    s = t.failed ? NULL : json_stringn(t.len > 0 ? t.data : "", t.len);
    textbuf_release(&t);
    return s;
}

static bool is_hinted(const struct context *x, const struct memory_card *card)
{
    char number[32];
    json_t *id;
    size_t i;

    snprintf(number, sizeof number, "%lld", (long long)card->id);
    json_array_foreach(x->hints, i, id)
        if (!strcmp(json_string_value(id), number) ||
            (*card->external_id &&
             !strcmp(json_string_value(id), card->external_id)))
            return true;
    return false;
}

static bool context_begin(struct call *c, struct context *x)
{
    skmt_error err;

    x->hints = mmt_ids(c, "hints");
    if (!x->hints) return false;
    if (account_has_memory(call_account(c)) &&
        memories_list(call_account(c), &x->cards, &err)) {
        call_fail_error(c, &err);
        return false;
    }
    x->list = calloc((size_t)x->cards.n + 1, sizeof *x->list);
    if (!x->list) {
        call_fail(c, FAIL_INTERNAL, "out of memory");
        return false;
    }
    for (int i = 0; i < x->cards.n; i++) {
        x->list[i].card = &x->cards.list[i];
        x->list[i].hinted = is_hinted(x, &x->cards.list[i]);
    }
    return true;
}

static void context_end(struct context *x)
{
    memories_release(&x->cards);
    free(x->list);
    json_decref(x->hints);
}

/* The vector for one target. NULL after it has failed the call. */
static json_t *context_vector(struct call *c, const char *source,
                              const char *target, const char *text,
                              int64_t limit)
{
    const struct served_model *m =
        models_find(call_server(c)->models, source, target);
    struct context x = { 0 };
    char *copy = strdup(text);
    json_t *vector = NULL;
    skmt_error err;

    if (!copy) call_fail(c, FAIL_INTERNAL, "out of memory");
    if (copy && context_begin(c, &x)) {
        if (x.cards.n > 0 && context_search(c, &x, m, copy, &err)) {
            call_fail_error(c, &err);
        } else {
            if (x.cards.n > 0)
                qsort(x.list, (size_t)x.cards.n, sizeof *x.list, by_weight);
            vector = vector_json(&x, limit);
            if (!vector) call_fail(c, FAIL_INTERNAL, "out of memory");
        }
    }
    context_end(&x);
    free(copy);
    return vector;
}

/* One vector for each target, under the name that the client gave it. */
static void context_answer(struct call *c, const char *source,
                           const json_t *targets, const char *text,
                           int64_t limit)
{
    json_t *vectors = json_object(), *vector;
    const json_t *target;
    size_t i;

    json_array_foreach(targets, i, target) {
        const char *written = json_string_value(target);
        const char *code = skmt_language_code(written);

        if (!code || !language_is_served(call_server(c), source, code)) {
            call_fail(c, FAIL_LANGUAGE, "%.40s is not supported", written);
            break;
        }
        vector = context_vector(c, source, code, text, limit);
        if (!vector) break;
        json_object_set_new(vectors, written, vector);
    }
    if (i < json_array_size(targets))
        json_decref(vectors);
    else
        mmt_reply(c, json_pack("{s:s,s:o}", "source", source,
                               "vectors", vectors));
}

void mmt_context_vector(struct call *c)
{
    struct textbuf text = { 0 };
    const char *source;
    int64_t limit = CONTEXT_LIMIT;
    json_t *targets;

    if (!mmt_language(c, "source", true, &source)) return;
    if (call_arg_int(c, "limit", 1, 1000, &limit) < 0) {
        call_fail_field(c, "limit", "parameter limit must be 1 to 1000");
        return;
    }
    targets = mmt_ids(c, "targets");
    if (targets && json_array_size(targets) == 0) {
        json_decref(targets);
        targets = mmt_ids(c, "target");
    }
    if (targets && json_array_size(targets) == 0)
        call_fail_field(c, "targets", "Missing parameter targets");
    else if (targets && context_text(c, &text))
        context_answer(c, source, targets, text.data, limit);
    json_decref(targets);
    textbuf_release(&text);
}
