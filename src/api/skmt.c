/* skmt.c - the part of include/skmt.h for models, options, sessions, streams
 * and results. The functions only check arguments and call the engine.
 *
 * Most public handles are pointers to structs of the engine with another type,
 * and skmt_error has the same layout as struct err, so nothing is copied. */
#include "skmt.h"

#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "api/sized.h"
#include "base/invariant.h"
#include "engine/result.h"
#include "engine/session.h"
#include "engine/stream.h"

_Static_assert(sizeof(skmt_error) == sizeof(struct err), "same layout");
_Static_assert(offsetof(skmt_error, message) == offsetof(struct err, msg),
               "same layout");
_Static_assert(sizeof(skmt_error) == 512, "programs rely on it");
/* The list of statuses is the same. */
#define SKMT_ERR_OK SKMT_OK
#define S(name, text) \
    _Static_assert((int)SKMT_ERR_##name == (int)ST_##name, "same list");
STATUS_LIST(S)
#undef S

static const struct result *result_of(const skmt_result *r)
{
    return (const struct result *)(const void *)r;
}

/* ---- models and facts ------------------------------------------------ */

const char *skmt_status_text(skmt_status status)
{
    return status_text((enum status)status);
}

const char *skmt_version(void) { return SKMT_VERSION; }
int skmt_version_number(void) { return SKMT_VERSION_NUMBER; }
const char *skmt_isa(void) { return isa_name(kernels_pick(NULL)->isa); }
const char *skmt_cpu(void) { return cpu_name(); }

skmt_status skmt_model_open(skmt_model **out, const char *path,
                            skmt_error *err)
{
    return skmt_model_open_with(out, path, NULL, err);
}

skmt_status skmt_model_open_with(skmt_model **out, const char *path,
                                 const skmt_options *options, skmt_error *err)
{
    struct options o = options_or_defaults(options);
    struct engine *en = NULL;
    enum status st;

    err_clear(err_of(err));
    st = path ? engine_open_with(&en, path, &o, err_of(err))
              : err_set(err_of(err), ST_ARGUMENT, "the name of the model file "
                        "is missing");
    *out = (skmt_model *)(void *)en;
    return (skmt_status)st;
}

void skmt_model_close(skmt_model *model)
{
    engine_close(engine_of(model));
}

const char *skmt_model_fact(const skmt_model *model, int i,
                            const char **value)
{
    const struct engine *en = engine_of(model);
    bool exists = i >= 0 && i < en->facts.n;

    *value = exists ? en->facts.at[i].value : NULL;
    return exists ? en->facts.at[i].name : NULL;
}

const char *skmt_model_get(const skmt_model *model, const char *name)
{
    const struct engine *en = engine_of(model);

    for (int i = 0; i < en->facts.n; i++)
        if (!strcmp(en->facts.at[i].name, name)) return en->facts.at[i].value;
    return NULL;
}

/* ---- options --------------------------------------------------------- */

skmt_status skmt_options_new(skmt_options **out, skmt_error *err)
{
    err_clear(err_of(err));
    *out = calloc(1, sizeof **out);
    if (!*out) return (skmt_status)err_nomem(err_of(err), "options");
    options_defaults(&(*out)->o);
    return SKMT_OK;
}

void skmt_options_free(skmt_options *o) { free(o); }

skmt_status skmt_options_set(skmt_options *o, const char *name,
                             const char *value, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)options_set(&o->o, name, value, err_of(err));
}

const char *skmt_options_get(skmt_options *o, const char *name)
{
    return options_get(&o->o, name, o->text, sizeof o->text) ? o->text : NULL;
}

const char *skmt_options_in_force(skmt_options *o, const skmt_model *model,
                                  int steered, const char *name)
{
    struct options resolved = engine_resolve(model ? engine_of(model) : NULL,
                                             &o->o, steered != 0);

    return options_get(&resolved, name, o->text, sizeof o->text) ? o->text
                                                                 : NULL;
}

_Static_assert((int)SKMT_OPTIONS_TRANSLATE == (int)OPTIONS_TRANSLATE &&
               (int)SKMT_OPTIONS_STEER == (int)OPTIONS_STEER &&
               (int)SKMT_OPTIONS_SEARCH == (int)OPTIONS_SEARCH &&
               (int)SKMT_OPTIONS_MODEL == (int)OPTIONS_MODEL, "same list");

int skmt_option_describe(skmt_option_group group, int i, skmt_option_info *out)
{
    struct option_info info;

    if (!option_describe((enum option_group)group, i, &info)) return 0;
    return !sized_put(SIZED_skmt_option_info, out, &(skmt_option_info){
        .name = info.name, .kind = info.kind, .fallback = info.fallback,
        .help = info.help }, NULL);
}

static const char *system_needs(const struct steering_system *s)
{
    if (s->needs & NEEDS_SOURCES) return "a datastore with source tokens";
    if (s->needs & NEEDS_ENTRIES) return "a datastore, or corrections";
    if (s->needs & NEEDS_ONLINE) return "corrections";
    return s->needs & NEEDS_PAIRS ? "a memory" : "-";
}

int skmt_system_describe(int i, skmt_system_info *out)
{
    const struct steering_system *s = system_at(i);

    if (!s) return 0;
    return !sized_put(SIZED_skmt_system_info, out, &(skmt_system_info){
        .name = s->name, .title = s->title, .paper = s->paper,
        .needs = system_needs(s), .options = s->options }, NULL);
}

/* ---- translating ----------------------------------------------------- */

skmt_status skmt_session_new(skmt_session **out, const skmt_model *model,
                             const skmt_options *options, skmt_error *err)
{
    struct options o = options_or_defaults(options);
    struct session *s;
    enum status st;

    err_clear(err_of(err));
    st = session_new(&s, engine_of(model), &o, err_of(err));
    *out = (skmt_session *)(void *)s;
    return (skmt_status)st;
}

void skmt_session_cancel(skmt_session *s)
{
    session_cancel((struct session *)(void *)s);
}

void skmt_session_free(skmt_session *s)
{
    session_free((struct session *)(void *)s);
}

skmt_status skmt_session_translate(skmt_session *s, const char *text,
                                   const char *prefix, skmt_result **out,
                                   skmt_error *err)
{
    struct session_text t = { .text = text, .len = length_of(text),
                              .prefix = prefix };
    enum status st;

    err_clear(err_of(err));
    st = session_run((struct session *)(void *)s, &t, 1, err_of(err));
    *out = (skmt_result *)(void *)t.result;
    return (skmt_status)st;
}

skmt_status skmt_session_translate_many(skmt_session *s,
                                        const char *const *texts,
                                        const char *const *prefixes, size_t n,
                                        skmt_result **results,
                                        skmt_error *err)
{
    struct session_text *t = calloc(n ? n : 1, sizeof *t);
    enum status st;

    err_clear(err_of(err));
    for (size_t i = 0; i < n; i++) results[i] = NULL;
    if (!t) return (skmt_status)err_nomem(err_of(err), "texts");
    for (size_t i = 0; i < n; i++) {
        t[i].text = texts[i];
        t[i].len = length_of(texts[i]);
        t[i].prefix = prefixes ? prefixes[i] : NULL;
    }
    st = session_run((struct session *)(void *)s, t, n, err_of(err));
    for (size_t i = 0; i < n; i++)
        results[i] = (skmt_result *)(void *)t[i].result;
    free(t);
    return (skmt_status)st;
}

char *skmt_translate(const skmt_model *model, const char *text,
                     skmt_error *err)
{
    skmt_options *o;
    skmt_session *s = NULL;
    skmt_result *r = NULL;
    char *out = NULL;

    if (skmt_options_new(&o, err)) return NULL;
    if (!text) {
        err_set(err_of(err), ST_ARGUMENT, "the text is NULL");
        skmt_options_free(o);
        return NULL;
    }
    /* One text has few sentences, and unused lanes would cost memory. */
    o->o.batch = 4;
    if (!skmt_session_new(&s, model, o, err) &&
        !skmt_session_translate(s, text, NULL, &r, err)) {
        out = strdup(skmt_result_text(r, 0));
        if (!out) err_nomem(err_of(err), "a translation");
    }
    skmt_result_free(r);
    skmt_session_free(s);
    skmt_options_free(o);
    return out;
}

void skmt_free(void *p) { free(p); }

/* ---- results --------------------------------------------------------- */

void skmt_result_free(skmt_result *r)
{
    result_free((struct result *)(void *)r);
}

/* Returns NULL for an index that does not exist. The functions below then
 * return 0, "" or an empty piece. */
static const struct translation *translation_at(const skmt_result *r, int hyp)
{
    const struct result *res = result_of(r);

    return hyp >= 0 && hyp < res->n_hyps ? &res->hyps[hyp] : NULL;
}

/* Return the translation of a sentence within translation hyp of the whole
 * text, or NULL if there is none. */
static const struct hypothesis *hyp_at(const skmt_result *r, int hyp, int seg)
{
    const struct translation *whole = translation_at(r, hyp);
    const struct sentence *s = result_sentence(result_of(r), seg);

    if (!whole || !s || !s->job || !s->job->n_hyps) return NULL;
    assert(whole->choice[seg] >= 0 && whole->choice[seg] < s->job->n_hyps);
    return &s->job->hyps[whole->choice[seg]];
}

int skmt_result_hyps(const skmt_result *r) { return result_of(r)->n_hyps; }

const char *skmt_result_text(const skmt_result *r, int hyp)
{
    const struct translation *h = translation_at(r, hyp);

    return h ? h->text : "";
}

double skmt_result_score(const skmt_result *r, int hyp)
{
    const struct translation *h = translation_at(r, hyp);

    return h ? h->score : 0;
}

double skmt_result_logprob(const skmt_result *r, int hyp)
{
    const struct translation *h = translation_at(r, hyp);

    return h ? h->logprob : 0;
}

int skmt_result_sentences(const skmt_result *r)
{
    return result_of(r)->n_sentences;
}

void skmt_result_sentence_span(const skmt_result *r, int seg, size_t *begin,
                               size_t *end)
{
    const struct sentence *s = result_sentence(result_of(r), seg);

    *begin = s ? s->begin : 0;
    *end = s ? s->end : 0;
}

double skmt_result_sentence_score(const skmt_result *r, int hyp, int seg)
{
    const struct hypothesis *h = hyp_at(r, hyp, seg);

    return h ? h->score : 0;
}

/* Return the text of a piece, which was made when the model was opened. */
static const char *piece_text(const struct engine *en,
                              const struct piece_texts *side, int32_t id)
{
    assert(id >= 0 && id < en->w->cfg.vocab_size);
    return side->text[id];
}

int skmt_result_source_pieces(const skmt_result *r, int seg)
{
    const struct sentence *s = result_sentence(result_of(r), seg);

    return s ? (int)s->n_pieces : 0;
}

void skmt_result_source_piece(const skmt_result *r, int seg, int i,
                              skmt_piece *out)
{
    const struct sentence *s = result_sentence(result_of(r), seg);
    skmt_piece piece = { .id = -1, .text = "" };

    if (s && i >= 0 && (size_t)i < s->n_pieces) {
        const struct piece *p = &s->pieces[i];
        const struct engine *en = result_of(r)->engine;

        piece = (skmt_piece){ .id = p->id, .begin = p->begin, .end = p->end,
                              .text = piece_text(en, &en->src_pieces, p->id) };
    }
    sized_put(SIZED_skmt_piece, out, &piece, NULL);
}

int skmt_result_target_pieces(const skmt_result *r, int hyp, int seg)
{
    const struct hypothesis *h = hyp_at(r, hyp, seg);

    return h ? h->n : 0;
}

void skmt_result_target_piece(const skmt_result *r, int hyp, int seg, int i,
                              skmt_piece *out)
{
    const struct hypothesis *h = hyp_at(r, hyp, seg);
    const struct translation *whole = translation_at(r, hyp);
    skmt_piece piece = { .id = -1, .text = "" };

    if (h && i >= 0 && i < h->n) {
        const struct target_text *t =
            &result_sentence(result_of(r), seg)->targets[whole->choice[seg]];
        const struct engine *en = result_of(r)->engine;
        size_t at = whole->offset[seg];

        piece = (skmt_piece){ .id = h->tokens[i], .logprob = h->logprobs[i],
                              .begin = at + (i ? t->ends[i - 1] : 0),
                              .end = at + t->ends[i],
                              .text = piece_text(en, &en->tgt_pieces,
                                                 h->tokens[i]) };
    }
    sized_put(SIZED_skmt_piece, out, &piece, NULL);
}

const float *skmt_result_attention(const skmt_result *r, int hyp, int seg,
                                   int i, int *n)
{
    const struct hypothesis *h = hyp_at(r, hyp, seg);
    bool exists = h && h->attention && i >= 0 && i < h->n;
    int columns = exists ? result_sentence(result_of(r), seg)->job->n_src : 0;

    if (n) *n = columns;
    return exists ? h->attention + (size_t)i * (size_t)columns : NULL;
}

/* ---- streams --------------------------------------------------------- */

/* Calls the callback of the user, whose parameters have the public types. */
static int on_result(void *user, uint64_t number, struct result *r,
                     const struct err *e)
{
    struct skmt_stream *s = user;

    return s->fn(s->user, number, (skmt_result *)(void *)r,
                 (const skmt_error *)(const void *)e);
}

skmt_status skmt_stream_new(skmt_stream **out, const skmt_model *model,
                            const skmt_options *options, skmt_stream_fn *fn,
                            void *user, skmt_error *err)
{
    struct options o = options_or_defaults(options);
    skmt_stream *s = calloc(1, sizeof *s);
    enum status st;

    *out = NULL;
    err_clear(err_of(err));
    if (!fn) {
        free(s);
        return (skmt_status)err_set(err_of(err), ST_ARGUMENT,
                                    "a stream needs a callback");
    }
    if (!s) return (skmt_status)err_nomem(err_of(err), "stream");
    s->fn = fn;
    s->user = user;
    st = stream_new(&s->s, engine_of(model), &o, on_result, s, err_of(err));
    if (st) free(s);
    else *out = s;
    return (skmt_status)st;
}

skmt_status skmt_stream_push(skmt_stream *s, const char *text,
                             const char *prefix, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)stream_push(s->s, text, length_of(text), prefix,
                                    err_of(err));
}

skmt_status skmt_stream_flush(skmt_stream *s, skmt_error *err)
{
    err_clear(err_of(err));
    return (skmt_status)stream_flush(s->s, err_of(err));
}

void skmt_stream_cancel(skmt_stream *s) { stream_cancel(s->s); }

void skmt_stream_free(skmt_stream *s)
{
    if (!s) return;
    stream_free(s->s);
    free(s);
}
