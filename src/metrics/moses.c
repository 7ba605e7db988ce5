/* moses.c - splits text with the rules of text/, and forgets where the words
 * come from. */
#include "metrics/moses.h"

#include "text/moses_tokenize.h"

bool moses_words(struct strbuf *out, struct str text,
                 enum moses_hyphens hyphens)
{
    struct aligned_work w = { 0 };
    struct moses_language english;
    bool ok;

    moses_language_init(&english, "en", true);
    aligned_set(&w, text);
    moses_tokenize(&w, &english, hyphens == MOSES_HYPHENS_SPLIT);
    moses_escape(&w);
    strbuf_reset(out);
    ok = !w.failed && strbuf_add(out, w.now.text, w.now.n);
    aligned_release(&w);
    return ok;
}

bool moses_tally(struct tally *s, struct str text)
{
    return moses_words(&s->text, text, MOSES_HYPHENS_STAY)
           && fields_split(&s->words, strbuf_view(&s->text));
}
