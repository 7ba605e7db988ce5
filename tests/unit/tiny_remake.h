/* tiny_remake.h - changes the model file of a tiny_net: its hyperparameters,
 * its tokenizers and other tensors of bytes. The folder that tiny_model.h
 * writes has no keys for these. All functions are static. */
#ifndef TINY_REMAKE_H
#define TINY_REMAKE_H

#include "base/strbuf.h"
#include "model/mfile_write.h"
#include "tiny_net.h"

struct tiny_part { const char *name; const void *data; size_t bytes; };

/* A tokenizer as tiny_model.h makes it, in malloc memory. */
static inline char *tiny_tokenizer(bool backwards, size_t *size)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, size);

    if (!CHECK(f != NULL)) return NULL;
    tiny_spm(f, backwards);
    fclose(f);
    return text;
}

static inline const struct tiny_part *tiny_find_part(
    const struct tiny_part *parts, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(parts[i].name, name)) return &parts[i];
    return NULL;
}

/* Whether the new file has this tensor of the old one. If it gets tokenizers,
 * it loses the old ones. */
static inline bool tiny_keeps(const struct tiny_part *parts, int n,
                              const char *name)
{
    bool other = tiny_find_part(parts, n, "tokenizer.src") ||
                 tiny_find_part(parts, n, "tokenizer.tgt");

    return !tiny_find_part(parts, n, name) &&
           !(other && !strcmp(name, "tokenizer.spm"));
}

static inline enum status tiny_copy_parts(struct mfile_writer *w,
                                          const struct mfile *f,
                                          const struct tiny_part *parts, int n,
                                          struct err *e)
{
    enum status st = ST_OK;

    for (int i = 0; !st && i < mfile_count(f); i++) {
        const struct mtensor *t = mfile_at(f, i);

        if (tiny_keeps(parts, n, t->name))
            st = mfile_writer_add(w, t->name, t->type, t->shape[0],
                                  t->shape[1], t->data, t->bytes, e);
    }
    for (int i = 0; !st && i < n; i++)
        st = mfile_writer_add(w, parts[i].name, DT_BYTES,
                              (int64_t)parts[i].bytes, 1, parts[i].data,
                              parts[i].bytes, e);
    return st;
}

/* Write m.skmt again, with n parts added or replaced, and with the config that
 * change() leaves (NULL: the same). The model must not be open. */
static inline bool tiny_remake(const struct tiny_net *t,
                               const struct tiny_part *parts, int n,
                               void (*change)(struct config *c))
{
    const char *path = tiny_net_file(t, "m.skmt");
    struct mfile_writer *w = NULL;
    struct mfile *f = NULL;
    struct strbuf text;
    struct config c;
    struct err e;
    size_t len;
    const char *old;
    enum status st = mfile_open(&f, path, &e);

    if (!CHECK_OK(st, &e)) return false;
    old = mfile_config(f, &len);
    st = config_parse(&c, old, len, &e);
    if (change) change(&c);
    strbuf_init(&text, 0);
    CHECK(config_format(&c, &text));
    if (!st) st = mfile_writer_new(&w, path, text.data, text.len, &e);
    if (!st) st = tiny_copy_parts(w, f, parts, n, &e);
    if (!st) st = mfile_writer_commit(w, &e);
    mfile_writer_free(w);
    mfile_close(f);
    strbuf_release(&text);
    return CHECK_OK(st, &e);
}

#endif
