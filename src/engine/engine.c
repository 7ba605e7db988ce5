/* engine.c - opens a model, and turns user options into search options. It
 * translates nothing itself. */
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "nn/cpu_backend.h"

/* Make C strings of all pieces of a tokenizer, for the API. Ids that it does
 * not have get "". */
static enum status list_pieces(const struct subword *sw, int n,
                               struct piece_texts *out, struct err *e)
{
    int known = subword_size(sw);
    size_t bytes = 1, len;
    char *at;

    for (int i = 0; i < known; i++) {
        subword_piece(sw, i, &len);
        bytes += len + 1;
    }
    out->text = calloc((size_t)n, sizeof *out->text);
    out->block = at = calloc(1, bytes);
    if (!out->text || !at) return err_nomem(e, "vocabulary");
    for (int i = 0; i < n; i++) {
        const char *text;

        out->text[i] = out->block + bytes - 1;
        if (i >= known) continue;
        text = subword_piece(sw, i, &len);
        memcpy(at, text, len);
        out->text[i] = at;
        at += len + 1;
    }
    return ST_OK;
}

static enum status list_both(struct engine *en, struct err *e)
{
    const struct weights *w = en->w;
    int n = w->cfg.vocab_size;
    enum status st = list_pieces(w->src_subword, n, &en->src_pieces, e);

    if (st) return st;
    if (w->tgt_subword != w->src_subword)
        return list_pieces(w->tgt_subword, n, &en->tgt_pieces, e);
    en->tgt_pieces.text = en->src_pieces.text;
    return ST_OK;
}

static void piece_texts_release(struct engine *en)
{
    if (en->tgt_pieces.text != en->src_pieces.text)
        free(en->tgt_pieces.text);
    free(en->tgt_pieces.block);
    free(en->src_pieces.text);
    free(en->src_pieces.block);
}

struct word_splitter engine_splitter(const struct engine *en)
{
    const struct weights *w = en->w;

    return (struct word_splitter){
        .split = SPLIT_PIECES, .subword = { w->src_subword, w->tgt_subword },
        .tokenizer = w->tokenizer };
}

/* Read the network for learned trust, if the model has one. */
static enum status read_network(struct engine *en, struct err *e)
{
    uint64_t model;
    enum status st;

    if (!*en->w->cfg.trust) return ST_OK;
    en->trust = calloc(1, sizeof *en->trust);
    if (!en->trust) return err_nomem(e, "model");
    st = trust_read(en->trust, &model, en->w->cfg.trust, e);
    if (st != ST_VERSION) return st;
    /* It is for another version of skmt: the model works without it. */
    free(en->trust);
    en->trust = NULL;
    err_clear(e);
    return ST_OK;
}

static enum status open_backend(struct engine *en, enum device device,
                                struct err *e)
{
    switch (device) {
    case DEVICE_CPU: return cpu_backend_new(&en->backend, en->net, e);
    }
    return err_set(e, ST_ARGUMENT, "device: there is no device %d",
                   (int)device);
}

/* Read the list of languages, and choose those of the options. */
static enum status choose_languages(struct engine *en, const struct options *o,
                                    struct err *e)
{
    struct config *c = &en->w->cfg;
    enum status st = languages_read(&en->languages, en->w->file,
                                    c->vocab_size, e);

    return st ? st : languages_choose(c, &en->languages, o->from, o->to,
                                      mfile_name(en->w->file), e);
}

enum status engine_open_with(struct engine **out, const char *path,
                             const struct options *o, struct err *e)
{
    struct engine *en = calloc(1, sizeof *en);
    enum status st;

    *out = NULL;
    if (!en) return err_nomem(e, "model");
    atomic_init(&en->holders, 1);
    st = weights_open(&en->w, path, e);
    if (!st) st = choose_languages(en, o, e);
    if (!st) st = net_open(&en->net, en->w, NULL, e);
    if (!st) st = open_backend(en, (enum device)o->device, e);
    if (!st) st = list_both(en, e);
    if (!st) st = read_network(en, e);
    if (!st) st = facts_make(&en->facts, en->w, &en->languages, e);
    if (st) {
        engine_close(en);
        return st;
    }
    *out = en;
    return ST_OK;
}

enum status engine_open(struct engine **out, const char *path, struct err *e)
{
    struct options o;

    options_defaults(&o);
    return engine_open_with(out, path, &o, e);
}

const struct engine *engine_hold(const struct engine *en)
{
    atomic_fetch_add(&((struct engine *)(uintptr_t)en)->holders, 1);
    return en;
}

void engine_close(const struct engine *const_en)
{
    struct engine *en = (struct engine *)(uintptr_t)const_en;

    if (!en || atomic_fetch_sub(&en->holders, 1) > 1) return;
    assert(!en->holders);
    backend_close(en->backend);
    net_close(en->net);
    weights_close(en->w);
    facts_release(&en->facts);
    languages_release(&en->languages);
    piece_texts_release(en);
    free(en->trust);
    free(en);
}

static uint64_t mix_id(uint64_t id, uint64_t part, int i)
{
    return (id ^ part) * 0x9e3779b97f4a7c15u + (uint64_t)i;
}

uint64_t engine_weights_id(const struct engine *en)
{
    const struct mfile *f = en->w->file;
    const struct config *c = &en->w->cfg;
    uint64_t id = 0;

    for (int i = 0; i < mfile_count(f); i++)
        id = mix_id(id, mfile_at(f, i)->sum, i);
    if (c->language_tokens) {
        id = mix_id(id, (uint32_t)c->prefix_id, 0);
        id = mix_id(id, (uint32_t)c->target_prefix_id, 1);
    }
    return id ? id : 1;
}

enum status engine_check_trust(const struct engine *en,
                               const struct options *o, struct err *e)
{
    if (!o->trust.is_set || !o->trust.model ||
        o->trust.model == engine_weights_id(en))
        return ST_OK;
    return err_set(e, ST_VERSION, "trust: the network was trained with another "
                   "model; train it again with this one (skmt tune --learn)");
}

enum status engine_check_metak(const struct engine *en,
                               const struct options *o, struct err *e)
{
    if (!o->metak.is_set || !o->metak.model ||
        o->metak.model == engine_weights_id(en))
        return ST_OK;
    return err_set(e, ST_VERSION, "metak: the network was trained with another "
                   "model; train it again with this one (skmt knn train)");
}

/* How many hypotheses a search keeps. */
static int engine_beam(const struct engine *en, const struct options *o)
{
    return options_beam(o, en->w->cfg.beam);
}

int engine_max_source(const struct engine *en, const struct options *o)
{
    int most = en->backend->max_pos - 2;    /* a special token on each side */

    if (o->max_source) return o->max_source;
    return en->w->cfg.max_source < most ? en->w->cfg.max_source : most;
}

struct options engine_resolve(const struct engine *en,
                              const struct options *o, bool steered)
{
    struct options set = *o, r;

    if (en) options_choose_preset(&set, en->trust != NULL);
    r = set;
    r.k = options_k(&set);
    r.lambda = options_lambda(&set);
    r.cache = options_cache(&set);
    if (r.chunk_lambda < 0) r.chunk_lambda = r.lambda;
    r.knn_eos = options_knn_eos(&set);
    r.eos_votes = options_eos_abstains(&set) ? EOS_ABSTAINS : EOS_COUNTS;
    r.exact = options_exact(&set);
    r.repeat_votes = options_repeat_votes(&set);
    r.matches = steered ? options_pairs(&set) : options_matches(&set);
    r.prune = steered ? options_prune_steered(&set)
                      : set.prune > 0 ? set.prune : 0;
    if (set.tau <= 0) r.tau = options_preset_tau(&set);
    if (!en) return r;
    r.beam = engine_beam(en, &set);
    r.lenpen_type = options_lenpen_type(&set, en->w->cfg.length_penalty) ==
                            LENPEN_GNMT
                        ? LENPEN_CHOICE_GNMT : LENPEN_CHOICE_FAIRSEQ;
    r.lenpen = options_lenpen(&set, en->w->cfg.length_penalty);
    snprintf(r.from, sizeof r.from, "%s", en->w->cfg.source_lang);
    snprintf(r.to, sizeof r.to, "%s", en->w->cfg.target_lang);
    options_set(&r, "system", options_system(&set), NULL);
    r.tau = options_tau(&set, en->w->cfg.knn_tau);
    r.chunk_tau = options_chunk_tau(&set, en->w->cfg.knn_tau);
    r.max_source = engine_max_source(en, &set);
    return r;
}

enum status engine_search_options(const struct engine *en,
                                  const struct options *o,
                                  struct search_options *out, struct err *e)
{
    int longest = engine_max_source(en, o), most = en->backend->max_pos - 2;
    int beam = engine_beam(en, o);
    double penalty = en->w->cfg.length_penalty;

    if (o->nbest > beam)
        return err_set(e, ST_ARGUMENT, "nbest: %d translations need a beam of "
                       "at least %d, but beam is %d", o->nbest, o->nbest,
                       beam);
    if (longest > most)
        return err_set(e, ST_ARGUMENT, "max-source: %d is too large; this "
                       "model allows at most %d pieces", longest, most);
    *out = (struct search_options){
        .beam = beam, .nbest = o->nbest,
        .lenpen_type = options_lenpen_type(o, penalty),
        .lenpen = options_lenpen(o, penalty),
        .max_len_a = o->max_len_a, .max_len_b = o->max_len_b,
        .early_stop = o->early_stop, .prune = o->prune > 0 ? o->prune : 0,
        .attention = o->attention, .explain = o->explain,
        .draft = o->draft,
    };
    return ST_OK;
}

struct batch_limits engine_batch_limits(const struct engine *en,
                                        const struct options *o)
{
    int longest = engine_max_source(en, o) + 2, beam = engine_beam(en, o);
    struct search_options so = { .max_len_a = o->max_len_a,
                                 .max_len_b = o->max_len_b };

    return (struct batch_limits){
        .lanes = o->batch, .rows = o->batch * beam, .max_beam = beam,
        .drafts = o->draft, .max_source = longest,
        .max_len = search_max_len(&so, en->backend->max_pos, longest),
    };
}
