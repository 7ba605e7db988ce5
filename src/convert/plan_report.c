/* plan_report.c - says what was found in the files of a model, in a few lines
 * "what  value". It reads no weights. */
#include "convert/plan_report.h"

#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/elements.h"

static bool put_line(struct strbuf *out, const char *what, const char *value)
{
    return strbuf_addf(out, "%-12s%s\n", what, value);
}

/* ---- languages ---- */

static int count_lines(const struct strbuf *text)
{
    int n = 0;

    for (size_t i = 0; i < text->len; i++) n += text->data[i] == '\n';
    return n;
}

/* "de to en", "to en", "from de" or "not known". */
static void write_pair(const struct config *c, char *out, size_t size)
{
    const char *from = c->source_lang, *to = c->target_lang;

    if (*from && *to) snprintf(out, size, "%s to %s", from, to);
    else if (*to) snprintf(out, size, "to %s", to);
    else if (*from) snprintf(out, size, "from %s", from);
    else snprintf(out, size, "not known");
}

static bool put_languages(const struct model_plan *p, struct strbuf *out)
{
    const struct config *c = &p->cfg;
    bool targets = c->language_tokens == LANGUAGE_TOKENS_TARGET_FIRST;
    char value[160], pair[60];
    int n = count_lines(&p->languages);

    write_pair(c, pair, sizeof pair);
    if (!n)
        snprintf(value, sizeof value, "%s", pair);
    else if (*c->target_lang)
        snprintf(value, sizeof value, "%d%s; %s unless others are chosen", n,
                 targets ? " targets" : "", pair);
    else
        snprintf(value, sizeof value, "%d%s%s%s", n, targets ? " targets" : "",
                 *c->source_lang ? ", " : "", *c->source_lang ? pair : "");
    return put_line(out, "languages", value);
}

/* ---- the network ---- */

static bool put_network(const struct model_plan *p, struct strbuf *out)
{
    static const char *const acts[] = { "no activation", "ReLU", "GELU",
                                        "SiLU" };
    const struct config *c = &p->cfg;
    char value[200], ffn[40];

    snprintf(ffn, sizeof ffn, c->ffn_decoder == c->ffn ? "%d" : "%d and %d",
             c->ffn, c->ffn_decoder);
    snprintf(value, sizeof value, "%d + %d layers, d_model %d, %d heads, "
             "feed-forward %s, %s, norms %s the blocks%s", c->encoder_layers,
             c->decoder_layers, c->d_model, c->heads, ffn,
             acts[c->activation],
             c->norm == NORM_PRE ? "before" : "after",
             c->final_norm && c->norm == NORM_POST ? " and at the end" : "");
    return put_line(out, "network", value);
}

static bool put_positions(const struct model_plan *p, struct strbuf *out)
{
    static const char *const kinds[] = {
        "sines, then cosines", "sines and cosines in turn", "learned",
        "sines, then cosines, as Hugging Face computes them for Marian",
    };
    const struct config *c = &p->cfg;
    char value[120];

    snprintf(value, sizeof value, "%s, from %d on, at most %d",
             kinds[c->positions], c->position_offset, c->max_positions);
    return put_line(out, "positions", value);
}

static bool put_vocabulary(const struct model_plan *p, struct strbuf *out)
{
    const char *tables = p->shared_table && p->tied
                             ? "one table for source, target and output"
                         : p->shared_table
                             ? "one table for source and target, one for the "
                               "output"
                         : p->tied ? "a table for the source, one for target "
                                     "and output"
                                   : "tables for source, target and output";
    int barred = 0;
    char value[200], never[60] = "";

    for (int i = 0; p->barred && i < p->cfg.vocab_size; i++)
        barred += p->barred[i] != 0;
    if (barred)
        snprintf(never, sizeof never, ", %d of which never come out", barred);
    snprintf(value, sizeof value, "%d tokens%s; %s%s", p->cfg.vocab_size,
             never, tables, p->output_bias ? "; output bias" : "");
    return put_line(out, "vocabulary", value) &&
           put_line(out, "tokenizer", p->target_tokenizer.len
                        ? "one for each side" : "one for both sides");
}

/* ---- the weights ---- */

static bool put_weights(const struct model_plan *p, struct strbuf *out)
{
    static const char *const names[] = {
        "f32", "f16", "bf16", "f64", "int8", "uint8", "int16", "int32",
        "int64", "other"
    };
    uint64_t count[ELEMENT_OTHER + 1] = { 0 }, bytes = 0;
    const struct file_tensor *t;
    enum element most = ELEMENT_F32;
    char value[120];
    int n = 0;

    for (int i = 0; (t = checkpoint_at(p->tensors, i, NULL)); i++) {
        uint64_t size = (uint64_t)file_tensor_rows(t) *
                        (uint64_t)file_tensor_cols(t);

        if (t->alias) continue;
        n++;
        count[t->type] += size;
        bytes += size * element_bytes(t->type);
        if (count[t->type] > count[most]) most = t->type;
    }
    snprintf(value, sizeof value, "%d tensors, mostly %s, %.0f %s", n,
             names[most], (double)bytes / (bytes < 1000000 ? 1e3 : 1e6),
             bytes < 1000000 ? "kB" : "MB");
    return put_line(out, "weights", value);
}

static bool put_license(const struct model_plan *p, struct strbuf *out)
{
    if (!*p->cfg.license && !p->notice.len) return true;
    return put_line(out, "license", *p->cfg.license ? p->cfg.license
                                                    : "see skmt info");
}

bool plan_report(const struct model_plan *p, struct strbuf *out)
{
    assert(p->family && p->tensors);
    return put_line(out, "family", p->family) && put_languages(p, out) &&
           put_network(p, out) && put_positions(p, out) &&
           put_vocabulary(p, out) && put_weights(p, out) &&
           put_license(p, out);
}
