/* plan_bpe.c - puts the codes and the vocabulary of a model together. */
#include "convert/plan_bpe.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "convert/family.h"

#define CODES_MOST (1 << 28)    /* bytes */

struct bpe_lists {
    const char **pieces;        /* [size of the vocabulary] */
    int32_t *control;           /* [n_control] */
    size_t n_control;
};

static bool make_lists(struct bpe_lists *x, const struct plan_bpe *b,
                       const struct vocabulary *v)
{
    int32_t n = vocabulary_size(v);

    x->pieces = malloc((size_t)n * sizeof *x->pieces);
    x->control = malloc((b->n_control + 1) * sizeof *x->control);
    if (!x->pieces || !x->control) return false;
    for (int32_t id = 0; id < n; id++)
        x->pieces[id] = vocabulary_piece(v, id);
    for (size_t i = 0; i < b->n_control; i++) {
        int32_t id = vocabulary_find(v, b->control[i]);

        if (id >= 0) x->control[x->n_control++] = id;
    }
    return true;
}

/* A file of the set and its name for messages. */
struct bpe_file {
    char *text;
    size_t size;
    struct strbuf name;
};

static enum status bpe_file_read(struct bpe_file *f, struct file_set *s,
                                 const char *file, struct err *e)
{
    strbuf_init(&f->name, 0);
    f->text = NULL;
    f->size = 0;
    if (!file) return ST_OK;
    if (!family_file_name(&f->name, s, file)) return err_nomem(e, file);
    return file_set_read(s, file, CODES_MOST, &f->text, &f->size, e);
}

static void bpe_file_release(struct bpe_file *f)
{
    free(f->text);
    strbuf_release(&f->name);
}

static enum status write_lists(struct strbuf *out, const struct plan_bpe *b,
                               const struct vocabulary *v,
                               const struct bpe_file *codes,
                               const struct bpe_file *truecaser,
                               struct err *e)
{
    struct bpe_lists x = { 0 };
    enum status st;

    if (!make_lists(&x, b, v))
        st = err_nomem(e, b->file);
    else
        st = moses_bpe_write(out, &(struct moses_bpe_spec){
            .language = b->language, .steps = b->steps,
            .codes_form = b->form, .codes = codes->text,
            .codes_size = codes->size, .codes_name = codes->name.data,
            .marks = b->marks,
            .pieces = x.pieces, .n_pieces = vocabulary_size(v),
            .unk = b->unk, .control = x.control, .n_control = x.n_control,
            .truecaser = truecaser->text, .truecaser_size = truecaser->size,
            .truecaser_name = truecaser->name.data,
        }, e);
    free(x.pieces);
    free(x.control);
    return st;
}

enum status plan_bpe_write(struct strbuf *out, const struct plan_bpe *b,
                           const struct vocabulary *v, struct file_set *s,
                           struct err *e)
{
    struct bpe_file codes, truecaser;
    enum status st = bpe_file_read(&codes, s, b->file, e);
    enum status other = bpe_file_read(&truecaser, s, b->truecaser, e);

    assert(b->unk >= 0 && b->unk < vocabulary_size(v));
    if (!st) st = other;
    if (!st) st = write_lists(out, b, v, &codes, &truecaser, e);
    bpe_file_release(&codes);
    bpe_file_release(&truecaser);
    return st;
}

/* ---- the form of codes ---- */

/* Whether a line of n bytes is "left right count". */
static bool has_count(const char *line, size_t n)
{
    const char *last = memrchr(line, ' ', n);
    size_t digits;

    if (!last || !memchr(line, ' ', (size_t)(last - line))) return false;
    digits = strspn(last + 1, "0123456789");
    return digits && last + 1 + digits == line + n;
}

enum status plan_bpe_form(enum bpe_codes *form, struct file_set *s,
                          const char *file, struct err *e)
{
    size_t size, n;
    char *text;
    enum status st = file_set_read(s, file, CODES_MOST, &text, &size, e);

    if (st) return st;
    n = strcspn(text, "\r\n");
    *form = has_count(text, n) ? BPE_CODES_FASTBPE : BPE_CODES_SUBWORD_NMT;
    free(text);
    return ST_OK;
}
