/* piece_trie.c - builds a trie from sorted keys, and looks keys up.
 *
 * A node stands for the keys that share its path, which are a range of the
 * sorted keys. Visiting the ranges in the order in which they were created
 * numbers the nodes breadth first. Every byte of a key is read once. */
#include "text/piece_trie.h"

#include <stdlib.h>

#include "base/invariant.h"

struct key_range { uint32_t lo, hi, depth; };

static int compare_keys(const void *a, const void *b)
{
    const struct trie_key *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int c = memcmp(x->bytes, y->bytes, n);

    return c ? c : (x->len > y->len) - (x->len < y->len);
}

static size_t common_prefix(const struct trie_key *x, const struct trie_key *y)
{
    size_t n = x->len < y->len ? x->len : y->len, i = 0;

    while (i < n && x->bytes[i] == y->bytes[i]) i++;
    return i;
}

/* Returns the number of nodes. Returns 0 if a key occurs twice; *twice is its
 * index then. */
static size_t count_nodes(const struct trie_key *k, size_t n, size_t *twice)
{
    size_t nodes = 1 + k[0].len;

    for (size_t i = 1; i < n; i++) {
        size_t same = common_prefix(&k[i - 1], &k[i]);

        if (same == k[i].len) {
            *twice = i;
            return 0;
        }
        nodes += k[i].len - same;
    }
    return nodes;
}

/* Appends the children of a node and returns the new number of nodes. */
static uint32_t add_children(struct piece_trie *t, struct key_range *range,
                             struct key_range r, const struct trie_key *k,
                             uint32_t n)
{
    while (r.lo < r.hi) {
        char c = k[r.lo].bytes[r.depth];
        uint32_t end = r.lo + 1;

        while (end < r.hi && k[end].bytes[r.depth] == c) end++;
        assert(n < t->n);
        t->label[n] = (uint8_t)c;
        range[n++] = (struct key_range){ r.lo, end, r.depth + 1 };
        r.lo = end;
    }
    return n;
}

static void piece_trie_fill(struct piece_trie *t, struct key_range *range,
                            const struct trie_key *k, size_t n_keys)
{
    uint32_t used = 1;

    t->label[0] = 0;
    range[0] = (struct key_range){ 0, (uint32_t)n_keys, 0 };
    for (uint32_t i = 0; i < t->n; i++) {
        struct key_range r = range[i];

        assert(i < used && r.lo < r.hi);
        t->first[i] = used;
        t->value[i] = -1;
        /* The keys are sorted, so a key that ends here comes first. */
        if (k[r.lo].len == r.depth) t->value[i] = k[r.lo++].value;
        used = add_children(t, range, r, k, used);
    }
    assert(used == t->n);
    t->first[t->n] = used;
}

static enum status name_twice(const struct trie_key *k, struct err *e)
{
    int len = k->len < 60 ? (int)k->len : 60;

    return err_set(e, ST_FORMAT, "tokenizer: the piece \"%.*s\" occurs twice",
                   len, k->bytes);
}

enum status piece_trie_build(struct piece_trie *t, struct trie_key *keys,
                             size_t n, struct err *e)
{
    struct key_range *range;
    size_t nodes, twice = 0;

    memset(t, 0, sizeof *t);
    if (n == 0) return ST_OK;
    for (size_t i = 0; i < n; i++)
        assert(keys[i].len >= 1 && keys[i].value >= 0);
    qsort(keys, n, sizeof *keys, compare_keys);
    nodes = count_nodes(keys, n, &twice);
    if (!nodes) return name_twice(&keys[twice], e);
    if (nodes >= UINT32_MAX / sizeof *range)
        return err_set(e, ST_LIMIT, "tokenizer: too many pieces");
    t->label = malloc(nodes);
    t->first = malloc((nodes + 1) * sizeof *t->first);
    t->value = malloc(nodes * sizeof *t->value);
    range = malloc(nodes * sizeof *range);
    if (t->label && t->first && t->value && range) {
        t->n = (uint32_t)nodes;
        piece_trie_fill(t, range, keys, n);
    } else {
        piece_trie_release(t);
    }
    free(range);
    return t->n ? ST_OK : err_nomem(e, "the tokenizer's pieces");
}

void piece_trie_release(struct piece_trie *t)
{
    free(t->label);
    free(t->first);
    free(t->value);
    memset(t, 0, sizeof *t);
}

int32_t piece_trie_find(const struct piece_trie *t, const char *key,
                        size_t len)
{
    uint32_t node = 0;

    if (t->n == 0 || len == 0) return -1;
    for (size_t i = 0; i < len; i++) {
        node = piece_trie_step(t, node, key[i]);
        if (!node) return -1;
    }
    return t->value[node];
}

size_t piece_trie_longest(const struct piece_trie *t, const char *s, size_t n)
{
    uint32_t node = 0;
    size_t best = 0;

    if (t->n == 0) return 0;
    for (size_t i = 0; i < n; i++) {
        node = piece_trie_step(t, node, s[i]);
        if (!node) break;
        if (t->value[node] >= 0) best = i + 1;
    }
    return best;
}
