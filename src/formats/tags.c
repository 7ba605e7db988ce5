/* tags.c - strips inline tags, and converts them between file formats.
 *
 * A tagged text is split into pieces: runs of text, and tags. What looks like a
 * tag but is not well-formed is text. The conversion writes every piece anew
 * and closes elements that were left open, so its result is always
 * well-formed.
 *
 * Invariants of struct converter: open[0..depth) are the elements that are
 * open in the output, outermost first, and depth <= MAX_NEST. in_code is the
 * depth of the outermost open code element, or 0, so in_code <= depth. Every
 * element that is pushed is popped, which writes its end. */
#include "formats/tags.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "text/utf8.h"

#define MAX_NEST 64             /* tags nested deeper are dropped */
#define MAX_IDS 128             /* further ids may repeat */
#define ID_BYTES 40

enum tag_piece_kind {
    PIECE_END,                  /* of the text */
    PIECE_TEXT,
    PIECE_OPEN, PIECE_CLOSE,    /* start tag, end tag */
    PIECE_LONE                  /* empty-element tag */
};

struct tag_piece {
    enum tag_piece_kind kind;
    struct str text;            /* the whole piece, still escaped */
    struct str name;            /* without prefix */
    struct str attrs;           /* everything after the name */
};

/* ---- parsing ------------------------------------------------------------- */

/* The names of inline elements are ASCII; inline.c ensures that. */
static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' ||
           c == ':';
}

static bool tags_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool name_starts(char c)
{
    return is_name_char(c) && !(c >= '0' && c <= '9') && c != '-' && c != '.';
}

/* Parses an attribute at s[*at..] and advances *at. Returns false if there is
 * no well-formed one. */
static bool next_attr(struct str s, size_t *at, struct str *name,
                      struct str *value)
{
    size_t i = *at, from;
    char quote;

    while (i < s.n && tags_is_space(s.p[i])) i++;
    from = i;
    if (i == s.n || i == *at || !name_starts(s.p[i])) return false;
    while (i < s.n && is_name_char(s.p[i])) i++;
    *name = (struct str){ s.p + from, i - from };
    while (i < s.n && tags_is_space(s.p[i])) i++;
    if (i == s.n || s.p[i++] != '=') return false;
    while (i < s.n && tags_is_space(s.p[i])) i++;
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
    while (i < s.n && is_name_char(s.p[i])) i++;
    p->name = without_prefix((struct str){ s.p + from, i - from });
    from = i;
    while (!close && next_attr(s, &i, &name, &value)) {}
    p->attrs = (struct str){ s.p + from, i - from };
    while (i < s.n && tags_is_space(s.p[i])) i++;
    p->kind = close ? PIECE_CLOSE : PIECE_OPEN;
    if (!close && i < s.n && s.p[i] == '/') {
        p->kind = PIECE_LONE;
        i++;
    }
    return i < s.n && s.p[i] == '>' && p->name.n ? i + 1 : 0;
}

/* Removes the first piece from *rest. */
static void next_piece(struct str *rest, struct tag_piece *p)
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

/* The content of these elements is code, not text. */
static bool is_code_element(struct str name)
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

/* Parses the entity at the beginning of s into *cp. Returns its length, or 0 if
 * it is not a known entity. */
static size_t parse_entity(struct str s, uint32_t *cp)
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
        used = parse_entity(s, &cp);
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

    for (next_piece(&tagged, &p); p.kind; next_piece(&tagged, &p)) {
        if (p.kind == PIECE_OPEN && (in_code || is_code_element(p.name)))
            in_code++;
        else if (p.kind == PIECE_CLOSE && in_code) in_code--;
        else if (p.kind == PIECE_TEXT && !in_code && !add_plain(out, p.text))
            return false;
    }
    return true;
}

/* ---- writing ------------------------------------------------------------- */

/* Appends escaped text. With `entities`, entities in it are kept. With
 * `quoted`, the result fits into an attribute value. */
static bool add_escaped(struct strbuf *out, struct str s, bool entities,
                        bool quoted)
{
    bool ok = true;
    uint32_t cp;

    for (size_t i = 0; ok && i < s.n; i++) {
        char c = s.p[i];
        struct str at = { s.p + i, s.n - i };

        if (c == '&' && !(entities && parse_entity(at, &cp)))
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
    return add_escaped(out, plain, false, false);
}

static bool add_attr(struct strbuf *out, const char *name, struct str value)
{
    return strbuf_addf(out, " %s=\"", name) &&
           add_escaped(out, value, true, true) && strbuf_addc(out, '"');
}

static struct str find_attr(struct str attrs, struct str wanted)
{
    struct str name, value;
    size_t at = 0;

    while (next_attr(attrs, &at, &name, &value))
        if (str_eq(name, wanted)) return value;
    return (struct str){ NULL, 0 };
}

static struct str tags_attr(struct str attrs, const char *wanted)
{
    return find_attr(attrs, str_of(wanted));
}

static bool add_attrs(struct strbuf *out, struct str attrs)
{
    struct str name, value;
    size_t at = 0;
    bool ok = true;

    while (ok && next_attr(attrs, &at, &name, &value)) {
        if (find_attr(attrs, name).p != value.p) continue;     /* repeated */
        ok = strbuf_addf(out, " %.*s=\"", (int)name.n, name.p) &&
             add_escaped(out, value, true, true) && strbuf_addc(out, '"');
    }
    return ok;
}

/* ---- converting ---------------------------------------------------------- */

enum role {
    ROLE_PAIR,                  /* formatting around text: g, pc, hi */
    ROLE_NOTE,                  /* annotation around text: mrk */
    ROLE_BEGIN, ROLE_FINISH,    /* two tags that belong together: bpt, ept */
    ROLE_LONE,                  /* x, ph, it, ut */
    ROLE_SUB                    /* text inside code: sub */
};

enum { IN_TMX = 1 << TAGS_TMX, IN_X1 = 1 << TAGS_XLIFF1,
       IN_X2 = 1 << TAGS_XLIFF2 };

static const struct known_tag {
    const char *name;
    unsigned in;                /* bits of the formats that have it */
    enum role role;
} known_tags[] = {
    { "bpt", IN_TMX | IN_X1, ROLE_BEGIN },
    { "ept", IN_TMX | IN_X1, ROLE_FINISH },
    { "ph", IN_TMX | IN_X1 | IN_X2, ROLE_LONE },
    { "it", IN_TMX | IN_X1, ROLE_LONE },
    { "ut", IN_TMX, ROLE_LONE },
    { "hi", IN_TMX, ROLE_PAIR },
    { "sub", IN_TMX | IN_X1, ROLE_SUB },
    { "g", IN_X1, ROLE_PAIR },
    { "x", IN_X1, ROLE_LONE },
    { "bx", IN_X1, ROLE_BEGIN },
    { "ex", IN_X1, ROLE_FINISH },
    { "pc", IN_X2, ROLE_PAIR },
    { "sc", IN_X2, ROLE_BEGIN },
    { "ec", IN_X2, ROLE_FINISH },
    { "mrk", IN_X1 | IN_X2, ROLE_NOTE },
    { "sm", IN_X2, ROLE_BEGIN },
    { "em", IN_X2, ROLE_FINISH },
    { "cp", IN_X2, ROLE_LONE },
};

/* Unknown elements are treated as a pair or as a standalone tag. */
static const struct known_tag *tags_look_up(struct str name, bool lone)
{
    static const struct known_tag other[] = {
        { "", 0, ROLE_PAIR }, { "", 0, ROLE_LONE }
    };

    for (size_t i = 0; i < sizeof known_tags / sizeof *known_tags; i++)
        if (str_eq(name, str_of(known_tags[i].name))) return &known_tags[i];
    return &other[lone];
}

/* A ROLE_BEGIN element that was written. */
struct id_pair {
    char from[ID_BYTES];        /* its key in the input; "" when finished */
    char to[ID_BYTES];          /* its id in the output */
    bool code;                  /* it had content */
};

struct converter {
    enum tags_dialect to;
    struct strbuf *out;
    struct open_tag {
        struct str name;        /* in the input */
        char close[ID_BYTES + 24];      /* what ends it in the output */
        bool code;
    } open[MAX_NEST];
    int depth;
    int in_code;                /* depth of the outermost code element, or 0 */
    char used[MAX_IDS][ID_BYTES];       /* ids in the output */
    int n_used;
    struct id_pair begins[MAX_IDS];
    int n_begins;
    bool ok;
};

static bool id_taken(const struct converter *c, const char *id)
{
    for (int i = 0; i < c->n_used; i++)
        if (!strcmp(c->used[i], id)) return true;
    return false;
}

/* Chooses the wanted id if it is a plain name and not used yet, else the first
 * unused number. */
static void choose_id(struct converter *c, struct str wanted,
                      char id[ID_BYTES])
{
    int n = wanted.n < ID_BYTES ? (int)wanted.n : 0;

    for (int i = 0; i < n; i++)
        if (!is_name_char(wanted.p[i])) n = 0;
    snprintf(id, ID_BYTES, "%.*s", n, n ? wanted.p : "");
    for (int i = 1; !id[0] || id_taken(c, id); i++) {
        snprintf(id, ID_BYTES, "%d", i);
        if (i > 2 * MAX_IDS) break;
    }
    assert(id[0] && c->n_used <= MAX_IDS);
    if (c->n_used < MAX_IDS) memcpy(c->used[c->n_used++], id, ID_BYTES);
}

/* Returns whether the element can be kept as it is. In TMX, elements have no
 * id; in XLIFF, all have one; in XLIFF 2, code elements are empty. */
static bool is_native(const struct converter *c, const struct known_tag *k,
                      const struct tag_piece *p)
{
    bool has_id = tags_attr(p->attrs, "id").p != NULL;

    if (!(k->in & 1u << c->to)) return false;
    if (k->role == ROLE_SUB) return true;
    switch (c->to) {
    case TAGS_TMX: return !has_id;
    case TAGS_XLIFF1:
        return k->role == ROLE_NOTE ? tags_attr(p->attrs, "mtype").p != NULL
                                    : has_id;
    default:
        if (k->role == ROLE_LONE && p->kind == PIECE_OPEN) return false;
        if (k->role == ROLE_NOTE && tags_attr(p->attrs, "mtype").p)
            return false;
        return has_id || k->role == ROLE_FINISH || k->in == IN_X2;
    }
}

/* Returns the key that matches a ROLE_FINISH with its ROLE_BEGIN. */
static struct str pair_key(struct str attrs)
{
    static const char *const keys[] = { "i", "startRef", "rid", "id", NULL };
    struct str key = { NULL, 0 };

    for (int i = 0; keys[i] && !key.p; i++) key = tags_attr(attrs, keys[i]);
    return key;
}

static struct str own_id(struct str attrs)
{
    static const char *const keys[] = { "id", "x", "i", "mid", NULL };
    struct str id = { NULL, 0 };

    for (int i = 0; keys[i] && !id.p; i++) id = tags_attr(attrs, keys[i]);
    return id;
}

static void tags_puts(struct converter *c, const char *s)
{
    c->ok = c->ok && strbuf_adds(c->out, s);
}

static void put_id(struct converter *c, const char *name, const char *id)
{
    c->ok = c->ok && add_attr(c->out, name, str_of(id));
}

static void tags_push(struct converter *c, struct str name, const char *close,
                      bool code)
{
    struct open_tag *t;

    assert(c->depth >= 0 && c->depth < MAX_NEST && c->in_code <= c->depth);
    t = &c->open[c->depth++];
    t->name = name;
    snprintf(t->close, sizeof t->close, "%s", close);
    t->code = code;
    if (code && !c->in_code) c->in_code = c->depth;
}

static void start_native(struct converter *c, const struct tag_piece *p)
{
    char close[ID_BYTES + 24];
    char id[ID_BYTES];
    struct str own = own_id(p->attrs);

    c->ok = c->ok && strbuf_addf(c->out, "<%.*s", (int)p->name.n, p->name.p)
            && add_attrs(c->out, p->attrs);
    if (own.n && own.n < ID_BYTES && c->n_used < MAX_IDS) {
        snprintf(id, sizeof id, "%.*s", (int)own.n, own.p);
        memcpy(c->used[c->n_used++], id, ID_BYTES);
    }
    if (p->kind == PIECE_LONE) {
        tags_puts(c, "/>");
        return;
    }
    tags_puts(c, ">");
    snprintf(close, sizeof close, "</%.*s>", (int)p->name.n, p->name.p);
    tags_push(c, p->name, close, is_code_element(p->name));
}

static void start_pair(struct converter *c, const struct tag_piece *p,
                       bool note)
{
    static const char *const name[] = { "bpt", "g", "pc" };
    char id[ID_BYTES], close[ID_BYTES + 24];
    bool hi = c->to == TAGS_TMX && note;
    const char *as = note ? (hi ? "hi" : "mrk") : name[c->to];

    choose_id(c, own_id(p->attrs), id);
    c->ok = c->ok && strbuf_addf(c->out, "<%s", as);
    if (hi) put_id(c, "x", id);
    else if (c->to == TAGS_TMX) put_id(c, "i", id);
    else if (note && c->to == TAGS_XLIFF1) {
        tags_puts(c, " mtype=\"x-note\"");
        put_id(c, "mid", id);
    } else put_id(c, "id", id);
    if (c->to == TAGS_TMX && !note) {
        tags_puts(c, "/>");
        snprintf(close, sizeof close, "<ept i=\"%s\"/>", id);
    } else {
        tags_puts(c, ">");
        snprintf(close, sizeof close, "</%s>", as);
    }
    if (p->kind == PIECE_LONE) tags_puts(c, close);
    else tags_push(c, p->name, close, false);
}

/* Writes a code element. Its content is kept, except in XLIFF 2, which stores
 * codes elsewhere. */
static void start_code(struct converter *c, const struct tag_piece *p,
                       const char *name, const char *id_name, const char *id,
                       const char *more)
{
    char close[ID_BYTES + 24] = "";
    bool content = c->to != TAGS_XLIFF2 && p->kind == PIECE_OPEN &&
                   is_code_element(str_of(name));

    c->ok = c->ok && strbuf_addf(c->out, "<%s", name);
    if (id_name) put_id(c, id_name, id);
    tags_puts(c, more);
    tags_puts(c, content ? ">" : "/>");
    if (p->kind != PIECE_OPEN) return;
    if (content) snprintf(close, sizeof close, "</%s>", name);
    tags_push(c, p->name, close, true);
}

static void start_lone(struct converter *c, const struct tag_piece *p)
{
    struct str pos = tags_attr(p->attrs, "pos");
    bool it = str_eq(p->name, str_of("it")) && pos.n;
    bool begins = str_eq(pos, str_of("begin")) || str_eq(pos, str_of("open"));
    bool code = p->kind == PIECE_OPEN;
    char id[ID_BYTES];

    choose_id(c, own_id(p->attrs), id);
    if (c->to == TAGS_TMX && it)
        start_code(c, p, "it", "x", id,
                   begins ? " pos=\"begin\"" : " pos=\"end\"");
    else if (c->to == TAGS_TMX)
        start_code(c, p, "ph", "x", id, "");
    else if (c->to == TAGS_XLIFF1 && it)
        start_code(c, p, "it", "id", id,
                   begins ? " pos=\"open\"" : " pos=\"close\"");
    else if (c->to == TAGS_XLIFF1)
        start_code(c, p, code ? "ph" : "x", "id", id, "");
    else
        start_code(c, p, "ph", "id", id, "");
}

static void start_begin(struct converter *c, const struct tag_piece *p)
{
    struct str key = tags_attr(p->attrs, "rid");
    char id[ID_BYTES];
    struct id_pair *b;

    choose_id(c, own_id(p->attrs), id);
    if (!key.p) key = tags_attr(p->attrs, "i");
    if (!key.p) key = tags_attr(p->attrs, "id");
    if (key.n && key.n < ID_BYTES && c->n_begins < MAX_IDS) {
        b = &c->begins[c->n_begins++];
        snprintf(b->from, ID_BYTES, "%.*s", (int)key.n, key.p);
        memcpy(b->to, id, ID_BYTES);
        b->code = p->kind == PIECE_OPEN;
    }
    if (c->to == TAGS_TMX) start_code(c, p, "bpt", "i", id, "");
    else if (c->to == TAGS_XLIFF2) start_code(c, p, "sc", "id", id, "");
    else start_code(c, p, p->kind == PIECE_OPEN ? "bpt" : "bx", "id", id, "");
}

/* Finds the newest ROLE_BEGIN with this key that is not finished yet and marks
 * it as finished. Returns NULL if there is none. */
static const struct id_pair *finish_begun(struct converter *c, struct str key)
{
    for (int i = c->n_begins; i-- > 0;)
        if (str_eq(key, str_of(c->begins[i].from))) {
            c->begins[i].from[0] = '\0';
            return &c->begins[i];
        }
    return NULL;
}

static void start_finish(struct converter *c, const struct tag_piece *p)
{
    struct str key = pair_key(p->attrs);
    const struct id_pair *of = key.n ? finish_begun(c, key) : NULL;
    char id[ID_BYTES];

    if (!of) choose_id(c, own_id(p->attrs), id);
    if (c->to == TAGS_TMX && of) start_code(c, p, "ept", "i", of->to, "");
    else if (c->to == TAGS_TMX)
        start_code(c, p, "it", "x", id, " pos=\"end\"");
    else if (c->to == TAGS_XLIFF2 && of)
        start_code(c, p, "ec", "startRef", of->to, "");
    else if (c->to == TAGS_XLIFF2)
        start_code(c, p, "ec", "id", id, " isolated=\"yes\"");
    else if (of)
        start_code(c, p, of->code ? "ept" : "ex", "id", of->to, "");
    else start_code(c, p, "it", "id", id, " pos=\"close\"");
}

static void start_tag(struct converter *c, const struct tag_piece *p)
{
    const struct known_tag *k = tags_look_up(p->name, p->kind == PIECE_LONE);

    /* Code that is dropped is dropped with its content. */
    if (c->in_code && !c->open[c->in_code - 1].close[0]) {
        if (p->kind == PIECE_OPEN) tags_push(c, p->name, "", true);
        return;
    }
    if (is_native(c, k, p)) {
        struct str key = pair_key(p->attrs);
        if (k->role == ROLE_FINISH && key.n) finish_begun(c, key);
        start_native(c, p);
        return;
    }
    switch (k->role) {
    case ROLE_PAIR: start_pair(c, p, false); break;
    case ROLE_NOTE: start_pair(c, p, true); break;
    case ROLE_BEGIN: start_begin(c, p); break;
    case ROLE_FINISH: start_finish(c, p); break;
    case ROLE_LONE: start_lone(c, p); break;
    case ROLE_SUB:              /* its text stays in the code around it */
        if (p->kind == PIECE_OPEN) tags_push(c, p->name, "", false);
        break;
    }
}

static void tags_pop(struct converter *c)
{
    assert(c->depth > 0 && c->in_code <= c->depth);
    tags_puts(c, c->open[--c->depth].close);
    if (c->in_code > c->depth) c->in_code = 0;
}

/* Closes elements up to the innermost one of this name. An end tag without a
 * start tag is dropped. */
static void end_tag(struct converter *c, struct str name)
{
    int i = c->depth;

    while (i > 0 && !str_eq(c->open[i - 1].name, name)) i--;
    while (i > 0 && c->depth >= i) tags_pop(c);
}

bool tags_convert(struct str tagged, enum tags_dialect to,
                  struct strbuf *out)
{
    struct converter c = { .to = to, .out = out, .ok = true };
    struct tag_piece p;

    for (next_piece(&tagged, &p); c.ok && p.kind; next_piece(&tagged, &p)) {
        bool dropped = c.in_code && !c.open[c.in_code - 1].close[0];

        if (p.kind == PIECE_CLOSE) end_tag(&c, p.name);
        else if (p.kind == PIECE_TEXT && !dropped)
            c.ok = add_escaped(out, p.text, true, false);
        else if (p.kind != PIECE_TEXT && c.depth < MAX_NEST)
            start_tag(&c, &p);
    }
    while (c.depth) tags_pop(&c);
    return c.ok;
}
