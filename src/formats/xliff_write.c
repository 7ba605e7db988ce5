/* xliff_write.c - XLIFF 1.2 and 2.x; see xliff.h.
 *
 * The segments of a unit come one after the other, so a unit is held back
 * until the next one begins. Files and groups are closed and opened when a
 * unit says that it stands in others than the one before. */
#include <stdlib.h>
#include <string.h>

#include "formats/extra.h"
#include "formats/output.h"
#include "formats/tags.h"
#include "formats/writer.h"
#include "formats/xliff.h"
#include "formats/xml_write.h"

#define BUFFERS(B)                                                      \
    B(out)                      /* what is ready to be written */       \
    B(document) B(langs)        /* of the open <file> */                \
    B(id)                       /* of the unit that is held back */     \
    B(start)                    /* its start tag, and up to the texts */ \
    B(source) B(seg_source) B(target)                                   \
    B(tail)                     /* what comes behind the texts */       \
    B(part)

struct xliff_writer {
    struct writer w;
#define B(name) struct strbuf name;
    BUFFERS(B)
#undef B
    bool two, root_written, in_file, held, segmented;
    json_t *groups;                     /* that are open, an array */
    uint64_t n_units, n_files;
    json_t *extra_root, *extra;         /* of the file that was read */
    bool ok;
};

/* ---- putting XML together ------------------------------------------------ */

static void xliff_write_put(struct xliff_writer *t, struct strbuf *to,
                            const char *s)
{
    t->ok = t->ok && strbuf_adds(to, s);
}

static void xliff_write_put_attr(struct xliff_writer *t, struct strbuf *to,
                                 const char *name, struct str value)
{
    t->ok = t->ok && xml_put_attr(to, name, value.p ? value.p : "", value.n);
}

static void xliff_write_put_attrs(struct xliff_writer *t, struct strbuf *to,
                                  json_t *attrs, const char *const *but)
{
    t->ok = t->ok && extra_put_attrs(to, attrs, but);
}

static void xliff_write_put_raw(struct xliff_writer *t, struct strbuf *to,
                                struct str raw)
{
    if (raw.n && xml_is_content(raw))
        t->ok = t->ok && strbuf_add(to, raw.p, raw.n);
}

/* The same on a line of its own. */
static void put_raw_line(struct xliff_writer *t, struct strbuf *to,
                         const char *indent, struct str raw)
{
    t->ok = t->ok && xml_put_line(to, indent, raw);
}

static void xliff_write_put_text(struct xliff_writer *t, struct strbuf *to,
                                 struct str text, bool tagged)
{
    enum tags_dialect as = t->two ? TAGS_XLIFF2 : TAGS_XLIFF1;

    t->ok = t->ok && (tagged ? tags_convert(text, as, to)
                             : xml_put_text(to, text.p, text.n));
}

static const char *const none[] = { NULL };

static struct str xliff_write_either(struct str a, const char *b)
{
    return a.n ? a : str_of(b);
}

/* ---- root, files, groups ------------------------------------------------- */

/* A language the file that was read says, as long as it is the one meant. */
static struct str root_lang(struct xliff_writer *t, const char *key,
                            const char *wanted, struct str of_unit)
{
    struct str said = extra_get(json_object_get(t->extra, "root"), key);

    if (said.n && lang_matches(said, wanted)) return said;
    if (*wanted) return str_of(wanted);
    return xliff_write_either(of_unit, "und");
}

static void put_root(struct xliff_writer *t, const struct unit *u)
{
    static const char *const own[] = { "xmlns", "version", "srcLang",
                                       "trgLang", NULL };
    struct str version = extra_get(t->extra, "version");
    const char *standard = t->two ? "2.0" : "1.2";

    if (!t->two || !version.n || t->w.o.xliff_version)
        version = str_of(standard);
    xliff_write_put(t, &t->out,
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<xliff");
    xliff_write_put_attr(t, &t->out, "xmlns", str_of(t->two ? XLIFF2_SPACE
                                                : XLIFF1_SPACE));
    xliff_write_put_attr(t, &t->out, "version", version);
    if (t->two) {
        struct str nothing = { NULL, 0 };
        xliff_write_put_attr(t, &t->out, "srcLang",
                             root_lang(t, "srcLang", t->w.o.source_lang,
                                       u ? u->source_lang : nothing));
        xliff_write_put_attr(t, &t->out, "trgLang",
                             root_lang(t, "trgLang", t->w.o.target_lang,
                                       u ? u->target_lang : nothing));
    }
    xliff_write_put_attrs(t, &t->out, json_object_get(t->extra, "root"), own);
    xliff_write_put(t, &t->out, ">\n");
    t->root_written = true;
}

static void close_groups(struct xliff_writer *t, size_t down_to)
{
    for (size_t n = json_array_size(t->groups); n > down_to; n--)
        xliff_write_put(t, &t->out, "</group>\n");
}

static void close_file(struct xliff_writer *t)
{
    close_groups(t, 0);
    json_decref(t->groups);
    t->groups = NULL;
    if (t->in_file)
        xliff_write_put(t, &t->out,
                        t->two ? "  </file>\n" : "    </body>\n  </file>\n");
    t->in_file = false;
}

static void put_file_attrs1(struct xliff_writer *t, const struct unit *u,
                            json_t *attrs)
{
    static const char *const own[] = { "original", "datatype",
        "source-language", "target-language", NULL };
    struct str target = xliff_write_either(u->target_lang, t->w.o.target_lang);

    xliff_write_put_attr(t, &t->out, "original", u->document);
    xliff_write_put_attr(
        t, &t->out, "datatype",
        xliff_write_either(extra_get(attrs, "datatype"), "plaintext"));
    xliff_write_put_attr(
        t, &t->out, "source-language",
        xliff_write_either(
            xliff_write_either(u->source_lang, t->w.o.source_lang), "und"));
    if (target.n) xliff_write_put_attr(t, &t->out, "target-language", target);
    xliff_write_put_attrs(t, &t->out, attrs, own);
}

static void put_file_attrs2(struct xliff_writer *t, const struct unit *u,
                            json_t *attrs)
{
    static const char *const own[] = { "id", "original", NULL };
    struct str id = extra_get(attrs, "id");
    bool by_id = str_eq(id, u->document) && id.n;
    char number[32];

    snprintf(number, sizeof number, "f%llu", (unsigned long long)t->n_files);
    xliff_write_put_attr(t, &t->out, "id", xliff_write_either(id, number));
    if (!by_id) xliff_write_put_attr(t, &t->out, "original", u->document);
    xliff_write_put_attrs(t, &t->out, attrs, own);
}

/* What was known of a file of this name. */
static json_t *file_of(struct xliff_writer *t, struct str document)
{
    json_t *files = json_object_get(t->extra, "files"), *file;
    char *name = strndup(document.n ? document.p : "", document.n);

    if (!name) t->ok = false;
    file = name ? json_object_get(files, name) : NULL;
    free(name);
    return file;
}

static void xliff_write_open_file(struct xliff_writer *t, const struct unit *u)
{
    json_t *file = file_of(t, u->document);
    json_t *attrs = json_object_get(file, "a");

    t->in_file = true;
    t->n_files++;
    strbuf_reset(&t->document);
    t->ok = t->ok && strbuf_add(&t->document, u->document.p, u->document.n);
    xliff_write_put(t, &t->out, "  <file");
    if (t->two) put_file_attrs2(t, u, attrs);
    else put_file_attrs1(t, u, attrs);
    xliff_write_put(t, &t->out, ">\n");
    put_raw_line(t, &t->out, "    ", extra_get(file, "x"));
    if (!t->two) xliff_write_put(t, &t->out, "    <body>\n");
}

/* Closes and opens no more than it takes. `groups` may be NULL. */
static void go_to_groups(struct xliff_writer *t, json_t *groups)
{
    size_t same = 0, n = json_array_size(groups);

    while (same < n && json_equal(json_array_get(groups, same),
                                  json_array_get(t->groups, same))) same++;
    close_groups(t, same);
    for (size_t i = same; i < n; i++) {
        json_t *g = json_array_get(groups, i);
        xliff_write_put(t, &t->out, "<group");
        xliff_write_put_attrs(t, &t->out, json_object_get(g, "a"), none);
        xliff_write_put(t, &t->out, ">\n");
        put_raw_line(t, &t->out, "", extra_get(g, "x"));
    }
    json_incref(groups);
    json_decref(t->groups);
    t->groups = groups;
}

/* Version 1 says the languages for each file. */
static bool same_langs(struct xliff_writer *t, const struct unit *u)
{
    strbuf_reset(&t->part);
    t->ok = t->ok && strbuf_add(&t->part, u->source_lang.p, u->source_lang.n)
            && strbuf_addc(&t->part, '\n') &&
            strbuf_add(&t->part, u->target_lang.p, u->target_lang.n);
    if (t->two || !strcmp(t->part.data, t->langs.data)) return true;
    strbuf_reset(&t->langs);
    t->ok = t->ok && strbuf_add(&t->langs, t->part.data, t->part.len);
    return false;
}

static void go_to_place(struct xliff_writer *t, const struct unit *u,
                        json_t *own)
{
    bool same = same_langs(t, u) && t->in_file &&
                str_eq(u->document, (struct str){ t->document.data,
                                                  t->document.len });

    if (!t->root_written) put_root(t, u);
    if (!same) {
        close_file(t);
        xliff_write_open_file(t, u);
    }
    go_to_groups(t, json_object_get(own, "groups"));
}

/* ---- the unit that is held back ------------------------------------------ */

static void release_unit1(struct xliff_writer *t)
{
    t->ok = t->ok && strbuf_add(&t->out, t->start.data, t->start.len) &&
            strbuf_add(&t->out, t->source.data, t->source.len) &&
            strbuf_adds(&t->out, "</source>\n");
    if (t->seg_source.len)
        t->ok = t->ok && strbuf_addf(&t->out, "        <seg-source>%s"
                                     "</seg-source>\n", t->seg_source.data);
    t->ok = t->ok && strbuf_add(&t->out, t->target.data, t->target.len) &&
            strbuf_adds(&t->out, "</target>\n") &&
            strbuf_add(&t->out, t->tail.data, t->tail.len) &&
            strbuf_adds(&t->out, "      </trans-unit>\n");
}

static enum status release_unit(struct xliff_writer *t, struct err *e)
{
    if (t->held && !t->two) release_unit1(t);
    else if (t->held)
        t->ok = t->ok && strbuf_add(&t->out, t->start.data, t->start.len) &&
                strbuf_add(&t->out, t->source.data, t->source.len) &&
                strbuf_add(&t->out, t->tail.data, t->tail.len) &&
                strbuf_adds(&t->out, "    </unit>\n");
    t->held = false;
    strbuf_reset(&t->start);
    strbuf_reset(&t->source);
    strbuf_reset(&t->seg_source);
    strbuf_reset(&t->target);
    strbuf_reset(&t->tail);
    if (!t->ok) return err_nomem(e, "XLIFF");
    return xml_flush(&t->out, t->w.out, e);
}

/* What version 2 takes for an id. */
static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (!((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z')
              || c >= 0x80 || strchr("-_.:", c)))
            return false;
    }
    return true;
}

static void hold(struct xliff_writer *t, const struct unit *u, json_t *own)
{
    static const char *const id[] = { "id", NULL };
    static const char *const id_name[] = { "id", "name", NULL };
    const char *const *but = id;
    char number[32];

    snprintf(number, sizeof number, "%s%llu", t->two ? "u" : "",
             (unsigned long long)t->n_units);
    t->held = true;
    strbuf_reset(&t->id);
    t->ok = t->ok && strbuf_add(&t->id, u->id.p, u->id.n);
    xliff_write_put(t, &t->start, t->two ? "    <unit" : "      <trans-unit");
    /* An id of another format may have to become a name. */
    if (t->two && !own && !t->extra && !is_token(u->id)) {
        xliff_write_put_attr(t, &t->start, "id", str_of(number));
        xliff_write_put_attr(t, &t->start, "name", u->id);
        but = id_name;
    } else {
        xliff_write_put_attr(t, &t->start, "id",
                             xliff_write_either(u->id, number));
    }
    xliff_write_put_attrs(t, &t->start, json_object_get(own, "unit"), but);
    xliff_write_put(t, &t->start, ">\n");
    put_raw_line(t, t->two ? &t->start : &t->tail,
                 t->two ? "      " : "        ", extra_get(own, "head"));
}

static bool is_xml_mrk(json_t *own)
{
    return json_is_string(json_object_get(json_object_get(own, "seg"),
                                          "mid"));
}

static void put_mrk(struct xliff_writer *t, struct strbuf *to, json_t *attrs,
                    struct str text, bool tagged)
{
    static const char *const mtype[] = { "mtype", NULL };

    xliff_write_put(t, to, "<mrk mtype=\"seg\"");
    xliff_write_put_attrs(t, to, attrs, mtype);
    xliff_write_put(t, to, ">");
    xliff_write_put_text(t, to, text, tagged);
    xliff_write_put(t, to, "</mrk>");
}

/* The texts of version 1: the whole, and cut up where they were. */
static void add_part1(struct xliff_writer *t, const struct unit *u,
                      json_t *own, bool first)
{
    if (first) {
        xliff_write_put(t, &t->start, "        <source");
        xliff_write_put_attrs(t, &t->start, json_object_get(own, "source"),
                              none);
        xliff_write_put(t, &t->start, ">");
        xliff_write_put(t, &t->target, "        <target");
        xliff_write_put_attrs(t, &t->target, json_object_get(own, "target"),
                              none);
        xliff_write_put(t, &t->target, ">");
        xliff_write_put_raw(t, &t->seg_source, extra_get(own, "seg_source"));
    }
    if (!is_xml_mrk(own)) {
        xliff_write_put_text(t, &t->source, u->source, u->tagged);
        xliff_write_put_text(t, &t->target, u->target, u->tagged);
        return;
    }
    xliff_write_put_raw(t, &t->source, extra_get(own, "pre"));
    xliff_write_put_text(t, &t->source, u->source, u->tagged);
    xliff_write_put_raw(t, &t->source, extra_get(own, "post"));
    xliff_write_put_raw(t, &t->seg_source, extra_get(own, "pre"));
    put_mrk(t, &t->seg_source, json_object_get(own, "seg"), u->source,
            u->tagged);
    xliff_write_put_raw(t, &t->seg_source, extra_get(own, "post"));
    xliff_write_put_raw(t, &t->target, extra_get(own, "target_pre"));
    put_mrk(t, &t->target, json_object_get(own, "target_seg"), u->target,
            u->tagged);
    xliff_write_put_raw(t, &t->target, extra_get(own, "target_post"));
}

static void add_part2(struct xliff_writer *t, const struct unit *u,
                      json_t *own)
{
    struct strbuf *to = &t->source;

    put_raw_line(t, to, "      ", extra_get(own, "pre"));
    xliff_write_put(t, to, "      <segment");
    xliff_write_put_attrs(t, to, json_object_get(own, "seg"), none);
    xliff_write_put(t, to, ">\n        <source");
    xliff_write_put_attrs(t, to, json_object_get(own, "source"), none);
    xliff_write_put(t, to, ">");
    xliff_write_put_text(t, to, u->source, u->tagged);
    xliff_write_put(t, to, "</source>\n        <target");
    xliff_write_put_attrs(t, to, json_object_get(own, "target"), none);
    xliff_write_put(t, to, ">");
    xliff_write_put_text(t, to, u->target, u->tagged);
    xliff_write_put(t, to, "</target>\n      </segment>\n");
    put_raw_line(t, to, "      ", extra_get(own, "post"));
}

/* Is it another segment of the unit that is held back? */
static bool continues(struct xliff_writer *t, const struct unit *u,
                      json_t *own)
{
    return t->held && json_is_true(json_object_get(own, "more")) &&
           (t->two || (t->segmented && is_xml_mrk(own))) &&
           str_eq(u->id, strbuf_view(&t->id)) &&
           str_eq(u->document, strbuf_view(&t->document));
}

/* What XML cannot hold is refused before anything of the unit is kept. */
static enum status xliff_write_check(struct xliff_writer *t,
                                     const struct unit *u, struct err *e)
{
    struct str all[] = { u->source, u->target, u->id, u->document,
                         u->source_lang, u->target_lang };
    bool ok = true;

    strbuf_reset(&t->part);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ok = ok && strbuf_add(&t->part, all[i].p, all[i].n) &&
             strbuf_addc(&t->part, '\n');
    if (!ok) return err_nomem(e, "XLIFF");
    return xml_check_unit(&t->part, u, t->n_units, e);
}

static enum status xliff_put(struct writer *w, const struct unit *u,
                             struct err *e)
{
    struct xliff_writer *t = (struct xliff_writer *)w;
    json_t *root, *own;
    enum status st;
    bool more;

    t->n_units++;
    st = xliff_write_check(t, u, e);
    if (st) return st;
    own = extra_open(u->extra, t->two ? "xliff2" : "xliff1", &root);
    more = continues(t, u, own);
    if (!more) {
        st = release_unit(t, e);
        go_to_place(t, u, own);
        hold(t, u, own);
        t->segmented = is_xml_mrk(own);
    }
    if (t->two) add_part2(t, u, own);
    else add_part1(t, u, own, !more);
    json_decref(root);
    if (!st && !t->ok) st = err_nomem(e, "XLIFF");
    return st;
}

/* ---- the writer ---------------------------------------------------------- */

static enum status xliff_begin(struct writer *w, struct err *e)
{
    struct xliff_writer *t = (struct xliff_writer *)w;
    const char *version = w->o.xliff_version;

    (void)e;
    t->extra = extra_open(w->o.extra, "xliff1", &t->extra_root);
    if (version) {
        t->two = version[0] == '2';
    } else if (!t->extra) {
        t->two = json_object_get(t->extra_root, "xliff2") != NULL;
    }
    t->extra = json_object_get(t->extra_root, t->two ? "xliff2" : "xliff1");
    return ST_OK;
}

static enum status xliff_end(struct writer *w, struct err *e)
{
    struct xliff_writer *t = (struct xliff_writer *)w;
    enum status st = release_unit(t, e);

    if (st) return st;
    if (!t->root_written) put_root(t, NULL);
    close_file(t);
    xliff_write_put(t, &t->out, "</xliff>\n");
    if (!t->ok) return err_nomem(e, "XLIFF");
    return xml_flush(&t->out, w->out, e);
}

static void xliff_write_xliff_close(struct writer *w)
{
    struct xliff_writer *t = (struct xliff_writer *)w;

#define B(name) strbuf_release(&t->name);
    BUFFERS(B)
#undef B
    json_decref(t->groups);
    json_decref(t->extra_root);
    free(t);
}

enum status xliff_writer_new(struct writer **out, struct err *e)
{
    static const struct writer_ops ops = { xliff_begin, xliff_put, xliff_end,
                                           xliff_write_xliff_close };
    struct xliff_writer *t = calloc(1, sizeof *t);

    *out = NULL;
    if (!t) return err_nomem(e, "XLIFF");
#define B(name) strbuf_init(&t->name, 0);
    BUFFERS(B)
#undef B
    t->ok = true;
    t->w.ops = &ops;
    *out = &t->w;
    return ST_OK;
}
