/* convert.c - plan the output, check the plan, write it; see convert.h.
 *
 * The plan is a list of steps, one per tensor of the lists in weights.h, each
 * with the input tensors it is made of. Planning finds and checks all of
 * them, so that a missing or left-over tensor is reported before minutes are
 * spent on writing; running takes one step's memory at a time. */
#include "convert/convert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "convert/safetensors.h"
#include "convert/source_config.h"
#include "model/mfile_write.h"
#include "model/weights.h"
#include "tensor/pack.h"

#define MAX_PARTS 3

/* Our names and theirs, without ".weight" and ".bias"; several of theirs are
 * put below one another to make one of ours. Inside a layer both sides have
 * the same prefix ("enc.0."). */
static const struct rename {
    const char *ours;
    const char *theirs[MAX_PARTS + 1];
} renames[] = {
    { "self.norm",  { "ln1" } },
    { "self.qkv",   { "att.q", "att.k", "att.v" } },
    { "self.out",   { "att.o" } },
    { "cross.norm", { "ln2" } },
    { "cross.q",    { "xatt.q" } },
    { "cross.kv",   { "xatt.k", "xatt.v" } },
    { "cross.out",  { "xatt.o" } },
    { "ffn.norm",   { "ln3" } },
    { "ffn.up",     { "f1" } },
    { "ffn.down",   { "f2" } },
    { "enc.norm",   { "eln" } },
    { "dec.norm",   { "dln" } },
    { "emb",        { "emb" } },
    { "emb.src",    { "emb_src" } },
    { "emb.tgt",    { "emb_tgt" } },
    { "project",    { "out" } },
    { "pos.src",    { "pos_src" } },
    { "pos.tgt",    { "pos_tgt" } },
};

enum step_kind { STEP_PACKED, STEP_PLAIN };

/* One tensor to write (with its scales and sums, when packed as int8). */
struct step {
    enum step_kind kind;
    char name[MFILE_NAME_MAX + 1];
    int rows, cols;             /* as written: vectors may end in padding */
    int part_rows;              /* of each part */
    int n_parts;
    const struct sf_tensor *part[MAX_PARTS];    /* NULL: zeros */
};

struct convert_job {
    enum dtype type;
    struct source_config src;
    struct safetensors *in;
    struct mapping spm;
    struct subword *subword;
    struct step *steps;
    size_t n_steps, cap_steps;
    struct mfile_writer *out;
    struct err *e;
};

/* ---- planning ---- */

static const struct rename *find_rename(const char *ours)
{
    for (size_t i = 0; i < sizeof renames / sizeof *renames; i++)
        if (!strcmp(renames[i].ours, ours)) return &renames[i];
    return NULL;
}

static bool have(struct convert_job *j, const char *name)
{
    return safetensors_find(j->in, name) != NULL;
}

/* A part of a step: dims 1 for a vector of `rows`. */
static enum status convert_find_part(struct convert_job *j,
                                     const struct sf_tensor **out,
                                     const char *name, int dims, int rows,
                                     int cols)
{
    struct sf_tensor *t = safetensors_find(j->in, name);
    const char *file = safetensors_name(j->in);

    *out = t;
    if (!t)
        return err_set(j->e, ST_FORMAT, "%s: tensor \"%s\" is missing", file,
                       name);
    t->used = true;
    if (t->n_dims == dims && t->shape[0] == rows && t->shape[1] == cols)
        return ST_OK;
    if (dims == 1)
        return err_set(j->e, ST_FORMAT, "%s: tensor \"%s\" should have the "
                       "shape [%d], as config.json says", file, name, rows);
    return err_set(j->e, ST_FORMAT, "%s: tensor \"%s\" should have the shape "
                   "[%d, %d], as config.json says", file, name, rows, cols);
}

static enum status add_step(struct convert_job *j, const struct step *s)
{
    if (!mem_grow(&j->steps, &j->cap_steps, j->n_steps + 1, sizeof *s))
        return err_nomem(j->e, "convert");
    j->steps[j->n_steps++] = *s;
    return ST_OK;
}

/* The step "prefix + ours + suffix", made of `their_suffix` tensors. */
struct want {
    const char *prefix, *ours, *suffix, *their_suffix;
    enum step_kind kind;
    int dims;                   /* of each part */
    int n, k;                   /* of the whole, unpadded */
    int rows;                   /* as written */
    bool optional_parts;        /* one that is not there counts as zeros */
};

static enum status convert_plan(struct convert_job *j, const struct want *w)
{
    const struct rename *r = find_rename(w->ours);
    struct step s = { .kind = w->kind, .rows = w->rows, .cols = w->k };
    char theirs[96];
    enum status st = ST_OK;

    while (r->theirs[s.n_parts]) s.n_parts++;
    s.part_rows = w->n / s.n_parts;
    snprintf(s.name, sizeof s.name, "%s%s%s", w->prefix, w->ours, w->suffix);
    for (int i = 0; i < s.n_parts && !st; i++) {
        snprintf(theirs, sizeof theirs, "%s%s%s", w->prefix, r->theirs[i],
                 w->their_suffix);
        if (w->optional_parts && !have(j, theirs)) continue;
        st = convert_find_part(j, &s.part[i], theirs, w->dims, s.part_rows,
                               w->k);
    }
    return st ? st : add_step(j, &s);
}

static enum status plan_matrix(struct convert_job *j, const char *prefix,
                               const char *ours, int n, int k)
{
    if (j->type == DT_I8 && k > LINEAR_I8_MAX_INPUTS)
        return err_set(j->e, ST_ARGUMENT, "%s%s has %d inputs, too many for "
                       "int8; choose bf16 or f32", prefix, ours, k);
    return convert_plan(j, &(struct want){ prefix, ours, ".w", ".weight",
                                           STEP_PACKED, 2, n, k, n, false });
}

static enum status plan_vector(struct convert_job *j, const char *prefix,
                               const char *ours, const char *suffix,
                               const char *their_suffix, int n)
{
    return convert_plan(j, &(struct want){ prefix, ours, suffix, their_suffix,
                                   STEP_PLAIN, 1, n, 1, n, false });
}

static bool any_bias(struct convert_job *j, const char *prefix,
                     const char *ours)
{
    const struct rename *r = find_rename(ours);
    char theirs[96];

    for (int i = 0; r->theirs[i]; i++) {
        snprintf(theirs, sizeof theirs, "%s%s.bias", prefix, r->theirs[i]);
        if (have(j, theirs)) return true;
    }
    return false;
}

static enum status plan_linear(struct convert_job *j, const char *prefix,
                               const char *ours, int n, int k)
{
    enum status st = plan_matrix(j, prefix, ours, n, k);

    if (st || !any_bias(j, prefix, ours)) return st;
    return convert_plan(j, &(struct want){ prefix, ours, ".b", ".bias",
                                           STEP_PLAIN, 1, n, 1,
                                           pad_to(n, PANEL), true });
}

static enum status plan_norm(struct convert_job *j, const char *prefix,
                             const char *ours, int d)
{
    enum status st = plan_vector(j, prefix, ours, ".g", ".weight", d);

    return st ? st : plan_vector(j, prefix, ours, ".b", ".bias", d);
}

#define L(field, name, n, k) \
    if (!st) st = plan_linear(j, prefix, name, n, k);
#define N(field, name) \
    if (!st) st = plan_norm(j, prefix, name, d);

static enum status plan_encoder(struct convert_job *j)
{
    int d = j->src.cfg.d_model, f = j->src.cfg.ffn;
    enum status st = ST_OK;
    char prefix[24];

    for (int i = 0; i < j->src.cfg.encoder_layers && !st; i++) {
        snprintf(prefix, sizeof prefix, "enc.%d.", i);
        ENCODER_LAYER_WEIGHTS(L, N)
    }
    if (!st && j->src.cfg.final_norm) st = plan_norm(j, "", "enc.norm", d);
    return st;
}

static enum status plan_decoder(struct convert_job *j)
{
    int d = j->src.cfg.d_model, f = j->src.cfg.ffn_decoder;
    enum status st = ST_OK;
    char prefix[24];

    for (int i = 0; i < j->src.cfg.decoder_layers && !st; i++) {
        snprintf(prefix, sizeof prefix, "dec.%d.", i);
        DECODER_LAYER_WEIGHTS(L, N)
    }
    if (!st && j->src.cfg.final_norm) st = plan_norm(j, "", "dec.norm", d);
    return st;
}
#undef L
#undef N

static enum status plan_bias(struct convert_job *j)
{
    int v = j->src.cfg.vocab_size;

    if (!j->src.output_bias) return ST_OK;
    return convert_plan(j, &(struct want){ "", "project", ".b", ".bias",
                                           STEP_PLAIN, 1, v, 1,
                                           pad_to(v, PANEL), false });
}

/* "emb" for both sides or one each; "out" unless tied. Untied without "out"
 * is refused as missing: nothing is guessed. */
static enum status plan_embeddings(struct convert_job *j)
{
    int v = j->src.cfg.vocab_size, d = j->src.cfg.d_model;
    bool each = have(j, "emb_src.weight") || have(j, "emb_tgt.weight");
    enum status st = plan_matrix(j, "", each ? "emb.src" : "emb", v, d);

    if (!st && each) st = plan_matrix(j, "", "emb.tgt", v, d);
    if (!st && !j->src.tied_embeddings)
        st = plan_matrix(j, "", "project", v, d);
    return st ? st : plan_bias(j);
}

static enum status plan_positions(struct convert_job *j)
{
    int n = j->src.cfg.max_positions, d = j->src.cfg.d_model;
    enum status st;

    if (j->src.cfg.positions != POS_LEARNED) return ST_OK;
    st = convert_plan(j, &(struct want){ "", "pos.src", "", ".weight",
                                         STEP_PLAIN, 2, n, d, n, false });
    if (st) return st;
    return convert_plan(j, &(struct want){ "", "pos.tgt", "", ".weight",
                                           STEP_PLAIN, 2, n, d, n, false });
}

/* A tensor nobody asked for means that the model computes something else. */
static enum status check_all_used(struct convert_job *j)
{
    for (int i = 0; i < safetensors_count(j->in); i++) {
        const struct sf_tensor *t = safetensors_at(j->in, i);

        if (!t->used)
            return err_set(j->e, ST_FORMAT, "%s: tensor \"%.100s\" has no "
                           "place in the model config.json describes",
                           safetensors_name(j->in), t->name);
    }
    return ST_OK;
}

static enum status plan_all(struct convert_job *j)
{
    enum status st = plan_encoder(j);

    if (!st) st = plan_decoder(j);
    if (!st) st = plan_positions(j);
    if (!st) st = plan_embeddings(j);
    if (!st) st = check_all_used(j);
    return st;
}

/* ---- the tokenizer ---- */

static enum status check_subword(struct convert_job *j, const char *path)
{
    struct err why;
    enum status st = subword_open(&j->subword, j->spm.data, j->spm.size, &why);

    if (st) return err_set(j->e, st, "%s: %s", path, why.msg);
    if (subword_size(j->subword) > j->src.cfg.vocab_size)
        return err_set(j->e, ST_FORMAT, "%s: %d pieces, but config.json says "
                       "\"vocab_size\": %d", path, subword_size(j->subword),
                       j->src.cfg.vocab_size);
    return ST_OK;
}

static enum status open_subword(struct convert_job *j, const char *path)
{
    enum status st = mapping_open(&j->spm, path, j->e);

    if (st) return st;
    if (!j->spm.size)
        return err_set(j->e, ST_FORMAT, "%s: the file is empty", path);
    return check_subword(j, path);
}

/* ---- running ---- */

static enum status read_parts(struct convert_job *j, const struct step *s,
                              float *buf)
{
    size_t each = (size_t)s->part_rows * (size_t)s->cols;

    for (int i = 0; i < s->n_parts; i++)
        if (s->part[i] && !sf_tensor_read(s->part[i], buf + i * each))
            return err_set(j->e, ST_FORMAT, "%s: tensor \"%s\" has values "
                           "that are not numbers (NaN or infinite)",
                           safetensors_name(j->in), s->part[i]->name);
    return ST_OK;
}

static enum status write_plain(struct convert_job *j, const struct step *s,
                               const float *buf)
{
    return mfile_writer_add(j->out, s->name, DT_F32, s->rows, s->cols, buf,
                            (uint64_t)s->rows * (uint64_t)s->cols * 4, j->e);
}

/* The int8 parts of a matrix, with room for either layout. */
struct int8_parts {
    int8_t *w;
    float *scale;
    int32_t *comp;
};

static enum status write_part(struct convert_job *j, const struct step *s,
                              char kind, enum dtype type, int64_t rows,
                              int64_t cols, const void *data, uint64_t bytes)
{
    char name[MFILE_NAME_MAX + 1];

    strcpy(name, s->name);              /* ends in ".w" */
    name[strlen(name) - 1] = kind;
    return mfile_writer_add(j->out, name, type, rows, cols, data, bytes,
                            j->e);
}

/* What a ReLU leaves is mostly zero: the matrix after it goes by input. */
static bool follows_relu(const struct convert_job *j, const struct step *s)
{
    static const char name[] = ".ffn.down.w";
    size_t n = strlen(s->name), k = sizeof name - 1;

    return j->src.cfg.activation == ACT_RELU && n > k &&
           !strcmp(s->name + n - k, name);
}

/* "x.t" or "x.w" and "x.c", with "x.s". */
static enum status write_int8(struct convert_job *j, const struct step *s,
                              const float *buf, struct int8_parts *p)
{
    int padded = pad_to(s->rows, PANEL);
    uint64_t side = (uint64_t)padded * 4;
    enum status st;

    if (follows_relu(j, s)) {
        pack_by_input(buf, s->rows, s->cols, p->w, p->scale);
        st = write_part(j, s, 't', DT_I8, s->cols, padded, p->w,
                        (uint64_t)s->cols * (uint64_t)padded);
    } else {
        pack_linear(DT_I8, buf, s->rows, s->cols, p->w, p->scale, p->comp);
        st = write_part(j, s, 'w', DT_I8, s->rows, s->cols, p->w,
                        linear_bytes(DT_I8, s->rows, s->cols));
        if (!st)
            st = write_part(j, s, 'c', DT_I32, padded, 1, p->comp, side);
    }
    if (!st) st = write_part(j, s, 's', DT_F32, padded, 1, p->scale, side);
    return st;
}

static enum status write_packed(struct convert_job *j, const struct step *s,
                                const float *buf)
{
    size_t padded = (size_t)pad_to(s->rows, PANEL);
    size_t bytes = linear_bytes(j->type, s->rows, s->cols);
    struct int8_parts p = { mem_alloc(bytes, 1),
                            mem_alloc(padded, sizeof *p.scale),
                            mem_alloc(padded, sizeof *p.comp) };
    enum status st;

    if (!p.w || !p.scale || !p.comp) {
        st = err_nomem(j->e, s->name);
    } else if (j->type == DT_I8) {
        st = write_int8(j, s, buf, &p);
    } else {
        pack_linear(j->type, buf, s->rows, s->cols, p.w, NULL, NULL);
        st = mfile_writer_add(j->out, s->name, j->type, s->rows, s->cols, p.w,
                              bytes, j->e);
    }
    mem_free(p.w);
    mem_free(p.scale);
    mem_free(p.comp);
    return st;
}

static enum status convert_run_step(struct convert_job *j, const struct step *s)
{
    float *buf = mem_zalloc((size_t)s->rows * (size_t)s->cols, sizeof *buf);
    enum status st;

    if (!buf) return err_nomem(j->e, s->name);
    st = read_parts(j, s, buf);
    if (!st)
        st = s->kind == STEP_PACKED ? write_packed(j, s, buf)
                                    : write_plain(j, s, buf);
    mem_free(buf);
    return st;
}

static enum status begin_file(struct convert_job *j, const char *path)
{
    struct strbuf text;
    enum status st;

    strbuf_init(&text, 0);
    st = config_format(&j->src.cfg, &text) ?
         mfile_writer_new(&j->out, path, text.data, text.len, j->e) :
         err_nomem(j->e, "convert");
    strbuf_release(&text);
    if (st) return st;
    return mfile_writer_add(j->out, "tokenizer.spm", DT_BYTES,
                            (int64_t)j->spm.size, 1, j->spm.data, j->spm.size,
                            j->e);
}

/* ---- all of it ---- */

static enum status open_folder(struct convert_job *j, const char *dir)
{
    size_t size = strlen(dir) + 32;
    char *path = malloc(size);
    enum status st;

    if (!path) return err_nomem(j->e, dir);
    snprintf(path, size, "%s/config.json", dir);
    st = source_config_read(&j->src, path, j->e);
    snprintf(path, size, "%s/spm.model", dir);
    if (!st) st = open_subword(j, path);
    snprintf(path, size, "%s/model.safetensors", dir);
    if (!st) st = safetensors_open(&j->in, path, j->e);
    free(path);
    return st;
}

static void close_job(struct convert_job *j)
{
    mfile_writer_free(j->out);
    safetensors_close(j->in);
    subword_close(j->subword);
    mapping_close(&j->spm);
    free(j->steps);
}

enum status convert_model(const char *dir, enum dtype type, const char *out,
                          void (*progress)(void *user, int done, int total),
                          void *user, struct err *e)
{
    struct convert_job j = { .type = type, .e = e };
    enum status st;

    if (type != DT_F32 && type != DT_BF16 && type != DT_I8)
        return err_set(e, ST_ARGUMENT, "weights cannot be stored as %s",
                       dtype_name(type));
    st = open_folder(&j, dir);
    if (!st) st = plan_all(&j);
    if (!st) st = begin_file(&j, out);
    for (size_t i = 0; i < j.n_steps && !st; i++) {
        st = convert_run_step(&j, &j.steps[i]);
        if (!st && progress) progress(user, (int)i + 1, (int)j.n_steps);
    }
    if (!st) st = mfile_writer_commit(j.out, e);
    close_job(&j);
    return st;
}
