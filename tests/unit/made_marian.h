/* made_marian.h - writes the weights of Marian models as .npz files, for
 * tests. */
#ifndef MADE_MARIAN_H
#define MADE_MARIAN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_zip.h"

struct made_marian {
    int d, heads, ffn, dec_ffn, enc, dec;
    int v_src, v_tgt;           /* rows of the tables */
    bool one_table;             /* for both sides: Wemb */
    bool tied;                  /* the output is the target's table */
    bool pre, bias;
    const char *settings;       /* more lines of special:model.yml, or NULL */
};

/* ---- npy ---- */

/* Add an array. rows -1: a vector [cols]. */
static inline void made_npz_add(struct made_zip *z, const char *name,
                                const char *type, int rows, int cols,
                                const void *bytes, size_t n)
{
    char entry[200], shape[60], head[200];
    struct strbuf npy;

    if (rows < 0) snprintf(shape, sizeof shape, "(%d,)", cols);
    else snprintf(shape, sizeof shape, "(%d, %d)", rows, cols);
    snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': False, "
             "'shape': %s, }\n", type, shape);
    snprintf(entry, sizeof entry, "%s.npy", name);
    strbuf_init(&npy, 0);
    if (!strbuf_add(&npy, "\x93NUMPY\x01\x00", 8)) abort();
    made_zip_number(&npy, (uint32_t)strlen(head), 2);
    if (!strbuf_adds(&npy, head) || !strbuf_add(&npy, bytes, n)) abort();
    made_zip_add(z, entry, npy.data, npy.len);
    strbuf_release(&npy);
}

/* ---- the tensors of a model ---- */

/* Called for each tensor; rows x cols as Marian stores them. */
typedef void made_marian_fn(void *user, const char *name, int rows, int cols);

static inline void made_marian_linear(made_marian_fn *fn, void *user,
                                      const char *stem, const char *end, int k,
                                      int n)
{
    char name[160];

    snprintf(name, sizeof name, "%s_W%s", stem, end);
    fn(user, name, k, n);
    snprintf(name, sizeof name, "%s_b%s", stem, end);
    fn(user, name, 1, n);
}

static inline void made_marian_norm(made_marian_fn *fn, void *user,
                                    const char *stem, const char *suffix, int d)
{
    char name[160];

    snprintf(name, sizeof name, "%s_ln_scale%s", stem, suffix);
    fn(user, name, 1, d);
    snprintf(name, sizeof name, "%s_ln_bias%s", stem, suffix);
    fn(user, name, 1, d);
}

static inline void made_marian_layer(const struct made_marian *m,
                                     const char *side, int i,
                                     made_marian_fn *fn, void *user)
{
    static const char *const blocks[] = { "self", "context" };
    static const char *const parts[] = { "q", "k", "v", "o" };
    int f = !strcmp(side, "decoder") ? m->dec_ffn : m->ffn;
    const char *suffix = m->pre ? "_pre" : "";
    char stem[60], norm[80];

    for (int b = 0; b < (strcmp(side, "decoder") ? 1 : 2); b++) {
        snprintf(stem, sizeof stem, "%s_l%d_%s", side, i, blocks[b]);
        for (int k = 0; k < 4; k++)
            made_marian_linear(fn, user, stem, parts[k], m->d, m->d);
        snprintf(norm, sizeof norm, "%s_Wo", stem);
        made_marian_norm(fn, user, norm, suffix, m->d);
    }
    snprintf(stem, sizeof stem, "%s_l%d_ffn", side, i);
    made_marian_linear(fn, user, stem, "1", m->d, f);
    made_marian_linear(fn, user, stem, "2", f, m->d);
    snprintf(norm, sizeof norm, "%s_ffn", stem);
    made_marian_norm(fn, user, norm, suffix, m->d);
}

static inline void made_marian_each(const struct made_marian *m,
                                    made_marian_fn *fn, void *user)
{
    if (m->one_table) {
        fn(user, "Wemb", m->v_src, m->d);
    } else {
        fn(user, "encoder_Wemb", m->v_src, m->d);
        fn(user, "decoder_Wemb", m->v_tgt, m->d);
    }
    if (!m->tied) fn(user, "decoder_ff_logit_out_Wt", m->v_tgt, m->d);
    if (m->bias) fn(user, "decoder_ff_logit_out_b", 1, m->v_tgt);
    for (int i = 1; i <= m->enc; i++)
        made_marian_layer(m, "encoder", i, fn, user);
    for (int i = 1; i <= m->dec; i++)
        made_marian_layer(m, "decoder", i, fn, user);
    if (!m->pre) return;
    made_marian_norm(fn, user, "encoder_top", "", m->d);
    made_marian_norm(fn, user, "decoder_top", "", m->d);
}

/* ---- the settings ---- */

static inline void made_marian_yml(struct made_zip *z, const char *text,
                                   size_t n)
{
    made_npz_add(z, "special:model.yml", "<i1", -1, (int)n, text, n);
}

static inline void made_marian_settings(const struct made_marian *m,
                                        struct made_zip *z)
{
    struct strbuf yml;

    strbuf_init(&yml, 0);
    strbuf_addf(&yml, "type: transformer\ndim-emb: %d\nenc-depth: %d\n"
                "dec-depth: %d\ntransformer-heads: %d\n"
                "transformer-dim-ffn: %d\ntransformer-decoder-dim-ffn: %d\n"
                "dim-vocabs: [%d, %d]\n", m->d, m->enc, m->dec, m->heads,
                m->ffn, m->dec_ffn, m->v_src, m->v_tgt);
    strbuf_addf(&yml, "tied-embeddings-all: %s\ntied-embeddings-src: %s\n"
                "tied-embeddings: %s\noutput-omit-bias: %s\n",
                m->one_table && m->tied ? "true" : "false",
                m->one_table && !m->tied ? "true" : "false",
                !m->one_table && m->tied ? "true" : "false",
                m->bias ? "false" : "true");
    strbuf_addf(&yml, "transformer-preprocess: \"%s\"\n"
                "transformer-postprocess: %s\n"
                "transformer-postprocess-top: \"%s\"\n"
                "transformer-ffn-activation: relu\n%s", m->pre ? "n" : "",
                m->pre ? "da" : "dan", m->pre ? "n" : "",
                m->settings ? m->settings : "");
    /* Marian writes some NULs after it. */
    made_marian_yml(z, yml.data, yml.len + 1);
    strbuf_release(&yml);
}

#endif
