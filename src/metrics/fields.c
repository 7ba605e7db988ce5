/* fields.c - white space, and what lies between it. */
#include "metrics/fields.h"

#include <stdlib.h>

#include "base/mem.h"
#include "text/utf8.h"

bool fields_is_space(uint32_t cp)
{
    if (cp < 0x80) return cp == ' ' || (cp >= 0x09 && cp <= 0x0D)
                          || (cp >= 0x1C && cp <= 0x1F);
    return cp == 0x85 || cp == 0xA0 || cp == 0x1680
           || (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029
           || cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

/* The first place from `at` on that is white space, or is not. */
static size_t skip(struct str text, size_t at, bool space)
{
    int len;

    while (at < text.n
           && fields_is_space(utf8_next(text.p + at, text.n - at, &len))
              == space)
        at += (size_t)len;
    return at;
}

bool fields_split(struct fields *f, struct str text)
{
    size_t at = skip(text, 0, true);

    f->n = 0;
    while (at < text.n) {
        size_t end = skip(text, at, false);

        if (!mem_grow(&f->at, &f->cap, f->n + 1, sizeof *f->at)) return false;
        f->at[f->n++] = (struct str){ text.p + at, end - at };
        at = skip(text, end, true);
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

    for (size_t at = skip(text, 0, true); at < text.n;
         at = skip(text, end, true))
        end = skip(text, at, false);
    text.n = end;
    return text;
}
