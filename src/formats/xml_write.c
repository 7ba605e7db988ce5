/* xml_write.c - builds XML in memory, checks that it is well-formed, and writes
 * it to an output. expat does the checks. */
#include "formats/xml_write.h"

#include <expat.h>
#include <string.h>

#include "base/invariant.h"
#include "formats/output.h"
#include "pair/unit.h"
#include "text/utf8.h"

static const char *xml_escape(unsigned char c, bool attr)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '\r': return "&#13;";
    case '"': return attr ? "&quot;" : NULL;
    case '\n': return attr ? "&#10;" : NULL;
    case '\t': return attr ? "&#9;" : NULL;
    default: return NULL;
    }
}

static bool xml_put_escaped(struct strbuf *out, const char *s, size_t n,
                            bool attr)
{
    size_t from = 0;

    for (size_t i = 0; i < n; i++) {
        const char *as = xml_escape((unsigned char)s[i], attr);
        if (!as) continue;
        if (!strbuf_add(out, s + from, i - from) || !strbuf_adds(out, as))
            return false;
        from = i + 1;
    }
    return strbuf_add(out, s + from, n - from);
}

bool xml_put_text(struct strbuf *out, const char *s, size_t n)
{
    return xml_put_escaped(out, s, n, false);
}

bool xml_put_attr(struct strbuf *out, const char *name, const char *s,
                  size_t n)
{
    return strbuf_addc(out, ' ') && strbuf_adds(out, name) &&
           strbuf_add(out, "=\"", 2) && xml_put_escaped(out, s, n, true) &&
           strbuf_addc(out, '"');
}

bool xml_put_start(struct strbuf *out, const char *name, const char **attrs)
{
    bool ok = strbuf_addc(out, '<') && strbuf_adds(out, name);

    for (; ok && *attrs; attrs += 2)
        ok = xml_put_attr(out, attrs[0], attrs[1], strlen(attrs[1]));
    return ok && strbuf_addc(out, '>');
}

bool xml_put_end(struct strbuf *out, const char *name)
{
    return strbuf_addf(out, "</%s>", name);
}

bool xml_put_line(struct strbuf *out, const char *indent, struct str raw)
{
    if (!raw.n || !xml_is_content(raw)) return true;
    return strbuf_adds(out, indent) && strbuf_add(out, raw.p, raw.n) &&
           strbuf_addc(out, '\n');
}

void xml_cut(struct strbuf *sb, size_t len)
{
    if (sb->len <= len) return;
    sb->len = len;
    sb->data[len] = '\0';
}

/* The start tag has exactly one attribute. */
static void on_name_checked(void *user, const XML_Char *name,
                            const XML_Char **attrs)
{
    (void)name;
    *(bool *)user = attrs[0] && !attrs[2];
}

bool xml_is_name(const char *s)
{
    XML_Parser p;
    struct strbuf sb;
    bool ok = true;

    /* Nearly all names in real files are ASCII. */
    if ((*s | 32) >= 'a' && (*s | 32) <= 'z' &&
        !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                  "0123456789-_.:")])
        return true;
    p = XML_ParserCreate("UTF-8");
    strbuf_init(&sb, 0);
    ok = p && strbuf_addf(&sb, "<x %s=''/>", s);
    if (ok) {
        bool one = false;
        XML_SetUserData(p, &one);
        XML_SetStartElementHandler(p, on_name_checked);
        ok = XML_Parse(p, sb.data, (int)sb.len, 1) == XML_STATUS_OK && one &&
             !strpbrk(s, " \t\r\n=<>/");
    }
    strbuf_release(&sb);
    if (p) XML_ParserFree(p);
    return ok;
}

bool xml_is_content(struct str s)
{
    XML_Parser p = XML_ParserCreate("UTF-8");
    bool ok = p && s.n < (size_t)1 << 30 &&
              XML_Parse(p, "<x>", 3, 0) == XML_STATUS_OK &&
              XML_Parse(p, s.p, (int)s.n, 0) == XML_STATUS_OK &&
              XML_Parse(p, "</x>", 4, 1) == XML_STATUS_OK;

    if (p) XML_ParserFree(p);
    return ok;
}

size_t xml_check(const char *s, size_t n)
{
    size_t valid = utf8_check(s, n);

    for (size_t i = 0; i < valid; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c < 0x20 && c != '\n' && c != '\t' && c != '\r') return i;
        /* U+FFFE and U+FFFF. Valid UTF-8: two more bytes follow. */
        if (c == 0xEF && (unsigned char)s[i + 1] == 0xBF &&
            (unsigned char)s[i + 2] >= 0xBE)
            return i;
    }
    return valid;
}

enum status xml_check_unit(const struct strbuf *xml, const struct unit *u,
                           uint64_t number, struct err *e)
{
    size_t at = xml_check(xml->data, xml->len);
    int n = u->id.n < 60 ? (int)u->id.n : 60, len;
    uint32_t cp;

    assert(at <= xml->len);
    if (at == xml->len) return ST_OK;
    cp = utf8_next(xml->data + at, xml->len - at, &len);
    if (cp == 0xFFFD)
        return err_set(e, ST_TEXT, "unit %llu (id \"%.*s\") is not valid UTF-8",
                       (unsigned long long)number, n, n ? u->id.p : "");
    return err_set(e, ST_TEXT, "unit %llu (id \"%.*s\"): the character "
                   "U+%04X cannot be written in XML",
                   (unsigned long long)number, n, n ? u->id.p : "",
                   (unsigned)cp);
}

enum status xml_flush(struct strbuf *xml, struct output *to, struct err *e)
{
    enum status st = output_write(to, xml->data, xml->len, e);

    strbuf_reset(xml);
    return st;
}
