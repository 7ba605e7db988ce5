/* pharaoh.c - reads and writes lines of links, and compares links with a
 * reference. */
#include "align/pharaoh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"

void gold_links_release(struct gold_links *g)
{
    free(g->at);
    memset(g, 0, sizeof *g);
}

/* ---- reading ------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Read a number at s[*at] and move *at behind it. Returns false if there is
 * none, or if it is too large. */
static bool read_word_number(struct str s, size_t *at, uint32_t *number)
{
    size_t begin = *at;

    *number = 0;
    while (*at < s.n && s.p[*at] >= '0' && s.p[*at] <= '9') {
        *number = *number * 10 + (uint32_t)(s.p[*at] - '0');
        if (*number > PHARAOH_WORD_MAX) return false;
        ++*at;
    }
    return *at > begin;
}

static bool read_link(struct str token, struct gold_link *link)
{
    size_t at = 0;

    if (!read_word_number(token, &at, &link->source) || at == token.n)
        return false;
    if (!memchr("-?p", token.p[at], 3)) return false;
    link->sure = token.p[at++] == '-';
    return read_word_number(token, &at, &link->target) && at == token.n;
}

static enum status bad_link(struct str token, struct err *e)
{
    int n = token.n < 20 ? (int)token.n : 20;

    return err_set(e, ST_FORMAT, "expected a link such as 3-4, or 3?4 for a "
                   "possible one, with numbers up to %d, found \"%.*s\"%s",
                   PHARAOH_WORD_MAX, n, token.p, token.n > 20 ? ".." : "");
}

static int compare_links(const void *a, const void *b)
{
    const struct gold_link *x = a, *y = b;

    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return (x->target > y->target) - (x->target < y->target);
}

/* Join equal links that are next to each other. */
static void join_equal_links(struct gold_links *g)
{
    size_t n = 0;

    for (size_t i = 0; i < g->n; i++) {
        if (n && !compare_links(&g->at[n - 1], &g->at[i]))
            g->at[n - 1].sure |= g->at[i].sure;
        else g->at[n++] = g->at[i];
    }
    g->n = n;
}

enum status pharaoh_read(struct str line, struct gold_links *g, size_t *column,
                         struct err *e)
{
    size_t at = 0;

    g->n = 0;
    for (;;) {
        struct str token;
        struct gold_link link;

        while (at < line.n && is_blank(line.p[at])) at++;
        *column = at + 1;
        if (at == line.n) break;
        token = (struct str){ line.p + at, 0 };
        while (at < line.n && !is_blank(line.p[at])) at++, token.n++;
        if (!read_link(token, &link)) return bad_link(token, e);
        if (!mem_grow(&g->at, &g->cap, g->n + 1, sizeof *g->at))
            return err_nomem(e, "the links of a line");
        g->at[g->n++] = link;
    }
    if (g->n) qsort(g->at, g->n, sizeof *g->at, compare_links);
    join_equal_links(g);
    return ST_OK;
}

bool pharaoh_write(struct word_links links, struct strbuf *out)
{
    for (size_t i = 0; i < links.n; i++)
        if (!strbuf_addf(out, "%s%u-%u", i ? " " : "", links.at[i].source,
                         links.at[i].target))
            return false;
    return true;
}

/* ---- agreement ----------------------------------------------------------- */

/* Both lists ascend. */
void link_counts_add(struct link_counts *c, struct word_links links,
                     const struct gold_links *gold)
{
    size_t k = 0;

    c->links += links.n;
    c->possible += gold->n;
    for (size_t i = 0; i < gold->n; i++) {
        struct gold_link want = gold->at[i];

        assert(!i || compare_links(&gold->at[i - 1], &want) < 0);
        c->sure += want.sure;
        while (k < links.n && (links.at[k].source < want.source ||
                               (links.at[k].source == want.source &&
                                links.at[k].target < want.target)))
            k++;
        if (k == links.n || links.at[k].source != want.source ||
            links.at[k].target != want.target)
            continue;
        c->hit_possible++;
        c->hit_sure += want.sure;
    }
}

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : NAN;
}

double link_counts_precision(const struct link_counts *c)
{
    return ratio(c->hit_possible, c->links);
}

double link_counts_recall(const struct link_counts *c)
{
    return ratio(c->hit_sure, c->sure);
}

double link_counts_aer(const struct link_counts *c)
{
    return 1 - ratio(c->hit_sure + c->hit_possible, c->links + c->sure);
}
