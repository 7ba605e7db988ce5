/* charsmap.h - change the normalization map of a SentencePiece model.
 *
 * The map says which texts are replaced by which before a text is split
 * (normalize.c). Some projects clean a text with a script of their own first.
 * As a part of the map, such replacements keep the spans of the text exact. */
#ifndef TEXT_CHARSMAP_H
#define TEXT_CHARSMAP_H

#include "base/err.h"
#include "base/strbuf.h"

struct charsmap_rule {
    const char *from;           /* 1 to DOUBLE_ARRAY_KEY_MOST bytes */
    const char *into;           /* may be "" */
};

/* Append a copy of a map (size 0: none) with n more rules, which work as if
 * they were applied to the text before the map: each `from` becomes what the
 * map makes of its `into`. A rule replaces that of the map for the same text.
 * A longer text in the map that contains a `from` keeps its own rule. Fails
 * with ST_FORMAT if the map is damaged. */
enum status charsmap_extend(struct strbuf *out, const void *map, size_t size,
                            const struct charsmap_rule *rules, size_t n,
                            struct err *e);

/* Append a copy of a SentencePiece model whose map is extended. */
enum status charsmap_extend_model(struct strbuf *out, const void *model,
                                  size_t size,
                                  const struct charsmap_rule *rules, size_t n,
                                  struct err *e);

#endif
