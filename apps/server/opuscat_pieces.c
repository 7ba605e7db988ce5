/* opuscat_pieces.c - collects the pieces of a translation and aligns each
 * target piece with the source piece that got most of its attention. */
#include "opuscat_pieces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- collecting --------------------------------------------------------- */

static bool pieces_init(struct opuscat_pieces *p)
{
    p->source = json_array();
    p->target = json_array();
    p->forward = json_object();
    p->backward = json_object();
    return p->source && p->target && p->forward && p->backward;
}

static void add_to_list(json_t *map, size_t key, size_t value)
{
    char name[24];
    json_t *list;

    snprintf(name, sizeof name, "%zu", key);
    list = json_object_get(map, name);
    if (!list) {
        list = json_array();
        json_object_set_new(map, name, list);
    }
    json_array_append_new(list, json_integer((json_int_t)value));
}

static void link_pieces(struct opuscat_pieces *p, size_t source, size_t target)
{
    textbuf_addf(&p->links, "%s%zu-%zu", p->links.len ? " " : "", source,
                 target);
    add_to_list(p->forward, source, target);
    add_to_list(p->backward, target, source);
}

/* The source piece with most attention; -1 if there is no attention. */
static int most_attended(const skmt_result *r, int sentence, int i, int n)
{
    int count = 0, best = -1, k;
    const float *weight = skmt_result_attention(r, 0, sentence, i, &count);

    for (k = 0; weight && k < n && k < count; k++)
        if (best < 0 || weight[k] > weight[best])
            best = k;
    return best;
}

/* The last piece is the end of the sentence, which has no text. */
static bool is_end_piece(const skmt_piece *piece, int i, int n)
{
    return i == n - 1 && piece->begin == piece->end;
}

static void add_target(struct opuscat_pieces *p, const skmt_result *r,
                       int sentence, size_t limit, size_t first, int n_source)
{
    int n = skmt_result_target_pieces(r, 0, sentence), i, k;
    skmt_piece piece = SKMT_INIT(skmt_piece);

    for (i = 0; i < n; i++) {
        skmt_result_target_piece(r, 0, sentence, i, &piece);
        if (is_end_piece(&piece, i, n) || piece.end > limit)
            continue;
        k = most_attended(r, sentence, i, n_source);
        if (k >= 0)
            link_pieces(p, first + (size_t)k, json_array_size(p->target));
        json_array_append_new(p->target, json_string(piece.text));
        if (p->raw.len)
            textbuf_add(&p->raw, " ", 1);
        textbuf_adds(&p->raw, piece.text);
    }
}

/* Adds the pieces of a line whose translation has `limit` bytes. What the model
 * added to a stored translation is left out. */
static void add_line(struct opuscat_pieces *p, const skmt_result *r,
                     size_t limit)
{
    skmt_piece piece = SKMT_INIT(skmt_piece);
    int n, sentence, i;

    for (sentence = 0; sentence < skmt_result_sentences(r); sentence++) {
        size_t first = json_array_size(p->source);

        n = skmt_result_source_pieces(r, sentence);
        for (i = 0; i < n; i++) {
            skmt_result_source_piece(r, sentence, i, &piece);
            json_array_append_new(p->source, json_string(piece.text));
        }
        add_target(p, r, sentence, limit, first, n);
    }
}

/* ---- stored lines ------------------------------------------------------- */

/* Whether a sentence of a line has no pieces, because its translation is
 * stored. */
static bool line_is_stored(const struct line_result *line)
{
    int i;

    for (i = 0; line->result && i < skmt_result_sentences(line->result); i++)
        if (skmt_result_target_pieces(line->result, 0, i) == 0 ||
            !skmt_result_attention(line->result, 0, i, 0, NULL))
            return true;
    return false;
}

/* The lines that are translated again, with their translations. */
struct stored_lines {
    char **texts, **prefixes;   /* [n] */
    int n;
};

static void stored_release(struct stored_lines *s)
{
    int i;

    for (i = 0; i < s->n; i++) {
        free(s->texts[i]);
        free(s->prefixes[i]);
    }
    free(s->texts);
    free(s->prefixes);
}

static bool stored_find(struct stored_lines *s, const char *text,
                        const struct text_answer *a)
{
    const char *translation = a->alternatives[0].text;
    int i;

    s->texts = calloc((size_t)a->n_lines + 1, sizeof *s->texts);
    s->prefixes = calloc((size_t)a->n_lines + 1, sizeof *s->prefixes);
    if (!s->texts || !s->prefixes)
        return false;
    for (i = 0; i < a->n_lines; i++) {
        const struct line_result *line = &a->lines[i];

        if (!line_is_stored(line))
            continue;
        s->texts[s->n] = strndup(text + line->begin, line->end - line->begin);
        s->prefixes[s->n] = strndup(translation + line->out_begin,
                                    line->out_end - line->out_begin);
        s->n++;
        if (!s->texts[s->n - 1] || !s->prefixes[s->n - 1])
            return false;
    }
    return true;
}

/* Translates them again, so that the decoder looks at the source. */
static bool stored_answer(const struct stored_lines *s, struct call *c,
                          const struct wish *w, struct answer *out)
{
    json_t *options = json_pack("{s:s, s:s}", "exact", "steer", "split",
                                "none");
    struct wish again = *w;
    bool done = false;

    memset(out, 0, sizeof *out);
    again.options = options;
    if (!options)
        call_fail(c, FAIL_INTERNAL, "out of memory");
    else
        done = answer_prefixes(c, &again, (const char *const *)s->texts,
                               (const char *const *)s->prefixes, s->n, out);
    json_decref(options);
    return done;
}

/* ---- all lines ---------------------------------------------------------- */

/* `again` has the stored lines, in order. */
static void add_lines(struct opuscat_pieces *p, const struct text_answer *a,
                      const struct answer *again,
                      const struct stored_lines *s)
{
    const struct text_answer *other;
    int i, k = 0;

    for (i = 0; i < a->n_lines; i++) {
        const struct line_result *line = &a->lines[i];

        if (!line->result)
            continue;
        if (!line_is_stored(line)) {
            add_line(p, line->result, (size_t)-1);
            continue;
        }
        other = &again->texts[k];
        if (other->n_lines > 0 && other->lines[0].result)
            add_line(p, other->lines[0].result, strlen(s->prefixes[k]));
        k++;
    }
}

bool opuscat_pieces_read(struct opuscat_pieces *p, struct call *c,
                         const struct wish *w, const char *text,
                         const struct text_answer *a)
{
    struct stored_lines s = { 0 };
    struct answer again = { 0 };
    bool done = pieces_init(p) && stored_find(&s, text, a);

    if (!done)
        call_fail(c, FAIL_INTERNAL, "out of memory");
    if (done && s.n)
        done = stored_answer(&s, c, w, &again);
    if (done)
        add_lines(p, a, &again, &s);
    if (done && s.n)
        answer_release(&again);
    stored_release(&s);
    return done;
}

void opuscat_pieces_release(struct opuscat_pieces *p)
{
    json_decref(p->source);
    json_decref(p->target);
    json_decref(p->forward);
    json_decref(p->backward);
    textbuf_release(&p->links);
    textbuf_release(&p->raw);
}

json_t *opuscat_pieces_json(struct opuscat_pieces *p, const char *translation)
{
    if (p->links.failed || p->raw.failed)
        return NULL;
    return json_pack("{s:s, s:s, s:O, s:O, s:O, s:O, s:s%, s:s%, s:i}",
                     "translation", translation, "Translation", translation,
                     "SegmentedSourceSentence", p->source,
                     "SegmentedTranslation", p->target,
                     "SegmentedAlignmentSourceToTarget", p->forward,
                     "SegmentedAlignmentTargetToSource", p->backward,
                     "AlignmentString", p->links.data ? p->links.data : "",
                     p->links.len, "RawTranslation",
                     p->raw.data ? p->raw.data : "", p->raw.len,
                     "Segmentation", 1);
}
