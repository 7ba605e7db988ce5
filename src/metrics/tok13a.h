/* tok13a.h - the tokenizer BLEU is counted with: mteval-v13a, as sacrebleu
 * has it.
 *
 * Trailing white space goes; so does "<skipped>"; words broken at a line end
 * are joined and the entities &quot; &amp; &lt; &gt; resolved. Then ASCII
 * punctuation stands alone, but for ' and for . , - among digits. */
#ifndef METRICS_TOK13A_H
#define METRICS_TOK13A_H

#include "base/strbuf.h"

/* The text with spaces around its tokens, in out; spare is used up on the
 * way. The tokens are the fields (fields.h) of out. false: no memory. */
bool tok13a(struct strbuf *out, struct strbuf *spare, struct str text);

#endif
