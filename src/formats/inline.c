/* inline.c - assembles a text with inline elements from XML events.
 *
 * Invariant: after a start tag the text is in the tagged form, so an end tag
 * always finds it tagged. `opened` is 0 or at most text.len; if it equals
 * text.len, the text ends with the '>' of a start tag. */
#include "formats/inline.h"

#include "base/invariant.h"
#include "formats/xml_write.h"
#include "pair/tags.h"

void inline_init(struct inline_text *t, size_t limit)
{
    strbuf_init(&t->text, limit);
    strbuf_init(&t->spare, 0);
    t->tagged = false;
    t->opened = 0;
}

void inline_release(struct inline_text *t)
{
    strbuf_release(&t->text);
    strbuf_release(&t->spare);
}

void inline_reset(struct inline_text *t)
{
    strbuf_reset(&t->text);
    t->tagged = false;
    t->opened = 0;
}

bool inline_make_tagged(struct inline_text *t)
{
    struct strbuf plain = t->text;
    struct str text = { plain.data, plain.len };

    if (t->tagged) return true;
    strbuf_reset(&t->spare);
    t->spare.limit = plain.limit;
    if (!tags_escape(text, &t->spare)) return false;
    t->text = t->spare;
    t->spare = plain;
    t->tagged = true;
    return true;
}

/* Names in the tagged form are ASCII and have no prefix. Where removing the
 * prefix would not leave a name ("a:", "a:1"), the colon becomes '_', and so
 * does every byte that is not ASCII. */
static bool inline_put_name(struct strbuf *out, const char *name)
{
    const char *colon = strrchr(name, ':');
    bool ok = true;

    if (colon && colon[1] && !strchr("-.0123456789", colon[1]))
        name = colon + 1;
    for (; ok && *name; name++)
        ok = strbuf_addc(out, *name == ':' || *name & 0x80 ? '_' : *name);
    return ok;
}

static bool is_ascii(const char *s)
{
    while (*s && !(*s & 0x80)) s++;
    return !*s;
}

bool inline_start(struct inline_text *t, const char *name,
                  const char **attrs)
{
    bool ok = inline_make_tagged(t) && strbuf_addc(&t->text, '<') &&
              inline_put_name(&t->text, name);

    for (; ok && *attrs; attrs += 2)
        if (is_ascii(attrs[0]))
            ok = xml_put_attr(&t->text, attrs[0], attrs[1],
                              strlen(attrs[1]));
    ok = ok && strbuf_addc(&t->text, '>');
    t->opened = t->text.len;
    return ok;
}

bool inline_end(struct inline_text *t, const char *name)
{
    bool empty = t->opened == t->text.len;

    assert(t->tagged && t->opened <= t->text.len);
    t->opened = 0;
    if (empty) {
        assert(t->text.len && t->text.data[t->text.len - 1] == '>');
        t->text.data[--t->text.len] = '\0';     /* drop the '>' */
        return strbuf_add(&t->text, "/>", 2);
    }
    return strbuf_add(&t->text, "</", 2) && inline_put_name(&t->text, name) &&
           strbuf_addc(&t->text, '>');
}

bool inline_text(struct inline_text *t, const char *s, size_t n)
{
    if (t->tagged) return xml_put_text(&t->text, s, n);
    return strbuf_add(&t->text, s, n);
}

bool inline_is_blank(struct inline_text *t)
{
    const struct strbuf *text = &t->text;

    if (t->tagged) {
        struct str tagged = { t->text.data, t->text.len };
        strbuf_reset(&t->spare);
        t->spare.limit = 0;
        /* If memory runs out, assume that there is text, so none is lost. */
        if (!tags_strip(tagged, &t->spare)) return false;
        text = &t->spare;
    }
    return strspn(text->data, " \t\r\n") == text->len;
}

bool inline_pair(struct unit *u, struct inline_text *source,
                 struct inline_text *target)
{
    u->tagged = source->tagged || target->tagged;
    if (u->tagged &&
        !(inline_make_tagged(source) && inline_make_tagged(target)))
        return false;
    assert(source->tagged == target->tagged);
    u->source = strbuf_view(&source->text);
    u->target = strbuf_view(&target->text);
    return true;
}

bool inline_put_xml(const struct inline_text *t, struct strbuf *out)
{
    if (t->tagged) return strbuf_add(out, t->text.data, t->text.len);
    return xml_put_text(out, t->text.data, t->text.len);
}
