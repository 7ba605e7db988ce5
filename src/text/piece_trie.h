/* piece_trie.h - which keys begin at this byte: a read-only trie over bytes.
 *
 * Nodes are numbered breadth first, so the children of node i are exactly
 * first[i] .. first[i + 1] - 1, labels ascending: 9 bytes a node and a step is
 * one memchr. The keys are not kept. Immutable once built. */
#ifndef TEXT_PIECE_TRIE_H
#define TEXT_PIECE_TRIE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

struct trie_key {
    const char *bytes;          /* [len], len >= 1 */
    uint32_t len;
    int32_t value;              /* >= 0 */
};

struct piece_trie {
    uint8_t *label;             /* [n] */
    uint32_t *first;            /* [n + 1] */
    int32_t *value;             /* [n], -1 where no key ends */
    uint32_t n;                 /* 0: no keys at all */
};

/* Sorts keys. The same key twice is ST_FORMAT, with a sentence that names it.
 * A zeroed or failed trie may be released. */
enum status piece_trie_build(struct piece_trie *t, struct trie_key *keys,
                             size_t n, struct err *e);
void piece_trie_release(struct piece_trie *t);

/* The value of a key, -1 when it is not there. */
int32_t piece_trie_find(const struct piece_trie *t, const char *key,
                        size_t len);

/* Bytes of the longest key that s (n bytes) begins with; 0: none does. */
size_t piece_trie_longest(const struct piece_trie *t, const char *s, size_t n);

/* The child of node (0 is the root) along byte; 0 when there is none, as the
 * root is nobody's child. Only for a trie with n > 0. */
static inline uint32_t piece_trie_step(const struct piece_trie *t,
                                       uint32_t node, char byte)
{
    uint32_t from = t->first[node], n = t->first[node + 1] - from;
    const uint8_t *hit;

    if (n == 0) return 0;
    hit = memchr(t->label + from, (unsigned char)byte, n);
    return hit ? (uint32_t)(hit - t->label) : 0;
}

#endif
