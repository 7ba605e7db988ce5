/* fields.c - finds white space in UTF-8 text and the fields between it. Fields
 * are views: the text must outlive them. */
#include "metrics/fields.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "base/mem.h"
#include "text/utf8.h"

/* Returns the end of the run that begins at `at` and is all white space (space
 * is true) or has none (space is false). The run may be empty. */
static size_t fields_skip(struct str text, size_t at, bool space)
{
    int len;

    while (at < text.n
           && utf8_is_space(utf8_next(text.p + at, text.n - at, &len))
              == space)
        at += (size_t)len;
    assert(at <= text.n);
    return at;
}

bool fields_split(struct fields *f, struct str text)
{
    size_t at = fields_skip(text, 0, true);

    f->n = 0;
    while (at < text.n) {
        size_t end = fields_skip(text, at, false);

        assert(end > at);
        if (!mem_grow(&f->at, &f->cap, f->n + 1, sizeof *f->at)) return false;
        f->at[f->n++] = (struct str){ text.p + at, end - at };
        at = fields_skip(text, end, true);
    }
    return true;
}

void fields_release(struct fields *f)
{
    free(f->at);
    *f = (struct fields){ 0 };
}

struct str fields_trim_end(struct str text)
{
    size_t end = 0;

    for (size_t at = fields_skip(text, 0, true); at < text.n;
         at = fields_skip(text, end, true))
        end = fields_skip(text, at, false);
    text.n = end;
    return text;
}
