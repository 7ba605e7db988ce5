/* oneline.c - escapes a text so that it fits on one line, and reverses that.
 *
 * A text is escaped only if necessary, so ordinary lines stay as they are. */
#include "formats/oneline.h"

#include "base/invariant.h"

#define MARK "\xE2\x90\x9B"
#define MARK_BYTES (sizeof MARK - 1)

static const char *oneline_escape(char c)
{
    switch (c) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    case '\\': return "\\\\";
    default: return NULL;
    }
}

/* Returns the character that a backslash and c stand for, or 0. */
static char oneline_unescape(char c)
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

/* Returns whether s is a marked text: the mark, followed by a text that needs
 * it. That text contains an escape other than \\ or begins with another mark,
 * and all its escapes are valid. */
static bool is_marked(struct str s)
{
    bool needed;

    if (!begins_with_mark(s)) return false;
    s = (struct str){ s.p + MARK_BYTES, s.n - MARK_BYTES };
    needed = begins_with_mark(s);
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '\\') {
            if (oneline_escape(s.p[i])) return false;
            continue;
        }
        if (++i == s.n || !oneline_unescape(s.p[i])) return false;
        needed |= s.p[i] != '\\';
    }
    return needed;
}

/* Returns whether the text cannot be written literally: it contains a line
 * break or a separating tab, ends with a \r that would be taken for part of the
 * line end, or would be read as a marked text. */
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
        const char *escape = oneline_escape(text.p[i]);

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
        strbuf_addc(room, field.p[i] == '\\' ? oneline_unescape(field.p[++i])
                                             : field.p[i]);
    assert(room->len < field.n);
    *text = (struct str){ room->data, room->len };
    return true;
}

const char *oneline_before_first(struct str line)
{
    static const char bom[] = "\xEF\xBB\xBF";

    return line.n >= 3 && !memcmp(line.p, bom, 3) ? bom : "";
}
