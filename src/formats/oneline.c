/* oneline.c - see oneline.h. */
#include "formats/oneline.h"

#define MARK "\xE2\x90\x9B"
#define MARK_BYTES (sizeof MARK - 1)

static const char *oneline_escape_of(char c)
{
    switch (c) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    case '\\': return "\\\\";
    default: return NULL;
    }
}

/* The character that a backslash and c stand for; 0: none. */
static char escaped(char c)
{
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case '\\': return '\\';
    default: return 0;
    }
}

static bool begins_with_mark(struct str s)
{
    return s.n >= MARK_BYTES && !memcmp(s.p, MARK, MARK_BYTES);
}

/* Is this the mark with something behind it that needs one: an escape other
 * than of a backslash, or another mark; and no escape that is none? */
static bool is_marked(struct str s)
{
    bool needed;

    if (!begins_with_mark(s)) return false;
    s = (struct str){ s.p + MARK_BYTES, s.n - MARK_BYTES };
    needed = begins_with_mark(s);
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '\\') {
            if (oneline_escape_of(s.p[i])) return false;
            continue;
        }
        if (++i == s.n || !escaped(s.p[i])) return false;
        needed |= s.p[i] != '\\';
    }
    return needed;
}

/* A line break, a tab that separates, a \r that the line's end would take
 * with it; or what would be taken for our mark. */
static bool needs_mark(struct str s, bool tabs)
{
    return s.n && (memchr(s.p, '\n', s.n) || s.p[s.n - 1] == '\r' ||
                   (tabs && memchr(s.p, '\t', s.n)) || is_marked(s));
}

bool oneline_put(struct str text, bool tabs, struct strbuf *out)
{
    if (!needs_mark(text, tabs)) return strbuf_add(out, text.p, text.n);
    if (!strbuf_adds(out, MARK)) return false;
    for (size_t i = 0; i < text.n; i++) {
        const char *escape = oneline_escape_of(text.p[i]);

        if (escape ? !strbuf_adds(out, escape)
                   : !strbuf_addc(out, text.p[i]))
            return false;
    }
    return true;
}

bool oneline_get(struct str field, struct strbuf *room, struct str *text)
{
    *text = field;
    if (!is_marked(field)) return true;
    strbuf_reset(room);
    if (!strbuf_reserve(room, field.n)) return false;
    for (size_t i = MARK_BYTES; i < field.n; i++)
        strbuf_addc(room, field.p[i] == '\\' ? escaped(field.p[++i])
                                             : field.p[i]);
    *text = (struct str){ room->data, room->len };
    return true;
}

const char *oneline_before_first(struct str line)
{
    static const char bom[] = "\xEF\xBB\xBF";

    return line.n >= 3 && !memcmp(line.p, bom, 3) ? bom : "";
}
