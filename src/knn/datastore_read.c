/* datastore_read.c - reads single pairs of a datastore file, and copies whole
 * files without their deleted pairs. */
#include "knn/datastore_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "knn/datastore_format.h"
#include "tensor/tensor.h"

struct datastore_reader {
    const struct entries *s;
    int8_t *keys;               /* [n, d padded to 4] */
    struct datastore_link *links;
    size_t cap_keys, cap_links;
};

enum status datastore_reader_new(struct datastore_reader **out,
                                 const struct entries *s, struct err *e)
{
    struct datastore_reader *r = calloc(1, sizeof *r);

    *out = r;
    if (!r) return err_nomem(e, "datastore");
    r->s = s;
    return ST_OK;
}

void datastore_reader_free(struct datastore_reader *r)
{
    if (!r) return;
    free(r->keys);
    free(r->links);
    free(r);
}

struct datastore_kind datastore_file_kind(const struct entries *s)
{
    struct datastore_info info = datastore_file_info(s);

    return (struct datastore_kind){
        .model = { info.model, s->d_model, info.vocab },
        .type = s->type, .kind = s->kind, .with_eos = info.with_eos,
        .has_sources = s->has_sources, .has_weights = info.has_weights,
        .map = s->map };
}

static bool reader_keys(struct datastore_reader *r,
                        const struct entry_block *b, struct entry_span span,
                        struct datastore_item *out)
{
    const struct entries *s = r->s;
    size_t ld = (size_t)pad_to(s->d, s->type == ENTRY_INT8 ? 4 : 32);

    out->ld = ld;
    if (s->type == ENTRY_F16) {
        out->f16 = (const uint16_t *)b->keys + span.first * ld;
        return true;
    }
    if (!mem_grow(&r->keys, &r->cap_keys, span.n * ld, 1)) return false;
    for (uint32_t i = 0; i < span.n; i++)
        datastore_key_unpack(b->keys, (int)(span.first + i), (int)ld,
                             r->keys + i * ld);
    out->int8 = r->keys;
    out->scale = b->scale + span.first;
    return true;
}

static bool reader_sources(struct datastore_reader *r,
                           const struct entry_block *b, int32_t pair,
                           struct entry_span span, struct datastore_item *out)
{
    int first, n = datastore_file_sources(r->s, pair, &first);
    uint32_t from, to;

    if (!n) return true;
    from = b->link_begin[first];
    to = b->link_begin[first + n];
    if (!mem_grow(&r->links, &r->cap_links, to - from, sizeof *r->links))
        return false;
    out->n_src = n;
    out->src_ld = (size_t)pad_to(r->s->d_model, 64);
    out->src_token = b->src_token + first;
    out->src_scale = b->src_scale + first;
    out->src_int8 = b->src_keys + (size_t)first * out->src_ld;
    for (int i = first; i < first + n; i++)
        for (uint32_t k = b->link_begin[i]; k < b->link_begin[i + 1]; k++)
            r->links[out->n_links++] = (struct datastore_link){
                (uint32_t)(i - first), b->link[k] - span.first };
    out->link = r->links;
    return true;
}

enum status datastore_reader_get(struct datastore_reader *r, int32_t pair,
                                 struct datastore_item *out, struct err *e)
{
    const struct entry_block *b = entries_block_of(r->s, pair);
    struct entry_span span = b->span[pair - b->first_pair];
    struct entry_pair p = r->s->ops->pair(r->s, pair);

    *out = (struct datastore_item){ .source = p.source, .target = p.target,
                                    .id = p.id, .n = (int)span.n };
    if (p.deleted) return ST_OK;
    if (span.n) {
        out->token = b->token + span.first;
        out->pos = b->pos + span.first;
        out->norm = b->norm + span.first;
        if (b->log_weight) out->log_weight = b->log_weight + span.first;
        if (!reader_keys(r, b, span, out)) return err_nomem(e, "datastore");
    }
    return reader_sources(r, b, pair, span, out) ? ST_OK
                                                 : err_nomem(e, "datastore");
}

/* ---- copying ------------------------------------------------------------- */

enum { COPY_BLOCK = 65536,      /* entries of a block of the copy */
       COPY_REPORT = 1024 };    /* pairs between two reports */

struct datastore_copying {
    struct datastore_reader *r;
    struct datastore_writer *w;
    const struct datastore_change *c;
    tm_progress_fn *progress;   /* may be NULL */
    void *user;
};

static enum status copy_pair(const struct datastore_copying *k, int32_t pair,
                             struct err *e)
{
    struct datastore_item it;
    enum status st = datastore_reader_get(k->r, pair, &it, e);

    if (!st && k->c->change) st = k->c->change(k->c->user, pair, &it, e);
    return st ? st : datastore_writer_add(k->w, &it, e);
}

static enum status copy_pairs(const struct datastore_copying *k, struct err *e)
{
    const struct entries *s = k->r->s;
    enum status st = ST_OK;

    for (int32_t p = 0; !st && p < s->n_pairs; p++) {
        if (p % COPY_REPORT == 0 && k->progress &&
            k->progress(k->user, k->c->stage, (uint64_t)p,
                        (uint64_t)s->n_pairs, (uint64_t)p))
            return err_set(e, ST_CANCELED, "%s", status_text(ST_CANCELED));
        if (!s->ops->pair(s, p).deleted) st = copy_pair(k, p, e);
    }
    return st;
}

enum status datastore_copy_changed(const struct entries *s, const char *path,
                                   const struct datastore_change *c,
                                   tm_progress_fn *progress, void *user,
                                   struct err *e)
{
    struct datastore_build b = { .memory = datastore_file_info(s).memory };
    struct datastore_copying k = { .c = c, .progress = progress,
                                   .user = user };
    enum status st = datastore_reader_new(&k.r, s, e);

    if (!st) st = datastore_writer_replace(&k.w, path, &c->kind, &b, e);
    if (!st) {
        datastore_writer_set_block(k.w, COPY_BLOCK);
        st = copy_pairs(&k, e);
    }
    if (!st) st = datastore_writer_finish(k.w, e);
    datastore_writer_close(k.w);
    datastore_reader_free(k.r);
    return st;
}

enum status datastore_copy(const struct entries *s, const char *path,
                           tm_progress_fn *progress, void *user,
                           struct err *e)
{
    struct datastore_change c = { .stage = "copying",
                                  .kind = datastore_file_kind(s) };

    return datastore_copy_changed(s, path, &c, progress, user, e);
}
