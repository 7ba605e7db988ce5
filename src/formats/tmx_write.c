/* tmx_write.c - writes TMX 1.4. tmx.h describes the extra data.
 *
 * A unit is built in memory and checked before any of it is written: a unit
 * that XML cannot represent is refused as a whole. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/invariant.h"
#include "formats/extra.h"
#include "formats/output.h"
#include "formats/tags_convert.h"
#include "formats/tmx.h"
#include "formats/writer.h"
#include "formats/xml_write.h"
#include "text/language.h"

struct tmx_writer {
    struct writer w;
    struct strbuf out;          /* the unit that is being built */
    uint64_t n_units;
};

static void tmx_puts(struct tmx_writer *t, bool *ok, const char *s)
{
    *ok = *ok && strbuf_adds(&t->out, s);
}

static void tmx_put_attr(struct tmx_writer *t, bool *ok, const char *name,
                         struct str value)
{
    if (value.n)
        *ok = *ok && xml_put_attr(&t->out, name, value.p, value.n);
}

static void tmx_put_attrs(struct tmx_writer *t, bool *ok, json_t *attrs,
                          const char *const *except)
{
    *ok = *ok && extra_put_attrs(&t->out, attrs, except);
}

static void tmx_put_raw(struct tmx_writer *t, bool *ok, const char *indent,
                        struct str raw)
{
    *ok = *ok && xml_put_line(&t->out, indent, raw);
}

/* ---- the header --------------------------------------------------------- */

static void put_header_attrs(struct tmx_writer *t, bool *ok, json_t *header)
{
    static const struct { const char *name, *fallback; } needed[] = {
        { "creationtool", "skmt" },
        { "creationtoolversion", SKMT_VERSION_TEXT },
        { "segtype", "sentence" }, { "o-tmf", "skmt" },
        { "adminlang", "en" }, { "srclang", "*all*" },
        { "datatype", "plaintext" },
    };
    static const char *const written[] = {
        "creationtool", "creationtoolversion", "segtype", "o-tmf",
        "adminlang", "srclang", "datatype", NULL
    };
    const char *source = t->w.o.source_lang;

    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        struct str value = extra_get(header, needed[i].name);
        bool srclang = !strcmp(needed[i].name, "srclang");

        if (srclang && *source &&
            (!value.n || !language_accepts(source, value)))
            value = str_of(source);
        if (!value.n) value = str_of(needed[i].fallback);
        tmx_put_attr(t, ok, needed[i].name, value);
    }
    tmx_put_attrs(t, ok, header, written);
}

static enum status tmx_begin(struct writer *w, struct err *e)
{
    static const char *const version[] = { "version", NULL };
    struct tmx_writer *t = (struct tmx_writer *)w;
    json_t *root, *tmx = extra_open(w->o.extra, "tmx", &root);
    struct str head = extra_get(tmx, "head");
    bool ok = true;

    tmx_puts(t, &ok, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<!DOCTYPE tmx SYSTEM \"tmx14.dtd\">\n"
                "<tmx version=\"1.4\"");
    tmx_put_attrs(t, &ok, json_object_get(tmx, "root"), version);
    tmx_puts(t, &ok, ">\n  <header");
    put_header_attrs(t, &ok, json_object_get(tmx, "header"));
    tmx_puts(t, &ok, head.n ? ">\n" : "/>\n");
    tmx_put_raw(t, &ok, "    ", head);
    tmx_puts(t, &ok, head.n ? "  </header>\n  <body>\n" : "  <body>\n");
    json_decref(root);
    if (!ok) return err_nomem(e, "TMX");
    return xml_flush(&t->out, w->out, e);
}

/* ---- units -------------------------------------------------------------- */

/* Returns whether the <tuv> itself states this date. */
static bool tuv_has_date(json_t *tuv, const char *name, int64_t seconds)
{
    struct str s = extra_get(tuv, name);
    int64_t stated;

    return s.n && tmx_date_parse(s.p, &stated) && stated == seconds;
}

/* Returns the author that a reader would derive from the other attributes. */
static struct str author_of(json_t *tu, json_t *tuv)
{
    struct str name = extra_get(tu, "changeid");

    if (!name.n) name = extra_get(tuv, "creationid");
    return name.n ? name : extra_get(tuv, "changeid");
}

static void put_tu_attrs(struct tmx_writer *t, bool *ok,
                         const struct unit *u, json_t *tmx)
{
    json_t *tu = json_object_get(tmx, "tu");
    json_t *tuv = json_object_get(tmx, "target");
    const char *written[5] = { NULL };
    char date[TMX_DATE_BYTES];
    int n = 0;

    if (u->id.n) written[n++] = "tuid";
    tmx_put_attr(t, ok, "tuid", u->id);
    if (u->created && !tuv_has_date(tuv, "creationdate", u->created) &&
        tmx_date_format(u->created, date))
        tmx_put_attr(t, ok, written[n++] = "creationdate", str_of(date));
    if (u->author.n && !str_eq(u->author, author_of(tu, tuv)))
        tmx_put_attr(t, ok, written[n++] = "creationid", u->author);
    if (u->changed && !tuv_has_date(tuv, "changedate", u->changed) &&
        tmx_date_format(u->changed, date))
        tmx_put_attr(t, ok, written[n++] = "changedate", str_of(date));
    assert(n < 5 && !written[n]);       /* NULL-terminated */
    tmx_put_attrs(t, ok, tu, written);
}

struct tmx_side {
    struct str lang, text;
    const char *attrs, *head, *seg;     /* keys of the extra data */
};

static void tmx_put_tuv(struct tmx_writer *t, bool *ok,
                        const struct tmx_side *s, bool tagged, json_t *tmx)
{
    static const char *const lang[] = { "xml:lang", "lang", NULL };

    tmx_puts(t, ok, "      <tuv");
    tmx_put_attr(t, ok, "xml:lang", s->lang.n ? s->lang : str_of("und"));
    tmx_put_attrs(t, ok, json_object_get(tmx, s->attrs), lang);
    tmx_puts(t, ok, ">\n");
    tmx_put_raw(t, ok, "        ", extra_get(tmx, s->head));
    tmx_puts(t, ok, "        <seg");
    tmx_put_attrs(t, ok, json_object_get(tmx, s->seg), lang + 2);
    tmx_puts(t, ok, ">");
    *ok = *ok && (tagged ? tags_convert(s->text, TAGS_TMX, &t->out)
                         : xml_put_text(&t->out, s->text.p, s->text.n));
    tmx_puts(t, ok, "</seg>\n      </tuv>\n");
}

static void put_document(struct tmx_writer *t, bool *ok, struct str document)
{
    if (!document.n) return;
    tmx_puts(t, ok, "      <prop type=\"" TMX_DOCUMENT "\">");
    *ok = *ok && xml_put_text(&t->out, document.p, document.n);
    tmx_puts(t, ok, "</prop>\n");
}

static struct str tmx_or_default(struct str a, const char *b)
{
    return a.n ? a : str_of(b);
}

static enum status tmx_put(struct writer *w, const struct unit *u,
                           struct err *e)
{
    struct tmx_writer *t = (struct tmx_writer *)w;
    json_t *root, *tmx = extra_open(u->extra, "tmx", &root);
    struct tmx_side source = { tmx_or_default(u->source_lang, w->o.source_lang),
                           u->source, "source", "source_head", "source_seg" };
    struct tmx_side target = { tmx_or_default(u->target_lang, w->o.target_lang),
                           u->target, "target", "target_head", "target_seg" };
    enum status st;
    bool ok = true;

    tmx_puts(t, &ok, "    <tu");
    put_tu_attrs(t, &ok, u, tmx);
    tmx_puts(t, &ok, ">\n");
    tmx_put_raw(t, &ok, "      ", extra_get(tmx, "head"));
    put_document(t, &ok, u->document);
    tmx_put_tuv(t, &ok, &source, u->tagged, tmx);
    tmx_put_tuv(t, &ok, &target, u->tagged, tmx);
    tmx_put_raw(t, &ok, "      ", extra_get(tmx, "others"));
    tmx_puts(t, &ok, "    </tu>\n");
    json_decref(root);
    t->n_units++;
    st = ok ? xml_check_unit(&t->out, u, t->n_units, e)
            : err_nomem(e, "TMX");
    if (!st) return xml_flush(&t->out, w->out, e);
    strbuf_reset(&t->out);
    return st;
}

static enum status tmx_end(struct writer *w, struct err *e)
{
    return output_puts(w->out, "  </body>\n</tmx>\n", e);
}

static void tmx_writer_close(struct writer *w)
{
    strbuf_release(&((struct tmx_writer *)w)->out);
    free(w);
}

enum status tmx_writer_new(struct writer **out, struct err *e)
{
    static const struct writer_ops ops = { tmx_begin, tmx_put, tmx_end,
                                           tmx_writer_close };
    struct tmx_writer *t = calloc(1, sizeof *t);

    *out = NULL;
    if (!t) return err_nomem(e, "TMX");
    strbuf_init(&t->out, 0);
    t->w.ops = &ops;
    *out = &t->w;
    return ST_OK;
}
