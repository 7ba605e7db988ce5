/* keys.c - see keys.h. */
#include "engine/keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "engine/keywork.h"
#include "engine/recall.h"

/* A file may hold the keys of a few hundred thousand pairs. */
#define FILE_LIMIT (64ULL << 30)

enum status keys_new(struct keys **out, const struct engine *en,
                     const struct options *o, const char *file,
                     struct err *e)
{
    struct keys *k = calloc(1, sizeof *k);
    struct keyfile *f = NULL;
    enum status st = ST_OK;

    *out = NULL;
    if (!k) return err_nomem(e, "memory keys");
    k->maker = recall_maker(en, o);
    k->type = (enum key_type)o->key_type;
    if (file)
        st = keyfile_open(&f, file, k->maker, k->type, en->net->d, FILE_LIMIT,
                          e);
    if (!st) st = keycache_new(&k->cache, (size_t)o->key_cache, f, e);
    if (st) {
        if (!k->cache) keyfile_close(f);
        keys_free(k);
    } else {
        *out = k;
    }
    return st;
}

void keys_free(struct keys *k)
{
    if (!k) return;
    keycache_free(k->cache);
    free(k);
}

enum status keys_fit(const struct keys *k, const struct engine *en,
                     const struct options *o, struct err *e)
{
    if (k->maker == recall_maker(en, o) &&
        k->type == (enum key_type)o->key_type)
        return ST_OK;
    return err_set(e, ST_ARGUMENT, "these keys were made for another model, "
                   "key-type or knn-eos (see also preset)");
}

/* ---- ahead of time --------------------------------------------------------- */

enum { TOGETHER = 64 };         /* pairs made at a time */

struct warmer {
    struct keys *k;
    const struct engine *en;
    struct tmfile *tm;
    uint64_t memory_id;
    struct keywork *work;
    struct recalled pairs[TOGETHER], *list[TOGETHER];
    int n;
    int64_t seen, total, made;
    struct strbuf plain[2];
    struct err *e;
    enum status st;
};

static void flush(struct warmer *w)
{
    for (int i = 0; i < w->n; i++) w->list[i] = &w->pairs[i];
    if (!w->st) w->st = keywork_make(w->work, w->k->cache, w->list, w->n,
                                  w->e);
    if (!w->st) w->made += w->n;
    for (int i = 0; i < w->n; i++) {
        keyblock_drop(w->pairs[i].block);
        free(w->pairs[i].ids);
    }
    w->n = 0;
    if (!w->st && w->tm->progress &&
        w->tm->progress(w->tm->user, "keys", (uint64_t)w->seen,
                        (uint64_t)w->total, (uint64_t)w->seen))
        w->st = err_set(w->e, ST_CANCELED, "%s", status_text(ST_CANCELED));
}

static enum status warm_text(struct warmer *w, int64_t text, struct err *e)
{
    struct recalled *p = &w->pairs[w->n];
    struct str source, target;
    bool tagged, there;
    enum status st;

    *p = (struct recalled){ .id = { w->memory_id, (uint64_t)text } };
    st = store_text(w->tm->store, text, &source, &target, &tagged, &there, e);
    if (st || !there) return st;
    p->check = recall_check(source, target);
    st = recall_keys(w->k->cache, p, w->en->w->cfg.vocab_size, e);
    if (st || p->block) {
        keyblock_drop(p->block);
        return st;
    }
    if (tagged) st = recall_plain(w->plain, &source, &target, e);
    if (!st) st = recall_encode(w->en, source, target, p, e);
    if (!st && p->n_tgt) w->n++;
    else free(p->ids);
    return st;
}

/* Texts of a memory, gathered first: the store is not asked while it is
 * being walked. */
struct texts { int64_t *at; size_t n, cap; };

static int gather(void *user, const struct change *c)
{
    struct texts *t = user;

    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 1024;
        int64_t *at = realloc(t->at, cap * sizeof *at);

        if (!at) return 1;
        t->at = at;
        t->cap = cap;
    }
    t->at[t->n++] = c->text;
    return 0;
}

static enum status list_texts(struct tmfile *tm, struct texts *t,
                              struct err *e)
{
    struct memory_info *list = NULL;
    size_t n = 0;
    enum status st = store_memory_list(tm->store, &list, &n, e);

    for (size_t i = 0; !st && i < n; i++) {
        bool chosen = tm->all;

        for (size_t k = 0; k < tm->n_chosen; k++)
            chosen |= tm->chosen[k] == list[i].id;
        if (chosen) st = store_scan(tm->store, list[i].id, gather, t, e);
        if (st == ST_CANCELED) st = err_nomem(e, "memory keys");
    }
    free(list);
    return st;
}

enum status keys_warm(struct keys *k, const struct engine *en,
                      const struct options *o, struct tmfile *tm,
                      int64_t *made, struct err *e)
{
    struct warmer *w = calloc(1, sizeof *w);
    struct pool *pool = NULL;
    struct texts t = { 0 };
    enum status st = w ? keys_fit(k, en, o, e) : err_nomem(e, "memory keys");

    *made = 0;
    if (!st) st = pool_new(&pool, o->threads, e);
    if (!st) st = list_texts(tm, &t, e);
    if (!st) st = keywork_new(&w->work, en, o, pool, e);
    if (!st) {
        w->k = k;
        w->en = en;
        w->tm = tm;
        w->memory_id = recall_memory_id(tm->store);
        w->e = e;
        w->total = (int64_t)t.n;
        strbuf_init(&w->plain[0], 0);
        strbuf_init(&w->plain[1], 0);
        for (size_t i = 0; i < t.n && !w->st; i++) {
            w->st = warm_text(w, t.at[i], e);
            w->seen++;
            if (w->n == TOGETHER || w->seen % 1024 == 0) flush(w);
        }
        flush(w);
        strbuf_release(&w->plain[0]);
        strbuf_release(&w->plain[1]);
        *made = w->made;
        st = w->st;
    }
    if (w) keywork_free(w->work);
    free(w);
    free(t.at);
    pool_free(pool);
    return st;
}
