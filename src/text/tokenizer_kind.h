/* tokenizer_kind.h - what a kind of tokenizer does. subword.c chooses the kind
 * by the first bytes of a model.
 *
 * `t` is the tokenizer that open() made; the model's bytes outlive it. The
 * functions promise what subword.h says. For use inside text/ only. */
#ifndef TEXT_TOKENIZER_KIND_H
#define TEXT_TOKENIZER_KIND_H

#include "text/subword.h"

struct tokenizer_kind {
    enum status (*open)(void **t, const void *model, size_t size,
                        struct err *e);
    void (*close)(void *t);                     /* NULL is allowed */
    int (*size)(const void *t);
    const char *(*piece)(const void *t, int32_t id, size_t *len);
    int32_t (*find)(const void *t, const char *piece, size_t len);
    int32_t (*unk)(const void *t);
    bool (*is_control)(const void *t, int32_t id);
    bool (*begins_word)(const void *t, int32_t before, int32_t id);
    enum status (*encode)(const void *t, const char *text, size_t len,
                          struct pieces *out, struct err *e);
    enum status (*decode)(const void *t, const int32_t *ids, size_t n,
                          struct strbuf *out, uint32_t *ends, struct err *e);
};

extern const struct tokenizer_kind tokenizer_spm, tokenizer_moses_bpe;

#endif
