/* answer_line.c - the forms of a line with marks, and its translations. */
#include <stdlib.h>
#include <string.h>

#include "answer_internal.h"
#include "line_cut.h"

const char *line_text(const struct answer_part *p, const struct answer_line *l,
                      size_t *n)
{
    const char *s = l->form == LINE_MASKED ? l->marks.masked
                  : l->form == LINE_BARE ? l->marks.bare : NULL;

    *n = s ? strlen(s) : l->end - l->begin;
    return s ? s : p->text + l->begin;
}

void line_release(struct answer_line *l)
{
    for (int i = 0; i < l->n; i++) free(l->list[i].text);
    free(l->list);
    marks_release(&l->marks);
}

/* Appends a translation if it is new. Takes text. */
static void line_add(struct answer_line *l, char *text, double score)
{
    for (int i = 0; i < l->n; i++)
        if (!strcmp(l->list[i].text, text)) {
            free(text);
            return;
        }
    l->list[l->n++] = (struct alternative){ text, score };
}

/* The translation `hyp` with its marks; *out is NULL if it has lost one.
 * Returns false if out of memory. */
static bool line_translation(const struct answer_line *l, const skmt_result *r,
                             int hyp, char **out)
{
    const char *text = skmt_result_text(r, hyp);
    struct mark_pieces pieces;

    *out = NULL;
    if (l->form == LINE_MASKED) return marks_unmask(&l->marks, text, out);
    if (l->form == LINE_BARE) {
        if (!mark_pieces_read(&pieces, r, hyp)) return false;
        *out = marks_insert(&l->marks, text, &pieces);
        mark_pieces_release(&pieces);
        return *out != NULL;
    }
    if (l->marks.n && !marks_are_kept(&l->marks, text)) return true;
    *out = strdup(text);
    return *out != NULL;
}

/* What the memory knew about a line. */
static void line_read_memory(struct answer_line *l, const skmt_result *r)
{
    int n = skmt_result_sentences(r);
    skmt_found_pair pair = SKMT_INIT(skmt_found_pair);

    l->exact = n > 0;
    l->similarity = n > 0;
    l->source_tokens = l->target_tokens = 0;
    for (int i = 0; i < n; i++) {
        double similarity = 0;
        bool exact = false;

        if (skmt_result_pairs(r, i) > 0) {
            skmt_result_pair(r, i, 0, &pair);
            exact = pair.exact;
            similarity = pair.similarity > 0 ? pair.similarity : 0;
        }
        if (!exact) l->exact = false;
        if (similarity < l->similarity) l->similarity = similarity;
        l->source_tokens += skmt_result_source_pieces(r, i);
        l->target_tokens += skmt_result_target_pieces(r, 0, i);
    }
}

static enum line_form line_next_form(const struct answer_line *l)
{
    return l->form == LINE_AS_IS && l->marks.masked ? LINE_MASKED : LINE_BARE;
}

bool line_take(struct answer_line *l, const skmt_result *r)
{
    int n = skmt_result_hyps(r);

    l->list = calloc((size_t)n + 1, sizeof *l->list);
    if (!l->list) return false;
    for (int hyp = 0; hyp < n; hyp++) {
        char *text;

        if (!line_translation(l, r, hyp, &text)) return false;
        if (text) line_add(l, text, skmt_result_score(r, hyp));
    }
    if (l->n) {
        line_read_memory(l, r);
        l->last = l->form;
        l->form = LINE_DONE;
    } else {
        free(l->list);
        l->list = NULL;
        l->form = line_next_form(l);
    }
    return true;
}
