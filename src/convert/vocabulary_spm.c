/* vocabulary_spm.c - reads vocabularies and SentencePiece models of a set of
 * files, and rewrites the latter. */
#include "convert/vocabulary_spm.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "convert/family.h"
#include "convert/opus_cleaning.h"
#include "convert/spm_rewrite.h"

#define FILE_MOST (1 << 28)     /* bytes */

enum status vocabulary_of_file(struct vocabulary **out,
                               enum vocabulary_form form, struct file_set *s,
                               const char *file, struct err *e)
{
    struct strbuf name;
    size_t size;
    char *text;
    enum status st = file_set_read(s, file, FILE_MOST, &text, &size, e);

    *out = NULL;
    if (st) return st;
    strbuf_init(&name, 0);
    st = family_file_name(&name, s, file)
             ? vocabulary_read(out, form, text, size, name.data, e)
             : err_nomem(e, file);
    strbuf_release(&name);
    free(text);
    return st;
}

/* The control pieces of v, in malloc memory. NULL: out of memory. */
static const char **list_control(size_t *n, const struct vocabulary *v,
                                 control_piece_fn *is_control, void *user)
{
    const char **list = malloc(((size_t)vocabulary_size(v) + 1) *
                               sizeof *list);

    *n = 0;
    for (int32_t id = 0; list && id < vocabulary_size(v); id++) {
        const char *piece = vocabulary_piece(v, id);

        if (is_control(user, piece)) list[(*n)++] = piece;
    }
    return list;
}

/* What a model is rewritten for. */
struct rewrite_wish {
    const struct vocabulary *v;
    const char *unknown;
    control_piece_fn *is_control;
    void *user;
    bool clean;
};

static enum status rewrite_for(struct spm_rewrite *r, struct str spm,
                               const struct rewrite_wish *w, const char *name,
                               struct err *e)
{
    size_t n;
    const char **control = list_control(&n, w->v, w->is_control, w->user);
    struct strbuf cleaning;
    struct err why;
    enum status st = control ? ST_OK : err_nomem(e, name);

    strbuf_init(&cleaning, 0);
    if (!st && w->clean) {
        st = opus_cleaning_add(&cleaning, spm.p, spm.n, &why);
        if (st) err_set(e, st, "%s: %s", name, why.msg);
        spm = strbuf_view(&cleaning);
    }
    if (!st)
        st = spm_rewrite(r, spm.p, spm.n, w->v, w->unknown, control, n, name,
                         e);
    strbuf_release(&cleaning);
    free(control);
    return st;
}

static enum status rewrite_bytes(struct strbuf *out, struct plan_side *side,
                                 struct str spm, const char *name,
                                 const struct rewrite_wish *w, struct err *e)
{
    struct spm_rewrite r = { 0 };
    enum status st;

    assert(!out->len);
    strbuf_init(&r.model, 0);
    st = rewrite_for(&r, spm, w, name, e);
    if (st) {
        strbuf_release(&r.model);
        return st;
    }
    strbuf_release(out);
    *out = r.model;
    *side = (struct plan_side){ .rows = vocabulary_size(w->v), .pieces = r.n,
                                .unk = r.unk };
    return ST_OK;
}

static enum status rewrite_file(struct strbuf *out, struct plan_side *side,
                                struct file_set *s, const char *file,
                                const struct rewrite_wish *w, struct err *e)
{
    struct strbuf name;
    size_t size;
    char *text;
    enum status st = file_set_read(s, file, FILE_MOST, &text, &size, e);

    if (st) return st;
    strbuf_init(&name, 0);
    st = family_file_name(&name, s, file)
             ? rewrite_bytes(out, side, (struct str){ text, size }, name.data,
                             w, e)
             : err_nomem(e, file);
    strbuf_release(&name);
    free(text);
    return st;
}

enum status vocabulary_spm(struct strbuf *out, struct plan_side *side,
                           struct file_set *s, const char *file,
                           const struct vocabulary *v, const char *unknown,
                           control_piece_fn *is_control, void *user,
                           struct err *e)
{
    struct rewrite_wish w = { v, unknown, is_control, user, false };

    return rewrite_file(out, side, s, file, &w, e);
}

enum status vocabulary_spm_clean(struct strbuf *out, struct plan_side *side,
                                 struct file_set *s, const char *file,
                                 const struct vocabulary *v,
                                 const char *unknown,
                                 control_piece_fn *is_control, void *user,
                                 struct err *e)
{
    struct rewrite_wish w = { v, unknown, is_control, user, true };

    return rewrite_file(out, side, s, file, &w, e);
}

enum status vocabulary_spm_bytes(struct strbuf *out, struct plan_side *side,
                                 struct str spm, const char *name,
                                 const struct vocabulary *v,
                                 const char *unknown,
                                 control_piece_fn *is_control, void *user,
                                 struct err *e)
{
    struct rewrite_wish w = { v, unknown, is_control, user, false };

    return rewrite_bytes(out, side, spm, name, &w, e);
}
