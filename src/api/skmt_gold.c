/* skmt_gold.c - the part of include/skmt_tools.h that compares links with a
 * reference. Lines of links are parsed in align/pharaoh.c. */
#include <stdio.h>
#include <stdlib.h>

#include "align/pharaoh.h"
#include "api/align_handle.h"
#include "api/handles.h"
#include "formats/input.h"
#include "formats/linescan.h"

#define LINE_MAX_MIB 64

struct skmt_gold {
    struct input *in;
    struct linescan scan;
    struct gold_links gold;     /* of the last line */
    struct link_counts counts;
    uint64_t n_pairs;
};

skmt_status skmt_gold_open(skmt_gold **out, const char *path, skmt_error *err)
{
    skmt_gold *g = calloc(1, sizeof *g);
    enum status st;

    err_clear(err_of(err));
    *out = NULL;
    if (!g) return (skmt_status)err_nomem(err_of(err), path);
    st = input_open(&g->in, path, err_of(err));
    if (!st)
        st = linescan_init(&g->scan, g->in, (size_t)LINE_MAX_MIB << 20,
                           err_of(err));
    if (st) skmt_gold_close(g);
    else *out = g;
    return (skmt_status)st;
}

void skmt_gold_close(skmt_gold *g)
{
    if (!g) return;
    gold_links_release(&g->gold);
    linescan_release(&g->scan);
    input_close(g->in);
    free(g);
}

/* Report what is wrong with the current line. column is from 1; 0: none. */
static enum status gold_bad(const skmt_gold *g, size_t column, const char *why,
                            struct err *e)
{
    const char *name = input_name(g->in);
    unsigned long long line = g->scan.line;

    if (column)
        return err_set(e, ST_FORMAT, "%s:%llu:%zu: %s", name, line, column,
                       why);
    return err_set(e, ST_FORMAT, "%s:%llu: %s", name, line, why);
}

static enum status gold_read_line(skmt_gold *g, struct err *e)
{
    struct scanned_line line;
    struct err why;
    size_t column;
    enum status st = linescan_next(&g->scan, &line, e);

    if (st) return st;
    if (line.too_long) return gold_bad(g, 0, "the line is too long", e);
    if (!line.found)
        return err_set(e, ST_FORMAT, "%s: the file ends after %llu lines, but "
                       "there are more pairs", input_name(g->in),
                       (unsigned long long)g->scan.line);
    st = pharaoh_read(line.text, &g->gold, &column, &why);
    if (st == ST_FORMAT) return gold_bad(g, column, why.msg, e);
    if (st && e) *e = why;
    return st;
}

/* A link to a word that does not exist shows that the reference counts other
 * words, and then all results would be wrong. */
static enum status gold_check_words(const skmt_gold *g, const skmt_aligner *a,
                                    struct err *e)
{
    char why[160];

    for (size_t i = 0; a->n_source && i < g->gold.n; i++) {
        struct gold_link l = g->gold.at[i];

        if (l.source < a->n_source && l.target < a->n_target) continue;
        snprintf(why, sizeof why, "the link %u-%u is outside the pair, which "
                 "has %zu source words and %zu target words", l.source,
                 l.target, a->n_source, a->n_target);
        return gold_bad(g, 0, why, e);
    }
    return ST_OK;
}

skmt_status skmt_gold_compare(skmt_gold *g, const skmt_aligner *a,
                              skmt_error *err)
{
    enum status st;

    err_clear(err_of(err));
    st = gold_read_line(g, err_of(err));
    if (!st) st = gold_check_words(g, a, err_of(err));
    if (st) return (skmt_status)st;
    link_counts_add(&g->counts, a->links, &g->gold);
    g->n_pairs++;
    return SKMT_OK;
}

skmt_status skmt_gold_finish(skmt_gold *g, skmt_error *err)
{
    struct scanned_line line;
    enum status st;

    err_clear(err_of(err));
    st = linescan_next(&g->scan, &line, err_of(err));
    if (st || !line.found) return (skmt_status)st;
    return (skmt_status)err_set(err_of(err), ST_FORMAT, "%s:%llu: there are "
                                "only %llu pairs", input_name(g->in),
                                (unsigned long long)g->scan.line,
                                (unsigned long long)g->n_pairs);
}

const char *skmt_gold_stat(const skmt_gold *g, int i, double *value)
{
    const struct link_counts *c = &g->counts;
    const struct { const char *name; double value; } stats[] = {
        { "pairs", (double)g->n_pairs }, { "links", (double)c->links },
        { "sure", (double)c->sure }, { "possible", (double)c->possible },
        { "hit_sure", (double)c->hit_sure },
        { "hit_possible", (double)c->hit_possible },
        { "precision", 100 * link_counts_precision(c) },
        { "recall", 100 * link_counts_recall(c) },
        { "aer", 100 * link_counts_aer(c) },
    };

    *value = 0;
    if (i < 0 || (size_t)i >= sizeof stats / sizeof *stats) return NULL;
    *value = stats[i].value;
    return stats[i].name;
}
