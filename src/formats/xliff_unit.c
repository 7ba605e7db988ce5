/* xliff_unit.c - the parts of an XLIFF unit: allocates them, decides which ones
 * to return, and builds units from them. xliff_internal.h states the
 * invariants. */
#include <string.h>
#include <strings.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "formats/extra.h"
#include "formats/xliff_internal.h"
#include "text/language.h"

#define MAX_PARTS 10000

/* ---- parts --------------------------------------------------------------- */

static bool make_part(struct xliff_reader *t)
{
    struct xliff_part *p;

    if (!mem_grow(&t->part, &t->cap_part, t->n_alloc + 1, sizeof *p))
        return false;
    p = &t->part[t->n_alloc++];
    memset(p, 0, sizeof *p);
#define B(name) strbuf_init(&p->name, t->r.o.max_text);
    PART_BUFFERS(B)
#undef B
    inline_init(&p->source, t->r.o.max_text);
    inline_init(&p->target, t->r.o.max_text);
    return true;
}

struct xliff_part *xliff_add_part(struct xliff_reader *t)
{
    struct xliff_part *p;

    assert(t->n_part <= t->n_alloc && t->n_alloc <= t->cap_part);
    if (t->n_part == MAX_PARTS) {
        xml_refuse(t->x, 0, "more than %d segments in one unit", MAX_PARTS);
        return NULL;
    }
    if (t->n_part == t->n_alloc && !make_part(t)) {
        xml_nomem(t->x);
        return NULL;
    }
    p = &t->part[t->n_part++];
#define B(name) strbuf_reset(&p->name);
    PART_BUFFERS(B)
#undef B
    inline_reset(&p->source);
    inline_reset(&p->target);
    p->has_source = p->has_target = p->wanted = false;
    p->line = xml_line(t->x);
    return p;
}

/* ---- selection ----------------------------------------------------------- */

static bool is_unknown(const struct strbuf *lang)
{
    return !lang->len || !strcasecmp(lang->data, "und");
}

/* Returns whether a language is the requested one, or the first in the file if
 * none was requested. */
static bool xliff_lang_fits(struct xliff_reader *t, const struct strbuf *lang,
                          const char *wanted, char **fixed)
{
    if (is_unknown(lang)) return true;
    if (wanted && *wanted) return language_accepts(wanted, strbuf_view(lang));
    if (!*fixed && !(*fixed = strdup(lang->data))) xml_nomem(t->x);
    return language_accepts(*fixed, strbuf_view(lang));
}

static bool languages_fit(struct xliff_reader *t)
{
    return xliff_lang_fits(t, &t->source_lang, t->r.o.source_lang,
                         &t->fixed_source) &&
           xliff_lang_fits(t, &t->target_lang, t->r.o.target_lang,
                         &t->fixed_target);
}

/* Returns whether collected attributes contain this member. */
static bool has_member(const struct strbuf *attrs, const char *member)
{
    return attrs->len && strstr(attrs->data, member);
}

static bool is_finished(const struct xliff_reader *t,
                        const struct xliff_part *p)
{
    if (t->version2) return !has_member(&p->attrs, "\"state\":\"initial\"");
    return !has_member(&t->target_attrs, "\"state\":\"needs-") &&
           !has_member(&t->target_attrs, "\"state\":\"new\"") &&
           !has_member(&t->unit_attrs, "\"approved\":\"no\"");
}

/* Sets p->wanted, or counts the part as left out. */
static void xliff_decide_part(struct xliff_reader *t, struct xliff_part *p,
                              bool fits)
{
    if (!fits) t->r.counts.other_language++;
    else if (!p->has_target || inline_is_blank(&p->source) ||
             inline_is_blank(&p->target)) t->r.counts.empty++;
    else if (!t->r.o.fuzzy && !is_finished(t, p)) t->r.counts.unfinished++;
    else p->wanted = true;
}

static void swap_texts(struct inline_text *a, struct inline_text *b)
{
    struct inline_text c = *a;

    *a = *b;
    *b = c;
}

/* Version 1: replaces the parts by one for the whole unit, unless both source
 * and target have segments. */
static void xliff_choose_parts1(struct xliff_reader *t)
{
    struct xliff_part *p;

    if (t->n_segments && t->n_target_mrks) return;
    t->n_part = t->n_segments = 0;
    p = xliff_add_part(t);
    if (!p) return;
    p->line = t->line;
    p->has_target = t->has_target;
    swap_texts(&p->source, &t->source);
    swap_texts(&p->target, &t->target);
}

bool xliff_finish_unit(struct xliff_reader *t)
{
    bool fits = languages_fit(t);

    assert(t->in_unit && !t->has_wanted && !t->handed_out && !t->next_part);
    t->in_unit = false;
    xml_unit_ends(t->x);
    if (!t->version2) xliff_choose_parts1(t);
    for (size_t i = 0; i < t->n_part; i++) {
        xliff_decide_part(t, &t->part[i], fits);
        t->has_wanted = t->has_wanted || t->part[i].wanted;
    }
    return t->has_wanted;
}

/* ---- returning units ----------------------------------------------------- */

bool xliff_put_holder(struct strbuf *out, const struct strbuf *attrs,
                      const struct strbuf *raw)
{
    return strbuf_addc(out, '{') && extra_put_object(out, "a", attrs) &&
           extra_put(out, "x", strbuf_view(raw)) && strbuf_addc(out, '}');
}

static bool xliff_put_groups(struct xliff_reader *t, struct strbuf *out)
{
    bool ok;

    if (!t->n_groups) return true;
    ok = extra_put_key(out, "groups") && strbuf_addc(out, '[');
    for (int i = 0; ok && i < t->n_groups; i++) {
        if (i) ok = strbuf_addc(out, ',');
        ok = ok && xliff_put_holder(out, &t->group[i].attrs, &t->group[i].raw);
    }
    return ok && strbuf_addc(out, ']');
}

static bool xliff_put_unit_extra(struct xliff_reader *t, struct strbuf *x)
{
    struct str seg_source = { NULL, 0 };

    if (!t->version2 && !t->n_segments && t->seg_source.text.len) {
        if (!inline_make_tagged(&t->seg_source)) return false;
        seg_source = strbuf_view(&t->seg_source.text);
    }
    return extra_put_object(x, "unit", &t->unit_attrs) &&
           extra_put(x, "head", strbuf_view(&t->head)) &&
           xliff_put_groups(t, x) &&
           extra_put_object(x, "source", &t->source_attrs) &&
           extra_put_object(x, "target", &t->target_attrs) &&
           extra_put(x, "seg_source", seg_source);
}

static bool xliff_put_part_extra(struct xliff_reader *t, struct strbuf *x,
                                 const struct xliff_part *p, bool last)
{
    bool ok = extra_put_object(x, "seg", &p->attrs) &&
              extra_put_object(x, "target_seg", &p->target_attrs) &&
              extra_put(x, "pre", strbuf_view(&p->pre)) &&
              extra_put(x, "target_pre", strbuf_view(&p->target_pre));

    if (t->version2)
        ok = ok && extra_put_object(x, "source", &p->source_attrs) &&
             extra_put_object(x, "target", &p->target_el_attrs);
    if (last && (t->version2 || t->n_segments))
        ok = ok && extra_put(x, "post", strbuf_view(&t->post)) &&
             extra_put(x, "target_post", strbuf_view(&t->target_post));
    return ok;
}

static bool xliff_build_extra(struct xliff_reader *t,
                              const struct xliff_part *p, bool last)
{
    struct strbuf *x = &t->extra;
    size_t nothing;
    bool ok;

    strbuf_reset(x);
    ok = strbuf_adds(x, t->version2 ? "{\"xliff2\":{" : "{\"xliff1\":{");
    nothing = x->len;
    if (!t->handed_out) ok = ok && xliff_put_unit_extra(t, x);
    ok = ok && xliff_put_part_extra(t, x, p, last);
    if (t->handed_out)
        ok = ok && extra_put_key(x, "more") && strbuf_adds(x, "true");
    if (x->len == nothing) strbuf_reset(x);
    else ok = ok && strbuf_adds(x, "}}");
    return ok;
}

enum status xliff_hand_out(struct xliff_reader *t, const struct unit **u,
                           struct err *e)
{
    struct xliff_part *p;
    size_t next;

    assert(t->has_wanted);
    do {
        assert(t->next_part < t->n_part);
        p = &t->part[t->next_part++];
    } while (!p->wanted);
    next = t->next_part;
    while (next < t->n_part && !t->part[next].wanted) next++;
    t->has_wanted = next < t->n_part;
    if (!xliff_build_extra(t, p, !t->has_wanted) ||
        !inline_pair(&t->u, &p->source, &p->target))
        return err_nomem(e, "XLIFF");
    t->u.source_lang = strbuf_view(&t->source_lang);
    t->u.target_lang = strbuf_view(&t->target_lang);
    t->u.id = strbuf_view(&t->id);
    t->u.document = strbuf_view(&t->document);
    t->u.extra = strbuf_view(&t->extra);
    t->u.line = p->line;
    t->handed_out = true;
    *u = &t->u;
    return ST_OK;
}
