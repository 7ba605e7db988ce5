/* knn_show.c - skmt knn info, sample and check: look at a datastore. */
#include <stdio.h>
#include <string.h>

#include "common/findmodel.h"
#include "common/interrupt.h"
#include "common/jput.h"
#include "knn_call.h"
#include "tm_print.h"

/* ---- info --------------------------------------------------------------- */

static void put_fact(struct knn_call *c, const char *name, const char *value)
{
    struct textbuf *t = &c->out;

    if (c->json) {
        jput_text_field(t, name, value);
        return;
    }
    textbuf_addf(t, "%-14s ", name);
    put_visible(t, value, strlen(value));
    textbuf_adds(t, "\n");
}

static void put_stat(struct knn_call *c, const char *name, int64_t value)
{
    struct textbuf *t = &c->out;

    if (c->json) {
        jput_int_field(t, name, value);
        return;
    }
    textbuf_addf(t, "%-14s ", name);
    put_count(t, value);
    textbuf_adds(t, "\n");
}

static int info_of_index(struct knn_call *c)
{
    const char *name, *fact;
    skmt_error err;
    skmt_index *ix;
    int64_t value;

    if (skmt_index_open(&ix, c->operands[0], &err)) return knn_failed(c, &err);
    if (c->json) jput_object(&c->out);
    put_fact(c, "file", c->operands[0]);
    for (int i = 0; (name = skmt_index_fact(ix, i, &fact)); i++)
        put_fact(c, name, fact);
    for (int i = 0; (name = skmt_index_stat(ix, i, &value)); i++)
        put_stat(c, name, value);
    if (c->json) jput_line_end(&c->out);
    skmt_index_close(ix);
    return knn_print(c);
}

int cmd_knn_info(struct knn_call *c)
{
    const char *name, *fact;
    int64_t value;
    int status;

    if (skmt_index_is(c->operands[0])) return info_of_index(c);
    status = knn_open_store(c, false);
    if (status) return status;
    if (c->json) jput_object(&c->out);
    put_fact(c, "file", c->operands[0]);
    for (int i = 0; (name = skmt_datastore_fact(c->ds, i, &fact)); i++)
        put_fact(c, name, fact);
    for (int i = 0; (name = skmt_datastore_stat(c->ds, i, &value)); i++)
        put_stat(c, name, value);
    if (c->json) jput_line_end(&c->out);
    return knn_print(c);
}

static int64_t store_stat(const struct knn_call *c, const char *wanted)
{
    const char *name;
    int64_t n;

    for (int i = 0; (name = skmt_datastore_stat(c->ds, i, &n)); i++)
        if (!strcmp(name, wanted)) return n;
    return 0;
}

/* ---- sample ------------------------------------------------------------- */

/* The target with the token in brackets: what is before it is what the state
 * has seen. */
static void put_target(struct textbuf *t, const skmt_entry *e)
{
    size_t n = strlen(e->target);

    if (!e->text[0]) {
        put_visible(t, e->target, n);
        return;
    }
    put_visible(t, e->target, (size_t)e->begin);
    textbuf_adds(t, "[");
    if (e->begin == e->end) textbuf_adds(t, e->text);
    else put_visible(t, e->target + e->begin, (size_t)(e->end - e->begin));
    textbuf_adds(t, "]");
    put_visible(t, e->target + e->end, n - (size_t)e->end);
}

static void put_entry(struct knn_call *c, const skmt_entry *e)
{
    struct textbuf *t = &c->out;

    textbuf_addf(t, "pair %lld", (long long)e->pair);
    if (e->id) textbuf_addf(t, " (id %lld)", (long long)e->id);
    textbuf_addf(t, ", position %d, token %d", e->position, e->token);
    if (e->text[0]) {
        textbuf_adds(t, " ");
        put_visible(t, e->text, strlen(e->text));
    }
    textbuf_addf(t, ", norm %.4g", e->norm);
    if (e->weight > 1) textbuf_addf(t, ", weight %.0f", e->weight);
    textbuf_adds(t, "\n    ");
    put_visible(t, e->source, strlen(e->source));
    textbuf_adds(t, "\n    ");
    put_target(t, e);
    textbuf_adds(t, "\n");
}

static void jput_entry(struct knn_call *c, const skmt_entry *e)
{
    struct textbuf *t = &c->out;

    jput_object(t);
    jput_int_field(t, "pair", e->pair);
    jput_int_field(t, "id", e->id);
    jput_text_field(t, "source", e->source);
    jput_text_field(t, "target", e->target);
    jput_int_field(t, "position", e->position);
    jput_int_field(t, "tokens", e->tokens);
    jput_int_field(t, "token", e->token);
    if (e->text[0]) {
        jput_text_field(t, "text", e->text);
        jput_int_field(t, "begin", e->begin);
        jput_int_field(t, "end", e->end);
    }
    jput_number_field(t, "norm", e->norm);
    jput_number_field(t, "weight", e->weight);
    jput_line_end(t);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

/* Find an entry at or after a random place. There is one. */
static void draw_entry(struct knn_call *c, int64_t stored, uint64_t *state,
                       skmt_entry *e)
{
    int64_t at = (int64_t)(next_random(state) >> 11) % stored;

    while (!skmt_datastore_entry(c->ds, at, e)) at = (at + 1) % stored;
}

static int sample_entries(struct knn_call *c, int64_t n, int64_t seed)
{
    uint64_t state = (uint64_t)seed * 0x9e3779b97f4a7c15u | 1;
    int64_t stored = store_stat(c, "stored");
    skmt_entry e = SKMT_INIT(skmt_entry);
    int status = EXIT_DONE;

    if (!store_stat(c, "entries")) return EXIT_DONE;
    for (int i = 0; i < 8; i++) next_random(&state);
    for (int64_t i = 0; i < n && !status && !interrupt_signal(); i++) {
        draw_entry(c, stored, &state, &e);
        if (c->json) jput_entry(c, &e);
        else put_entry(c, &e);
        status = knn_print(c);
    }
    return status;
}

int cmd_knn_sample(struct knn_call *c)
{
    int64_t n = 10, seed = 1;
    int status = knn_number(c, "number", 1, &n);

    if (!status) status = knn_number(c, "seed", 0, &seed);
    if (status) return status;
    /* Without a model, tokens are shown as numbers. */
    if (knn_value(c, "model") || has_default_model(NULL))
        status = knn_open_model(c);
    if (!status) status = knn_open_store(c, c->model != NULL);
    return status ? status : sample_entries(c, n, seed);
}

/* ---- check -------------------------------------------------------------- */

/* Append a problem. This is the callback of skmt_datastore_check(). */
static void put_store_problem(void *user, const char *sentence)
{
    struct knn_call *c = user;

    progress_end(&c->progress);
    if (c->json) {
        jput_text(&c->out, sentence);
    } else {
        put_visible(&c->out, sentence, strlen(sentence));
        textbuf_adds(&c->out, "\n");
    }
}

int cmd_knn_check(struct knn_call *c)
{
    struct textbuf *t = &c->out;
    skmt_error err;
    int n = 0, status = knn_start(c);

    if (!status) status = knn_open_store(c, false);
    if (status) return status;
    if (c->json) {
        jput_object(t);
        jput_text_field(t, "file", c->operands[0]);
        jput_key(t, "problems");
        jput_array(t);
    }
    if (skmt_datastore_check(c->ds, put_store_problem, c, knn_show_progress, c,
                             &n, &err))
        return knn_failed(c, &err);
    if (c->json) {
        jput_array_end(t);
        jput_line_end(t);
    } else {
        textbuf_adds(t, c->operands[0]);
        textbuf_adds(t, ": ");
        if (n) put_noun(t, n, "problem", "problems");
        else textbuf_adds(t, "no problems");
        textbuf_adds(t, "\n");
    }
    status = knn_print(c);
    return status ? status : n ? EXIT_TROUBLE : EXIT_DONE;
}
