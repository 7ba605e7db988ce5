/* vocabulary_spm.c - reads vocabularies and SentencePiece models of a set of
 * files, and rewrites the latter. */
#include "convert/vocabulary_spm.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "convert/family.h"
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

static enum status rewrite_file(struct spm_rewrite *r, struct file_set *s,
                                const char *file, const struct vocabulary *v,
                                const char *unknown, const char *const *control,
                                size_t n_control, struct err *e)
{
    struct strbuf name;
    size_t size;
    char *text;
    enum status st = file_set_read(s, file, FILE_MOST, &text, &size, e);

    if (st) return st;
    strbuf_init(&name, 0);
    st = family_file_name(&name, s, file)
             ? spm_rewrite(r, text, size, v, unknown, control, n_control,
                           name.data, e)
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
    struct spm_rewrite r = { 0 };
    size_t n;
    const char **control = list_control(&n, v, is_control, user);
    enum status st;

    assert(!out->len);
    if (!control) return err_nomem(e, file);
    strbuf_init(&r.model, 0);
    st = rewrite_file(&r, s, file, v, unknown, control, n, e);
    free(control);
    if (st) {
        strbuf_release(&r.model);
        return st;
    }
    strbuf_release(out);
    *out = r.model;
    *side = (struct plan_side){ .rows = vocabulary_size(v), .pieces = r.n,
                                .unk = r.unk };
    return ST_OK;
}
