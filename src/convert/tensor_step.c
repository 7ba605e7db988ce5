/* tensor_step.c - finds the tensors that each tensor of a model file is made
 * of. It checks that all of them exist, have their shapes and that no other
 * tensor is in the files. It reads no values.
 *
 * The names in a model file are those of model/weights.h with a prefix for the
 * layer ("enc.0.") and a suffix (".w"). Here they are queries to the plan. */
#include "convert/tensor_step.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "model/weights.h"
#include "tensor/tensor.h"

struct step_maker {
    struct model_plan *plan;
    struct step_list *list;
    struct err *e;
    /* Where the steps are that are made now. */
    enum stack stack;
    int layer;
    char prefix[24];
};

/* A tensor to be made: prefix + name + suffix. */
struct step_spec {
    const char *name, *suffix;
    enum tensor_role role;
    enum step_kind kind;
    int n, k;                   /* shape of the whole, without padding */
    int rows;                   /* as written */
    const int32_t *row_map;
    const uint8_t *barred;
};

/* ---- one part ---- */

static const char *settings_name(const struct model_plan *p)
{
    return p->described_by ? p->described_by : "config.json";
}

/* Write a shape as "[2, 3]". */
static void write_shape(char *out, size_t size, const struct file_tensor *t)
{
    size_t n = (size_t)snprintf(out, size, "[");

    for (int i = 0; i < t->n_dims && i < FILE_TENSOR_DIMS && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%" PRId64, i ? ", " : "",
                              t->shape[i]);
    if (n < size)
        snprintf(out + n, size - n, "%s]",
                 t->n_dims > FILE_TENSOR_DIMS ? ", .." : "");
}

static enum status wrong_shape(const struct step_maker *m,
                               const struct step_part *part, const char *want)
{
    char have[120];

    write_shape(have, sizeof have, part->tensor);
    return err_set(m->e, ST_FORMAT, "%s: tensor \"%.100s\" has the shape %s, "
                   "but according to %s it should have %s", part->file->name,
                   part->tensor->name, have, settings_name(m->plan), want);
}

/* A vector of `whole` elements is [whole] or [1, whole]. */
static enum status check_vector(const struct step_maker *m,
                                const struct step_part *part, int64_t whole,
                                bool more)
{
    const struct file_tensor *t = part->tensor;
    int64_t n = file_tensor_cols(t);
    char want[60];

    if (t->n_dims >= 1 && t->n_dims <= 2 && file_tensor_rows(t) == 1 &&
        (n == whole || (more && n > whole)))
        return ST_OK;
    snprintf(want, sizeof want, "[%" PRId64 "]%s", whole,
             more ? " or more elements" : "");
    return wrong_shape(m, part, want);
}

static enum status check_matrix(const struct step_maker *m,
                                const struct step_part *part, int64_t whole,
                                int k, bool more)
{
    const struct file_tensor *t = part->tensor;
    int64_t n = t->shape[part->transposed];
    int64_t inputs = t->shape[!part->transposed];
    char want[80];

    if (t->n_dims == 2 && inputs == k && (n == whole || (more && n > whole)))
        return ST_OK;
    snprintf(want, sizeof want, "[%" PRId64 ", %" PRId64 "]%s",
             part->transposed ? (int64_t)k : whole,
             part->transposed ? whole : (int64_t)k,
             more ? " or more rows" : "");
    return wrong_shape(m, part, want);
}

/* One more than the last row that a map leads to; at least 1. */
static int64_t mapped_rows(const int32_t *map, int n)
{
    int64_t rows = 1;

    for (int i = 0; i < n; i++)
        if (map[i] >= rows) rows = (int64_t)map[i] + 1;
    return rows;
}

static enum status find_part(struct step_maker *m, const struct step_spec *w,
                             struct tensor_step *s, int i)
{
    struct tensor_query q = { m->stack, m->layer, w->name, i, w->role };
    struct step_part *part = &s->part[i];
    struct tensor_place place = { 0 };
    struct file_tensor *t;
    int64_t whole;

    m->plan->ops->place(m->plan, &q, &place);
    if (!place.name[0]) {
        assert(w->role == ROLE_BIAS);
        return ST_OK;
    }
    t = checkpoint_find(m->plan->tensors, place.name, &part->file);
    if (!t)
        return err_set(m->e, ST_FORMAT, "%s: tensor \"%s\" is missing",
                       checkpoint_name(m->plan->tensors), place.name);
    t->used = true;
    part->tensor = t;
    part->transposed = place.transposed;
    part->first = place.first;
    whole = place.whole ? place.whole : s->part_rows;
    if (w->row_map) whole = mapped_rows(w->row_map, s->part_rows);
    else assert(part->first >= 0 && part->first + s->part_rows <= whole);
    return w->kind == STEP_VECTOR
               ? check_vector(m, part, whole, w->row_map != NULL)
               : check_matrix(m, part, whole, w->k, w->row_map != NULL);
}

/* ---- one tensor ---- */

static int count_parts(const char *name)
{
    return !strcmp(name, "self.qkv") ? 3 : !strcmp(name, "cross.kv") ? 2 : 1;
}

static enum status make_step(struct step_maker *m, const struct step_spec *w)
{
    struct step_list *l = m->list;
    struct tensor_step s = {
        .kind = w->kind, .rows = w->rows, .cols = w->k,
        .n_parts = count_parts(w->name),
        .row_map = w->row_map, .barred = w->barred,
    };
    enum status st = ST_OK;

    assert(s.n_parts <= STEP_PARTS && w->n % s.n_parts == 0 &&
           w->n <= w->rows);
    s.part_rows = w->n / s.n_parts;
    snprintf(s.name, sizeof s.name, "%s%s%s", m->prefix, w->name, w->suffix);
    for (int i = 0; i < s.n_parts && !st; i++) st = find_part(m, w, &s, i);
    if (st) return st;
    if (!mem_grow(&l->at, &l->cap, l->n + 1, sizeof s))
        return err_nomem(m->e, "convert");
    l->at[l->n++] = s;
    return ST_OK;
}

static enum status make_matrix(struct step_maker *m, const char *name, int n,
                               int k, const int32_t *row_map)
{
    return make_step(m, &(struct step_spec){
        .name = name, .suffix = ".w", .role = ROLE_WEIGHT, .kind = STEP_MATRIX,
        .n = n, .k = k, .rows = n, .row_map = row_map });
}

/* Whether any part of a linear has a bias. */
static bool has_bias(const struct step_maker *m, const char *name)
{
    for (int i = 0; i < count_parts(name); i++) {
        struct tensor_query q = { m->stack, m->layer, name, i, ROLE_BIAS };
        struct tensor_place place = { 0 };

        m->plan->ops->place(m->plan, &q, &place);
        if (place.name[0]) return true;
    }
    return false;
}

static enum status make_linear(struct step_maker *m, const char *name, int n,
                               int k)
{
    enum status st = make_matrix(m, name, n, k, NULL);

    if (st || !has_bias(m, name)) return st;
    return make_step(m, &(struct step_spec){
        .name = name, .suffix = ".b", .role = ROLE_BIAS, .kind = STEP_VECTOR,
        .n = n, .k = 1, .rows = pad_to(n, PANEL) });
}

static enum status make_norm(struct step_maker *m, const char *name, int d)
{
    struct step_spec w = {
        .name = name, .suffix = ".g", .role = ROLE_NORM_GAIN,
        .kind = STEP_VECTOR, .n = d, .k = 1, .rows = d };
    enum status st = make_step(m, &w);

    w.suffix = ".b";
    w.role = ROLE_NORM_BIAS;
    return st ? st : make_step(m, &w);
}

/* ---- the whole model ---- */

/* Go to a layer of a stack; layer -1 is what the stack has after its layers. */
static void enter(struct step_maker *m, enum stack stack, int layer)
{
    const char *stem = stack == STACK_ENCODER ? "enc." :
                       stack == STACK_DECODER ? "dec." : "";

    m->stack = stack;
    m->layer = layer < 0 ? 0 : layer;
    if (layer < 0) snprintf(m->prefix, sizeof m->prefix, "%s", stem);
    else snprintf(m->prefix, sizeof m->prefix, "%s%d.", stem, layer);
}

#define L(field, name, n, k) \
    if (!st) st = make_linear(m, name, n, k);
#define N(field, name) \
    if (!st) st = make_norm(m, name, d);

static enum status make_encoder(struct step_maker *m)
{
    const struct config *c = &m->plan->cfg;
    int d = c->d_model, f = c->ffn;
    enum status st = ST_OK;

    for (int i = 0; i < c->encoder_layers && !st; i++) {
        enter(m, STACK_ENCODER, i);
        ENCODER_LAYER_WEIGHTS(L, N)
    }
    enter(m, STACK_ENCODER, -1);
    return st || !c->final_norm ? st : make_norm(m, "norm", d);
}

static enum status make_decoder(struct step_maker *m)
{
    const struct config *c = &m->plan->cfg;
    int d = c->d_model, f = c->ffn_decoder;
    enum status st = ST_OK;

    for (int i = 0; i < c->decoder_layers && !st; i++) {
        enter(m, STACK_DECODER, i);
        DECODER_LAYER_WEIGHTS(L, N)
    }
    enter(m, STACK_DECODER, -1);
    return st || !c->final_norm ? st : make_norm(m, "norm", d);
}
#undef L
#undef N

static enum status make_positions(struct step_maker *m)
{
    const struct config *c = &m->plan->cfg;
    struct step_spec w = {
        .name = "pos.src", .suffix = "", .role = ROLE_WEIGHT,
        .kind = STEP_TABLE, .n = c->max_positions, .k = c->d_model,
        .rows = c->max_positions };
    enum status st;

    if (c->positions != POS_LEARNED) return ST_OK;
    st = make_step(m, &w);
    w.name = "pos.tgt";
    return st ? st : make_step(m, &w);
}

/* The output has a bias if the files have one, or if an id is barred. */
static enum status make_output_bias(struct step_maker *m,
                                    const int32_t *row_map)
{
    int v = m->plan->cfg.vocab_size;
    struct step_spec w = {
        .name = "project", .suffix = ".b", .role = ROLE_BIAS,
        .kind = STEP_VECTOR, .n = v, .k = 1, .rows = pad_to(v, PANEL),
        .row_map = row_map, .barred = m->plan->barred };

    if (!m->plan->output_bias && !m->plan->barred) return ST_OK;
    return make_step(m, &w);
}

static enum status make_embeddings(struct step_maker *m)
{
    struct model_plan *p = m->plan;
    int v = p->cfg.vocab_size, d = p->cfg.d_model;
    const int32_t *source = p->source_row, *target = p->target_row;
    enum status st;

    if (p->shared_table) {
        if (!target) target = source;
        st = make_matrix(m, "emb", v, d, source);
    } else {
        st = make_matrix(m, "emb.src", v, d, source);
        if (!st) st = make_matrix(m, "emb.tgt", v, d, target);
    }
    if (!st && !p->tied) st = make_matrix(m, "project", v, d, target);
    return st ? st : make_output_bias(m, target);
}

static enum status check_all_used(const struct step_maker *m)
{
    const struct file_tensor *t;
    struct tensor_file *f;

    for (int i = 0; (t = checkpoint_at(m->plan->tensors, i, &f)); i++)
        if (!t->used)
            return err_set(m->e, ST_FORMAT, "%s: tensor \"%.100s\" is not "
                           "part of the model that %s describes", f->name,
                           t->name, settings_name(m->plan));
    return ST_OK;
}

enum status step_list_make(struct step_list *l, struct model_plan *p,
                           struct err *e)
{
    struct step_maker m = { .plan = p, .list = l, .e = e };
    enum status st;

    assert(!l->n && p->tensors && p->ops);
    st = make_encoder(&m);
    if (!st) st = make_decoder(&m);
    m.prefix[0] = 0;
    m.stack = STACK_NONE;
    if (!st) st = make_positions(&m);
    if (!st) st = make_embeddings(&m);
    if (!st) st = check_all_used(&m);
    if (st) step_list_release(l);
    return st;
}

void step_list_release(struct step_list *l)
{
    free(l->at);
    *l = (struct step_list){ 0 };
}
