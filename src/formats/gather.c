/* gather.c - collects attributes and copies elements for the XML readers, and
 * stops the parser when a unit exceeds its limits. */
#include "formats/gather.h"

#include <string.h>

#include "base/invariant.h"
#include "formats/extra.h"
#include "formats/xml_write.h"

void gather_init(struct gather *g, struct xml *x, const char *what,
                 size_t max_text)
{
    *g = (struct gather){ .x = x, .what = what,
                          .max_bytes = 4 * max_text + GATHER_HEAD };
}

void gather_check(struct gather *g, bool ok, const struct strbuf *to, size_t n)
{
    assert(to);
    g->bytes_used += n;
    if (g->bytes_used > g->max_bytes)
        xml_refuse(g->x, 0, "a %s of more than %zu bytes", g->what,
                   g->max_bytes);
    else if (!ok && to->limit && to->len + 6 * n + 64 > to->limit)
        xml_refuse(g->x, 0, "a text of more than %zu bytes", to->limit);
    else if (!ok)
        xml_nomem(g->x);
}

void gather_attr(struct gather *g, struct strbuf *to, const char *name,
                 const char *value)
{
    size_t n = strlen(value);

    gather_check(g, extra_put_key(to, name) && extra_put_string(to, value, n),
                 to, n);
}

void gather_attrs(struct gather *g, struct strbuf *to, const char **attrs)
{
    for (; *attrs; attrs += 2) gather_attr(g, to, attrs[0], attrs[1]);
}

void gather_set(struct gather *g, struct strbuf *to, const char *value)
{
    strbuf_reset(to);
    gather_check(g, strbuf_adds(to, value), to, strlen(value));
}

/* ---- copying ------------------------------------------------------------ */

void gather_copy(struct gather *g, struct strbuf *to, const char *name,
                 const char **attrs)
{
    assert(!g->copying);
    g->copying = true;
    g->copy = to;
    g->copy_from = to ? to->len : 0;
    g->copy_depth = xml_depth(g->x);
    if (to) gather_check(g, xml_put_start(to, name, attrs), to, strlen(name));
}

bool gather_start(struct gather *g, const char *name, const char **attrs)
{
    if (g->copying && g->copy)
        gather_check(g, xml_put_start(g->copy, name, attrs), g->copy, 64);
    return g->copying;
}

bool gather_end(struct gather *g, const char *name)
{
    if (!g->copying) return false;
    assert(xml_depth(g->x) >= g->copy_depth);
    if (g->copy) gather_check(g, xml_put_end(g->copy, name), g->copy, 0);
    if (xml_depth(g->x) == g->copy_depth) g->copying = false;
    return true;
}

bool gather_text(struct gather *g, const char *s, size_t n)
{
    if (g->copying && g->copy)
        gather_check(g, xml_put_text(g->copy, s, n), g->copy, n);
    return g->copying;
}

void gather_drop_copy(struct gather *g)
{
    if (g->copying && g->copy) {
        assert(g->copy->len >= g->copy_from);
        xml_cut(g->copy, g->copy_from);
    }
    g->copying = false;
}
