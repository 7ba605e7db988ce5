/* piece_trie.h - a read-only trie over bytes: finds the keys that begin at a
 * position of a text.
 *
 * Nodes are numbered breadth first, so the children of node i are exactly
 * first[i] .. first[i + 1] - 1, with ascending labels. A node takes 9 bytes,
 * and a step is one memchr. The keys themselves are not stored. A trie is
 * immutable once it is built. */
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
    int32_t *value;             /* [n], -1 if no key ends at the node */
    uint32_t n;                 /* number of nodes; 0 without keys */
};

/* Builds a trie; sorts the keys. Returns ST_FORMAT, with a message that names
 * it, if a key occurs twice. A trie that is zeroed or could not be built may be
 * released. */
enum status piece_trie_build(struct piece_trie *t, struct trie_key *keys,
                             size_t n, struct err *e);
void piece_trie_release(struct piece_trie *t);

/* Returns the value of a key, or -1 if there is no such key. */
int32_t piece_trie_find(const struct piece_trie *t, const char *key,
                        size_t len);

/* Returns the length of the longest key that s (n bytes) begins with, or 0. */
size_t piece_trie_longest(const struct piece_trie *t, const char *s, size_t n);

/* Returns the child of a node (0 is the root) for a byte, or 0 if there is
 * none; the root is never a child. Only for a trie with n > 0. */
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
