/* oneline.c - see oneline.h. */
#include "formats/oneline.h"

#define MARK "\xE2\x90\x9B"
#define MARK_BYTES (sizeof MARK - 1)

static bool is_marked(struct str s)
{
    return s.n >= MARK_BYTES && !memcmp(s.p, MARK, MARK_BYTES);
}

/* A line break, a tab that separates, a \r that the line's end would take
 * with it; or what would be taken for our mark. */
static bool needs_mark(struct str s, bool tabs)
{
    return s.n && (memchr(s.p, '\n', s.n) || s.p[s.n - 1] == '\r' ||
                   (tabs && memchr(s.p, '\t', s.n)) || is_marked(s));
}

static const char *escape_of(char c)
{
    switch (c) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    case '\\': return "\\\\";
    default: return NULL;
    }
}

bool oneline_put(struct str text, bool tabs, struct strbuf *out)
{
    if (!needs_mark(text, tabs)) return strbuf_add(out, text.p, text.n);
    if (!strbuf_adds(out, MARK)) return false;
    for (size_t i = 0; i < text.n; i++) {
        const char *escape = escape_of(text.p[i]);

        if (escape ? !strbuf_adds(out, escape)
                   : !strbuf_addc(out, text.p[i]))
            return false;
    }
    return true;
}

/* The character that \c stands for; 0: none. */
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

bool oneline_get(struct str field, bool tabs, struct strbuf *room,
                 struct str *text)
{
    *text = field;
    if (!is_marked(field)) return true;
    strbuf_reset(room);
    if (!strbuf_reserve(room, field.n)) return false;
    for (size_t i = MARK_BYTES; i < field.n; i++) {
        char c = field.p[i];

        if (c == '\\') c = ++i < field.n ? escaped(field.p[i]) : 0;
        else if (escape_of(c)) c = 0;           /* would have been escaped */
        if (!c) return true;                    /* not ours: literal */
        strbuf_addc(room, c);
    }
    struct str ours = { room->data, room->len };
    if (needs_mark(ours, tabs)) *text = ours;
    return true;
}
