/* tags_convert.c - converts the inline tags of a text between file formats.
 *
 * The text is split into pieces: runs of text, and tags (pair/tag_scan.h). The
 * conversion writes every piece anew and closes elements that were left open,
 * so its result is always well-formed.
 *
 * Invariants of struct converter: open[0..depth) are the elements that are
 * open in the output, outermost first, and depth <= MAX_NEST. in_code is the
 * depth of the outermost open code element, or 0, so in_code <= depth. Every
 * element that is pushed is popped, which writes its end. */
#include "formats/tags_convert.h"

#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "pair/tag_scan.h"
#include "pair/tags.h"

#define MAX_NEST 64             /* tags nested deeper are dropped */
#define MAX_IDS 128             /* further ids may repeat */
#define ID_BYTES 40

/* ---- attributes ---------------------------------------------------------- */

static bool add_attr(struct strbuf *out, const char *name, struct str value)
{
    return strbuf_addf(out, " %s=\"", name) &&
           tags_add_escaped(out, value, true, true) && strbuf_addc(out, '"');
}

static struct str find_attr(struct str attrs, struct str wanted)
{
    struct str name, value;
    size_t at = 0;

    while (tag_scan_attr(attrs, &at, &name, &value))
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

    while (ok && tag_scan_attr(attrs, &at, &name, &value)) {
        if (find_attr(attrs, name).p != value.p) continue;     /* repeated */
        ok = strbuf_addf(out, " %.*s=\"", (int)name.n, name.p) &&
             tags_add_escaped(out, value, true, true) && strbuf_addc(out, '"');
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
        if (!tag_scan_is_name_char(wanted.p[i])) n = 0;
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
    tags_push(c, p->name, close, tag_scan_is_code(p->name));
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
                   tag_scan_is_code(str_of(name));

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

    for (tag_scan_next(&tagged, &p); c.ok && p.kind;
         tag_scan_next(&tagged, &p)) {
        bool dropped = c.in_code && !c.open[c.in_code - 1].close[0];

        if (p.kind == PIECE_CLOSE) end_tag(&c, p.name);
        else if (p.kind == PIECE_TEXT && !dropped)
            c.ok = tags_add_escaped(out, p.text, true, false);
        else if (p.kind != PIECE_TEXT && c.depth < MAX_NEST)
            start_tag(&c, &p);
    }
    while (c.depth) tags_pop(&c);
    return c.ok;
}
