/* double_array.c - lists the keys of a double array, and builds one.
 *
 * Both follow the trie with a stack in memory of its own, one item per byte of
 * a key. Nothing is recursive. */
#include "text/double_array.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/mem.h"

/* ---- listing ---- */

#define VISITS_MOST 4000000     /* units; the map of SentencePiece has 65,000 */

struct walk {
    const struct double_array *a;
    double_array_fn *fn;
    void *user;
    size_t visits;
    int depth;
    char key[DOUBLE_ARRAY_KEY_MOST];
    struct { size_t children; int label; } at[DOUBLE_ARRAY_KEY_MOST + 1];
    struct err *e;
};

static enum status walk_damaged(struct walk *w)
{
    return err_set(w->e, ST_FORMAT, "tokenizer: the normalization map is "
                   "damaged");
}

/* Come to the unit at a place, whose key has w->depth bytes. */
static enum status walk_enter(struct walk *w, size_t place)
{
    uint32_t unit = double_array_unit(w->a, place);
    size_t children = place ^ double_array_distance(unit);
    struct double_array_key k = { w->key, (size_t)w->depth, 0 };

    if (++w->visits > VISITS_MOST) return walk_damaged(w);
    w->at[w->depth].children = children;
    w->at[w->depth].label = 0;
    if (!double_array_ends_key(unit)) return ST_OK;
    if (children >= w->a->n) return walk_damaged(w);
    k.value = double_array_unit(w->a, children) & DOUBLE_ARRAY_VALUE_MOST;
    return w->fn(w->user, &k, w->e);
}

/* Go to the next child of the current unit, or back. */
static enum status walk_step(struct walk *w)
{
    while (++w->at[w->depth].label < 256) {
        uint8_t label = (uint8_t)w->at[w->depth].label;
        size_t place = w->at[w->depth].children ^ label;

        if (place >= w->a->n ||
            !double_array_has_label(double_array_unit(w->a, place), label))
            continue;
        if (w->depth == DOUBLE_ARRAY_KEY_MOST) return walk_damaged(w);
        w->key[w->depth++] = (char)label;
        return walk_enter(w, place);
    }
    w->depth--;
    return ST_OK;
}

enum status double_array_walk(const struct double_array *a,
                              double_array_fn *fn, void *user, struct err *e)
{
    struct walk w = { .a = a, .fn = fn, .user = user, .e = e };
    enum status st = ST_OK;

    if (!a->n) return ST_OK;
    /* The root is no key, whatever its unit says. */
    w.at[0].children = double_array_distance(double_array_unit(a, 0));
    w.at[0].label = 0;
    while (!st && w.depth >= 0) st = walk_step(&w);
    return st;
}

/* ---- building ---- */

/* Places are searched for in the last blocks only: earlier ones are nearly
 * full. */
#define OPEN_UNITS (16 * 256)

/* A place is used by a unit, or as `children` of a unit: the place of the child
 * with the label 0, used or not. No two units have the same, because a child
 * does not tell whose it is. */
enum { USED_BY_UNIT = 1, USED_AS_CHILDREN = 2 };

struct build {
    const struct double_array_key *keys;
    uint32_t *unit;             /* [n] */
    uint8_t *used;              /* [n] */
    size_t n, cap_unit, cap_used;
    size_t first_free;          /* no place before it is free */
};

/* A unit whose children are to be built: keys first .. end - 1 share `depth`
 * bytes. */
struct build_node { size_t first, end, depth, place; };

/* The children of a node: label[i] begins the keys first[i] .. first[i + 1] - 1
 * after the shared bytes. 0 is the end of a key. */
struct build_children {
    int n;
    uint8_t label[256];
    size_t first[257];
};

struct build_stack { struct build_node *at; size_t n, cap; };

static bool build_reserve(struct build *b, size_t n)
{
    n = (n + 255) / 256 * 256;
    if (n <= b->n) return true;
    if (!mem_grow(&b->unit, &b->cap_unit, n, sizeof *b->unit) ||
        !mem_grow(&b->used, &b->cap_used, n, sizeof *b->used))
        return false;
    memset(b->unit + b->n, 0, (n - b->n) * sizeof *b->unit);
    memset(b->used + b->n, 0, n - b->n);
    b->n = n;
    return true;
}

static void list_children(const struct build *b, const struct build_node *node,
                          struct build_children *c)
{
    c->n = 0;
    for (size_t i = node->first; i < node->end; i++) {
        const struct double_array_key *k = &b->keys[i];
        uint8_t label = node->depth < k->len ? (uint8_t)k->key[node->depth]
                                             : 0;

        if (c->n && c->label[c->n - 1] == label) continue;
        assert(!c->n || c->label[c->n - 1] < label);
        c->label[c->n] = label;
        c->first[c->n++] = i;
    }
    c->first[c->n] = node->end;
}

/* Whether the children of a unit at `place` can be at children ^ label. Places
 * beyond the array are free. */
static bool children_fit(const struct build *b, const struct build_children *c,
                         size_t place, size_t children)
{
    size_t distance = place ^ children;

    if (distance >= 1u << 21 && (distance & 255 || distance >= 1u << 29))
        return false;
    if (children < b->n && b->used[children] & USED_AS_CHILDREN) return false;
    for (int i = 0; i < c->n; i++) {
        size_t at = children ^ c->label[i];

        if (at < b->n && b->used[at] & USED_BY_UNIT) return false;
    }
    return true;
}

static size_t find_children(struct build *b, const struct build_children *c,
                            size_t place)
{
    size_t at;

    while (b->first_free < b->n && b->used[b->first_free] & USED_BY_UNIT)
        b->first_free++;
    at = b->first_free;
    if (b->n > OPEN_UNITS && at < b->n - OPEN_UNITS) at = b->n - OPEN_UNITS;
    while (!children_fit(b, c, place, at ^ c->label[0])) at++;
    return at ^ c->label[0];
}

static uint32_t encode_distance(size_t distance)
{
    if (distance < 1u << 21) return (uint32_t)distance << 10;
    return (uint32_t)(distance >> 8) << 10 | 1u << 9;
}

/* Write the unit of child i, which is at `place`, and put it on the stack
 * unless it is a value. */
static bool build_child(struct build *b, struct build_stack *s,
                        const struct build_node *node,
                        const struct build_children *c, int i, size_t place)
{
    const struct double_array_key *k = &b->keys[c->first[i]];

    assert(!(b->used[place] & USED_BY_UNIT));
    b->used[place] |= USED_BY_UNIT;
    if (!c->label[i]) {
        assert(c->first[i + 1] == c->first[i] + 1 &&
               k->value <= DOUBLE_ARRAY_VALUE_MOST);
        b->unit[place] = k->value | 1u << 31;
        b->unit[node->place] |= 1u << 8;
        return true;
    }
    b->unit[place] = c->label[i];
    if (!mem_grow(&s->at, &s->cap, s->n + 1, sizeof *s->at)) return false;
    s->at[s->n++] = (struct build_node){ c->first[i], c->first[i + 1],
                                         node->depth + 1, place };
    return true;
}

static bool build_node(struct build *b, struct build_stack *s,
                       const struct build_node *node)
{
    struct build_children c;
    size_t children;
    bool ok = true;

    list_children(b, node, &c);
    children = find_children(b, &c, node->place);
    /* All children are in the same block of 256 places. */
    if (!build_reserve(b, children + 1)) return false;
    b->used[children] |= USED_AS_CHILDREN;
    b->unit[node->place] |= encode_distance(node->place ^ children);
    for (int i = 0; i < c.n && ok; i++)
        ok = build_child(b, s, node, &c, i, children ^ c.label[i]);
    return ok;
}

static bool build_all(struct build *b, struct build_stack *s, size_t n)
{
    if (!build_reserve(b, 256) ||
        !mem_grow(&s->at, &s->cap, 1, sizeof *s->at))
        return false;
    b->used[0] = USED_BY_UNIT;
    if (n) s->at[s->n++] = (struct build_node){ 0, n, 0, 0 };
    while (s->n) {
        struct build_node node = s->at[--s->n];

        if (!build_node(b, s, &node)) return false;
    }
    return true;
}

enum status double_array_build(struct strbuf *out,
                               const struct double_array_key *keys, size_t n,
                               struct err *e)
{
    struct build b = { .keys = keys };
    struct build_stack s = { 0 };
    bool ok = build_all(&b, &s, n) && strbuf_reserve(out, 4 * b.n);

    for (size_t i = 0; i < b.n && ok; i++)
        for (int k = 0; k < 4; k++)
            strbuf_addc(out, (char)(b.unit[i] >> 8 * k));
    free(b.unit);
    free(b.used);
    free(s.at);
    return ok ? ST_OK : err_nomem(e, "the normalization map");
}
