/* tmx_read.c - reads TMX 1.1 to 1.4b, one <tu> at a time.
 *
 * Everything in a <tu> is collected, in all its languages. At its end the two
 * wanted languages become the unit. The depth shows what an element is:
 *
 *     1 tmx   2 header, body   3 tu   4 tuv, prop, note   5 seg   6.. inline
 *
 * Elements that are not understood are copied as XML with their content. tmx.h
 * describes the extra data.
 *
 * Invariants: n_tuv <= n_alloc <= cap_tuv; entries beyond n_tuv keep their
 * buffers for the next <tu>. in_seg implies in_tuv, in_tuv implies in_tu, and
 * in_tuv implies n_tuv > 0: the open <tuv> is tuv[n_tuv - 1]. in_document is
 * never set together with in_tuv. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "formats/extra.h"
#include "formats/gather.h"
#include "formats/inline.h"
#include "formats/reader.h"
#include "formats/tmx.h"
#include "formats/xml.h"
#include "formats/xml_write.h"
#include "pair/tags.h"
#include "text/language.h"

#define MAX_TUV 1000
#define MAX_OTHERS ((size_t)256 << 10)  /* keep other languages of smaller
                                           units only */
#define FIRST_YEAR (1000 - 1900)        /* years have four digits */
#define LAST_YEAR (9999 - 1900)

/* Buffers of the reader, with their limits. 0 means max_text, or that the
 * content comes from other, limited buffers. */
#define BUFFERS(B)                                                      \
    B(root, GATHER_HEAD)        /* attributes of <tmx> */               \
    B(header, GATHER_HEAD)      /* attributes of <header> */            \
    B(head, GATHER_HEAD)        /* children of <header> */              \
    B(srclang, GATHER_HEAD)                                             \
    B(file_extra, 0)                                                    \
    B(id, 0) B(document, 0) B(author, 0) B(tu_srclang, 0)               \
    B(attrs, GATHER_HEAD)       /* of <tu>, as members of JSON */       \
    B(tu_head, 0)               /* children of <tu> except <tuv> */     \
    B(extra, 0) B(scratch, 0)

struct tmx_tuv {
    struct strbuf lang, attrs, head, seg_attrs, author;
    struct inline_text seg;
    bool has_seg;
    int64_t created, changed;
};

struct tmx_reader {
    struct reader r;
    struct xml *x;
    struct unit u;
    bool finished;                      /* no more units will come */

    enum { OUTSIDE, HEADER, BODY } part;
    bool in_tu, in_tuv, in_seg, in_document;
    struct gather g;

#define B(name, limit) struct strbuf name;
    BUFFERS(B)
#undef B
    int64_t created, changed;
    uint64_t line;
    struct tmx_tuv *tuv;                    /* [n_alloc], n_tuv in use */
    size_t n_tuv, n_alloc, cap_tuv;

    char *source_lang, *target_lang;    /* first ones found, if none were
                                           requested */
};

/* ---- dates -------------------------------------------------------------- */

static int tmx_digits(const char *s, int digits)
{
    int v = 0;

    while (digits--) v = v * 10 + *s++ - '0';
    return v;
}

bool tmx_date_parse(const char *s, int64_t *seconds)
{
    static const char form[] = "00000000T000000Z";
    struct tm tm = { 0 }, same;
    int64_t at;

    for (int i = 0; form[i]; i++)
        if (form[i] == '0' ? s[i] < '0' || s[i] > '9' : s[i] != form[i])
            return false;
    if (s[16]) return false;
    tm.tm_year = tmx_digits(s, 4) - 1900;
    tm.tm_mon = tmx_digits(s + 4, 2) - 1;
    tm.tm_mday = tmx_digits(s + 6, 2);
    tm.tm_hour = tmx_digits(s + 9, 2);
    tm.tm_min = tmx_digits(s + 11, 2);
    tm.tm_sec = tmx_digits(s + 13, 2);
    same = tm;
    at = timegm(&same);
    /* timegm turns the 31st of February into another day. */
    if (!at || tm.tm_year < FIRST_YEAR || same.tm_mon != tm.tm_mon ||
        same.tm_mday != tm.tm_mday || same.tm_hour != tm.tm_hour ||
        same.tm_min != tm.tm_min || same.tm_sec != tm.tm_sec)
        return false;
    *seconds = at;
    return true;
}

bool tmx_date_format(int64_t seconds, char out[TMX_DATE_BYTES])
{
    time_t t = (time_t)seconds;
    struct tm tm;

    return gmtime_r(&t, &tm) && tm.tm_year >= FIRST_YEAR &&
           tm.tm_year <= LAST_YEAR && strftime(out, TMX_DATE_BYTES,
                                               "%Y%m%dT%H%M%SZ", &tm) == 16;
}

/* ---- the header --------------------------------------------------------- */

static void tmx_start_root(struct tmx_reader *t, const char *name,
                           const char **attrs)
{
    if (strcmp(name, "tmx")) {
        t->r.o.skip_bad = false;        /* there is no unit to skip to */
        xml_refuse(t->x, 0, "expected <tmx>, found <%.60s>", name);
        return;
    }
    for (; *attrs; attrs += 2)
        if (strcmp(attrs[0], "version"))
            gather_attr(&t->g, &t->root, attrs[0], attrs[1]);
}

static void start_header(struct tmx_reader *t, const char **attrs)
{
    t->part = HEADER;
    for (; *attrs; attrs += 2) {
        if (!strcmp(attrs[0], "srclang"))
            gather_set(&t->g, &t->srclang, attrs[1]);
        gather_attr(&t->g, &t->header, attrs[0], attrs[1]);
    }
}

/* ---- <tu> and its children ---------------------------------------------- */

static void start_tu(struct tmx_reader *t, const char **attrs)
{
    assert(!t->in_tu && !t->in_tuv && !t->in_seg && !t->in_document);
    xml_unit_begins(t->x);
    t->in_tu = true;
    t->n_tuv = 0;
    t->g.bytes_used = 0;
    t->created = t->changed = 0;
    t->line = xml_line(t->x);
    strbuf_reset(&t->id);
    strbuf_reset(&t->document);
    strbuf_reset(&t->author);
    strbuf_reset(&t->attrs);
    strbuf_reset(&t->tu_head);
    strbuf_reset(&t->tu_srclang);
    for (; *attrs; attrs += 2) {
        const char *name = attrs[0], *value = attrs[1];

        if (!strcmp(name, "tuid") && *value) gather_set(&t->g, &t->id, value);
        else if (!strcmp(name, "creationid") && *value)
            gather_set(&t->g, &t->author, value);
        else if (!strcmp(name, "creationdate") &&
                 tmx_date_parse(value, &t->created)) {}
        else if (!strcmp(name, "changedate") &&
                 tmx_date_parse(value, &t->changed)) {}
        else gather_attr(&t->g, &t->attrs, name, value);
        if (!strcmp(name, "srclang")) gather_set(&t->g, &t->tu_srclang, value);
        if (!strcmp(name, "changeid") && !t->author.len)
            gather_set(&t->g, &t->author, value);
    }
}

static void tuv_reset(struct tmx_tuv *v)
{
    strbuf_reset(&v->lang);
    strbuf_reset(&v->attrs);
    strbuf_reset(&v->head);
    strbuf_reset(&v->seg_attrs);
    strbuf_reset(&v->author);
    inline_reset(&v->seg);
    v->has_seg = false;
    v->created = v->changed = 0;
}

/* Adds an empty <tuv>; buffers of earlier units are reused. Returns NULL after
 * telling the parser to stop. */
static struct tmx_tuv *add_tuv(struct tmx_reader *t)
{
    struct tmx_tuv *v;

    assert(t->n_tuv <= t->n_alloc && t->n_alloc <= t->cap_tuv);
    if (t->n_tuv == MAX_TUV) {
        xml_refuse(t->x, 0, "more than %d <tuv> in one <tu>", MAX_TUV);
        return NULL;
    }
    if (t->n_tuv == t->n_alloc) {
        if (!mem_grow(&t->tuv, &t->cap_tuv, t->n_alloc + 1, sizeof *v)) {
            xml_nomem(t->x);
            return NULL;
        }
        v = &t->tuv[t->n_alloc++];
        memset(v, 0, sizeof *v);
        strbuf_init(&v->lang, t->r.o.max_text);
        strbuf_init(&v->attrs, GATHER_HEAD);
        strbuf_init(&v->head, t->r.o.max_text);
        strbuf_init(&v->seg_attrs, GATHER_HEAD);
        strbuf_init(&v->author, t->r.o.max_text);
        inline_init(&v->seg, t->r.o.max_text);
    }
    v = &t->tuv[t->n_tuv++];
    tuv_reset(v);
    return v;
}

static void start_tuv(struct tmx_reader *t, const char **attrs)
{
    struct tmx_tuv *v = add_tuv(t);

    assert(t->in_tu && !t->in_tuv && !t->in_document);
    if (!v) return;
    t->in_tuv = true;
    for (; *attrs; attrs += 2) {
        const char *name = attrs[0], *value = attrs[1];

        if (!strcmp(name, "xml:lang") || (!strcmp(name, "lang") &&
                                          !v->lang.len)) {
            gather_set(&t->g, &v->lang, value);
            continue;
        }
        gather_attr(&t->g, &v->attrs, name, value);
        if (!strcmp(name, "creationdate")) tmx_date_parse(value, &v->created);
        else if (!strcmp(name, "changedate"))
            tmx_date_parse(value, &v->changed);
        else if (*value && (!strcmp(name, "creationid") ||
                            (!strcmp(name, "changeid") && !v->author.len)))
            gather_set(&t->g, &v->author, value);
    }
}

/* Returns the <tuv> that is open. */
static struct tmx_tuv *open_tuv(const struct tmx_reader *t)
{
    assert(t->in_tuv && t->n_tuv > 0);
    return &t->tuv[t->n_tuv - 1];
}

static void start_seg(struct tmx_reader *t, const char **attrs)
{
    struct tmx_tuv *v = open_tuv(t);

    assert(!t->in_seg && xml_depth(t->x) == 5);
    v->has_seg = t->in_seg = true;
    gather_attrs(&t->g, &v->seg_attrs, attrs);
}

static bool is_document_prop(struct tmx_reader *t, const char *name,
                             const char **attrs)
{
    return !strcmp(name, "prop") && attrs[0] && !attrs[2] &&
           !strcmp(attrs[0], "type") && !strcmp(attrs[1], TMX_DOCUMENT) &&
           !t->document.len;
}

static void start_in_tu(struct tmx_reader *t, const char *name,
                        const char **attrs)
{
    struct tmx_tuv *v = t->in_tuv ? open_tuv(t) : NULL;

    if (t->in_seg)
        gather_check(&t->g, inline_start(&v->seg, name, attrs),
                     &v->seg.text, 64);
    else if (v && !strcmp(name, "seg") && !v->has_seg) start_seg(t, attrs);
    else if (v && !strcmp(name, "seg")) gather_copy(&t->g, NULL, name, attrs);
    else if (v) gather_copy(&t->g, &v->head, name, attrs);
    else if (!strcmp(name, "tuv") && t->in_document)
        gather_copy(&t->g, NULL, name, attrs);  /* misplaced: skip it */
    else if (!strcmp(name, "tuv")) start_tuv(t, attrs);
    else if (is_document_prop(t, name, attrs)) t->in_document = true;
    else gather_copy(&t->g, &t->tu_head, name, attrs);
}

/* ---- choosing the two languages ----------------------------------------- */

/* Returns the index of the <tuv> in the wanted language, or -1. The same code
 * is preferred to a more exact one ("de" to "de-AT"). Ignores index
 * `except`. */
static int tmx_pick(const struct tmx_reader *t, const char *wanted, int except)
{
    int best = -1, best_rank = 0;

    for (int i = 0; i < (int)t->n_tuv; i++) {
        struct str lang = strbuf_view(&t->tuv[i].lang);
        int rank;

        if (i == except || !lang.n || !language_accepts(wanted, lang)) continue;
        if (str_eq(lang, str_of(wanted))) return i;
        rank = language_rank(wanted, lang);
        if (best >= 0 && rank <= best_rank) continue;
        best = i;
        best_rank = rank;
    }
    return best;
}

static bool says_language(const struct strbuf *srclang)
{
    return srclang->len && strcasecmp(srclang->data, "*all*");
}

/* Returns the index of the first <tuv> in another language than `than`, or -1.
 * Ignores index `except`. */
static int pick_other(const struct tmx_reader *t, const char *than, int except)
{
    for (int i = 0; i < (int)t->n_tuv; i++) {
        const struct strbuf *lang = &t->tuv[i].lang;

        if (i == except || !lang->len) continue;
        if (!than || !*than || !language_accepts(than, strbuf_view(lang)))
            return i;
    }
    return -1;
}

/* Stores the language of <tuv> i in *lang, unless it is set. Returns i. */
static int tmx_remember_lang(struct tmx_reader *t, char **lang, int i)
{
    if (i < 0 || *lang) return i;
    *lang = strdup(t->tuv[i].lang.data);
    if (!*lang) xml_nomem(t->x);
    return i;
}

static int pick_source(struct tmx_reader *t)
{
    const char *wanted = t->r.o.source_lang;
    const struct strbuf *srclang = &t->tu_srclang;
    int i;

    if (wanted && *wanted) return tmx_pick(t, wanted, -1);
    if (!srclang->len) srclang = &t->srclang;
    if (says_language(srclang)) {
        i = tmx_pick(t, srclang->data, -1);
        /* The header may say en-US where the units say en. */
        for (int k = 0; i < 0 && k < (int)t->n_tuv; k++)
            if (t->tuv[k].lang.len && language_accepts(t->tuv[k].lang.data,
                                                       strbuf_view(srclang)))
                i = k;
        return i;
    }
    if (t->source_lang) return tmx_pick(t, t->source_lang, -1);
    return tmx_remember_lang(t, &t->source_lang,
                             pick_other(t, t->r.o.target_lang, -1));
}

static int pick_target(struct tmx_reader *t, int source)
{
    const char *wanted = t->r.o.target_lang;

    if (source < 0) return -1;
    if (!wanted || !*wanted) wanted = t->target_lang;
    if (wanted && *wanted) return tmx_pick(t, wanted, source);
    return tmx_remember_lang(t, &t->target_lang,
                             pick_other(t, t->tuv[source].lang.data, source));
}

/* ---- the unit ----------------------------------------------------------- */

/* Appends a <tuv> as XML, rebuilt from its collected parts. */
static bool tmx_copy_tuv(struct tmx_reader *t, struct strbuf *out,
                         const struct tmx_tuv *v)
{
    json_t *attrs, *root = NULL, *value;
    const char *name;
    bool ok = strbuf_addf(&t->scratch, "{\"a\":{%s},\"s\":{%s}}",
                          v->attrs.data, v->seg_attrs.data);

    attrs = extra_open(strbuf_view(&t->scratch), "a", &root);
    ok = ok && strbuf_adds(out, "<tuv");
    if (v->lang.len)
        ok = ok && xml_put_attr(out, "xml:lang", v->lang.data, v->lang.len);
    json_object_foreach(attrs, name, value)
        ok = ok && xml_put_attr(out, name, json_string_value(value),
                                json_string_length(value));
    ok = ok && strbuf_addc(out, '>') &&
         strbuf_add(out, v->head.data, v->head.len);
    if (v->has_seg) {
        ok = ok && strbuf_adds(out, "<seg");
        json_object_foreach(json_object_get(root, "s"), name, value)
            ok = ok && xml_put_attr(out, name, json_string_value(value),
                                    json_string_length(value));
        ok = ok && strbuf_addc(out, '>') && inline_put_xml(&v->seg, out) &&
             strbuf_adds(out, "</seg>");
    }
    json_decref(root);
    strbuf_reset(&t->scratch);
    return ok && strbuf_adds(out, "</tuv>");
}

/* Adds the other languages to the extra data, unless the unit is too long. */
static bool tmx_put_others(struct tmx_reader *t, int source, int target)
{
    struct strbuf all;
    bool ok = true;

    if (t->n_tuv <= 2 || t->g.bytes_used > MAX_OTHERS) return true;
    strbuf_init(&all, 0);
    for (int i = 0; ok && i < (int)t->n_tuv; i++)
        if (i != source && i != target) ok = tmx_copy_tuv(t, &all, &t->tuv[i]);
    ok = ok && extra_put(&t->extra, "others", strbuf_view(&all));
    strbuf_release(&all);
    return ok;
}

static bool tmx_put_side(struct strbuf *out, const struct tmx_tuv *v,
                         const char *const keys[3])
{
    return extra_put_object(out, keys[0], &v->attrs) &&
           extra_put(out, keys[1], strbuf_view(&v->head)) &&
           extra_put_object(out, keys[2], &v->seg_attrs);
}

static bool tmx_build_extra(struct tmx_reader *t, int source, int target)
{
    static const char *const s[] = { "source", "source_head", "source_seg" };
    static const char *const g[] = { "target", "target_head", "target_seg" };
    struct strbuf *x = &t->extra;
    size_t nothing;
    bool ok;

    strbuf_reset(x);
    ok = strbuf_adds(x, "{\"tmx\":{");
    nothing = x->len;
    ok = ok && extra_put_object(x, "tu", &t->attrs) &&
         extra_put(x, "head", strbuf_view(&t->tu_head)) &&
         tmx_put_side(x, &t->tuv[source], s) &&
         tmx_put_side(x, &t->tuv[target], g) &&
         tmx_put_others(t, source, target);
    if (x->len == nothing) strbuf_reset(x);
    else ok = ok && strbuf_adds(x, "}}");
    return ok;
}

static void tmx_fill_unit(struct tmx_reader *t, const struct tmx_tuv *s,
                          const struct tmx_tuv *g)
{
    struct unit *u = &t->u;

    u->source_lang = strbuf_view(&s->lang);
    u->target_lang = strbuf_view(&g->lang);
    u->id = strbuf_view(&t->id);
    u->document = strbuf_view(&t->document);
    u->author = strbuf_view(t->author.len ? &t->author : &g->author);
    u->created = t->created ? t->created : g->created;
    u->changed = t->changed ? t->changed : g->changed;
    u->extra = strbuf_view(&t->extra);
    u->line = t->line;
}

/* Makes the unit. Returns false if the <tu> gives none. */
static bool finish_tu(struct tmx_reader *t)
{
    int source = pick_source(t), target = pick_target(t, source);
    struct tmx_tuv *s = source < 0 ? NULL : &t->tuv[source];
    struct tmx_tuv *g = target < 0 ? NULL : &t->tuv[target];
    bool ok;

    assert(source < (int)t->n_tuv && target < (int)t->n_tuv);
    assert(target < 0 || (source >= 0 && source != target));
    if (!g) {
        t->r.counts.other_language++;
        return false;
    }
    if (inline_is_blank(&s->seg) || inline_is_blank(&g->seg)) {
        t->r.counts.empty++;
        return false;
    }
    ok = tmx_build_extra(t, source, target) &&
         inline_pair(&t->u, &s->seg, &g->seg);
    if (!ok) xml_nomem(t->x);
    tmx_fill_unit(t, s, g);
    return ok;
}

/* ---- events ------------------------------------------------------------- */

static void tmx_on_start(void *user, const char *name, const char **attrs)
{
    struct tmx_reader *t = user;
    int depth = xml_depth(t->x);

    if (t->in_tu && !strcmp(name, "tu"))
        xml_refuse(t->x, 2, "<%s> is never closed",
                   xml_open_name(t->x, depth - 1));
    else if (gather_start(&t->g, name, attrs)) {}
    else if (t->in_tu) start_in_tu(t, name, attrs);
    else if (depth == 1) tmx_start_root(t, name, attrs);
    else if (depth == 2 && !strcmp(name, "header")) start_header(t, attrs);
    else if (depth == 3 && t->part == HEADER)
        gather_copy(&t->g, &t->head, name, attrs);
    else if (depth == 3 && !strcmp(name, "tu")) start_tu(t, attrs);
}

static void end_in_tu(struct tmx_reader *t, const char *name, int depth)
{
    struct inline_text *seg = t->in_seg ? &open_tuv(t)->seg : NULL;

    if (seg && depth > 5)
        gather_check(&t->g, inline_end(seg, name), &seg->text, 0);
    else if (t->in_seg) t->in_seg = false;
    else if (t->in_document && depth == 4) t->in_document = false;
    else if (t->in_tuv && depth == 4) t->in_tuv = false;
    else if (depth == 3) {
        assert(!t->in_tuv && !t->in_document);
        t->in_tu = false;
        xml_unit_ends(t->x);
        if (finish_tu(t)) xml_pause(t->x);
    }
}

static void tmx_on_end(void *user, const char *name)
{
    struct tmx_reader *t = user;
    int depth = xml_depth(t->x);

    if (gather_end(&t->g, name)) {}
    else if (t->in_tu) end_in_tu(t, name, depth);
    else if (depth == 2) t->part = BODY;
}

static void tmx_on_text(void *user, const char *s, size_t n)
{
    struct tmx_reader *t = user;
    struct inline_text *seg = t->in_seg ? &open_tuv(t)->seg : NULL;

    if (gather_text(&t->g, s, n)) {}
    else if (seg) gather_check(&t->g, inline_text(seg, s, n), &seg->text, n);
    else if (t->in_document)
        gather_check(&t->g, strbuf_add(&t->document, s, n), &t->document, n);
}

/* ---- the reader --------------------------------------------------------- */

/* Reports a broken <tu> and continues with the next one. */
static enum status tmx_recover(struct tmx_reader *t, struct err *e)
{
    static const char *const names[] = { "tu", NULL };
    static const char *const path[] = { "tmx", "body", NULL };
    enum status st;
    int which;

    st = xml_report(t->x, &t->r, names, &which, e);
    if (st) return st;
    t->in_tu = t->in_tuv = t->in_seg = t->in_document = false;
    gather_drop_copy(&t->g);
    t->part = BODY;
    t->finished = which < 0;
    return t->finished ? ST_OK : xml_restart(t->x, path, e);
}

static enum status tmx_finish_file(struct tmx_reader *t, struct err *e)
{
    struct strbuf *x = &t->file_extra;
    bool ok;

    t->finished = true;
    strbuf_reset(x);
    ok = strbuf_adds(x, "{\"tmx\":{") &&
         extra_put_object(x, "root", &t->root) &&
         extra_put_object(x, "header", &t->header) &&
         extra_put(x, "head", strbuf_view(&t->head)) && strbuf_adds(x, "}}");
    t->r.extra = strbuf_view(x);
    return ok ? ST_OK : err_nomem(e, "TMX header");
}

static enum status tmx_open_xml(struct tmx_reader *t, struct err *e)
{
    static const struct xml_events events = {
        tmx_on_start, tmx_on_end, tmx_on_text
    };
    enum status st;

    t->id.limit = t->document.limit = t->author.limit = t->r.o.max_text;
    t->tu_head.limit = t->tu_srclang.limit = t->r.o.max_text;
    st = xml_new(&t->x, t->r.in, &events, t, t->r.o.skip_bad, e);
    gather_init(&t->g, t->x, "<tu>", t->r.o.max_text);
    return st;
}

static enum status tmx_next(struct reader *r, const struct unit **u,
                            struct err *e)
{
    struct tmx_reader *t = (struct tmx_reader *)r;
    enum status st = t->x ? ST_OK : tmx_open_xml(t, e);
    enum xml_stop why;

    while (!st && !t->finished) {
        st = xml_run(t->x, &why, e);
        if (st) return st;
        if (why == XML_PAUSED) {
            *u = &t->u;
            return ST_OK;
        }
        if (why == XML_BROKEN) st = tmx_recover(t, e);
        if (!st && (why == XML_ENDED || t->finished))
            st = tmx_finish_file(t, e);
    }
    return st;
}

static void tmx_reader_close(struct reader *r)
{
    struct tmx_reader *t = (struct tmx_reader *)r;

    for (size_t i = 0; i < t->n_alloc; i++) {
        strbuf_release(&t->tuv[i].lang);
        strbuf_release(&t->tuv[i].attrs);
        strbuf_release(&t->tuv[i].head);
        strbuf_release(&t->tuv[i].seg_attrs);
        strbuf_release(&t->tuv[i].author);
        inline_release(&t->tuv[i].seg);
    }
#define B(name, limit) strbuf_release(&t->name);
    BUFFERS(B)
#undef B
    free(t->tuv);
    free(t->source_lang);
    free(t->target_lang);
    xml_free(t->x);
    free(t);
}

enum status tmx_reader_new(struct reader **out, struct err *e)
{
    static const struct reader_ops ops = { tmx_next, tmx_reader_close };
    struct tmx_reader *t = calloc(1, sizeof *t);

    *out = NULL;
    if (!t) return err_nomem(e, "TMX");
#define B(name, limit) strbuf_init(&t->name, limit);
    BUFFERS(B)
#undef B
    t->r.ops = &ops;
    *out = &t->r;
    return ST_OK;
}
