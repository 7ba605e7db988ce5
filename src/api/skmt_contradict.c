/* skmt_contradict.c - the part of include/skmt.h that lists sources with
 * several translations. They are found in tm/contradict.c. */
#include <stdlib.h>

#include "api/public_pair.h"
#include "api/tm_handle.h"
#include "base/mem.h"
#include "tm/contradict.h"

struct contradiction_report {
    struct tmfile *file;
    skmt_contradiction_fn *fn;
    void *user;
    skmt_translation *list;
    struct strbuf *texts;       /* [n_texts] the strings of list[i] */
    size_t cap_list, cap_texts, n_texts;
    struct strbuf source;
    struct err *e;
    enum status failed;         /* the error that ended the list; ST_OK if fn
                                   ended it */
};

static enum status report_grow(struct contradiction_report *y, size_t n)
{
    if (!mem_grow(&y->list, &y->cap_list, n, sizeof *y->list) ||
        !mem_grow(&y->texts, &y->cap_texts, n, sizeof *y->texts))
        return err_nomem(y->e, "translations");
    for (; y->n_texts < n; y->n_texts++)
        strbuf_init(&y->texts[y->n_texts], 0);
    return ST_OK;
}

static enum status fill_translation(struct contradiction_report *y, size_t i,
                                    const struct contradiction *from)
{
    const struct confirmation *last = &from->precedence.last;
    struct pair p;
    enum status st = tmfile_get(y->file, last->pair, &p, y->e);

    y->list[i] = (skmt_translation){ .confirmed = (int64_t)last->time,
                                     .occurrences = last->occurrences,
                                     .priority = from->precedence.priority };
    return st ? st : public_pair(&y->texts[i], &p, from->memory,
                                 &y->list[i].pair, y->e);
}

static int report_contradiction(void *user, struct str source,
                                const struct contradiction *list, size_t n)
{
    struct contradiction_report *y = user;

    y->failed = report_grow(y, n);
    for (size_t i = 0; !y->failed && i < n; i++)
        y->failed = fill_translation(y, i, &list[i]);
    strbuf_reset(&y->source);
    if (!y->failed && (!strbuf_add(&y->source, source.p, source.n) ||
                       !strbuf_addc(&y->source, 0)))
        y->failed = err_nomem(y->e, "translations");
    return y->failed || y->fn(y->user, y->source.data, y->list, (int)n);
}

skmt_status skmt_tm_contradictions(skmt_tm *tm, skmt_contradiction_fn *fn,
                                   void *user, int64_t *n, skmt_error *err)
{
    struct contradiction_report y = { .file = tm->f, .fn = fn,
                                      .user = user, .e = inner(err) };
    int64_t sources = 0;
    enum status st;

    err_clear(inner(err));
    strbuf_init(&y.source, 0);
    st = tmfile_contradictions(tm->f, report_contradiction, &y, &sources,
                               inner(err));
    if (st == ST_CANCELED)
        st = y.failed ? y.failed
                      : err_set(inner(err), ST_CANCELED, "stopped");
    for (size_t i = 0; i < y.n_texts; i++) strbuf_release(&y.texts[i]);
    strbuf_release(&y.source);
    free(y.texts);
    free(y.list);
    if (n) *n = sources;
    return (skmt_status)st;
}
