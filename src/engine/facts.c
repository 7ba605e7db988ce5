/* facts.c - lists the properties of a model as texts. What a model does not
 * have (a license, a list of languages) is left out. */
#include "engine/facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/strbuf.h"

enum { MAX_FACTS = 40 };

struct fact_list {
    struct facts *f;
    bool no_memory;
};

static void add_text(struct fact_list *l, const char *name, const char *value)
{
    struct fact *x = &l->f->at[l->f->n];

    assert(l->f->n < MAX_FACTS);
    *x = (struct fact){ name, strdup(value) };
    if (x->value) l->f->n++;
    else l->no_memory = true;
}

__attribute__((format(printf, 3, 4)))
static void add_fact(struct fact_list *l, const char *name, const char *fmt,
                     ...)
{
    char value[64];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(value, sizeof value, fmt, ap);
    va_end(ap);
    add_text(l, name, value);
}

static void add_unless_empty(struct fact_list *l, const char *name,
                             const char *value)
{
    if (*value) add_text(l, name, value);
}

static long count_linear(const struct linear *l)
{
    return (long)l->n * l->k + (l->bias ? l->n : 0);
}

/* The number of trained parameters, independent of how they are stored. */
static long count_weights(const struct weights *w)
{
    const struct config *c = &w->cfg;
    long n = count_linear(&w->tgt_emb), d = c->d_model;

    if (w->src_emb.w != w->tgt_emb.w) n += count_linear(&w->src_emb);
    if (w->project.w != w->tgt_emb.w) n += count_linear(&w->project);
    else if (w->project.bias) n += c->vocab_size;
    if (c->positions == POS_LEARNED) n += 2L * c->max_positions * d;
    if (c->final_norm) n += 4 * d;
#define L(field, name, rows, cols) n += count_linear(&l->field);
#define N(field, name) n += 2 * d;
    for (int i = 0; i < c->encoder_layers; i++) {
        const struct encoder_layer *l = &w->enc[i];
        ENCODER_LAYER_WEIGHTS(L, N)
    }
    for (int i = 0; i < c->decoder_layers; i++) {
        const struct decoder_layer *l = &w->dec[i];
        DECODER_LAYER_WEIGHTS(L, N)
    }
#undef L
#undef N
    return n;
}

/* The codes with commas between. */
static void add_languages(struct fact_list *l, const struct languages *x)
{
    struct strbuf text;
    bool ok = true;

    if (!x->n) return;
    strbuf_init(&text, 0);
    for (int i = 0; i < x->n && ok; i++)
        ok = strbuf_addf(&text, "%s%s", i ? "," : "", x->at[i].code);
    if (ok) add_text(l, "languages", text.data);
    else l->no_memory = true;
    strbuf_release(&text);
}

static void add_origin(struct fact_list *l, const struct weights *w,
                       const struct languages *x)
{
    const struct config *c = &w->cfg;

    add_text(l, "name", c->name);
    add_unless_empty(l, "family", c->family);
    add_unless_empty(l, "license", c->license);
    add_unless_empty(l, "origin", c->origin);
    add_text(l, "source_lang", c->source_lang);
    add_text(l, "target_lang", c->target_lang);
    add_languages(l, x);
}

static void add_network(struct fact_list *l, const struct weights *w)
{
    static const char *const norm[] = { "pre", "post" };
    static const char *const act[] = { "none", "relu", "gelu", "silu" };
    static const char *const pos[] = { "sinusoidal-halves",
                                       "sinusoidal-interleaved", "learned",
                                       "sinusoidal-halves-hf" };
    const struct config *c = &w->cfg;

    add_fact(l, "parameters", "%ld", count_weights(w));
    add_fact(l, "vocabulary", "%d", c->vocab_size);
    add_fact(l, "d_model", "%d", c->d_model);
    add_fact(l, "heads", "%d", c->heads);
    add_fact(l, "ffn", "%d", c->ffn);
    if (c->ffn_decoder != c->ffn)
        add_fact(l, "ffn_decoder", "%d", c->ffn_decoder);
    add_fact(l, "encoder_layers", "%d", c->encoder_layers);
    add_fact(l, "decoder_layers", "%d", c->decoder_layers);
    add_fact(l, "norm", "%s%s", norm[c->norm],
             c->final_norm ? ", final" : "");
    add_text(l, "activation", act[c->activation]);
    add_text(l, "positions", pos[c->positions]);
    add_text(l, "embeddings", w->src_emb.w == w->project.w ? "shared"
                                                           : "separate");
}

static void add_limits(struct fact_list *l, const struct config *c)
{
    add_fact(l, "max_source", "%d", c->max_source);
    add_fact(l, "max_positions", "%d", c->max_positions);
    add_fact(l, "knn_tau", "%g", c->knn_tau);
    if (c->beam) add_fact(l, "beam", "%d", c->beam);
    if (c->length_penalty >= 0)
        add_fact(l, "length_penalty", "%g", c->length_penalty);
}

enum status facts_make(struct facts *f, const struct weights *w,
                       const struct languages *x, struct err *e)
{
    struct fact_list l = { .f = f };

    assert(!f->at && !f->n);
    f->at = calloc(MAX_FACTS, sizeof *f->at);
    if (!f->at) return err_nomem(e, "facts");
    add_origin(&l, w, x);
    add_text(&l, "type", dtype_name(weights_type(w)));
    add_fact(&l, "file_bytes", "%llu",
             (unsigned long long)mfile_size(w->file));
    add_fact(&l, "checksum", "%016llx", (unsigned long long)mfile_id(w->file));
    add_network(&l, w);
    add_limits(&l, &w->cfg);
    return l.no_memory ? err_nomem(e, "facts") : ST_OK;
}

void facts_release(struct facts *f)
{
    for (int i = 0; i < f->n; i++) free(f->at[i].value);
    free(f->at);
    *f = (struct facts){ 0 };
}
