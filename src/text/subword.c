/* subword.c - holds a tokenizer, and passes the work to its kind: spm_codec.c
 * or moses_bpe_codec.c. What is the same for all kinds is checked here. */
#include "text/subword.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "text/moses_bpe.h"
#include "text/tokenizer_kind.h"

struct subword {
    atomic_int holders;
    const struct tokenizer_kind *kind;
    void *tokenizer;            /* of this kind */
    void *bytes;                /* the model */
};

void pieces_release(struct pieces *p)
{
    free(p->at);
    memset(p, 0, sizeof *p);
}

static const struct tokenizer_kind *kind_of(const void *model, size_t size)
{
    size_t n = sizeof MOSES_BPE_MAGIC - 1;

    return size >= n && !memcmp(model, MOSES_BPE_MAGIC, n)
        ? &tokenizer_moses_bpe : &tokenizer_spm;
}

enum status subword_open(struct subword **out, const void *model, size_t size,
                         struct err *e)
{
    struct subword *sw = calloc(1, sizeof *sw);
    enum status st;

    *out = NULL;
    if (!sw) return err_nomem(e, "the tokenizer");
    sw->holders = 1;
    sw->kind = kind_of(model, size);
    sw->bytes = malloc(size ? size : 1);
    if (!sw->bytes) {
        subword_close(sw);
        return err_nomem(e, "the tokenizer");
    }
    if (size) memcpy(sw->bytes, model, size);
    st = sw->kind->open(&sw->tokenizer, sw->bytes, size, e);
    if (st) subword_close(sw);
    else *out = sw;
    return st;
}

const struct subword *subword_hold(const struct subword *sw)
{
    if (sw) atomic_fetch_add(&((struct subword *)(uintptr_t)sw)->holders, 1);
    return sw;
}

void subword_close(const struct subword *const_sw)
{
    struct subword *sw = (struct subword *)(uintptr_t)const_sw;

    if (!sw || atomic_fetch_sub(&sw->holders, 1) > 1) return;
    assert(!sw->holders);
    sw->kind->close(sw->tokenizer);
    free(sw->bytes);
    free(sw);
}

void subword_replace(const struct subword **at, const struct subword *sw)
{
    const struct subword *old = *at;

    *at = subword_hold(sw);
    subword_close(old);
}

static bool has_id(const struct subword *sw, int32_t id)
{
    return id >= 0 && id < subword_size(sw);
}

int subword_size(const struct subword *sw)
{
    return sw->kind->size(sw->tokenizer);
}

const char *subword_piece(const struct subword *sw, int32_t id, size_t *len)
{
    *len = 0;
    return has_id(sw, id) ? sw->kind->piece(sw->tokenizer, id, len) : "";
}

int32_t subword_find(const struct subword *sw, const char *piece, size_t len)
{
    return sw->kind->find(sw->tokenizer, piece, len);
}

int32_t subword_unk(const struct subword *sw)
{
    return sw->kind->unk(sw->tokenizer);
}

bool subword_is_control(const struct subword *sw, int32_t id)
{
    return !has_id(sw, id) || sw->kind->is_control(sw->tokenizer, id);
}

bool subword_begins_word(const struct subword *sw, int32_t before, int32_t id)
{
    return has_id(sw, id)
           && sw->kind->begins_word(sw->tokenizer,
                                    has_id(sw, before) ? before : -1, id);
}

enum status subword_encode(const struct subword *sw, const char *text,
                           size_t len, struct pieces *out, struct err *e)
{
    if (len >= 1u << 30)
        return err_set(e, ST_LIMIT, "the text is too long: %zu bytes", len);
    return sw->kind->encode(sw->tokenizer, text, len, out, e);
}

enum status subword_decode(const struct subword *sw, const int32_t *ids,
                           size_t n, struct strbuf *out, struct err *e)
{
    return subword_decode_ends(sw, ids, n, out, NULL, e);
}

enum status subword_decode_ends(const struct subword *sw, const int32_t *ids,
                                size_t n, struct strbuf *out, uint32_t *ends,
                                struct err *e)
{
    int size = subword_size(sw);

    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || (ids[i] >= size && !ends))
            return err_set(e, ST_ARGUMENT, "there is no piece %d; ids are 0 to "
                           "%d", (int)ids[i], size - 1);
    return sw->kind->decode(sw->tokenizer, ids, n, out, ends, e);
}
