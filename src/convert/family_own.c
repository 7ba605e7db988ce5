/* family_own.c - models that were trained for skmt: a folder with
 * model.safetensors, config.json and spm.model. docs/formats/model.md describes
 * them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/family.h"
#include "convert/own_config.h"
#include "convert/plan_languages.h"
#include "convert/safetensors_file.h"
#include "text/subword.h"

#define SPM_MOST (1 << 28)      /* bytes */

/* Our names with their parts, and the names in model.safetensors without
 * ".weight" and ".bias". Tensors of a layer have a prefix such as "enc.0.". */
static const struct { const char *ours; int part; const char *theirs; }
own_names[] = {
    { "self.norm",  0, "ln1" },
    { "self.qkv",   0, "att.q" },
    { "self.qkv",   1, "att.k" },
    { "self.qkv",   2, "att.v" },
    { "self.out",   0, "att.o" },
    { "cross.norm", 0, "ln2" },
    { "cross.q",    0, "xatt.q" },
    { "cross.kv",   0, "xatt.k" },
    { "cross.kv",   1, "xatt.v" },
    { "cross.out",  0, "xatt.o" },
    { "ffn.norm",   0, "ln3" },
    { "ffn.up",     0, "f1" },
    { "ffn.down",   0, "f2" },
    { "emb",        0, "emb" },
    { "emb.src",    0, "emb_src" },
    { "emb.tgt",    0, "emb_tgt" },
    { "project",    0, "out" },
    { "pos.src",    0, "pos_src" },
    { "pos.tgt",    0, "pos_tgt" },
};

static const char *own_name(const char *name, int part)
{
    for (size_t i = 0; i < sizeof own_names / sizeof *own_names; i++)
        if (!strcmp(own_names[i].ours, name) && own_names[i].part == part)
            return own_names[i].theirs;
    assert(!"a name of model/weights.h");
    return "";
}

static void own_place(const struct model_plan *p, const struct tensor_query *q,
                      struct tensor_place *out)
{
    const char *stem = q->stack == STACK_ENCODER ? "enc" : "dec";
    const char *suffix = q->role == ROLE_BIAS || q->role == ROLE_NORM_BIAS
                             ? "bias" : "weight";

    *out = (struct tensor_place){ 0 };
    if (q->stack == STACK_NONE)
        snprintf(out->name, sizeof out->name, "%s.%s",
                 own_name(q->name, q->part), suffix);
    else if (!strcmp(q->name, "norm"))
        snprintf(out->name, sizeof out->name, "%cln.%s", stem[0], suffix);
    else
        snprintf(out->name, sizeof out->name, "%s.%d.%s.%s", stem, q->layer,
                 own_name(q->name, q->part), suffix);
    /* Biases of layers are optional, that of the output is not. */
    if (q->role == ROLE_BIAS && q->stack != STACK_NONE &&
        !checkpoint_find(p->tensors, out->name, NULL))
        out->name[0] = 0;
}

static const struct model_plan_ops own_ops = { .place = own_place };

/* Folders of other projects may have a spm.model too. */
static bool own_recognize(struct file_set *s)
{
    return (file_set_has(s, "spm.model", NULL) &&
            (file_set_has(s, "model.safetensors", NULL) ||
             file_set_has(s, "config.json", NULL))) ||
           family_model_type_is(s, "transformer");
}

/* ---- files ---- */

static enum status open_own_weights(struct model_plan *p, struct file_set *s,
                                    struct err *e)
{
    struct file_stream *in;
    struct tensor_file *f;
    enum status st = checkpoint_new(&p->tensors, e);

    if (!st) st = file_stream_open(&in, s, "model.safetensors", e);
    if (!st) st = safetensors_file_open(&f, in, e);
    return st ? st : checkpoint_add(p->tensors, f, e);
}

static enum status check_own_tokenizer(const struct model_plan *p,
                                       const char *name, struct err *e)
{
    struct subword *sw;
    struct err why;
    int n;
    enum status st = subword_open(&sw, p->source_tokenizer.data,
                                  p->source_tokenizer.len, &why);

    if (st) return err_set(e, st, "%s: %s", name, why.msg);
    n = subword_size(sw);
    subword_close(sw);
    if (n <= p->cfg.vocab_size) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: has %d pieces, but config.json says "
                   "\"vocab_size\": %d", name, n, p->cfg.vocab_size);
}

static enum status read_own_tokenizer(struct model_plan *p, struct file_set *s,
                                      struct err *e)
{
    struct strbuf name;
    size_t size;
    char *text;
    enum status st = file_set_read(s, "spm.model", SPM_MOST, &text, &size, e);

    if (st) return st;
    strbuf_init(&name, 0);
    if (!strbuf_add(&p->source_tokenizer, text, size) ||
        !family_file_name(&name, s, "spm.model"))
        st = err_nomem(e, "spm.model");
    else if (!size)
        st = err_set(e, ST_FORMAT, "%s: the file is empty", name.data);
    else
        st = check_own_tokenizer(p, name.data, e);
    strbuf_release(&name);
    free(text);
    return st;
}

/* ---- the plan ---- */

/* The files have "emb" for both languages, or one table for each. They have
 * "out" unless config.json says that the projection is tied. */
static enum status own_plan(struct model_plan *p, struct file_set *s,
                            const struct family_options *o, struct err *e)
{
    struct own_config c;
    enum status st = own_config_read(&c, &p->cfg, s, e);

    if (!st) st = plan_pair(p, o, NULL, NULL, e);
    if (!st) st = read_own_tokenizer(p, s, e);
    if (!st) st = open_own_weights(p, s, e);
    if (st) return st;
    p->ops = &own_ops;
    p->shared_table = !checkpoint_find(p->tensors, "emb_src.weight", NULL) &&
                      !checkpoint_find(p->tensors, "emb_tgt.weight", NULL);
    p->tied = c.tied_embeddings;
    p->output_bias = c.output_bias;
    return ST_OK;
}

const struct family family_own = {
    .name = "own", .title = "skmt", .recognize = own_recognize,
    .plan = own_plan,
};
