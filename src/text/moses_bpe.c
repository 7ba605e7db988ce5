/* moses_bpe.c - writes the bytes of a BPE tokenizer with Moses rules, in the
 * form that moses_bpe_model.c reads.
 *
 * What a converter passes is checked here, so that the model can always be
 * read. */
#include "text/moses_bpe.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "text/bpe_codes.h"
#include "text/moses_bpe_model.h"
#include "text/utf8.h"

/* What was read from the files of a spec. */
struct bpe_sources {
    struct bpe_code_list codes;
    struct truecaser truecaser;
    struct strbuf lower;        /* words of the truecaser in lower case */
    int32_t *control;           /* [n_control] ascending, each once */
    size_t n_control;
};

static void bpe_sources_release(struct bpe_sources *b)
{
    bpe_code_list_release(&b->codes);
    truecaser_release(&b->truecaser);
    strbuf_release(&b->lower);
    free(b->control);
}

/* ---- checks ------------------------------------------------------------- */

static enum status check_bpe_pieces(const struct moses_bpe_spec *s,
                                    struct err *e)
{
    if (s->n_pieces < 1 || s->n_pieces > MOSES_BPE_PIECES_MAX)
        return err_set(e, ST_FORMAT, "the vocabulary of the BPE tokenizer has "
                       "%d pieces; 1 to %d are possible", (int)s->n_pieces,
                       MOSES_BPE_PIECES_MAX);
    for (int32_t id = 0; id < s->n_pieces; id++) {
        size_t n = strlen(s->pieces[id]);

        if (n > MOSES_BPE_TEXT_MAX || utf8_check(s->pieces[id], n) < n)
            return err_set(e, ST_FORMAT, "piece %d of the vocabulary is %s",
                           (int)id, n > MOSES_BPE_TEXT_MAX
                           ? "too long" : "not valid UTF-8");
    }
    if (s->unk < 0 || s->unk >= s->n_pieces)
        return err_set(e, ST_FORMAT, "the vocabulary of the BPE tokenizer has "
                       "no unknown piece");
    return ST_OK;
}

static int by_id(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static enum status sort_control(struct bpe_sources *b,
                                const struct moses_bpe_spec *s, struct err *e)
{
    b->control = malloc((s->n_control + 1) * sizeof *b->control);
    if (!b->control) return err_nomem(e, "the tokenizer");
    for (size_t i = 0; i < s->n_control; i++) {
        int32_t id = s->control[i];

        if (id < 0 || id >= s->n_pieces || id == s->unk)
            return err_set(e, ST_FORMAT, "id %d cannot be a control piece of "
                           "the BPE tokenizer", (int)id);
        b->control[i] = id;
    }
    qsort(b->control, s->n_control, sizeof *b->control, by_id);
    for (size_t i = 0; i < s->n_control; i++)
        if (!i || b->control[i] != b->control[i - 1])
            b->control[b->n_control++] = b->control[i];
    return ST_OK;
}

static enum status bpe_sources_read(struct bpe_sources *b,
                                    const struct moses_bpe_spec *s,
                                    struct err *e)
{
    enum status st = bpe_codes_read(&b->codes, s->codes_form,
                                    (struct str){ s->codes, s->codes_size },
                                    s->codes_name, e);

    if (!st) st = check_bpe_pieces(s, e);
    if (!st && (s->steps >> MOSES_STEP_COUNT
                || !moses_bpe_language_fits(s->language)))
        st = err_set(e, ST_ARGUMENT, "\"%s\" is not the code of a language",
                     s->language);
    if (!st) st = sort_control(b, s, e);
    if (!st && s->truecaser)
        st = truecaser_read(&b->truecaser, &b->lower,
                            (struct str){ s->truecaser, s->truecaser_size },
                            s->truecaser_name, e);
    return st;
}

/* ---- writing ------------------------------------------------------------ */

static bool put_length(struct strbuf *out, size_t n)
{
    assert(n <= MOSES_BPE_TEXT_MAX);
    return strbuf_addc(out, (char)(n & 0xFF))
           && strbuf_addc(out, (char)(n >> 8));
}

static bool put_string(struct strbuf *out, struct str s)
{
    return put_length(out, s.n) && strbuf_add(out, s.p, s.n);
}

static bool put_pair(struct strbuf *out, struct str a, struct str b)
{
    return put_length(out, a.n) && put_length(out, b.n)
           && strbuf_add(out, a.p, a.n) && strbuf_add(out, b.p, b.n);
}

static bool put_head(struct strbuf *out, const struct moses_bpe_spec *s,
                     const struct bpe_sources *b)
{
    struct moses_bpe_head h = {
        .unk = s->unk, .n_pieces = s->n_pieces,
        .n_control = (int32_t)b->n_control, .n_merges = (int32_t)b->codes.n,
        .n_best = (int32_t)b->truecaser.best.n,
        .n_known = (int32_t)b->truecaser.known.n
    };
    bool any = false, ok = strbuf_adds(out, MOSES_BPE_MAGIC)
        && strbuf_addf(out, "language %s\nsteps ", s->language);

    for (int bit = 0; ok && bit < MOSES_STEP_COUNT; bit++) {
        if (!(s->steps & 1u << bit)) continue;
        ok = strbuf_addf(out, any ? " %s" : "%s", moses_bpe_step_name(bit));
        any = true;
    }
    ok = ok && strbuf_addf(out, "\nmarks %s\nend %s\n",
                           s->marks == BPE_MARKS_AT ? "at" : "word-end",
                           b->codes.apart ? "apart" : "glued");
#define NUMBER(field, key, least, most) \
    ok = ok && strbuf_addf(out, key " %d\n", (int)h.field);
    MOSES_BPE_NUMBERS(NUMBER)
#undef NUMBER
    return ok && strbuf_addc(out, '\n');
}

static bool put_control(struct strbuf *out, const struct bpe_sources *b)
{
    bool ok = true;

    for (size_t i = 0; ok && i < b->n_control; i++)
        for (int shift = 0; ok && shift < 32; shift += 8)
            ok = strbuf_addc(out, (char)((uint32_t)b->control[i] >> shift));
    return ok;
}

static bool put_model(struct strbuf *out, const struct moses_bpe_spec *s,
                      const struct bpe_sources *b)
{
    const struct truecaser *t = &b->truecaser;
    bool ok = put_head(out, s, b);

    for (int32_t id = 0; ok && id < s->n_pieces; id++)
        ok = put_string(out, str_of(s->pieces[id]));
    ok = ok && put_control(out, b);
    for (size_t i = 0; ok && i < b->codes.n; i++)
        ok = put_pair(out, b->codes.at[i].left, b->codes.at[i].right);
    for (size_t i = 0; ok && i < t->best.n; i++)
        ok = put_pair(out, t->best.key[i], t->best.value[i]);
    for (size_t i = 0; ok && i < t->known.n; i++)
        ok = put_string(out, t->known.key[i]);
    return ok;
}

enum status moses_bpe_write(struct strbuf *out, const struct moses_bpe_spec *s,
                            struct err *e)
{
    struct bpe_sources b = { 0 };
    size_t before = out->len;
    enum status st;

    strbuf_init(&b.lower, 0);
    st = bpe_sources_read(&b, s, e);
    if (!st && !put_model(out, s, &b)) st = err_nomem(e, "the tokenizer");
    if (!st && out->len - before > INT32_MAX)
        st = err_set(e, ST_LIMIT, "the tokenizer is over 2 GiB");
    bpe_sources_release(&b);
    if (!st) return ST_OK;
    out->len = before;
    if (out->cap) out->data[before] = '\0';
    return st;
}
