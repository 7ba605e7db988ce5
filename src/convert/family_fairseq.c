/* family_fairseq.c - Transformers that fairseq has trained: a checkpoint *.pt
 * with dict.LANGUAGE.txt for each side, and BPE codes or SentencePiece models.
 *
 * The settings are inside the checkpoint. A folder may have several
 * checkpoints; an ensemble of them cannot be converted, but each one can. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/fairseq_config.h"
#include "convert/fairseq_names.h"
#include "convert/fairseq_settings.h"
#include "convert/fairseq_texts.h"
#include "convert/family.h"
#include "convert/torch_file.h"

#define NORM_EPS 1e-5           /* of torch.nn.LayerNorm */
#define BEAM 5                  /* of fairseq-generate */

struct fairseq_model {
    char *file;                 /* the checkpoint, a name in the set */
    struct hf_names names;
};

/* ---- files ---- */

static bool is_checkpoint(const char *name)
{
    size_t n = strlen(name);

    return n > 3 && !strcmp(name + n - 3, ".pt") && !strchr(name, '/');
}

static bool is_dictionary(const char *name)
{
    size_t n = strlen(name);

    return n > 9 && !strncmp(name, "dict.", 5) &&
           !strcmp(name + n - 4, ".txt");
}

/* How many files of the set have such a name; *file, which may be NULL, is the
 * first one. */
static int count_named(struct file_set *s, bool (*is)(const char *),
                       const char **file)
{
    int n = 0;

    for (int i = file_set_count(s); i-- > 0;) {
        if (!is(file_set_name(s, i))) continue;
        if (file) *file = file_set_name(s, i);
        n++;
    }
    return n;
}

static bool fairseq_recognize(struct file_set *s)
{
    return file_set_chosen(s) || (count_named(s, is_checkpoint, NULL) &&
                                  count_named(s, is_dictionary, NULL));
}

static enum status several_checkpoints(struct file_set *s, struct err *e)
{
    char list[300] = "";
    size_t n = 0;

    for (int i = 0; i < file_set_count(s) && n < sizeof list; i++)
        if (is_checkpoint(file_set_name(s, i)))
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%.60s",
                                  n ? ", " : "", file_set_name(s, i));
    return err_set(e, ST_FORMAT, "%s: there are several checkpoints; choose "
                   "one with --checkpoint: %s", file_set_path(s), list);
}

/* The checkpoint that the user names, the only one, or one with a usual name.
 */
static enum status choose_checkpoint(const char **file, struct file_set *s,
                                     const struct family_options *o,
                                     struct err *e)
{
    static const char *const usual[] = { "model.pt", "checkpoint_best.pt" };
    int n = count_named(s, is_checkpoint, file);

    if (o->checkpoint) *file = o->checkpoint;
    else if (file_set_chosen(s)) *file = file_set_chosen(s);
    else if (file_set_has(s, usual[0], NULL)) *file = usual[0];
    else if (file_set_has(s, usual[1], NULL)) *file = usual[1];
    else if (n > 1) return several_checkpoints(s, e);
    else if (!n)
        return err_set(e, ST_FORMAT, "%s: there is no checkpoint *.pt",
                       file_set_path(s));
    return ST_OK;
}

static enum status note_checkpoint(struct model_plan *p, struct file_set *s,
                                   const struct family_options *o,
                                   const char *file, struct err *e)
{
    if (o->checkpoint || file_set_chosen(s) ||
        count_named(s, is_checkpoint, NULL) == 1 ||
        family_note(p, "of several checkpoints, this is %s; --checkpoint "
                    "chooses another one", file))
        return ST_OK;
    return err_nomem(e, "report");
}

/* Open the tensors of a checkpoint and its settings. */
static enum status open_fairseq(struct json_config **settings,
                                struct model_plan *p, struct file_set *s,
                                const char *name, struct err *e)
{
    struct file_stream *in;
    struct tensor_file *f;
    enum status st = file_stream_open(&in, s, name, e);

    if (st) return st;
    st = torch_file_open(&f, in, "model", e);
    if (st) return st;
    st = fairseq_settings_read(settings, torch_file_root(f), f->name, e);
    if (!st) st = checkpoint_new(&p->tensors, e);
    if (st) {
        tensor_file_close(f);
        return st;
    }
    return checkpoint_add(p->tensors, f, e);
}

/* ---- where the tensors are ---- */

static void fairseq_place(const struct model_plan *p,
                          const struct tensor_query *q,
                          struct tensor_place *out)
{
    const struct fairseq_model *m = p->own;

    fairseq_names_place(&m->names, p, q, out);
}

static void fairseq_free(void *own)
{
    struct fairseq_model *m = own;

    free(m->file);
    free(m);
}

static const struct model_plan_ops fairseq_ops = {
    .place = fairseq_place, .free_own = fairseq_free,
};

/* ---- the plan ---- */

static enum status set_network(struct model_plan *p, struct fairseq_model *m,
                               const struct fairseq_config *c,
                               const struct family_options *o, struct err *e)
{
    struct config *out = &p->cfg;
    enum status st = fairseq_names_init(&m->names, p, c, e);

    if (st) return st;
    out->heads = c->heads;
    out->norm = c->pre_norm ? NORM_PRE : NORM_POST;
    out->activation = c->activation;
    out->layer_norm_eps = NORM_EPS;
    out->embedding_scale = c->scale_embedding ? sqrt(out->d_model) : 1;
    out->beam = c->beam ? c->beam : BEAM;
    out->length_penalty = c->length_penalty >= 0 ? c->length_penalty : 1;
    if (c->heads || o->heads) return ST_OK;
    return err_set(e, ST_FORMAT, "%s: the settings do not say how many "
                   "attention heads the model has; say it with --heads",
                   checkpoint_name(p->tensors));
}

static enum status plan_checkpoint(struct model_plan *p, struct file_set *s,
                                   struct fairseq_model *m,
                                   const struct family_options *o,
                                   struct err *e)
{
    struct json_config *settings = NULL;
    struct fairseq_config c;
    enum status st = open_fairseq(&settings, p, s, m->file, e);

    if (!st) st = fairseq_config_read(&c, settings, e);
    if (!st) st = set_network(p, m, &c, o, e);
    if (!st) st = fairseq_texts_plan(p, s, &m->names, &c, o, e);
    if (!st) st = note_checkpoint(p, s, o, m->file, e);
    json_config_close(settings);
    return st;
}

static enum status fairseq_plan(struct model_plan *p, struct file_set *s,
                                const struct family_options *o, struct err *e)
{
    struct fairseq_model *m;
    const char *file = NULL;
    enum status st = choose_checkpoint(&file, s, o, e);

    if (st) return st;
    m = calloc(1, sizeof *m);
    if (!m) return err_nomem(e, "fairseq");
    p->own = m;
    p->ops = &fairseq_ops;
    m->file = strdup(file);
    if (!m->file) return err_nomem(e, "fairseq");
    p->described_by = m->file;
    return plan_checkpoint(p, s, m, o, e);
}

const struct family family_fairseq = {
    .name = "fairseq", .title = "fairseq", .recognize = fairseq_recognize,
    .plan = fairseq_plan,
};
