/* tok13a.h - the tokenizer of BLEU: mteval-v13a, as sacrebleu implements it.
 *
 * It removes trailing white space and "<skipped>", joins words that are
 * hyphenated at a line end, and decodes the entities &quot; &amp; &lt; &gt;.
 * Then each ASCII punctuation mark becomes a token of its own, except ' and
 * except . , - between digits. */
#ifndef METRICS_TOK13A_H
#define METRICS_TOK13A_H

#include "base/strbuf.h"

/* Writes the text with spaces around its tokens to out. The tokens are then
 * the fields (fields.h) of out. The contents of spare are overwritten; out and
 * spare must differ, and text must not lie in either. Returns false when
 * memory runs out. */
bool tok13a(struct strbuf *out, struct strbuf *spare, struct str text);

#endif
