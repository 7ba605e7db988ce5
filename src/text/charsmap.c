/* charsmap.c - lists the rules of a normalization map, adds others, and builds
 * the map again.
 *
 * The replacements of the old map keep their offsets, and new ones follow them.
 * The texts of the keys are in one buffer, to which the list has offsets while
 * the buffer grows. */
#include "text/charsmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "text/double_array.h"
#include "text/normalize.h"
#include "text/proto.h"
#include "text/subword_model.h"

struct map_rule {
    size_t at, len;             /* of the key, in `keys` */
    uint32_t into;              /* offset of the replacement */
    size_t order;               /* of two rules for one key the later counts */
};

struct map_maker {
    struct normalizer nz;       /* of the old map */
    struct map_rule *rule;      /* [n] */
    size_t n, cap;
    struct strbuf keys, into;
};

static enum status map_nomem(struct err *e)
{
    return err_nomem(e, "a normalization map");
}

static enum status map_add(struct map_maker *m, const char *key, size_t len,
                           size_t into, struct err *e)
{
    if (into > DOUBLE_ARRAY_VALUE_MOST)
        return err_set(e, ST_LIMIT, "a normalization map is too long");
    if (!mem_grow(&m->rule, &m->cap, m->n + 1, sizeof *m->rule))
        return map_nomem(e);
    m->rule[m->n] = (struct map_rule){ m->keys.len, len, (uint32_t)into, m->n };
    if (!strbuf_add(&m->keys, key, len)) return map_nomem(e);
    m->n++;
    return ST_OK;
}

static enum status keep_rule(void *user, const struct double_array_key *k,
                             struct err *e)
{
    struct map_maker *m = user;

    if (k->value >= m->nz.into_len)
        return err_set(e, ST_FORMAT, "tokenizer: the normalization map is "
                       "damaged");
    return map_add(m, k->key, k->len, k->value, e);
}

/* Add a rule whose replacement goes through the old map. */
static enum status extend_rule(struct map_maker *m,
                               const struct charsmap_rule *r, struct err *e)
{
    struct normalized text = { 0 };
    size_t into = m->into.len, len = strlen(r->from);
    enum status st = normalize(&m->nz, r->into, strlen(r->into), &text, e);

    assert(len > 0 && len <= DOUBLE_ARRAY_KEY_MOST);
    if (!st && (!strbuf_add(&m->into, text.text, text.n) ||
                !strbuf_addc(&m->into, '\0')))
        st = map_nomem(e);
    normalized_release(&text);
    return st ? st : map_add(m, r->from, len, into, e);
}

/* ---- writing ---- */

static int compare_keys(const struct double_array_key *a,
                        const struct double_array_key *b)
{
    size_t n = a->len < b->len ? a->len : b->len;
    int order = memcmp(a->key, b->key, n);

    return order ? order : (a->len > b->len) - (a->len < b->len);
}

struct sorted_key { struct double_array_key k; size_t order; };

static int compare_sorted(const void *x, const void *y)
{
    const struct sorted_key *a = x, *b = y;
    int order = compare_keys(&a->k, &b->k);

    return order ? order : (a->order > b->order) - (a->order < b->order);
}

/* Sort the keys, keep the last rule for each, and return how many they are. */
static size_t sort_keys(struct sorted_key *s, size_t n,
                        struct double_array_key *out)
{
    size_t count = 0;

    qsort(s, n, sizeof *s, compare_sorted);
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || compare_keys(&s[i].k, &s[i + 1].k))
            out[count++] = s[i].k;
    return count;
}

static enum status build_trie(const struct map_maker *m, struct strbuf *trie,
                              struct err *e)
{
    struct sorted_key *s = malloc((m->n + 1) * sizeof *s);
    struct double_array_key *keys = malloc((m->n + 1) * sizeof *keys);
    enum status st;

    for (size_t i = 0; s && i < m->n; i++)
        s[i] = (struct sorted_key){
            { m->keys.data + m->rule[i].at, m->rule[i].len, m->rule[i].into },
            m->rule[i].order };
    st = s && keys ? double_array_build(trie, keys, sort_keys(s, m->n, keys), e)
                   : map_nomem(e);
    free(s);
    free(keys);
    return st;
}

static enum status write_map(const struct map_maker *m, struct strbuf *out,
                             struct err *e)
{
    struct strbuf trie;
    bool ok = true;
    enum status st;

    strbuf_init(&trie, 0);
    st = build_trie(m, &trie, e);
    if (!st) {
        for (int k = 0; k < 4; k++)
            ok = ok && strbuf_addc(out, (char)((uint32_t)trie.len >> 8 * k));
        ok = ok && strbuf_add(out, trie.data, trie.len) &&
             strbuf_add(out, m->into.data, m->into.len);
    }
    strbuf_release(&trie);
    return ok ? st : map_nomem(e);
}

enum status charsmap_extend(struct strbuf *out, const void *map, size_t size,
                            const struct charsmap_rule *rules, size_t n,
                            struct err *e)
{
    struct normalizer_spec spec = { .map = map, .map_len = size };
    struct map_maker m = { 0 };
    enum status st;

    strbuf_init(&m.keys, 0);
    strbuf_init(&m.into, 0);
    st = normalizer_init(&m.nz, &spec, e);
    if (!st && !strbuf_add(&m.into, m.nz.into, m.nz.into_len))
        st = map_nomem(e);
    if (!st) st = double_array_walk(&m.nz.rules, keep_rule, &m, e);
    for (size_t i = 0; i < n && !st; i++) st = extend_rule(&m, &rules[i], e);
    if (!st && m.n) st = write_map(&m, out, e);
    free(m.rule);
    strbuf_release(&m.keys);
    strbuf_release(&m.into);
    return st;
}

/* ---- the model ---- */

enum { FIELD_NORMALIZER = 3, FIELD_MAP = 2 };

/* Append a field of bytes. */
static bool put_field(struct strbuf *out, unsigned number, struct str bytes)
{
    uint64_t n = bytes.n;

    if (!strbuf_addc(out, (char)(number << 3 | 2))) return false;
    for (; n >= 0x80; n >>= 7)
        if (!strbuf_addc(out, (char)(n | 0x80))) return false;
    return strbuf_addc(out, (char)n) && strbuf_add(out, bytes.p, bytes.n);
}

/* Append all fields of a message but those with a number. */
static bool copy_other_fields(struct strbuf *out, struct proto_cursor c,
                              unsigned number)
{
    const uint8_t *begin = c.p;
    struct proto_field f;
    bool bad = false, ok = true;

    for (; ok && proto_next(&c, &f, &bad); begin = c.p)
        if (f.number != number)
            ok = strbuf_add(out, begin, (size_t)(c.p - begin));
    assert(!bad);               /* the model was opened */
    return ok;
}

/* Append the fields of the normalizer but its map. If a model has several, they
 * are one: a later field replaces an earlier one. */
static bool copy_normalizer(struct strbuf *out, struct proto_cursor model)
{
    struct proto_field f;
    bool bad = false, ok = true;

    while (ok && proto_next(&model, &f, &bad))
        if (f.number == FIELD_NORMALIZER && f.wire == 2)
            ok = copy_other_fields(out, f.bytes, FIELD_MAP);
    return ok;
}

static enum status copy_model(struct strbuf *out, const void *model,
                              size_t size, struct str map, struct err *e)
{
    struct proto_cursor all = { model, (const uint8_t *)model + size };
    struct strbuf spec;
    bool ok;

    strbuf_init(&spec, 0);
    ok = copy_normalizer(&spec, all) &&
         put_field(&spec, FIELD_MAP, map) &&
         copy_other_fields(out, all, FIELD_NORMALIZER) &&
         put_field(out, FIELD_NORMALIZER, strbuf_view(&spec));
    strbuf_release(&spec);
    return ok ? ST_OK : map_nomem(e);
}

enum status charsmap_extend_model(struct strbuf *out, const void *model,
                                  size_t size,
                                  const struct charsmap_rule *rules, size_t n,
                                  struct err *e)
{
    struct subword_model m;
    struct strbuf map;
    enum status st = subword_model_init(&m, model, size, e);

    strbuf_init(&map, 0);
    if (!st)
        st = charsmap_extend(&map, m.norm.map, m.norm.map_len, rules, n, e);
    if (!st) st = copy_model(out, model, size, strbuf_view(&map), e);
    strbuf_release(&map);
    subword_model_release(&m);
    return st;
}
