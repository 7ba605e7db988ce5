/* tag_scan.c - splits a tagged text into runs of text and tags, and parses
 * attributes and entities. It does not change texts. */
#include "pair/tag_scan.h"

#include <string.h>

#include "base/invariant.h"

/* The names of inline elements are ASCII; inline.c ensures that. */
bool tag_scan_is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' ||
           c == ':';
}

static bool tag_scan_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool name_starts(char c)
{
    return tag_scan_is_name_char(c) && !(c >= '0' && c <= '9') &&
           c != '-' && c != '.';
}

bool tag_scan_attr(struct str s, size_t *at, struct str *name,
                   struct str *value)
{
    size_t i = *at, from;
    char quote;

    while (i < s.n && tag_scan_is_space(s.p[i])) i++;
    from = i;
    if (i == s.n || i == *at || !name_starts(s.p[i])) return false;
    while (i < s.n && tag_scan_is_name_char(s.p[i])) i++;
    *name = (struct str){ s.p + from, i - from };
    while (i < s.n && tag_scan_is_space(s.p[i])) i++;
    if (i == s.n || s.p[i++] != '=') return false;
    while (i < s.n && tag_scan_is_space(s.p[i])) i++;
    if (i == s.n || (s.p[i] != '"' && s.p[i] != '\'')) return false;
    quote = s.p[i++];
    for (from = i; i < s.n && s.p[i] != quote; i++)
        if (s.p[i] == '<') return false;
    if (i == s.n) return false;
    *value = (struct str){ s.p + from, i - from };
    *at = i + 1;
    return true;
}

static struct str without_prefix(struct str name)
{
    const char *colon = memrchr(name.p, ':', name.n);

    if (!colon) return name;
    return (struct str){ colon + 1, name.n - (size_t)(colon + 1 - name.p) };
}

/* Parses the tag at the beginning of s. Returns its length, or 0 if there is no
 * well-formed tag. */
static size_t parse_tag(struct str s, struct tag_piece *p)
{
    bool close = s.n > 1 && s.p[1] == '/';
    size_t i = close ? 2 : 1, from = i;
    struct str name, value;

    assert(s.n && s.p[0] == '<');
    if (i >= s.n || !name_starts(s.p[i])) return 0;
    while (i < s.n && tag_scan_is_name_char(s.p[i])) i++;
    p->name = without_prefix((struct str){ s.p + from, i - from });
    from = i;
    while (!close && tag_scan_attr(s, &i, &name, &value)) {}
    p->attrs = (struct str){ s.p + from, i - from };
    while (i < s.n && tag_scan_is_space(s.p[i])) i++;
    p->kind = close ? PIECE_CLOSE : PIECE_OPEN;
    if (!close && i < s.n && s.p[i] == '/') {
        p->kind = PIECE_LONE;
        i++;
    }
    return i < s.n && s.p[i] == '>' && p->name.n ? i + 1 : 0;
}

void tag_scan_next(struct str *rest, struct tag_piece *p)
{
    const char *lt = rest->n ? memchr(rest->p, '<', rest->n) : NULL;
    size_t n = lt ? (size_t)(lt - rest->p) : rest->n;

    *p = (struct tag_piece){ .kind = rest->n ? PIECE_TEXT : PIECE_END };
    if (rest->n && n == 0) {
        n = parse_tag(*rest, p);
        if (!n) {                       /* a stray '<' is text */
            n = 1;
            p->kind = PIECE_TEXT;
        }
    }
    assert(n <= rest->n && (n > 0 || p->kind == PIECE_END));
    p->text = (struct str){ rest->p, n };
    rest->p += n;
    rest->n -= n;
}

static bool name_in_list(struct str name, const char *const *list)
{
    for (; *list; list++)
        if (str_eq(name, str_of(*list))) return true;
    return false;
}

bool tag_scan_is_code(struct str name)
{
    static const char *const code[] = { "bpt", "ept", "it", "ph", "ut", NULL };

    return name_in_list(name, code);
}

static bool is_xml_char(uint32_t cp)
{
    if (cp < 0x20) return cp == '\t' || cp == '\n' || cp == '\r';
    return cp <= 0x10FFFF && (cp & 0xFFFFF800) != 0xD800 && cp != 0xFFFE &&
           cp != 0xFFFF;
}

size_t tag_scan_entity(struct str s, uint32_t *cp)
{
    static const struct { const char *name; uint32_t cp; } known[] = {
        { "amp;", '&' }, { "lt;", '<' }, { "gt;", '>' }, { "quot;", '"' },
        { "apos;", '\'' },
    };
    size_t i = 2;
    int base = 10;

    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        size_t n = strlen(known[k].name);
        if (s.n > n && !memcmp(s.p + 1, known[k].name, n)) {
            *cp = known[k].cp;
            return n + 1;
        }
    }
    if (s.n < 4 || s.p[1] != '#') return 0;
    if (s.p[2] == 'x') base = 16, i = 3;
    for (*cp = 0; i < s.n && s.p[i] != ';' && *cp < 0x110000; i++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *d = s.p[i] ? strchr(digits, s.p[i]) : NULL;
        int v = d ? (int)((d - digits) % 16) : 16;
        if (v >= base) return 0;
        *cp = *cp * (uint32_t)base + (uint32_t)v;
    }
    if (i == s.n || s.p[i] != ';' || (i < 4 && base == 16)) return 0;
    return is_xml_char(*cp) ? i + 1 : 0;
}
