/* po.c - see po.h. The syntax is gettext's: keywords and strings, any number
 * of strings to a keyword, on as many lines as one likes; comments before. */
#include "formats/po.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "formats/linescan.h"

#define MAX_FORMS 100           /* no language has more than six */

/* What follows a backslash, and what it stands for. */
static const char escape_name[] = "ntbrfva\\\"";
static const char escape_byte[] = "\n\t\b\r\f\v\a\\\"";

/* ---- an entry ----------------------------------------------------------- */

void po_entry_init(struct po_entry *en, size_t limit)
{
    *en = (struct po_entry){ .limit = limit };
    strbuf_init(&en->domain, limit);
    strbuf_init(&en->comments, limit);
    strbuf_init(&en->context, limit);
    strbuf_init(&en->id, limit);
    strbuf_init(&en->plural, limit);
}

void po_entry_release(struct po_entry *en)
{
    strbuf_release(&en->domain);
    strbuf_release(&en->comments);
    strbuf_release(&en->context);
    strbuf_release(&en->id);
    strbuf_release(&en->plural);
    for (size_t i = 0; i < en->cap_str; i++) strbuf_release(&en->str[i]);
    free(en->str);
    *en = (struct po_entry){ 0 };
}

void po_entry_reset(struct po_entry *en)
{
    strbuf_reset(&en->comments);
    strbuf_reset(&en->context);
    strbuf_reset(&en->id);
    strbuf_reset(&en->plural);
    en->state = PO_NOTHING;
    en->has_string = en->obsolete = en->fuzzy = false;
    en->has_context = en->has_plural = false;
    en->n_str = 0;
}

struct strbuf *po_entry_add_str(struct po_entry *en)
{
    size_t cap = en->cap_str;

    if (!mem_grow(&en->str, &cap, en->n_str + 1, sizeof *en->str))
        return NULL;
    for (; en->cap_str < cap; en->cap_str++)
        strbuf_init(&en->str[en->cap_str], en->limit);
    strbuf_reset(&en->str[en->n_str]);
    return &en->str[en->n_str++];
}

/* Escapes may have made what no line had. */
static bool po_is_text(const struct strbuf *sb)
{
    size_t at;

    return !text_fault(strbuf_view(sb), &at);
}

static bool all_text(const struct po_entry *en)
{
    bool ok = po_is_text(&en->domain) && po_is_text(&en->context) &&
              po_is_text(&en->id) && po_is_text(&en->plural);

    for (size_t i = 0; ok && i < en->n_str; i++) ok = po_is_text(&en->str[i]);
    return ok;
}

const char *po_entry_lacks(const struct po_entry *en)
{
    if (en->state != PO_NOTHING && !en->has_string)
        return "expected a string in quotes behind the keyword";
    if (en->state == PO_CONTEXT) return "expected msgid behind msgctxt";
    if (en->state >= PO_ID && !en->n_str)
        return "expected msgstr before the next entry";
    return all_text(en) ? NULL : "expected escapes that make up UTF-8";
}

/* ---- reading ------------------------------------------------------------ */

struct po_scan {
    struct po_entry *en;
    struct str line;
    size_t i;
    const char *why;
};

static enum po_step po_bad(struct po_scan *s, const char *why)
{
    s->why = why;
    return PO_BAD;
}

static bool po_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static void po_skip_space(struct po_scan *s)
{
    while (s->i < s->line.n && po_is_space(s->line.p[s->i])) s->i++;
}

static char po_peek(const struct po_scan *s)
{
    return s->i < s->line.n ? s->line.p[s->i] : '\0';
}

static enum po_step po_add(struct po_scan *s, struct strbuf *to, const char *p,
                           size_t n)
{
    if (n > s->en->limit - to->len)
        return po_bad(s, "expected a shorter text, this one is over the limit");
    return strbuf_add(to, p, n) ? PO_TAKEN : PO_NOMEM;
}

static int digit(char c, int base)
{
    int d = c >= '0' && c <= '9' ? c - '0' :
            c >= 'a' && c <= 'f' ? c - 'a' + 10 :
            c >= 'A' && c <= 'F' ? c - 'A' + 10 : base;

    return d < base ? d : -1;
}

/* Octal digits, three at most, or hexadecimal ones. */
static enum po_step po_number(struct po_scan *s, int base, int max, char *out)
{
    int n = 0, value = 0;

    while (n < max && digit(po_peek(s), base) >= 0) {
        value = value * base + digit(po_peek(s), base);
        if (value > 255) return po_bad(s, "expected a byte, found a larger "
                                       "number behind the backslash");
        s->i++;
        n++;
    }
    if (!n) return po_bad(s, "expected hexadecimal digits behind \\x");
    if (!value) return po_bad(s, "expected text, found a NUL byte");
    *out = (char)value;
    return PO_TAKEN;
}

static enum po_step po_escape(struct po_scan *s, char *out)
{
    char c = po_peek(s);
    const char *at = c ? strchr(escape_name, c) : NULL;

    if (digit(c, 8) >= 0) return po_number(s, 8, 3, out);
    if (!at && c != 'x')
        return po_bad(s, "expected one of n t b r f v a x \\ \" "
                         "or a digit behind the backslash");
    s->i++;
    if (c == 'x') return po_number(s, 16, 1 << 20, out);
    *out = escape_byte[at - escape_name];
    return PO_TAKEN;
}

static struct strbuf *text_of(struct po_entry *en)
{
    switch (en->state) {
    case PO_DOMAIN: return &en->domain;
    case PO_CONTEXT: return &en->context;
    case PO_ID: return &en->id;
    case PO_PLURAL: return &en->plural;
    case PO_STR: return &en->str[en->n_str - 1];
    default: return NULL;
    }
}

static enum po_step string(struct po_scan *s)
{
    struct strbuf *to = text_of(s->en);
    enum po_step step = PO_TAKEN;
    size_t quote = s->i++;

    if (!to) {
        s->i = quote;
        return po_bad(s, "expected msgid before a string");
    }
    while (step == PO_TAKEN && s->i < s->line.n && po_peek(s) != '"') {
        size_t from = s->i;
        char c;

        while (s->i < s->line.n && po_peek(s) != '"' && po_peek(s) != '\\')
            s->i++;
        step = po_add(s, to, s->line.p + from, s->i - from);
        if (step != PO_TAKEN || po_peek(s) != '\\') continue;
        s->i++;
        step = po_escape(s, &c);
        if (step == PO_TAKEN) step = po_add(s, to, &c, 1);
    }
    if (step != PO_TAKEN) return step;
    if (s->i == s->line.n) {
        s->i = quote;
        return po_bad(s, "expected a closing quote on the same line");
    }
    s->i++;
    s->en->has_string = true;
    return PO_TAKEN;
}

/* The number in msgstr[n] has to be the next one. */
static enum po_step form(struct po_scan *s)
{
    size_t n = 0;

    s->i++;
    po_skip_space(s);
    if (digit(po_peek(s), 10) < 0)
        return po_bad(s, "expected a number behind msgstr[");
    for (; digit(po_peek(s), 10) >= 0 && n < MAX_FORMS; s->i++)
        n = n * 10 + (size_t)digit(po_peek(s), 10);
    po_skip_space(s);
    if (po_peek(s) != ']') return po_bad(s, "expected ] behind msgstr[ and a "
                                      "number below 100");
    s->i++;
    if (n != s->en->n_str)
        return po_bad(s,
                      "expected the plural forms one by one, from msgstr[0]");
    return PO_TAKEN;
}

static enum po_step begin_str(struct po_scan *s)
{
    struct po_entry *en = s->en;
    enum po_step step = PO_TAKEN;
    bool numbered;

    po_skip_space(s);
    numbered = po_peek(s) == '[';
    if (en->has_plural != numbered)
        return po_bad(s, numbered ? "expected msgid_plural before msgstr[n]"
                               : "expected msgstr[n] behind msgid_plural");
    if (numbered) step = form(s);
    if (step != PO_TAKEN) return step;
    return po_entry_add_str(en) ? PO_TAKEN : PO_NOMEM;
}

static const struct keyword {
    const char *name;
    enum po_state state;
    const char *expected;       /* when it stands in a wrong place */
} keywords[] = {
    { "domain", PO_DOMAIN, "expected msgstr before domain" },
    { "msgctxt", PO_CONTEXT, "expected msgstr before the next msgctxt" },
    { "msgid", PO_ID, "expected msgstr before the next msgid" },
    { "msgid_plural", PO_PLURAL, "expected msgid before msgid_plural" },
    { "msgstr", PO_STR, "expected msgid before msgstr" },
};

static const struct keyword *find_keyword(struct po_scan *s)
{
    const char *p = s->line.p + s->i;
    size_t n = 0;

    while (s->i + n < s->line.n && ((p[n] >= 'a' && p[n] <= 'z') ||
                                    p[n] == '_'))
        n++;
    for (size_t k = 0; k < sizeof keywords / sizeof *keywords; k++)
        if (str_eq((struct str){ p, n }, str_of(keywords[k].name)))
            return &keywords[k];
    return NULL;
}

static bool may_follow(const struct po_entry *en, enum po_state next)
{
    switch (next) {
    case PO_DOMAIN:
    case PO_CONTEXT: return en->state <= PO_DOMAIN;
    case PO_ID: return en->state <= PO_CONTEXT;
    case PO_PLURAL: return en->state == PO_ID;
    case PO_STR: return en->state == PO_ID || en->state == PO_PLURAL ||
                        (en->state == PO_STR && en->has_plural);
    default: return false;
    }
}

static enum po_step begin_keyword(struct po_scan *s, bool obsolete)
{
    const struct keyword *k = find_keyword(s);
    struct po_entry *en = s->en;

    if (!k && en->state == PO_STR && en->has_string) return PO_COMPLETE;
    if (!k) return po_bad(s, "expected a string in quotes, msgid, msgstr, "
                          "msgctxt or a comment");
    if (en->state != PO_NOTHING && !en->has_string)
        return po_bad(s, po_entry_lacks(en));
    if (en->state == PO_STR && k->state < PO_PLURAL) return PO_COMPLETE;
    if (!may_follow(en, k->state)) return po_bad(s, k->expected);
    s->i += strlen(k->name);
    if (k->state == PO_STR) {
        enum po_step step = begin_str(s);

        if (step != PO_TAKEN) return step;
    }
    en->state = k->state;
    en->has_string = false;
    en->has_context |= k->state == PO_CONTEXT;
    en->has_plural |= k->state == PO_PLURAL;
    if (k->state == PO_DOMAIN) strbuf_reset(&en->domain);
    else en->obsolete = obsolete;
    return PO_TAKEN;
}

/* Keywords and strings to the end of the line. */
static enum po_step po_tokens(struct po_scan *s, bool obsolete)
{
    enum po_step step = PO_TAKEN;

    /* A string goes on where the line before it did, in or out of #~. */
    if (s->en->state > PO_DOMAIN && obsolete != s->en->obsolete) {
        if (s->en->state == PO_STR && s->en->has_string && po_peek(s) != '"')
            return PO_COMPLETE;
        return po_bad(s, "expected all lines of an entry with #~ or all "
                      "without");
    }
    while (step == PO_TAKEN && s->i < s->line.n) {
        step = po_peek(s) == '"' ? string(s) : begin_keyword(s, obsolete);
        if (step == PO_TAKEN) po_skip_space(s);
    }
    return step;
}

static bool is_fuzzy(struct str flags)
{
    size_t i = 0;

    while (i < flags.n) {
        size_t from = i;

        while (i < flags.n && flags.p[i] != ',' && !po_is_space(flags.p[i]))
            i++;
        if (str_eq((struct str){ flags.p + from, i - from }, str_of("fuzzy")))
            return true;
        i++;
    }
    return false;
}

/* A comment that stands before its entry, as all have to. */
static enum po_step comment(struct po_scan *s)
{
    struct po_entry *en = s->en;
    struct str text = { s->line.p + s->i, s->line.n - s->i };
    enum po_step step;

    if (en->state == PO_STR && en->has_string) return PO_COMPLETE;
    if (en->state > PO_DOMAIN)
        return po_bad(s, "expected msgstr before the next comment");
    if (text.n > 1 && (text.p[1] == ',' || text.p[1] == '='))
        en->fuzzy |= is_fuzzy((struct str){ text.p + 2, text.n - 2 });
    step = po_add(s, &en->comments, text.p, text.n);
    return step != PO_TAKEN ? step : po_add(s, &en->comments, "\n", 1);
}

static enum po_step po_take_line(struct po_scan *s)
{
    size_t begin;
    enum po_step step;

    po_skip_space(s);
    if (po_peek(s) != '#')
        return s->i < s->line.n ? po_tokens(s, false) : PO_TAKEN;
    begin = s->i;
    if (s->i + 1 >= s->line.n || s->line.p[s->i + 1] != '~')
        return comment(s);
    s->i += 2;
    po_skip_space(s);
    if (po_peek(s) == '|') {            /* what an obsolete entry once was */
        s->i = begin;
        return comment(s);
    }
    if (s->i == s->line.n) return PO_TAKEN;
    step = po_tokens(s, true);
    if (step == PO_COMPLETE) s->i = begin;
    return step;
}

enum po_step po_entry_line(struct po_entry *en, struct str line, size_t *at,
                           const char **why)
{
    struct po_scan s = { en, line, *at, NULL };
    enum po_step step = po_take_line(&s);

    *at = s.i;
    *why = s.why;
    return step;
}

/* ---- the header --------------------------------------------------------- */

struct str po_header_field(struct str header, const char *name)
{
    size_t n = strlen(name);

    while (header.n) {
        const char *nl = memchr(header.p, '\n', header.n);
        struct str line = { header.p, nl ? (size_t)(nl - header.p)
                                         : header.n };

        header.p += line.n + (nl != NULL);
        header.n -= line.n + (nl != NULL);
        if (line.n <= n || line.p[n] != ':' || strncasecmp(line.p, name, n))
            continue;
        line = (struct str){ line.p + n + 1, line.n - n - 1 };
        while (line.n && po_is_space(line.p[0])) line.p++, line.n--;
        while (line.n && po_is_space(line.p[line.n - 1])) line.n--;
        return line;
    }
    return (struct str){ NULL, 0 };
}

struct str po_header_charset(struct str header)
{
    static const char mark[] = "charset=";
    struct str type = po_header_field(header, "Content-Type");
    size_t k = sizeof mark - 1, n = 0;

    while (type.n >= k && strncasecmp(type.p, mark, k)) type.p++, type.n--;
    if (type.n < k) return (struct str){ NULL, 0 };
    type = (struct str){ type.p + k, type.n - k };
    while (n < type.n && !po_is_space(type.p[n]) && type.p[n] != ';') n++;
    return (struct str){ type.p, n };
}

/* ---- writing ------------------------------------------------------------ */

static bool po_put_char(struct strbuf *out, char c)
{
    const char *at = c ? strchr(escape_byte, c) : NULL;

    if (at) return strbuf_addc(out, '\\') &&
                   strbuf_addc(out, escape_name[at - escape_byte]);
    if ((unsigned char)c < 0x20 || c == 0x7F)
        return strbuf_addf(out, "\\%03o", (unsigned)c);
    return strbuf_addc(out, c);
}

bool po_put_text(bool obsolete, const char *keyword, struct str s,
                 struct strbuf *out)
{
    const char *before = obsolete ? "#~ " : "";
    const char *nl = s.n ? memchr(s.p, '\n', s.n) : NULL;
    bool several = nl && nl + 1 < s.p + s.n;
    bool ok = strbuf_adds(out, before) && strbuf_adds(out, keyword) &&
              strbuf_adds(out, several ? " \"\"\n" : " \"");

    for (size_t i = 0; ok && i < s.n; i++) {
        bool first = several && (!i || s.p[i - 1] == '\n');
        bool last = several && s.p[i] == '\n' && i + 1 < s.n;

        ok = (!first || (strbuf_adds(out, before) && strbuf_addc(out, '"')))
             && po_put_char(out, s.p[i])
             && (!last || strbuf_adds(out, "\"\n"));
    }
    return ok && strbuf_adds(out, "\"\n");
}

/* Comments may come from a memory that others filled: nothing but a comment
 * may come of them. */
static bool put_comments(struct str s, struct strbuf *out)
{
    while (s.n) {
        const char *nl = memchr(s.p, '\n', s.n);
        size_t n = nl ? (size_t)(nl - s.p) : s.n;
        bool ours = n && s.p[0] == '#' &&
                    (n < 2 || s.p[1] != '~' || (n > 2 && s.p[2] == '|'));

        if (n && !ours && !strbuf_adds(out, "# ")) return false;
        if (n && !(strbuf_add(out, s.p, n) && strbuf_addc(out, '\n')))
            return false;
        s.p += n + (nl != NULL);
        s.n -= n + (nl != NULL);
    }
    return true;
}

bool po_entry_write(const struct po_entry *en, struct strbuf *out)
{
    bool ok = put_comments(strbuf_view(&en->comments), out);

    if (ok && en->has_context)
        ok = po_put_text(en->obsolete, "msgctxt",
                         strbuf_view(&en->context), out);
    ok = ok && po_put_text(en->obsolete, "msgid", strbuf_view(&en->id), out);
    if (ok && en->has_plural)
        ok = po_put_text(en->obsolete, "msgid_plural",
                         strbuf_view(&en->plural), out);
    for (size_t i = 0; ok && i < en->n_str; i++) {
        char name[32] = "msgstr";

        if (en->has_plural) snprintf(name, sizeof name, "msgstr[%zu]", i);
        ok = po_put_text(en->obsolete, name, strbuf_view(&en->str[i]), out);
    }
    return ok;
}
