/* skmt_words.c - the part of include/skmt_tools.h that computes the accuracy of
 * words by frequency. The counting is done in metrics/wordfreq.c. */
#include <stdlib.h>

#include "api/handles.h"
#include "api/sized.h"
#include "metrics/wordfreq.h"
#include "text/utf8.h"

struct skmt_words {
    struct wordfreq w;
};

skmt_status skmt_words_new(skmt_words **out, skmt_error *err)
{
    err_clear(err_of(err));
    *out = calloc(1, sizeof **out);
    if (!*out) return (skmt_status)err_nomem(err_of(err), "words");
    wordfreq_init(&(*out)->w);
    return SKMT_OK;
}

void skmt_words_free(skmt_words *w)
{
    if (!w) return;
    wordfreq_release(&w->w);
    free(w);
}

void skmt_words_reset(skmt_words *w) { wordfreq_reset(&w->w); }

/* Check a text and set *out to it. NULL with length 0 is an empty text. */
static enum status skmt_words_check_text(const char *which, const char *p,
                                         size_t n, struct str *out,
                                         struct err *e)
{
    size_t good;

    *out = (struct str){ p ? p : "", n };
    if (!p && n) return err_set(e, ST_ARGUMENT, "the %s is NULL", which);
    good = utf8_check(out->p, n);
    if (good == n) return ST_OK;
    return err_set(e, ST_TEXT, "the %s is not valid UTF-8: byte %zu is "
                   "0x%02X", which, good, (unsigned char)p[good]);
}

skmt_status skmt_words_learn(skmt_words *w, const char *text, size_t len,
                             skmt_error *err)
{
    struct str t;
    enum status st;

    err_clear(err_of(err));
    st = skmt_words_check_text("text", text, len, &t, err_of(err));
    if (!st && !wordfreq_learn(&w->w, t)) st = err_nomem(err_of(err), "words");
    return (skmt_status)st;
}

skmt_status skmt_words_add(skmt_words *w, const char *hyp, size_t hyp_len,
                           const char *ref, size_t ref_len, skmt_error *err)
{
    struct str h, r;
    enum status st;

    err_clear(err_of(err));
    st = skmt_words_check_text("translation", hyp, hyp_len, &h, err_of(err));
    if (!st)
        st = skmt_words_check_text("reference", ref, ref_len, &r,
                                   err_of(err));
    if (!st && !wordfreq_add(&w->w, h, r)) st = err_nomem(err_of(err), "words");
    return (skmt_status)st;
}

int skmt_words_get(const skmt_words *w, int i, skmt_words_info *out)
{
    struct wordfreq_figure f;
    skmt_words_info info;

    if (i < 0 || i >= WORDFREQ_BUCKETS) return 0;
    wordfreq_get(&w->w, i, &f);
    info = (skmt_words_info){
        .frequency = f.frequency, .matched = f.n.matched, .hyp_words = f.n.hyp,
        .ref_words = f.n.ref, .precision = f.precision, .recall = f.recall,
        .f1 = f.f1 };
    return !sized_put(SIZED_skmt_words_info, out, &info, NULL);
}

const char *skmt_words_signature(void)
{
    return "nrefs:1|case:mixed|tok:moses-en|skmt:" SKMT_VERSION_TEXT;
}
