/* public_pair.c - copies the strings of a stored pair to a buffer, strips tags,
 * and fills a skmt_pair with pointers to the copies. */
#include "api/public_pair.h"

#include "pair/tags.h"

/* All strings of a skmt_pair. The buffer may move while it grows, so offsets
 * are recorded first and turned into pointers at the end. */
#define STRINGS(S)                                                      \
    S(memory) S(source) S(target) S(source_lang) S(target_lang)         \
    S(origin) S(document) S(unit) S(author) S(extra)
/* Those that can be NULL. */
#define TAGGED_STRINGS(S) S(source_tagged) S(target_tagged)

static const skmt_pair no_pair = {
    .size = sizeof no_pair,
#define S(field) .field = "",
    STRINGS(S)
#undef S
};

const skmt_pair *public_pair_none(void) { return &no_pair; }

struct string_offsets {         /* in the buffer */
#define S(field) size_t field;
    STRINGS(S)
    TAGGED_STRINGS(S)
#undef S
};

static bool public_pair_put(struct strbuf *sb, size_t *offset, struct str s)
{
    *offset = sb->len;
    return (!s.n || strbuf_add(sb, s.p, s.n)) && strbuf_addc(sb, 0);
}

static bool public_pair_put_plain(struct strbuf *sb, size_t *offset,
                                  struct str s, bool tagged)
{
    if (!tagged) return public_pair_put(sb, offset, s);
    *offset = sb->len;
    return tags_strip(s, sb) && strbuf_addc(sb, 0);
}

/* Return s, or `other` if s is empty. */
static struct str or_else(struct str s, const char *other)
{
    return s.n ? s : str_of(other);
}

static bool public_pair_put_all(struct strbuf *sb, struct string_offsets *at,
                                const struct pair *p,
                                const struct memory_info *m)
{
    const struct unit *u = &p->unit;
    struct str none = { 0 };

    return public_pair_put(sb, &at->memory, str_of(m->name)) &&
           public_pair_put_plain(sb, &at->source, u->source, u->tagged) &&
           public_pair_put_plain(sb, &at->target, u->target, u->tagged) &&
           public_pair_put(sb, &at->source_tagged,
                           u->tagged ? u->source : none) &&
           public_pair_put(sb, &at->target_tagged,
                           u->tagged ? u->target : none) &&
           public_pair_put(sb, &at->source_lang,
                           or_else(u->source_lang, m->source_lang)) &&
           public_pair_put(sb, &at->target_lang,
                           or_else(u->target_lang, m->target_lang)) &&
           public_pair_put(sb, &at->origin, p->origin) &&
           public_pair_put(sb, &at->document, u->document) &&
           public_pair_put(sb, &at->unit, u->id) &&
           public_pair_put(sb, &at->author, u->author) &&
           public_pair_put(sb, &at->extra, u->extra);
}

enum status public_pair(struct strbuf *buffer, const struct pair *p,
                        const struct memory_info *m, skmt_pair *out,
                        struct err *e)
{
    struct string_offsets at;

    strbuf_reset(buffer);
    *out = no_pair;
    if (!public_pair_put_all(buffer, &at, p, m)) return err_nomem(e, "a pair");
#define S(field) out->field = buffer->data + at.field;
    STRINGS(S)
    if (p->unit.tagged) {
        TAGGED_STRINGS(S)
    }
#undef S
    out->id = p->id;
    out->position = p->position;
    out->created = p->unit.created;
    out->changed = p->unit.changed;
    return ST_OK;
}
