/* xliff_read.c - reads XLIFF 1.x and 2.x, one unit at a time.
 *
 * Both versions are reduced to the same structure: a unit with one or more
 * parts, each with a source and a target. Text goes to up to two sinks at once:
 * the whole text and the segment that contains it. Elements that are not
 * understood are copied as XML with their content. When a unit is complete,
 * xliff_unit.c returns its parts one by one. xliff.h describes the extra data,
 * xliff_internal.h the state and its invariants. */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "formats/extra.h"
#include "formats/xliff_internal.h"
#include "formats/xml_write.h"

static const char *xliff_attr(const char **attrs, const char *name)
{
    for (; *attrs; attrs += 2)
        if (!strcmp(attrs[0], name)) return attrs[1];
    return NULL;
}

/* Text goes to a and b (either may be NULL) until the current element ends. */
static void set_sink(struct xliff_reader *t, struct inline_text *a,
                     struct inline_text *b)
{
    assert(!t->sink_depth && !t->mrk_depth);
    t->sink[0] = a;
    t->sink[1] = b;
    t->sink_depth = xml_depth(t->x);
    t->mrk_depth = 0;
}

/* ---- parts --------------------------------------------------------------- */

static struct xliff_part *xliff_find_part(struct xliff_reader *t,
                                          const char *mid)
{
    for (size_t i = 0; i < t->n_part; i++)
        if (!strcmp(t->part[i].mid.data, mid)) return &t->part[i];
    return NULL;
}

/* Moves the XML that was collected since the last segment ended to `to`. That
 * is the `pre` of the segment that begins now, or the `post` of the unit if no
 * segment follows. */
static void flush_inter_segment_xml(struct xliff_reader *t, struct strbuf *to)
{
    gather_check(&t->g, inline_put_xml(&t->inter_segment, to), to, 0);
    inline_reset(&t->inter_segment);
}

static bool is_segment(const struct xliff_reader *t, const char *name,
                       const char **attrs)
{
    const char *mtype = xliff_attr(attrs, "mtype");

    return !t->version2 && !t->mrk_depth && t->sink[1] &&
           xml_depth(t->x) == t->sink_depth + 1 && !strcmp(name, "mrk") &&
           mtype && !strcmp(mtype, "seg") && xliff_attr(attrs, "mid");
}

static void keep_mrk_attrs(struct xliff_reader *t, struct strbuf *to,
                           const char **attrs)
{
    for (; *attrs; attrs += 2)
        if (strcmp(attrs[0], "mtype"))
            gather_attr(&t->g, to, attrs[0], attrs[1]);
}

/* Begins a segment: <mrk mtype="seg"> directly in <seg-source> or <target>. */
static void start_mrk(struct xliff_reader *t, const char **attrs)
{
    const char *mid = xliff_attr(attrs, "mid");
    struct xliff_part *p = xliff_find_part(t, mid);
    bool again = t->in_target ? p && p->has_target : p != NULL;

    assert(!t->version2 && !t->mrk_depth);
    t->mrk_depth = xml_depth(t->x);
    assert(t->mrk_depth == t->sink_depth + 1);
    t->sink[1] = NULL;
    /* Ignore a repeated segment, and one without a source. */
    if (again || (t->in_target && !p)) return;
    if (!t->in_target) {
        p = xliff_add_part(t);
        if (!p) return;
        gather_set(&t->g, &p->mid, mid);
        keep_mrk_attrs(t, &p->attrs, attrs);
        flush_inter_segment_xml(t, &p->pre);
        t->sink[1] = &p->source;
        t->n_segments++;
    } else {
        keep_mrk_attrs(t, &p->target_attrs, attrs);
        flush_inter_segment_xml(t, &p->target_pre);
        p->has_target = true;
        t->sink[1] = &p->target;
        t->n_target_mrks++;
    }
}

/* ---- the root and files -------------------------------------------------- */

static void xliff_start_root(struct xliff_reader *t, const char *name,
                             const char **attrs)
{
    const char *version = xliff_attr(attrs, "version");

    if (strcmp(name, "xliff") || !version || (version[0] != '1' &&
        version[0] != '2') || (version[1] != '.' && version[1])) {
        t->r.o.skip_bad = false;        /* there is no unit to skip to */
        if (strcmp(name, "xliff"))
            xml_refuse(t->x, 0, "expected <xliff>, found <%.60s>", name);
        else
            xml_refuse(t->x, 0, "XLIFF %.20s is not supported, only 1.x and "
                       "2.x", version ? version : "without a version");
        return;
    }
    t->version2 = version[0] == '2';
    gather_set(&t->g, &t->version, version);
    for (; *attrs; attrs += 2) {
        if (t->version2 && !strcmp(attrs[0], "srcLang"))
            gather_set(&t->g, &t->source_lang, attrs[1]);
        if (t->version2 && !strcmp(attrs[0], "trgLang"))
            gather_set(&t->g, &t->target_lang, attrs[1]);
        if (strcmp(attrs[0], "version"))
            gather_attr(&t->g, &t->root, attrs[0], attrs[1]);
    }
}

static void start_file(struct xliff_reader *t, const char **attrs)
{
    const char *name = xliff_attr(attrs, "original");
    const char *source = xliff_attr(attrs, "source-language");
    const char *target = xliff_attr(attrs, "target-language");

    if (!name && t->version2) name = xliff_attr(attrs, "id");
    t->in_file = true;
    t->n_groups = 0;
    t->g.bytes_used = 0;
    strbuf_reset(&t->file_attrs);
    strbuf_reset(&t->file_head);
    gather_set(&t->g, &t->document, name ? name : "");
    if (!t->version2) {
        gather_set(&t->g, &t->source_lang, source ? source : "");
        gather_set(&t->g, &t->target_lang, target ? target : "");
    }
    gather_attrs(&t->g, &t->file_attrs, attrs);
}

/* Adds the attributes and children of <file> to the extra data, once for each
 * name and as long as the limit allows. */
static void end_file(struct xliff_reader *t)
{
    struct strbuf *all = &t->files;
    size_t before = all->len, n;
    bool ok;

    t->in_file = false;
    ok = extra_put_key(all, t->document.data);
    n = all->len - before;
    if (ok && before)                   /* search for it without the comma */
        ok = !memmem(all->data, before, all->data + before + 1, n - 1);
    if (!ok || !xliff_put_holder(all, &t->file_attrs, &t->file_head))
        xml_cut(all, before);
}

static void start_group(struct xliff_reader *t, const char **attrs)
{
    struct xliff_group *g;

    assert(t->in_file && t->n_groups >= 0 && t->n_groups < XML_DEPTH);
    g = &t->group[t->n_groups++];
    strbuf_reset(&g->attrs);
    strbuf_reset(&g->raw);
    g->frozen = false;
    t->g.bytes_used = 0;
    gather_attrs(&t->g, &g->attrs, attrs);
}

/* ---- units --------------------------------------------------------------- */

static const char *unit_name(const struct xliff_reader *t)
{
    return t->version2 ? "unit" : "trans-unit";
}

static void start_unit(struct xliff_reader *t, const char **attrs)
{
    assert(t->in_file && !t->in_unit && !t->sink_depth && !t->has_wanted);
    xml_unit_begins(t->x);
    t->in_unit = true;
    t->has_source = t->has_seg_source = t->has_target = false;
    t->in_segment = t->handed_out = false;
    t->n_part = t->n_segments = t->n_target_mrks = t->next_part = 0;
    t->g.bytes_used = 0;
    t->line = xml_line(t->x);
    strbuf_reset(&t->id);
    strbuf_reset(&t->unit_attrs);
    strbuf_reset(&t->head);
    strbuf_reset(&t->source_attrs);
    strbuf_reset(&t->target_attrs);
    strbuf_reset(&t->post);
    strbuf_reset(&t->target_post);
    inline_reset(&t->source);
    inline_reset(&t->target);
    inline_reset(&t->seg_source);
    inline_reset(&t->inter_segment);
    for (int i = 0; i < t->n_groups; i++) t->group[i].frozen = true;
    for (; *attrs; attrs += 2) {
        if (!strcmp(attrs[0], "id")) gather_set(&t->g, &t->id, attrs[1]);
        else gather_attr(&t->g, &t->unit_attrs, attrs[0], attrs[1]);
    }
}

static void start_in_unit1(struct xliff_reader *t, const char *name,
                           const char **attrs)
{
    bool target = !strcmp(name, "target") && !t->has_target;

    t->in_target = target;
    inline_reset(&t->inter_segment);
    if (!strcmp(name, "source") && !t->has_source) {
        t->has_source = true;
        gather_attrs(&t->g, &t->source_attrs, attrs);
        set_sink(t, &t->source, NULL);
    } else if (!strcmp(name, "seg-source") && !t->has_seg_source) {
        t->has_seg_source = true;
        set_sink(t, &t->seg_source, &t->inter_segment);
    } else if (target) {
        t->has_target = true;
        gather_attrs(&t->g, &t->target_attrs, attrs);
        set_sink(t, &t->target, &t->inter_segment);
    } else {
        gather_copy(&t->g, &t->head, name, attrs);
    }
}

static void start_segment(struct xliff_reader *t, const char **attrs)
{
    struct xliff_part *p = xliff_add_part(t);

    if (!p) return;
    t->in_segment = true;
    gather_attrs(&t->g, &p->attrs, attrs);
    flush_inter_segment_xml(t, &p->pre);
}

static void start_in_unit2(struct xliff_reader *t, const char *name,
                           const char **attrs)
{
    struct xliff_part *p = t->n_part ? &t->part[t->n_part - 1] : NULL;

    assert(!t->in_segment || p);
    if (!t->in_segment && !strcmp(name, "segment")) start_segment(t, attrs);
    else if (!t->in_segment && !strcmp(name, "ignorable")) {
        t->inter_segment.tagged = true;       /* it receives XML */
        gather_copy(&t->g, &t->inter_segment.text, name, attrs);
    } else if (!t->in_segment) gather_copy(&t->g, &t->head, name, attrs);
    else if (!strcmp(name, "source") && !p->has_source) {
        p->has_source = true;
        gather_attrs(&t->g, &p->source_attrs, attrs);
        set_sink(t, &p->source, NULL);
    } else if (!strcmp(name, "target") && !p->has_target) {
        p->has_target = true;
        gather_attrs(&t->g, &p->target_el_attrs, attrs);
        set_sink(t, &p->target, NULL);
    } else gather_copy(&t->g, NULL, name, attrs);
}

/* ---- events -------------------------------------------------------------- */

static void start_in_file(struct xliff_reader *t, const char *name,
                          const char **attrs)
{
    struct xliff_group *g = t->n_groups ? &t->group[t->n_groups - 1] : NULL;

    if (!strcmp(name, unit_name(t))) start_unit(t, attrs);
    else if (!strcmp(name, "group")) start_group(t, attrs);
    else if (!t->version2 && !strcmp(name, "body")) {}
    else if (g) gather_copy(&t->g, g->frozen ? NULL : &g->raw, name, attrs);
    else gather_copy(&t->g, &t->file_head, name, attrs);
}

static void start_inline(struct xliff_reader *t, const char *name,
                         const char **attrs)
{
    bool segment = is_segment(t, name, attrs);

    for (int i = 0; i < (segment ? 1 : 2); i++)
        if (t->sink[i])
            gather_check(&t->g, inline_start(t->sink[i], name, attrs),
                         &t->sink[i]->text, 64);
    if (segment) start_mrk(t, attrs);
}

static void xliff_on_start(void *user, const char *name, const char **attrs)
{
    struct xliff_reader *t = user;
    int depth = xml_depth(t->x);

    if (t->in_unit && !strcmp(name, unit_name(t)))
        xml_refuse(t->x, 2, "<%s> is never closed",
                   xml_open_name(t->x, depth - 1));
    else if (gather_start(&t->g, name, attrs)) {}
    else if (t->sink_depth) start_inline(t, name, attrs);
    else if (t->in_unit && t->version2) start_in_unit2(t, name, attrs);
    else if (t->in_unit) start_in_unit1(t, name, attrs);
    else if (depth == 1) xliff_start_root(t, name, attrs);
    else if (t->in_file) start_in_file(t, name, attrs);
    else if (!strcmp(name, "file")) start_file(t, attrs);
    else gather_copy(&t->g, NULL, name, attrs);
}

static void end_sink(struct xliff_reader *t)
{
    if (!t->version2 && t->sink[1])
        flush_inter_segment_xml(t, t->in_target ? &t->target_post : &t->post);
    t->sink[0] = t->sink[1] = NULL;
    t->sink_depth = 0;
}

static void end_inline(struct xliff_reader *t, const char *name, int depth)
{
    bool segment = depth == t->mrk_depth;

    assert(t->sink_depth && depth >= t->sink_depth);
    if (depth == t->sink_depth) {
        end_sink(t);
        return;
    }
    for (int i = 0; i < (segment ? 1 : 2); i++)
        if (t->sink[i])
            gather_check(&t->g, inline_end(t->sink[i], name),
                         &t->sink[i]->text, 0);
    if (segment) {
        t->mrk_depth = 0;
        t->sink[1] = &t->inter_segment;
    }
}

static void end_unit(struct xliff_reader *t)
{
    assert(!t->sink_depth && !t->in_segment && !t->g.copying);
    if (t->version2) flush_inter_segment_xml(t, &t->post);
    if (xliff_finish_unit(t)) xml_pause(t->x);
}

static void xliff_on_end(void *user, const char *name)
{
    struct xliff_reader *t = user;
    int depth = xml_depth(t->x);

    if (gather_end(&t->g, name)) {}
    else if (t->sink_depth) end_inline(t, name, depth);
    else if (t->in_segment) t->in_segment = false;
    else if (t->in_unit) end_unit(t);
    else if (!strcmp(name, "group") && t->n_groups) t->n_groups--;
    else if (depth == 2 && t->in_file) end_file(t);
}

static void xliff_on_text(void *user, const char *s, size_t n)
{
    struct xliff_reader *t = user;

    if (gather_text(&t->g, s, n)) {}
    else if (t->sink_depth)
        for (int i = 0; i < 2; i++)
            if (t->sink[i])
                gather_check(&t->g, inline_text(t->sink[i], s, n),
                             &t->sink[i]->text, n);
}

/* ---- the reader ---------------------------------------------------------- */

/* Sets `path` to the elements that are open around a unit, or around <file>. */
static void open_path(const struct xliff_reader *t, bool at_file,
                      const char *path[XML_DEPTH + 4])
{
    int n = 0;

    path[n++] = "xliff";
    if (!at_file) path[n++] = "file";
    if (!at_file && !t->version2) path[n++] = "body";
    for (int i = 0; !at_file && i < t->n_groups; i++) path[n++] = "group";
    path[n] = NULL;
}

/* Reports a broken unit and continues with the next unit or <file>. */
static enum status xliff_recover(struct xliff_reader *t, struct err *e)
{
    const char *names[] = { "file", unit_name(t), NULL };
    const char *path[XML_DEPTH + 4];
    enum status st;
    int which;

    st = xml_report(t->x, &t->r, names, &which, e);
    if (st) return st;
    gather_drop_copy(&t->g);
    t->in_unit = t->in_segment = t->has_wanted = false;
    t->sink[0] = t->sink[1] = NULL;
    t->sink_depth = t->mrk_depth = 0;
    t->finished = which < 0;
    if (t->in_file && which <= 0) end_file(t);
    if (t->finished) return ST_OK;
    if (which == 1) t->in_file = true;
    open_path(t, which == 0, path);
    return xml_restart(t->x, path, e);
}

static enum status xliff_finish_file(struct xliff_reader *t, struct err *e)
{
    struct strbuf *x = &t->file_extra;
    bool ok;

    t->finished = true;
    strbuf_reset(x);
    ok = strbuf_adds(x, t->version2 ? "{\"xliff2\":{" : "{\"xliff1\":{") &&
         extra_put(x, "version", strbuf_view(&t->version)) &&
         extra_put_object(x, "root", &t->root) &&
         extra_put_object(x, "files", &t->files) && strbuf_adds(x, "}}");
    t->r.extra = strbuf_view(x);
    return ok ? ST_OK : err_nomem(e, "XLIFF");
}

static enum status xliff_open_xml(struct xliff_reader *t, struct err *e)
{
    static const struct xml_events events = {
        xliff_on_start, xliff_on_end, xliff_on_text
    };
    size_t limit = t->r.o.max_text;
    enum status st;

#define B(name) strbuf_init(&t->name, limit);
    XLIFF_BUFFERS(B)
#undef B
    t->extra.limit = t->file_extra.limit = 0;
    t->root.limit = t->files.limit = GATHER_HEAD;
    inline_init(&t->source, limit);
    inline_init(&t->target, limit);
    inline_init(&t->seg_source, limit);
    inline_init(&t->inter_segment, limit);
    for (int i = 0; i < XML_DEPTH; i++) {
        strbuf_init(&t->group[i].attrs, GATHER_HEAD);
        strbuf_init(&t->group[i].raw, GATHER_HEAD);
    }
    st = xml_new(&t->x, t->r.in, &events, t, t->r.o.skip_bad, e);
    gather_init(&t->g, t->x, "unit", limit);
    return st;
}

static enum status xliff_next(struct reader *r, const struct unit **u,
                              struct err *e)
{
    struct xliff_reader *t = (struct xliff_reader *)r;
    enum status st = t->x ? ST_OK : xliff_open_xml(t, e);
    enum xml_stop why;

    while (!st && !t->finished && !t->has_wanted) {
        st = xml_run(t->x, &why, e);
        if (!st && why == XML_BROKEN) st = xliff_recover(t, e);
        if (!st && (why == XML_ENDED || t->finished))
            st = xliff_finish_file(t, e);
    }
    if (!st && t->has_wanted) st = xliff_hand_out(t, u, e);
    return st;
}

static void xliff_reader_close(struct reader *r)
{
    struct xliff_reader *t = (struct xliff_reader *)r;

    for (size_t i = 0; i < t->n_alloc; i++) {
        struct xliff_part *p = &t->part[i];
#define B(name) strbuf_release(&p->name);
        PART_BUFFERS(B)
#undef B
        inline_release(&p->source);
        inline_release(&p->target);
    }
    for (int i = 0; i < XML_DEPTH; i++) {
        strbuf_release(&t->group[i].attrs);
        strbuf_release(&t->group[i].raw);
    }
#define B(name) strbuf_release(&t->name);
    XLIFF_BUFFERS(B)
#undef B
    inline_release(&t->source);
    inline_release(&t->target);
    inline_release(&t->seg_source);
    inline_release(&t->inter_segment);
    free(t->part);
    free(t->fixed_source);
    free(t->fixed_target);
    xml_free(t->x);
    free(t);
}

/* The buffers are initialized by the first call of xliff_next, because their
 * limits are not known before. Until then they are zero, which
 * xliff_reader_close accepts. */
enum status xliff_reader_new(struct reader **out, struct err *e)
{
    static const struct reader_ops ops = { xliff_next, xliff_reader_close };
    struct xliff_reader *t = calloc(1, sizeof *t);

    *out = t ? &t->r : NULL;
    if (!t) return err_nomem(e, "XLIFF");
    t->r.ops = &ops;
    return ST_OK;
}
