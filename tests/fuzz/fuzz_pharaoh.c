/* fuzz_pharaoh.c - reads any line as links in Pharaoh format.
 *
 * Links that are accepted are distinct and ascend, and links that are written
 * are read as the same links. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "align/pharaoh.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void pharaoh_must(int ok)
{
    if (!ok) abort();
}

static void check_order(const struct gold_links *g)
{
    for (size_t i = 0; i < g->n; i++) {
        pharaoh_must(g->at[i].source <= PHARAOH_WORD_MAX);
        pharaoh_must(g->at[i].target <= PHARAOH_WORD_MAX);
        pharaoh_must(!i || g->at[i - 1].source < g->at[i].source ||
                     (g->at[i - 1].source == g->at[i].source &&
                      g->at[i - 1].target < g->at[i].target));
    }
}

/* Write all links as sure ones and read them again. */
static void check_round_trip(const struct gold_links *g)
{
    struct word_link *links = malloc((g->n + 1) * sizeof *links);
    struct gold_links back = { 0 };
    struct link_counts c = { 0 };
    struct strbuf text;
    size_t column;

    pharaoh_must(links != NULL);
    strbuf_init(&text, 0);
    for (size_t i = 0; i < g->n; i++)
        links[i] = (struct word_link){ g->at[i].source, g->at[i].target };
    pharaoh_must(pharaoh_write((struct word_links){ links, g->n }, &text));
    pharaoh_must(!pharaoh_read(strbuf_view(&text), &back, &column, NULL));
    pharaoh_must(back.n == g->n);
    for (size_t i = 0; i < g->n; i++)
        pharaoh_must(back.at[i].sure && back.at[i].source == links[i].source &&
                     back.at[i].target == links[i].target);
    link_counts_add(&c, (struct word_links){ links, g->n }, g);
    pharaoh_must(c.hit_possible == g->n && c.hit_sure == c.sure);
    pharaoh_must(!g->n || (link_counts_precision(&c) == 1 &&
                           link_counts_aer(&c) == 0));
    strbuf_release(&text);
    gold_links_release(&back);
    free(links);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of the exact size, so that ASan detects reads past the end. */
    char *line = malloc(size ? size : 1);
    struct gold_links g = { 0 };
    struct err e = { 0 };
    size_t column = 0;
    enum status st;

    pharaoh_must(line != NULL);
    if (size) memcpy(line, data, size);
    st = pharaoh_read((struct str){ line, size }, &g, &column, &e);
    pharaoh_must(column >= 1 && column <= size + 1);
    if (st) pharaoh_must(st == ST_FORMAT && e.msg[0]);
    else check_order(&g);
    if (!st) check_round_trip(&g);
    gold_links_release(&g);
    free(line);
    return 0;
}
