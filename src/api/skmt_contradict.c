/* skmt_contradict.c - the part of include/skmt.h that lists sources with
 * several translations. tm/contradict.c does the search. */
#include <stdlib.h>

#include "api/public_pair.h"
#include "api/tm_handle.h"
#include "base/mem.h"
#include "tm/contradict.h"

struct public_translation {
    skmt_translation t;         /* points to `pair` */
    skmt_pair pair;
    struct strbuf text;         /* the strings of the pair */
};

struct contradiction_report {
    struct tmfile *file;
    skmt_contradiction_fn *fn;
    void *user;
    struct public_translation **all;    /* [n_all] */
    const skmt_translation **list;      /* [n_all] list[i] is &all[i]->t */
    size_t cap_all, cap_list, n_all;
    struct strbuf source;
    struct err *e;
    enum status error;          /* the error that ended the list; ST_OK if fn
                                   ended it */
};

static enum status report_grow(struct contradiction_report *report, size_t n)
{
    if (!mem_grow(&report->list, &report->cap_list, n, sizeof *report->list) ||
        !mem_grow(&report->all, &report->cap_all, n, sizeof *report->all))
        return err_nomem(report->e, "translations");
    while (report->n_all < n) {
        struct public_translation *t = calloc(1, sizeof *t);

        if (!t) return err_nomem(report->e, "translations");
        strbuf_init(&t->text, 0);
        report->list[report->n_all] = &t->t;
        report->all[report->n_all++] = t;
    }
    return ST_OK;
}

static enum status fill_translation(struct contradiction_report *report,
                                    size_t i, const struct contradiction *from)
{
    const struct confirmation *last = &from->precedence.last;
    struct public_translation *to = report->all[i];
    struct pair p;
    enum status st = tmfile_get(report->file, last->pair, &p, report->e);

    to->t = (skmt_translation){
        .size = sizeof to->t, .pair = &to->pair,
        .confirmed = (int64_t)last->time, .occurrences = last->occurrences,
        .priority = from->precedence.priority };
    return st ? st : public_pair(&to->text, &p, from->memory, &to->pair,
                                 report->e);
}

static int report_contradiction(void *user, struct str source,
                                const struct contradiction *list, size_t n)
{
    struct contradiction_report *report = user;

    report->error = report_grow(report, n);
    for (size_t i = 0; !report->error && i < n; i++)
        report->error = fill_translation(report, i, &list[i]);
    strbuf_reset(&report->source);
    if (!report->error && (!strbuf_add(&report->source, source.p, source.n) ||
                           !strbuf_addc(&report->source, 0)))
        report->error = err_nomem(report->e, "translations");
    return report->error || report->fn(report->user, report->source.data,
                                       report->list, (int)n);
}

skmt_status skmt_tm_contradictions(skmt_tm *tm, skmt_contradiction_fn *fn,
                                   void *user, int64_t *n, skmt_error *err)
{
    struct contradiction_report report = { .file = tm->f, .fn = fn,
                                      .user = user, .e = err_of(err) };
    int64_t sources = 0;
    enum status st;

    err_clear(err_of(err));
    strbuf_init(&report.source, 0);
    st = tmfile_contradictions(tm->f, report_contradiction, &report, &sources,
                               err_of(err));
    if (st == ST_CANCELED)
        st = report.error ? report.error
                          : err_set(err_of(err), ST_CANCELED, "stopped");
    for (size_t i = 0; i < report.n_all; i++) {
        strbuf_release(&report.all[i]->text);
        free(report.all[i]);
    }
    strbuf_release(&report.source);
    free(report.all);
    free(report.list);
    if (n) *n = sources;
    return (skmt_status)st;
}
