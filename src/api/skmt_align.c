/* skmt_align.c - the part of include/skmt_tools.h that aligns words. The work
 * is done in align/. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "align/aligner.h"
#include "align/diagonal.h"
#include "align/pharaoh.h"
#include "api/align_handle.h"
#include "api/handles.h"
#include "base/strbuf.h"
#include "skmt_tools.h"
#include "text/utf8.h"

_Static_assert(sizeof(skmt_link) == sizeof(struct word_link) &&
                   offsetof(skmt_link, target) ==
                       offsetof(struct word_link, target),
               "the public link is the internal one");

skmt_status skmt_aligner_new(skmt_aligner **out, const skmt_model *model,
                             skmt_error *err)
{
    skmt_aligner *a = calloc(1, sizeof *a);

    err_clear(err_of(err));
    *out = a;
    if (!a) return (skmt_status)err_nomem(err_of(err), "aligning");
    a->settings = align_settings_defaults();
    a->method = ALIGN_GROW_DIAG_FINAL_AND;
    a->threads = 1;
    strbuf_init(&a->text, 0);
    if (model) {
        a->en = engine_hold(engine_of(model));
        a->splitter = engine_splitter(a->en);
    }
    return SKMT_OK;
}

void skmt_aligner_free(skmt_aligner *a)
{
    if (!a) return;
    bitext_release(&a->bitext);
    aligner_free(a->aligner);
    align_model_free(a->model);
    word_keys_release(&a->source);
    word_keys_release(&a->target);
    word_keys_release(&a->shown[0]);
    word_keys_release(&a->shown[1]);
    strbuf_release(&a->text);
    engine_close(a->en);
    free(a);
}

/* ---- settings ------------------------------------------------------------ */

static bool choice_of(const char *const *words, const char *value, int *out)
{
    for (int i = 0; words[i]; i++)
        if (!strcmp(words[i], value)) {
            *out = i;
            return true;
        }
    return false;
}

static enum status set_method(skmt_aligner *a, const char *value,
                              struct err *e)
{
    int choice;

    if (!choice_of(ENUM_WORDS(ALIGN_METHODS), value, &choice))
        return err_set(e, ST_ARGUMENT, "method: \"%.40s\" is not one of "
                       "forward, reverse, intersect, union, grow-diag, "
                       "grow-diag-final-and", value);
    a->method = (enum align_method)choice;
    return ST_OK;
}

/* Settings that decide what a word is. */
static enum status set_words(skmt_aligner *a, const char *key,
                             const char *value, struct err *e)
{
    bool split = !strcmp(key, "split");
    int choice;

    if (a->splitter.split == SPLIT_PIECES)
        return err_set(e, ST_ARGUMENT, "%s: the pieces of a model cannot be "
                       "split in another way", key);
    if (a->bitext.n_pairs || a->model)
        return err_set(e, ST_ARGUMENT, "%s: it cannot be changed any more",
                       key);
    if (!choice_of(split ? (const char *const[]){ "words", "spaces", NULL }
                         : (const char *const[]){ "lower", "keep", NULL },
                   value, &choice))
        return err_set(e, ST_ARGUMENT, "%s: \"%.40s\" is not %s", key, value,
                       split ? "words or spaces" : "lower or keep");
    if (split) a->splitter.split = choice ? SPLIT_SPACES : SPLIT_WORDS;
    else a->splitter.keep_case = choice;
    return ST_OK;
}

static enum status align_number(const char *key, const char *value, double low,
                                double high, bool whole, double *out,
                                struct err *e)
{
    char *end;
    double x;

    errno = 0;
    x = strtod(value, &end);
    if (end == value || *end || errno || !(x >= low && x <= high) ||
        (whole && x != floor(x)))
        return err_set(e, ST_ARGUMENT, "%s: \"%.40s\" is not a %snumber from "
                       "%g to %g", key, value, whole ? "whole " : "", low,
                       high);
    *out = x;
    return ST_OK;
}

static enum status aligner_set(skmt_aligner *a, const char *key,
                               const char *value, struct err *e)
{
    struct align_settings *s = &a->settings;
    double x = 0;
    enum status st;

    if (!strcmp(key, "split") || !strcmp(key, "case"))
        return set_words(a, key, value, e);
    if (!strcmp(key, "method")) return set_method(a, value, e);
    if (!strcmp(key, "alpha"))
        return align_number(key, value, 0, 10, false, &s->alpha, e);
    if (!strcmp(key, "null-prob"))
        return align_number(key, value, 0.001, 0.999, false, &s->null_prob, e);
    if (!strcmp(key, "tension"))
        return align_number(key, value, DIAGONAL_TENSION_MIN,
                            DIAGONAL_TENSION_MAX, false, &s->tension, e);
    if (!strcmp(key, "iterations")) {
        st = align_number(key, value, 1, 1000, true, &x, e);
        if (!st) s->iterations = (int)x;
        return st;
    }
    if (strcmp(key, "threads"))
        return err_set(e, ST_ARGUMENT, "an aligner has no setting \"%.40s\"",
                       key);
    st = align_number(key, value, 1, 256, true, &x, e);
    if (!st) a->threads = (int)x;
    return st;
}

skmt_status skmt_aligner_set(skmt_aligner *a, const char *key,
                             const char *value, skmt_error *err)
{
    struct err *e = err_of(err);

    err_clear(e);
    if (!key || !value)
        return (skmt_status)err_set(e, ST_ARGUMENT, "the name or the value of "
                                    "a setting is NULL");
    return (skmt_status)aligner_set(a, key, value, e);
}

void skmt_aligner_on_progress(skmt_aligner *a, skmt_tm_progress_fn *fn,
                              void *user)
{
    a->progress = fn;
    a->progress_user = user;
}

void skmt_aligner_on_iteration(skmt_aligner *a, skmt_aligner_fn *fn,
                               void *user)
{
    a->iteration = fn;
    a->iteration_user = user;
}

/* ---- pairs --------------------------------------------------------------- */

/* Split a text into words. NULL with length 0 is an empty text. */
static enum status split_text(skmt_aligner *a, enum bitext_which side,
                              const char *p, size_t n, struct word_keys *out,
                              struct err *e)
{
    const char *which = side == BITEXT_SOURCE ? "source" : "target";
    size_t good;

    if (!p && n) return err_set(e, ST_ARGUMENT, "the %s is NULL", which);
    if (n > UINT32_MAX)
        return err_set(e, ST_LIMIT, "the %s has more than 4 GiB", which);
    good = utf8_check(p ? p : "", n);
    if (good < n)
        return err_set(e, ST_TEXT, "the %s is not valid UTF-8: byte %zu is "
                       "0x%02X", which, good, (unsigned char)p[good]);
    return word_keys_of(&a->splitter, side, (struct str){ p ? p : "", n },
                        out, e);
}

static enum status split_pair(skmt_aligner *a, const char *source,
                              size_t source_len, const char *target,
                              size_t target_len, struct err *e)
{
    enum status st = split_text(a, BITEXT_SOURCE, source, source_len,
                                &a->source, e);

    if (!st)
        st = split_text(a, BITEXT_TARGET, target, target_len, &a->target, e);
    return st;
}

skmt_status skmt_aligner_add(skmt_aligner *a, const char *source,
                             size_t source_len, const char *target,
                             size_t target_len, skmt_error *err)
{
    struct err *e = err_of(err);
    enum status st;

    err_clear(e);
    if (a->model || a->bitext.finished)
        return (skmt_status)err_set(e, ST_ARGUMENT, "no pair can be added "
                                    "after the training");
    st = split_pair(a, source, source_len, target, target_len, e);
    if (!st) st = bitext_add(&a->bitext, &a->source, &a->target, e);
    return (skmt_status)st;
}

size_t skmt_aligner_size(const skmt_aligner *a) { return a->bitext.n_pairs; }

/* ---- parameters ---------------------------------------------------------- */

static int pass_iteration(void *user, const struct align_iteration *it)
{
    skmt_aligner *a = user;

    if (!a->iteration) return 0;
    return a->iteration(a->iteration_user, it->reverse ? "reverse" : "forward",
                        it->number, it->of, it->log_likelihood,
                        it->perplexity, it->tension);
}

/* Training is reported as the number of pairs that were read, in each iteration
 * of both directions. */
static int pass_progress(void *user, double done)
{
    skmt_aligner *a = user;
    uint64_t total = 2 * (uint64_t)a->settings.iterations * a->bitext.n_pairs;
    uint64_t n = (uint64_t)(done * (double)total);

    if (!a->progress) return 0;
    return a->progress(a->progress_user, "training", n, total, n);
}

/* Take over a model, or the status of a failure to make it. */
static enum status use_model(skmt_aligner *a, struct align_model *m,
                             enum status st, struct err *e)
{
    if (st) return st;
    st = aligner_new(&a->aligner, m, e);
    if (st) align_model_free(m);
    else a->model = m;
    return st;
}

static enum status check_untrained(const skmt_aligner *a, struct err *e)
{
    if (!a->model) return ST_OK;
    return err_set(e, ST_ARGUMENT, "this aligner has its parameters already");
}

static enum status check_trained(const skmt_aligner *a, struct err *e)
{
    if (a->model) return ST_OK;
    return err_set(e, ST_ARGUMENT, "this aligner has no parameters: train it "
                   "or read them from a file");
}

skmt_status skmt_aligner_train(skmt_aligner *a, skmt_error *err)
{
    struct align_settings s = a->settings;
    struct align_model *m = NULL;
    enum status st;

    err_clear(err_of(err));
    s.on_iteration = pass_iteration;
    s.on_progress = pass_progress;
    s.user = a;
    st = check_untrained(a, err_of(err));
    if (!st)
        st = align_model_train(&m, &a->bitext, &a->splitter, &s, a->threads,
                               err_of(err));
    return (skmt_status)use_model(a, m, st, err_of(err));
}

skmt_status skmt_aligner_save(const skmt_aligner *a, const char *path,
                              skmt_error *err)
{
    enum status st;

    err_clear(err_of(err));
    st = check_trained(a, err_of(err));
    if (!st) st = align_model_save(a->model, path, err_of(err));
    return (skmt_status)st;
}

skmt_status skmt_aligner_load(skmt_aligner *a, const char *path,
                              skmt_error *err)
{
    struct align_model *m = NULL;
    enum status st;

    err_clear(err_of(err));
    st = check_untrained(a, err_of(err));
    if (!st) st = align_model_open(&m, path, err_of(err));
    if (!st) {
        st = align_model_fits(m, &a->splitter, path, err_of(err));
        if (st) align_model_free(m);
    }
    return (skmt_status)use_model(a, m, st, err_of(err));
}

/* ---- links --------------------------------------------------------------- */

static const skmt_link *public_links(struct word_links links)
{
    return (const skmt_link *)(const void *)links.at;
}

static void run_aligner(skmt_aligner *a, const uint32_t *source, size_t n,
                        const uint32_t *target, size_t m)
{
    a->links = aligner_run(a->aligner, a->method, source, n, target, m);
    a->n_source = n;
    a->n_target = m;
}

skmt_status skmt_aligner_links(skmt_aligner *a, size_t i,
                               const skmt_link **links, size_t *n,
                               skmt_error *err)
{
    struct err *e = err_of(err);
    struct bitext_text s, t;
    enum status st;

    err_clear(e);
    *links = NULL;
    *n = 0;
    st = check_trained(a, e);
    if (!st && (i >= a->bitext.n_pairs || !a->bitext.finished))
        st = err_set(e, ST_ARGUMENT, "there is no pair %zu", i);
    if (st) return (skmt_status)st;
    s = bitext_text(&a->bitext.side[BITEXT_SOURCE], i);
    t = bitext_text(&a->bitext.side[BITEXT_TARGET], i);
    run_aligner(a, s.at, s.n, t.at, t.n);
    *links = public_links(a->links);
    *n = a->links.n;
    return SKMT_OK;
}

static void find_numbers(const skmt_aligner *a, enum bitext_which side,
                         const struct word_keys *k, uint32_t *number)
{
    for (size_t i = 0; i < k->n; i++)
        number[i] = align_model_number(a->model, side, k->at[i].key);
}

/* Align the texts in a->source and a->target. */
static void align_split_texts(skmt_aligner *a)
{
    bool empty = !a->source.n || !a->target.n;
    bool too_long = !empty && (a->source.n > ALIGNER_WORDS_MAX ||
                               a->target.n > ALIGNER_WORDS_MAX);

    a->n_aligned++;
    a->n_empty += empty;
    a->n_long += too_long;
    if (empty || too_long) {
        run_aligner(a, NULL, 0, NULL, 0);
        return;
    }
    find_numbers(a, BITEXT_SOURCE, &a->source, a->source_number);
    find_numbers(a, BITEXT_TARGET, &a->target, a->target_number);
    run_aligner(a, a->source_number, a->source.n, a->target_number,
                a->target.n);
}

skmt_status skmt_aligner_align(skmt_aligner *a, const char *source,
                               size_t source_len, const char *target,
                               size_t target_len, const skmt_link **links,
                               size_t *n, skmt_error *err)
{
    enum status st;

    err_clear(err_of(err));
    *links = NULL;
    *n = 0;
    st = check_trained(a, err_of(err));
    if (!st)
        st = split_pair(a, source, source_len, target, target_len,
                        err_of(err));
    if (st) return (skmt_status)st;
    align_split_texts(a);
    *links = public_links(a->links);
    *n = a->links.n;
    return SKMT_OK;
}

const char *skmt_aligner_pharaoh(skmt_aligner *a)
{
    strbuf_reset(&a->text);
    return pharaoh_write(a->links, &a->text) ? a->text.data : NULL;
}

/* ---- words --------------------------------------------------------------- */

skmt_status skmt_aligner_split(skmt_aligner *a, const char *source,
                               size_t source_len, const char *target,
                               size_t target_len, skmt_error *err)
{
    struct word_keys *shown = a->shown;
    enum status st;

    err_clear(err_of(err));
    a->shown_text[0] = source;
    a->shown_text[1] = target;
    st = split_text(a, BITEXT_SOURCE, source, source_len, &shown[0],
                    err_of(err));
    if (!st)
        st = split_text(a, BITEXT_TARGET, target, target_len, &shown[1],
                        err_of(err));
    if (st) shown[0].n = shown[1].n = 0;
    return (skmt_status)st;
}

const char *skmt_aligner_word(const skmt_aligner *a, int side, size_t i,
                              size_t *len)
{
    const struct word_key *k;

    *len = 0;
    if (side < 0 || side > 1 || i >= a->shown[side].n) return NULL;
    k = &a->shown[side].at[i];
    if (a->splitter.split == SPLIT_PIECES)
        return subword_piece(a->splitter.subword[side],
                             (int32_t)k->key, len);
    *len = k->end - k->begin;
    return a->shown_text[side] + k->begin;
}

const char *skmt_aligner_stat(const skmt_aligner *a, int i, int64_t *value)
{
    static const struct align_model none;
    const struct align_model *m = a->model ? a->model : &none;
    const struct { const char *name; size_t n; } stats[] = {
        { "pairs", a->bitext.n_pairs + a->n_aligned },
        { "empty", a->bitext.n_empty + a->n_empty },
        { "long", a->bitext.n_long + a->n_long },
        { "source_words", m->n_keys[BITEXT_SOURCE] },
        { "target_words", m->n_keys[BITEXT_TARGET] },
        { "forward_entries", m->forward.lexicon.n },
        { "reverse_entries", m->reverse.lexicon.n },
    };

    *value = 0;
    if (i < 0 || (size_t)i >= sizeof stats / sizeof *stats) return NULL;
    *value = (int64_t)stats[i].n;
    return stats[i].name;
}
