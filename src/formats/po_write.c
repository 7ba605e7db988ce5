/* po_write.c - writes pairs to a gettext PO file. po_read.c describes the
 * members of the extra data.
 *
 * Consecutive units that are forms of the same plural entry are joined into
 * one entry again, so an entry is held back until the next one begins. In a PO
 * file the pair of msgid and context must be unique, but in a memory it need
 * not be. Each repetition gets a context of its own: "variant 2" is the
 * context, or is appended to it.
 *
 * Invariant of struct msgid_table: cap is 0 or a power of two, and n < cap, so
 * a probe always finds a free slot. */
#include <stdlib.h>
#include <strings.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/invariant.h"
#include "base/strbuf.h"
#include "formats/extra.h"
#include "formats/output.h"
#include "formats/po.h"
#include "formats/writer.h"
#include "pair/tags.h"

/* How often each msgid was written. The key is the hash of msgid, context and
 * domain. */
struct msgid_table {
    struct msgid_count { uint64_t hash; uint32_t times; } *slots;
    size_t n, cap;
};

struct po_writer {
    struct writer w;
    bool swapped;               /* msgid is the unit's target */
    struct po_entry held;       /* not written yet; n_str = 0 if none */
    struct po_entry fresh;      /* the entry of the unit being added */
    struct strbuf domain;       /* of the entry that was written last */
    struct strbuf text;         /* lines that are ready to be written */
    struct strbuf plain;        /* texts without their tags */
    struct msgid_table msgids;
};

static bool po_set_text(struct strbuf *to, struct str s)
{
    strbuf_reset(to);
    return strbuf_add(to, s.p, s.n);
}

/* ---- repeated msgids ----------------------------------------------------- */

static struct msgid_count *msgid_slot(struct msgid_table *table, uint64_t hash)
{
    size_t i = hash & (table->cap - 1);

    assert(table->n < table->cap && !(table->cap & (table->cap - 1)));
    while (table->slots[i].times && table->slots[i].hash != hash)
        i = (i + 1) & (table->cap - 1);
    return &table->slots[i];
}

static bool msgid_table_grow(struct msgid_table *table)
{
    struct msgid_table bigger = {
        NULL, table->n, table->cap ? 2 * table->cap : 1024
    };

    if (table->n < table->cap / 4 * 3) return true;
    bigger.slots = calloc(bigger.cap, sizeof *bigger.slots);
    if (!bigger.slots) return false;
    for (size_t i = 0; i < table->cap; i++)
        if (table->slots[i].times)
            *msgid_slot(&bigger, table->slots[i].hash) = table->slots[i];
    free(table->slots);
    *table = bigger;
    return true;
}

static uint64_t po_entry_key(const struct po_entry *en)
{
    uint64_t h = XXH3_64bits_withSeed(en->id.data, en->id.len,
                                      en->has_context);

    h = XXH3_64bits_withSeed(en->context.data, en->context.len, h);
    return XXH3_64bits_withSeed(en->domain.data, en->domain.len, h);
}

/* Changes the context of the entry if its msgid was already written with it. */
static bool make_unique(struct po_writer *p, struct po_entry *en)
{
    size_t context = en->context.len;

    if (!msgid_table_grow(&p->msgids)) return false;
    uint64_t plain = po_entry_key(en), hash = plain;
    while (msgid_slot(&p->msgids, hash)->times) {
        uint32_t times = ++msgid_slot(&p->msgids, plain)->times;

        en->context.len = context;
        if (!strbuf_addf(&en->context, "%svariant %u",
                         context ? " " : "", (unsigned)times))
            return false;
        en->has_context = true;
        hash = po_entry_key(en);
    }
    *msgid_slot(&p->msgids, hash) = (struct msgid_count){ hash, 1 };
    p->msgids.n++;
    return true;
}

/* ---- entries ------------------------------------------------------------ */

/* Adds a line that changes the domain, if it differs from the last one. */
static bool po_add_domain(struct po_writer *p, const struct po_entry *en)
{
    struct str domain = strbuf_view(&en->domain);

    if (str_eq(strbuf_view(&p->domain), domain)) return true;
    return po_set_text(&p->domain, domain) && strbuf_addc(&p->text, '\n') &&
           po_put_text(false, "domain",
                       domain.n ? domain : str_of("messages"), &p->text);
}

static enum status po_flush_entry(struct po_writer *p, struct err *e)
{
    struct po_entry *en = &p->held;
    enum status st;

    if (!en->n_str) return ST_OK;
    strbuf_reset(&p->text);
    if (!make_unique(p, en) || !po_add_domain(p, en) ||
        !strbuf_addc(&p->text, '\n') || !po_entry_write(en, &p->text))
        return err_nomem(e, "an entry");
    st = output_write(p->w.out, p->text.data, p->text.len, e);
    if (!st) po_entry_reset(en);
    return st;
}

static size_t json_count(const json_t *o, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(o, key));

    return n > 0 && n < 100 ? (size_t)n : 0;
}

/* Sets the texts of a plural entry. All forms but one are empty. */
static bool po_set_forms(struct po_entry *en, const json_t *o, struct str id,
                         struct str str)
{
    size_t n = json_count(o, "forms"), form = json_count(o, "form");
    struct str singular = extra_get(o, "msgid");
    struct str plural = extra_get(o, "msgid_plural");

    assert(n > 0 && !en->n_str);
    if (form >= n) form = n - 1;
    en->has_plural = true;
    for (size_t i = 0; i < n; i++)
        if (!po_entry_add_str(en)) return false;
    return po_set_text(&en->id, singular.n ? singular : id) &&
           po_set_text(&en->plural, singular.n ? id : plural) &&
           po_set_text(&en->str[form], str);
}

static bool po_set_entry(struct po_entry *en, const json_t *o, struct str id,
                         struct str str)
{
    bool plural = json_count(o, "forms") &&
                  (extra_get(o, "msgid").n || extra_get(o, "msgid_plural").n);
    struct strbuf *only;

    en->has_context = json_is_string(json_object_get(o, "context"));
    en->obsolete = json_is_true(json_object_get(o, "obsolete"));
    if (!po_set_text(&en->context, extra_get(o, "context")) ||
        !po_set_text(&en->comments, extra_get(o, "comments")) ||
        !po_set_text(&en->domain, extra_get(o, "domain")))
        return false;
    if (plural) return po_set_forms(en, o, id, str);
    only = po_entry_add_str(en);
    return only && po_set_text(&en->id, id) && po_set_text(only, str);
}

/* If `fresh` is a missing form of the held entry, moves it there and returns
 * true. */
static bool po_join_forms(struct po_entry *held, struct po_entry *fresh)
{
    size_t form = 0;

    if (!held->has_plural || !fresh->has_plural ||
        held->n_str != fresh->n_str || held->obsolete != fresh->obsolete ||
        held->has_context != fresh->has_context ||
        !str_eq(strbuf_view(&held->context), strbuf_view(&fresh->context)) ||
        !str_eq(strbuf_view(&held->id), strbuf_view(&fresh->id)) ||
        !str_eq(strbuf_view(&held->plural), strbuf_view(&fresh->plural)) ||
        !str_eq(strbuf_view(&held->domain), strbuf_view(&fresh->domain)))
        return false;
    while (form + 1 < fresh->n_str && !fresh->str[form].len) form++;
    assert(form < held->n_str);
    if (held->str[form].len) return false;
    struct strbuf empty = held->str[form];
    held->str[form] = fresh->str[form];
    fresh->str[form] = empty;
    return true;
}

static enum status po_put_entry(struct po_writer *p, const json_t *o,
                                struct str id, struct str str, struct err *e)
{
    enum status st;

    po_entry_reset(&p->fresh);
    if (!po_set_entry(&p->fresh, o, id, str)) return err_nomem(e, "an entry");
    if (po_join_forms(&p->held, &p->fresh)) return ST_OK;
    st = po_flush_entry(p, e);
    if (!st) {
        struct po_entry en = p->held;

        p->held = p->fresh;
        p->fresh = en;
    }
    return st;
}

static enum status po_put(struct writer *w, const struct unit *u,
                          struct err *e)
{
    struct po_writer *p = (struct po_writer *)w;
    struct str id = p->swapped ? u->target : u->source;
    struct str str = p->swapped ? u->source : u->target;
    json_t *root;
    enum status st;

    if (u->tagged) {
        size_t border;

        strbuf_reset(&p->plain);
        if (!tags_strip(id, &p->plain)) return err_nomem(e, "a text");
        border = p->plain.len;
        if (!tags_strip(str, &p->plain)) return err_nomem(e, "a text");
        id = (struct str){ p->plain.data, border };
        str = (struct str){ p->plain.data + border, p->plain.len - border };
    }
    if (!id.n) return err_set(e, ST_ARGUMENT, "a PO file cannot represent a "
                              "pair with an empty msgid");
    st = po_put_entry(p, extra_open(u->extra, "po", &root), id, str, e);
    json_decref(root);
    return st;
}

/* ---- the header --------------------------------------------------------- */

/* Copies the header of the original file. The charset becomes UTF-8, because
 * that is what we write. */
static bool po_add_header(struct strbuf *out, struct str header)
{
    struct str charset = po_header_charset(header);
    size_t before = charset.n ? (size_t)(charset.p - header.p) : header.n;

    if (charset.n == 5 && !strncasecmp(charset.p, "utf-8", 5))
        return strbuf_add(out, header.p, header.n);
    if (charset.n)
        return strbuf_add(out, header.p, before) &&
               strbuf_adds(out, "UTF-8") &&
               strbuf_add(out, charset.p + charset.n,
                          header.n - before - charset.n);
    if (po_header_field(header, "Content-Type").p)
        return strbuf_add(out, header.p, header.n);
    return strbuf_add(out, header.p, header.n) &&
           (!header.n || header.p[header.n - 1] == '\n' ||
            strbuf_addc(out, '\n')) &&
           strbuf_adds(out, "Content-Type: text/plain; charset=UTF-8\n"
                            "Content-Transfer-Encoding: 8bit\n");
}

/* Makes a header for pairs that do not come from a PO file. */
static bool po_new_header(const struct po_writer *p, struct strbuf *out)
{
    const char *source = p->w.o.source_lang, *target = p->w.o.target_lang;
    const char *id = p->swapped ? target : source;
    const char *str = p->swapped ? source : target;

    return strbuf_adds(out, "MIME-Version: 1.0\n"
                            "Content-Type: text/plain; charset=UTF-8\n"
                            "Content-Transfer-Encoding: 8bit\n") &&
           (!*str || strbuf_addf(out, "Language: %s\n", str)) &&
           (!*id || strbuf_addf(out, "X-Source-Language: %s\n", id));
}

static enum status po_begin(struct writer *w, struct err *e)
{
    struct po_writer *p = (struct po_writer *)w;
    struct po_entry *en = &p->fresh;
    json_t *root, *o = extra_open(w->o.extra, "po", &root);
    struct strbuf *str;
    bool ok;

    p->swapped = json_is_true(json_object_get(o, "swapped"));
    str = po_entry_add_str(en);
    ok = str && po_set_text(&en->comments, extra_get(o, "comments"));
    if (ok) ok = json_is_string(json_object_get(o, "header"))
                 ? po_add_header(str, extra_get(o, "header"))
                 : po_new_header(p, str);
    json_decref(root);
    strbuf_reset(&p->text);
    if (!ok || !po_entry_write(en, &p->text)) return err_nomem(e, "a header");
    return output_write(w->out, p->text.data, p->text.len, e);
}

/* ---- the writer --------------------------------------------------------- */

static enum status po_end(struct writer *w, struct err *e)
{
    return po_flush_entry((struct po_writer *)w, e);
}

static void po_writer_close(struct writer *w)
{
    struct po_writer *p = (struct po_writer *)w;

    po_entry_release(&p->held);
    po_entry_release(&p->fresh);
    strbuf_release(&p->domain);
    strbuf_release(&p->text);
    strbuf_release(&p->plain);
    free(p->msgids.slots);
    free(p);
}

enum status po_writer_new(struct writer **out, struct err *e)
{
    static const struct writer_ops ops = {
        po_begin, po_put, po_end, po_writer_close
    };
    struct po_writer *p = calloc(1, sizeof *p);

    *out = NULL;
    if (!p) return err_nomem(e, "a writer");
    p->w.ops = &ops;
    po_entry_init(&p->held, 0);
    po_entry_init(&p->fresh, 0);
    strbuf_init(&p->domain, 0);
    strbuf_init(&p->text, 0);
    strbuf_init(&p->plain, 0);
    *out = &p->w;
    return ST_OK;
}
