/* tags.c - strips the inline tags of a text and escapes plain text. It does not
 * know the dialects of file formats (formats/tags_convert.h). */
#include "pair/tags.h"

#include "pair/tag_scan.h"
#include "text/utf8.h"

/* Appends text with its entities resolved. */
static bool add_plain(struct strbuf *out, struct str s)
{
    char c[4];
    uint32_t cp;

    while (s.n) {
        const char *amp = memchr(s.p, '&', s.n);
        size_t n = amp ? (size_t)(amp - s.p) : s.n, used;

        if (!strbuf_add(out, s.p, n)) return false;
        s.p += n;
        s.n -= n;
        if (!s.n) break;
        used = tag_scan_entity(s, &cp);
        if (used) n = (size_t)utf8_put(c, cp);
        if (!(used ? strbuf_add(out, c, n) : strbuf_addc(out, '&')))
            return false;
        s.p += used ? used : 1;
        s.n -= used ? used : 1;
    }
    return true;
}

bool tags_strip(struct str tagged, struct strbuf *out)
{
    struct tag_piece p;
    size_t in_code = 0;         /* open elements, from the outermost code one */

    for (tag_scan_next(&tagged, &p); p.kind; tag_scan_next(&tagged, &p)) {
        if (p.kind == PIECE_OPEN && (in_code || tag_scan_is_code(p.name)))
            in_code++;
        else if (p.kind == PIECE_CLOSE && in_code) in_code--;
        else if (p.kind == PIECE_TEXT && !in_code && !add_plain(out, p.text))
            return false;
    }
    return true;
}

bool tags_add_escaped(struct strbuf *out, struct str s, bool entities,
                      bool quoted)
{
    bool ok = true;
    uint32_t cp;

    for (size_t i = 0; ok && i < s.n; i++) {
        char c = s.p[i];
        struct str at = { s.p + i, s.n - i };

        if (c == '&' && !(entities && tag_scan_entity(at, &cp)))
            ok = strbuf_adds(out, "&amp;");
        else if (c == '<') ok = strbuf_adds(out, "&lt;");
        else if (c == '>') ok = strbuf_adds(out, "&gt;");
        else if (c == '\r') ok = strbuf_adds(out, "&#13;");
        else if (quoted && c == '"') ok = strbuf_adds(out, "&quot;");
        else if (quoted && c == '\n') ok = strbuf_adds(out, "&#10;");
        else if (quoted && c == '\t') ok = strbuf_adds(out, "&#9;");
        else ok = strbuf_addc(out, c);
    }
    return ok;
}

bool tags_escape(struct str plain, struct strbuf *out)
{
    return tags_add_escaped(out, plain, false, false);
}
