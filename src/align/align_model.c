/* align_model.c - trains both directions of a model, and finds words in it.
 * align_file.c reads and writes files of models. */
#include "align/align_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

void align_model_free(struct align_model *m)
{
    if (!m) return;
    if (m->map.data) {
        if (!m->map_borrowed) mapping_close(&m->map);
    } else {
        free((void *)(uintptr_t)m->keys[BITEXT_SOURCE]);
        free((void *)(uintptr_t)m->keys[BITEXT_TARGET]);
        lexicon_release(&m->forward.lexicon);
        lexicon_release(&m->reverse.lexicon);
    }
    free(m);
}

/* ---- training ------------------------------------------------------------ */

/* Passes the progress of a direction on as that of the whole training. */
struct both_directions {
    const struct align_settings *settings;
    bool reverse;
};

static int both_on_iteration(void *user, const struct align_iteration *it)
{
    const struct align_settings *s =
        ((const struct both_directions *)user)->settings;

    return s->on_iteration ? s->on_iteration(s->user, it) : 0;
}

static int both_on_progress(void *user, double done)
{
    const struct both_directions *both = user;
    const struct align_settings *s = both->settings;

    return s->on_progress
               ? s->on_progress(s->user, (done + both->reverse) / 2) : 0;
}

static enum status train_both(struct align_model *m, const struct bitext *b,
                              const struct align_settings *s,
                              struct pool *pool, struct err *e)
{
    struct both_directions both = { .settings = s };
    struct align_settings passed = *s;
    enum status st;

    passed.on_iteration = both_on_iteration;
    passed.on_progress = both_on_progress;
    passed.user = &both;
    st = align_train(&m->forward, b, false, &passed, pool, e);
    both.reverse = true;
    if (!st) st = align_train(&m->reverse, b, true, &passed, pool, e);
    return st;
}

static enum status copy_keys(struct align_model *m, const struct bitext *b,
                             struct err *e)
{
    for (int i = 0; i < 2; i++) {
        size_t n = b->side[i].n_keys;
        uint64_t *keys = malloc(n * sizeof *keys);

        if (!keys) return err_nomem(e, "the words of the pairs");
        memcpy(keys, b->side[i].keys, n * sizeof *keys);
        m->keys[i] = keys;
        m->n_keys[i] = n;
    }
    return ST_OK;
}

enum status align_model_train(struct align_model **out, struct bitext *b,
                              const struct word_splitter *splitter,
                              const struct align_settings *s, int n_threads,
                              struct err *e)
{
    struct align_model *m;
    struct pool *pool = NULL;
    enum status st;

    *out = NULL;
    if (!b->side[BITEXT_SOURCE].n_words)
        return err_set(e, ST_ARGUMENT, "there is no pair with words on both "
                       "sides to learn an alignment from");
    m = calloc(1, sizeof *m);
    if (!m) return err_nomem(e, "training");
    m->split = splitter->split;
    m->keep_case = splitter->keep_case;
    m->tokenizer = splitter->tokenizer;
    st = n_threads > 1 ? pool_new(&pool, n_threads, e) : ST_OK;
    if (!st) st = bitext_finish(b, e);
    if (!st) st = copy_keys(m, b, e);
    if (!st) st = train_both(m, b, s, pool, e);
    pool_free(pool);
    if (st) align_model_free(m);
    else *out = m;
    return st;
}

/* ---- words --------------------------------------------------------------- */

uint32_t align_model_number(const struct align_model *m,
                            enum bitext_which side, uint64_t key)
{
    const uint64_t *keys = m->keys[side];
    size_t low = 0, high = m->n_keys[side];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (keys[middle] == key) return (uint32_t)middle;
        if (keys[middle] < key) low = middle + 1;
        else high = middle;
    }
    return ALIGN_UNKNOWN;
}

enum status align_model_fits(const struct align_model *m,
                             const struct word_splitter *splitter,
                             const char *name, struct err *e)
{
    static const char *const words[] = { WORD_SPLITS(ENUM_WORD) };

    assert((unsigned)m->split < SPLIT_COUNT);
    if (m->split != splitter->split)
        return err_set(e, ST_ARGUMENT, "%s: these parameters are for texts "
                       "split into %s, not %s", name, words[m->split],
                       words[splitter->split]);
    if (m->keep_case != splitter->keep_case)
        return err_set(e, ST_ARGUMENT, "%s: these parameters are for words %s",
                       name, m->keep_case ? "whose case is kept"
                                          : "in lower case");
    if (m->tokenizer != splitter->tokenizer)
        return err_set(e, ST_ARGUMENT, "%s: these parameters are for the "
                       "pieces of another tokenizer", name);
    return ST_OK;
}
