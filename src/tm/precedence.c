/* precedence.c - compares several translations of one source by the rule that
 * precedence.h states. It does not search for them. */
#include "tm/precedence.h"

#include "pair/tags.h"

int precedence_compare(const struct precedence *a,
                       const struct precedence *b)
{
    const struct confirmation *x = &a->last, *y = &b->last;

    if (a->priority != b->priority) return a->priority > b->priority ? -1 : 1;
    if (x->time > y->time) return -1;
    if (x->time < y->time) return 1;
    if (x->batch != y->batch) return x->batch > y->batch ? -1 : 1;
    return x->pair < y->pair ? -1 : x->pair > y->pair;
}

enum status precedence_source(struct str text, bool tagged,
                              struct strbuf *buffer, struct str *out,
                              struct err *e)
{
    strbuf_reset(buffer);
    if (tagged && !tags_strip(text, buffer)) return err_nomem(e, "a text");
    *out = str_trim(tagged ? strbuf_view(buffer) : text);
    return ST_OK;
}
