/* xliff_write.c - writes XLIFF 1.2 and 2.x. xliff.h describes the extra data.
 *
 * The segments of a unit arrive one after the other, so a unit is held back
 * until the next one begins. Files and groups are closed and opened when a unit
 * belongs to others than the unit before.
 *
 * Invariant: while unit_held is set, `start`, `source`, `seg_source`, `target`
 * and `tail` contain the parts of that unit; otherwise they are empty. A unit
 * is only held inside an open <file>. */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "formats/extra.h"
#include "formats/output.h"
#include "formats/tags_convert.h"
#include "formats/writer.h"
#include "formats/xliff.h"
#include "formats/xml_write.h"
#include "text/language.h"

#define BUFFERS(B)                                                      \
    B(out)                      /* ready to be written */              \
    B(document) B(langs)        /* of the open <file> */                \
    B(id)                       /* of the held unit */                 \
    B(start)                    /* its XML before the texts */         \
    B(source) B(seg_source) B(target)                                   \
    B(tail)                     /* its XML after the texts */          \
    B(scratch)

struct xliff_writer {
    struct writer w;
#define B(name) struct strbuf name;
    BUFFERS(B)
#undef B
    bool version2, root_written, in_file;
    bool unit_held;
    bool segmented;                     /* the held unit has segments */
    json_t *groups;                     /* array of the open groups */
    uint64_t n_units, n_files;
    json_t *extra_root, *extra;         /* of the original file */
    bool ok;                            /* false when out of memory */
};

/* ---- building XML -------------------------------------------------------- */

static void xliff_puts(struct xliff_writer *t, struct strbuf *to, const char *s)
{
    t->ok = t->ok && strbuf_adds(to, s);
}

static void xliff_put_attr(struct xliff_writer *t, struct strbuf *to,
                           const char *name, struct str value)
{
    t->ok = t->ok && xml_put_attr(to, name, value.p ? value.p : "", value.n);
}

static void xliff_put_attrs(struct xliff_writer *t, struct strbuf *to,
                            json_t *attrs, const char *const *except)
{
    t->ok = t->ok && extra_put_attrs(to, attrs, except);
}

static void xliff_put_raw(struct xliff_writer *t, struct strbuf *to,
                          struct str raw)
{
    if (raw.n && xml_is_content(raw))
        t->ok = t->ok && strbuf_add(to, raw.p, raw.n);
}

/* Like xliff_put_raw, but on a line of its own. */
static void xliff_put_raw_line(struct xliff_writer *t, struct strbuf *to,
                               const char *indent, struct str raw)
{
    t->ok = t->ok && xml_put_line(to, indent, raw);
}

static void xliff_put_text(struct xliff_writer *t, struct strbuf *to,
                           struct str text, bool tagged)
{
    enum tags_dialect as = t->version2 ? TAGS_XLIFF2 : TAGS_XLIFF1;

    t->ok = t->ok && (tagged ? tags_convert(text, as, to)
                             : xml_put_text(to, text.p, text.n));
}

static const char *const no_names[] = { NULL };

static struct str xliff_or_default(struct str a, const char *b)
{
    return a.n ? a : str_of(b);
}

/* ---- root, files, groups ------------------------------------------------- */

/* Returns the language in the root of the original file if it matches the
 * requested one; else the requested one, or that of the unit. */
static struct str root_lang(struct xliff_writer *t, const char *key,
                            const char *wanted, struct str of_unit)
{
    struct str stated = extra_get(json_object_get(t->extra, "root"), key);

    if (stated.n && language_accepts(wanted, stated)) return stated;
    if (*wanted) return str_of(wanted);
    return xliff_or_default(of_unit, "und");
}

static void put_root(struct xliff_writer *t, const struct unit *u)
{
    static const char *const own[] = { "xmlns", "version", "srcLang",
                                       "trgLang", NULL };
    struct str version = extra_get(t->extra, "version");
    const char *standard = t->version2 ? "2.0" : "1.2";

    if (!t->version2 || !version.n || t->w.o.xliff_version)
        version = str_of(standard);
    xliff_puts(t, &t->out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<xliff");
    xliff_put_attr(t, &t->out, "xmlns", str_of(t->version2 ? XLIFF2_SPACE
                                                : XLIFF1_SPACE));
    xliff_put_attr(t, &t->out, "version", version);
    if (t->version2) {
        struct str nothing = { NULL, 0 };
        xliff_put_attr(t, &t->out, "srcLang",
                       root_lang(t, "srcLang", t->w.o.source_lang,
                                 u ? u->source_lang : nothing));
        xliff_put_attr(t, &t->out, "trgLang",
                       root_lang(t, "trgLang", t->w.o.target_lang,
                                 u ? u->target_lang : nothing));
    }
    xliff_put_attrs(t, &t->out, json_object_get(t->extra, "root"), own);
    xliff_puts(t, &t->out, ">\n");
    t->root_written = true;
}

static void close_groups(struct xliff_writer *t, size_t down_to)
{
    for (size_t n = json_array_size(t->groups); n > down_to; n--)
        xliff_puts(t, &t->out, "</group>\n");
}

static void close_file(struct xliff_writer *t)
{
    close_groups(t, 0);
    json_decref(t->groups);
    t->groups = NULL;
    if (t->in_file)
        xliff_puts(t, &t->out, t->version2 ? "  </file>\n"
                                           : "    </body>\n  </file>\n");
    t->in_file = false;
}

static void put_file_attrs1(struct xliff_writer *t, const struct unit *u,
                            json_t *attrs)
{
    static const char *const own[] = { "original", "datatype",
        "source-language", "target-language", NULL };
    struct str source = xliff_or_default(u->source_lang, t->w.o.source_lang);
    struct str target = xliff_or_default(u->target_lang, t->w.o.target_lang);

    xliff_put_attr(t, &t->out, "original", u->document);
    xliff_put_attr(t, &t->out, "datatype",
                   xliff_or_default(extra_get(attrs, "datatype"), "plaintext"));
    xliff_put_attr(t, &t->out, "source-language",
                   xliff_or_default(source, "und"));
    if (target.n) xliff_put_attr(t, &t->out, "target-language", target);
    xliff_put_attrs(t, &t->out, attrs, own);
}

static void put_file_attrs2(struct xliff_writer *t, const struct unit *u,
                            json_t *attrs)
{
    static const char *const own[] = { "id", "original", NULL };
    struct str id = extra_get(attrs, "id");
    bool by_id = str_eq(id, u->document) && id.n;
    char number[32];

    snprintf(number, sizeof number, "f%llu", (unsigned long long)t->n_files);
    xliff_put_attr(t, &t->out, "id", xliff_or_default(id, number));
    if (!by_id) xliff_put_attr(t, &t->out, "original", u->document);
    xliff_put_attrs(t, &t->out, attrs, own);
}

/* Returns the extra data of the <file> with this name, or NULL. */
static json_t *file_of(struct xliff_writer *t, struct str document)
{
    json_t *files = json_object_get(t->extra, "files"), *file;
    char *name = strndup(document.n ? document.p : "", document.n);

    if (!name) t->ok = false;
    file = name ? json_object_get(files, name) : NULL;
    free(name);
    return file;
}

static void xliff_open_file(struct xliff_writer *t, const struct unit *u)
{
    json_t *file = file_of(t, u->document);
    json_t *attrs = json_object_get(file, "a");

    t->in_file = true;
    t->n_files++;
    strbuf_reset(&t->document);
    t->ok = t->ok && strbuf_add(&t->document, u->document.p, u->document.n);
    xliff_puts(t, &t->out, "  <file");
    if (t->version2) put_file_attrs2(t, u, attrs);
    else put_file_attrs1(t, u, attrs);
    xliff_puts(t, &t->out, ">\n");
    xliff_put_raw_line(t, &t->out, "    ", extra_get(file, "x"));
    if (!t->version2) xliff_puts(t, &t->out, "    <body>\n");
}

/* Closes and opens groups until exactly `groups` are open; NULL means none. */
static void go_to_groups(struct xliff_writer *t, json_t *groups)
{
    size_t same = 0, n = json_array_size(groups);

    while (same < n && json_equal(json_array_get(groups, same),
                                  json_array_get(t->groups, same))) same++;
    close_groups(t, same);
    for (size_t i = same; i < n; i++) {
        json_t *g = json_array_get(groups, i);
        xliff_puts(t, &t->out, "<group");
        xliff_put_attrs(t, &t->out, json_object_get(g, "a"), no_names);
        xliff_puts(t, &t->out, ">\n");
        xliff_put_raw_line(t, &t->out, "", extra_get(g, "x"));
    }
    json_incref(groups);
    json_decref(t->groups);
    t->groups = groups;
}

/* Returns whether the unit has the languages of the open <file>; version 1
 * states them for each file. */
static bool same_langs(struct xliff_writer *t, const struct unit *u)
{
    strbuf_reset(&t->scratch);
    t->ok = t->ok && strbuf_add(&t->scratch, u->source_lang.p, u->source_lang.n)
            && strbuf_addc(&t->scratch, '\n') &&
            strbuf_add(&t->scratch, u->target_lang.p, u->target_lang.n);
    if (t->version2 || !strcmp(t->scratch.data, t->langs.data)) return true;
    strbuf_reset(&t->langs);
    t->ok = t->ok && strbuf_add(&t->langs, t->scratch.data, t->scratch.len);
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
        xliff_open_file(t, u);
    }
    go_to_groups(t, json_object_get(own, "groups"));
}

/* ---- the held unit ------------------------------------------------------- */

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

/* Writes the held unit, if there is one. */
static enum status release_unit(struct xliff_writer *t, struct err *e)
{
    assert(t->unit_held || !t->start.len);
    assert(t->in_file || !t->unit_held);
    if (t->unit_held && !t->version2) release_unit1(t);
    else if (t->unit_held)
        t->ok = t->ok && strbuf_add(&t->out, t->start.data, t->start.len) &&
                strbuf_add(&t->out, t->source.data, t->source.len) &&
                strbuf_add(&t->out, t->tail.data, t->tail.len) &&
                strbuf_adds(&t->out, "    </unit>\n");
    t->unit_held = false;
    strbuf_reset(&t->start);
    strbuf_reset(&t->source);
    strbuf_reset(&t->seg_source);
    strbuf_reset(&t->target);
    strbuf_reset(&t->tail);
    if (!t->ok) return err_nomem(e, "XLIFF");
    return xml_flush(&t->out, t->w.out, e);
}

/* Returns whether s is a valid id in version 2. */
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

static void hold_unit(struct xliff_writer *t, const struct unit *u, json_t *own)
{
    static const char *const id[] = { "id", NULL };
    static const char *const id_name[] = { "id", "name", NULL };
    const char *const *except = id;
    char number[32];

    assert(!t->unit_held && t->in_file);
    snprintf(number, sizeof number, "%s%llu", t->version2 ? "u" : "",
             (unsigned long long)t->n_units);
    t->unit_held = true;
    strbuf_reset(&t->id);
    t->ok = t->ok && strbuf_add(&t->id, u->id.p, u->id.n);
    xliff_puts(t, &t->start, t->version2 ? "    <unit" : "      <trans-unit");
    /* An id from another format that is not valid here becomes the name. */
    if (t->version2 && !own && !t->extra && !is_token(u->id)) {
        xliff_put_attr(t, &t->start, "id", str_of(number));
        xliff_put_attr(t, &t->start, "name", u->id);
        except = id_name;
    } else {
        xliff_put_attr(t, &t->start, "id", xliff_or_default(u->id, number));
    }
    xliff_put_attrs(t, &t->start, json_object_get(own, "unit"), except);
    xliff_puts(t, &t->start, ">\n");
    if (t->version2)
        xliff_put_raw_line(t, &t->start, "      ", extra_get(own, "head"));
    else
        xliff_put_raw_line(t, &t->tail, "        ", extra_get(own, "head"));
}

/* Returns whether the unit is a <mrk> segment of version 1. */
static bool is_mrk_segment(json_t *own)
{
    return json_is_string(json_object_get(json_object_get(own, "seg"),
                                          "mid"));
}

static void put_mrk(struct xliff_writer *t, struct strbuf *to, json_t *attrs,
                    struct str text, bool tagged)
{
    static const char *const mtype[] = { "mtype", NULL };

    xliff_puts(t, to, "<mrk mtype=\"seg\"");
    xliff_put_attrs(t, to, attrs, mtype);
    xliff_puts(t, to, ">");
    xliff_put_text(t, to, text, tagged);
    xliff_puts(t, to, "</mrk>");
}

/* Version 1: adds the texts to the held unit, as a whole and, if they were
 * segmented, as segments. */
static void add_part1(struct xliff_writer *t, const struct unit *u,
                      json_t *own, bool first)
{
    assert(t->unit_held);
    if (first) {
        xliff_puts(t, &t->start, "        <source");
        xliff_put_attrs(t, &t->start, json_object_get(own, "source"), no_names);
        xliff_puts(t, &t->start, ">");
        xliff_puts(t, &t->target, "        <target");
        xliff_put_attrs(t, &t->target, json_object_get(own, "target"),
                        no_names);
        xliff_puts(t, &t->target, ">");
        xliff_put_raw(t, &t->seg_source, extra_get(own, "seg_source"));
    }
    if (!is_mrk_segment(own)) {
        xliff_put_text(t, &t->source, u->source, u->tagged);
        xliff_put_text(t, &t->target, u->target, u->tagged);
        return;
    }
    xliff_put_raw(t, &t->source, extra_get(own, "pre"));
    xliff_put_text(t, &t->source, u->source, u->tagged);
    xliff_put_raw(t, &t->source, extra_get(own, "post"));
    xliff_put_raw(t, &t->seg_source, extra_get(own, "pre"));
    put_mrk(t, &t->seg_source, json_object_get(own, "seg"), u->source,
            u->tagged);
    xliff_put_raw(t, &t->seg_source, extra_get(own, "post"));
    xliff_put_raw(t, &t->target, extra_get(own, "target_pre"));
    put_mrk(t, &t->target, json_object_get(own, "target_seg"), u->target,
            u->tagged);
    xliff_put_raw(t, &t->target, extra_get(own, "target_post"));
}

/* Version 2: adds a segment to the held unit. */
static void add_part2(struct xliff_writer *t, const struct unit *u,
                      json_t *own)
{
    struct strbuf *to = &t->source;

    assert(t->unit_held);
    xliff_put_raw_line(t, to, "      ", extra_get(own, "pre"));
    xliff_puts(t, to, "      <segment");
    xliff_put_attrs(t, to, json_object_get(own, "seg"), no_names);
    xliff_puts(t, to, ">\n        <source");
    xliff_put_attrs(t, to, json_object_get(own, "source"), no_names);
    xliff_puts(t, to, ">");
    xliff_put_text(t, to, u->source, u->tagged);
    xliff_puts(t, to, "</source>\n        <target");
    xliff_put_attrs(t, to, json_object_get(own, "target"), no_names);
    xliff_puts(t, to, ">");
    xliff_put_text(t, to, u->target, u->tagged);
    xliff_puts(t, to, "</target>\n      </segment>\n");
    xliff_put_raw_line(t, to, "      ", extra_get(own, "post"));
}

/* Returns whether the unit is another segment of the held one. */
static bool continues(struct xliff_writer *t, const struct unit *u,
                      json_t *own)
{
    return t->unit_held && json_is_true(json_object_get(own, "more")) &&
           (t->version2 || (t->segmented && is_mrk_segment(own))) &&
           str_eq(u->id, strbuf_view(&t->id)) &&
           str_eq(u->document, strbuf_view(&t->document));
}

/* Refuses a unit that XML cannot represent, before any of it is stored. */
static enum status xliff_check_unit(struct xliff_writer *t,
                                    const struct unit *u, struct err *e)
{
    struct str all[] = { u->source, u->target, u->id, u->document,
                         u->source_lang, u->target_lang };
    bool ok = true;

    strbuf_reset(&t->scratch);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ok = ok && strbuf_add(&t->scratch, all[i].p, all[i].n) &&
             strbuf_addc(&t->scratch, '\n');
    if (!ok) return err_nomem(e, "XLIFF");
    return xml_check_unit(&t->scratch, u, t->n_units, e);
}

static enum status xliff_put(struct writer *w, const struct unit *u,
                             struct err *e)
{
    struct xliff_writer *t = (struct xliff_writer *)w;
    json_t *root, *own;
    enum status st;
    bool more;

    t->n_units++;
    st = xliff_check_unit(t, u, e);
    if (st) return st;
    own = extra_open(u->extra, t->version2 ? "xliff2" : "xliff1", &root);
    more = continues(t, u, own);
    if (!more) {
        st = release_unit(t, e);
        go_to_place(t, u, own);
        hold_unit(t, u, own);
        t->segmented = is_mrk_segment(own);
    }
    if (t->version2) add_part2(t, u, own);
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
        t->version2 = version[0] == '2';
    } else if (!t->extra) {
        t->version2 = json_object_get(t->extra_root, "xliff2") != NULL;
    }
    t->extra = json_object_get(t->extra_root,
                               t->version2 ? "xliff2" : "xliff1");
    return ST_OK;
}

static enum status xliff_end(struct writer *w, struct err *e)
{
    struct xliff_writer *t = (struct xliff_writer *)w;
    enum status st = release_unit(t, e);

    if (st) return st;
    if (!t->root_written) put_root(t, NULL);
    close_file(t);
    xliff_puts(t, &t->out, "</xliff>\n");
    if (!t->ok) return err_nomem(e, "XLIFF");
    return xml_flush(&t->out, w->out, e);
}

static void xliff_writer_close(struct writer *w)
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
                                           xliff_writer_close };
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
