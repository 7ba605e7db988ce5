/* convert.c - writes the steps of a model (tensor_step.h) to a file, one after
 * another, in blocks of rows. A block is a multiple of PANEL rows, so that the
 * panels of a matrix can be written block by block. */
#include "convert/convert.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "convert/family.h"
#include "convert/tensor_step.h"
#include "model/mfile_write.h"
#include "model/weights.h"
#include "tensor/pack.h"

/* Elements of a block. A transposed matrix is read once for each block, so a
 * block should hold a whole matrix of a usual layer (2048 x 8192). */
#define BLOCK_MOST (1 << 24)

struct conversion {
    struct model_plan *plan;
    enum dtype type;
    struct step_list steps;
    struct mfile_writer *out;
    uint64_t done, total;       /* bytes of tensors */
    convert_progress_fn *progress;
    void *user;
    struct err *e;
};

/* ---- sizes ---- */

/* Most outputs of a ReLU are zero, so the matrix that follows is stored by
 * input. */
static bool follows_relu(const struct conversion *c,
                         const struct tensor_step *s)
{
    static const char name[] = ".ffn.down.w";
    size_t n = strlen(s->name), k = sizeof name - 1;

    return c->type == DT_I8 && c->plan->cfg.activation == ACT_RELU && n > k &&
           !strcmp(s->name + n - k, name);
}

static uint64_t step_bytes(const struct conversion *c,
                           const struct tensor_step *s)
{
    uint64_t padded = (uint64_t)pad_to(s->rows, PANEL);

    if (s->kind != STEP_MATRIX)
        return (uint64_t)s->rows * (uint64_t)s->cols * sizeof(float);
    if (follows_relu(c, s)) return padded * ((uint64_t)s->cols + 4);
    return linear_bytes(c->type, s->rows, s->cols) +
           (c->type == DT_I8 ? padded * 8 : 0);
}

static int block_rows(const struct tensor_step *s)
{
    int most = BLOCK_MOST / s->cols / PANEL * PANEL;

    if (most < PANEL) most = PANEL;
    return s->rows < most ? s->rows : most;
}

/* int8 products add up all inputs in 32 bits. */
static enum status check_inputs(const struct conversion *c)
{
    for (size_t i = 0; i < c->steps.n; i++) {
        const struct tensor_step *s = &c->steps.at[i];

        if (c->type == DT_I8 && s->kind == STEP_MATRIX &&
            s->cols > LINEAR_I8_MAX_INPUTS)
            return err_set(c->e, ST_ARGUMENT, "%s has %d inputs, too many for "
                           "int8; choose bf16 or f32", s->name, s->cols);
    }
    return ST_OK;
}

/* ---- blocks ---- */

static enum status report_progress(struct conversion *c, uint64_t bytes)
{
    c->done += bytes;
    if (!c->progress || !c->progress(c->user, c->done, c->total)) return ST_OK;
    return err_set(c->e, ST_CANCELED, "the conversion was stopped");
}

/* The buffers of one step. */
struct step_buffers {
    float *rows;                /* [block_rows][cols] */
    void *packed;               /* a block of panels, or a matrix by input */
    float *scale;               /* [rows padded] */
    int32_t *comp;              /* [rows padded] */
};

static void step_buffers_release(struct step_buffers *b)
{
    mem_free(b->rows);
    mem_free(b->packed);
    mem_free(b->scale);
    mem_free(b->comp);
}

static enum status step_buffers_init(struct step_buffers *b,
                                     const struct conversion *c,
                                     const struct tensor_step *s)
{
    size_t block = (size_t)block_rows(s), cols = (size_t)s->cols;
    size_t padded = (size_t)pad_to(s->rows, PANEL);

    *b = (struct step_buffers){ .rows = mem_alloc(block * cols,
                                                  sizeof(float)) };
    if (s->kind == STEP_MATRIX) {
        size_t bytes = follows_relu(c, s)
                           ? padded * cols
                           : linear_bytes(c->type, (int)block, s->cols);

        b->packed = mem_alloc(bytes, 1);
        b->scale = mem_alloc(padded, sizeof *b->scale);
        b->comp = mem_alloc(padded, sizeof *b->comp);
        if (!b->packed || !b->scale || !b->comp)
            return err_nomem(c->e, s->name);
    }
    return b->rows ? ST_OK : err_nomem(c->e, s->name);
}

/* Pack a block of rows and write it. A matrix by input is only packed. */
static enum status write_block(struct conversion *c,
                               const struct tensor_step *s,
                               struct step_buffers *b, int row, int n)
{
    int stride = pad_to(s->rows, PANEL);

    if (s->kind != STEP_MATRIX)
        return mfile_writer_append(c->out, b->rows, (uint64_t)n *
                                   (uint64_t)s->cols * sizeof *b->rows, c->e);
    if (follows_relu(c, s)) {
        pack_by_input(b->rows, n, s->cols, (int8_t *)b->packed + row, stride,
                      b->scale + row);
        return ST_OK;
    }
    pack_linear(c->type, b->rows, n, s->cols, b->packed, b->scale + row,
                b->comp + row);
    return mfile_writer_append(c->out, b->packed,
                               linear_bytes(c->type, n, s->cols), c->e);
}

static enum status write_blocks(struct conversion *c,
                                const struct tensor_step *s,
                                struct step_buffers *b)
{
    int block = block_rows(s);
    uint64_t all = step_bytes(c, s), done = 0;
    enum status st = ST_OK;

    for (int row = 0; row < s->rows && !st; row += block) {
        int n = s->rows - row < block ? s->rows - row : block;
        uint64_t now = all / (uint64_t)s->rows * (uint64_t)(row + n);

        if (row + n == s->rows) now = all;
        st = tensor_step_read(s, row, n, b->rows, c->e);
        if (!st) st = write_block(c, s, b, row, n);
        if (!st) st = report_progress(c, now - done);
        done = now;
    }
    return st;
}

/* ---- tensors ---- */

/* Write a tensor that belongs to a matrix: its name is that of the step with
 * the last letter, "w", replaced by `letter`. */
static enum status write_beside(struct conversion *c,
                                const struct tensor_step *s, char letter,
                                enum dtype type, int64_t rows, int64_t cols,
                                const void *data)
{
    char name[MFILE_NAME_MAX + 1];
    size_t n = strlen(s->name);

    assert(n > 2 && !strcmp(s->name + n - 2, ".w"));
    memcpy(name, s->name, n + 1);
    name[n - 1] = letter;
    return mfile_writer_add(c->out, name, type, rows, cols, data,
                            (uint64_t)rows * (uint64_t)cols *
                            dtype_bytes(type), c->e);
}

/* X.w, or any tensor of floats. */
static enum status write_in_blocks(struct conversion *c,
                                   const struct tensor_step *s,
                                   struct step_buffers *b)
{
    enum dtype type = s->kind == STEP_MATRIX ? c->type : DT_F32;
    enum status st = mfile_writer_start(c->out, s->name, type, s->rows,
                                        s->cols, c->e);

    if (!st) st = write_blocks(c, s, b);
    return st ? st : mfile_writer_end(c->out, c->e);
}

/* Write either X.t or X.w and X.c, and then X.s. */
static enum status write_step(struct conversion *c,
                              const struct tensor_step *s,
                              struct step_buffers *b)
{
    int padded = pad_to(s->rows, PANEL);
    bool int8 = s->kind == STEP_MATRIX && c->type == DT_I8;
    enum status st;

    if (follows_relu(c, s)) {
        st = write_blocks(c, s, b);
        if (!st)
            st = write_beside(c, s, 't', DT_I8, s->cols, padded, b->packed);
    } else {
        st = write_in_blocks(c, s, b);
        if (!st && int8)
            st = write_beside(c, s, 'c', DT_I32, padded, 1, b->comp);
    }
    if (!st && int8)
        st = write_beside(c, s, 's', DT_F32, padded, 1, b->scale);
    return st;
}

static enum status write_steps(struct conversion *c)
{
    enum status st = ST_OK;

    for (size_t i = 0; i < c->steps.n && !st; i++) {
        const struct tensor_step *s = &c->steps.at[i];
        struct step_buffers b;

        st = step_buffers_init(&b, c, s);
        if (!st) st = write_step(c, s, &b);
        step_buffers_release(&b);
    }
    return st;
}

/* ---- the file ---- */

static enum status write_text(struct conversion *c, const char *name,
                              const struct strbuf *text)
{
    if (!text->len) return ST_OK;
    return mfile_writer_add(c->out, name, DT_BYTES, (int64_t)text->len, 1,
                            text->data, text->len, c->e);
}

static enum status write_texts(struct conversion *c)
{
    const struct model_plan *p = c->plan;
    bool two = p->target_tokenizer.len;
    enum status st = write_text(c, two ? "tokenizer.src" : "tokenizer.spm",
                                &p->source_tokenizer);

    if (!st) st = write_text(c, "tokenizer.tgt", &p->target_tokenizer);
    if (!st) st = write_text(c, "languages", &p->languages);
    return st ? st : write_text(c, "notice", &p->notice);
}

static enum status begin_file(struct conversion *c, const char *path)
{
    struct strbuf text;
    enum status st;

    strbuf_init(&text, 0);
    st = config_format(&c->plan->cfg, &text) ?
         mfile_writer_new(&c->out, path, text.data, text.len, c->e) :
         err_nomem(c->e, "convert");
    strbuf_release(&text);
    return st ? st : write_texts(c);
}

enum status convert_plan(struct model_plan *p, enum dtype type,
                         const char *out, convert_progress_fn *progress,
                         void *user, struct err *e)
{
    struct conversion c = { .plan = p, .type = type, .progress = progress,
                            .user = user, .e = e };
    enum status st;

    if (type != DT_F32 && type != DT_BF16 && type != DT_I8)
        return err_set(e, ST_ARGUMENT, "weights cannot be stored as %s",
                       dtype_name(type));
    st = step_list_make(&c.steps, p, e);
    for (size_t i = 0; i < c.steps.n && !st; i++)
        c.total += step_bytes(&c, &c.steps.at[i]);
    if (!st) st = check_inputs(&c);
    if (!st) st = begin_file(&c, out);
    if (!st) st = write_steps(&c);
    if (!st) st = mfile_writer_commit(c.out, e);
    mfile_writer_free(c.out);
    step_list_release(&c.steps);
    return st;
}

enum status convert_model(const char *path, enum dtype type, const char *out,
                          convert_progress_fn *progress, void *user,
                          struct err *e)
{
    struct family_options o = { 0 };
    struct model_plan *p = NULL;
    struct file_set *s;
    enum status st = file_set_open(&s, path, e);

    if (!st) st = model_plan_make(&p, s, &o, e);
    if (!st) st = convert_plan(p, type, out, progress, user, e);
    model_plan_free(p);
    file_set_close(s);
    return st;
}
