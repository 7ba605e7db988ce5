/* opus_readme.c - looks for facts in the lines of a README.md.
 *
 * A file may describe several releases of a model. Facts in which they differ
 * are left out. Older packages name the languages only in the address:
 * ".../OPUS-MT-models/de-en/opus-2020-02-26.zip". */
#include "convert/opus_readme.h"

#include <stdbool.h>
#include <string.h>

#include "base/str.h"

#define CODE_CHARS "abcdefghijklmnopqrstuvwxyz" \
                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* A fact that was found in one or several lines. */
struct readme_fact {
    struct str value;
    bool found, differs;
};

static void note_value(struct readme_fact *f, struct str value)
{
    if (f->found && !str_eq(f->value, value)) f->differs = true;
    f->value = value;
    f->found = true;
}

/* Note the rest of a line "* key: value". */
static void note_line(struct readme_fact *f, struct str line, const char *key)
{
    size_t n = strlen(key);

    if (!line.n || (line.p[0] != '*' && line.p[0] != '-')) return;
    line = str_trim((struct str){ line.p + 1, line.n - 1 });
    if (line.n > n && !memcmp(line.p, key, n) && line.p[n] == ':')
        note_value(f, str_trim((struct str){ line.p + n + 1, line.n - n - 1 }));
}

static bool fact_copy(const struct readme_fact *f, struct str part, char *out,
                      size_t size)
{
    if (!f->found || f->differs || !part.n || part.n >= size) return false;
    for (size_t i = 0; i < part.n; i++)
        if ((unsigned char)part.p[i] <= ' ' || part.p[i] == 0x7f) return false;
    memcpy(out, part.p, part.n);
    out[part.n] = 0;
    return true;
}

/* A single code, not a list. */
static void copy_code(const struct readme_fact *f, struct str part, char *out,
                      size_t size)
{
    if (fact_copy(f, part, out, size) && out[strspn(out, CODE_CHARS)])
        out[0] = 0;
}

/* The URL in "[name](URL)". */
static struct str link_target(struct str s)
{
    const char *open = s.n ? memchr(s.p, '(', s.n) : NULL;
    struct str url = { open ? open + 1 : s.p, 0 };
    const char *close;

    if (!open) return url;
    close = memchr(url.p, ')', (size_t)(s.p + s.n - url.p));
    if (close) url.n = (size_t)(close - url.p);
    return url;
}

/* The folder "de-en" of an address, as two codes. */
static void pair_of_address(struct opus_readme *r, const struct readme_fact *f,
                            struct str url)
{
    const char *end = url.n ? memrchr(url.p, '/', url.n) : NULL, *begin, *dash;

    if (!end || !(begin = memrchr(url.p, '/', (size_t)(end - url.p)))) return;
    begin++;
    dash = memchr(begin, '-', (size_t)(end - begin));
    if (!dash) return;
    copy_code(f, (struct str){ begin, (size_t)(dash - begin) }, r->source,
              sizeof r->source);
    copy_code(f, (struct str){ dash + 1, (size_t)(end - dash - 1) }, r->target,
              sizeof r->target);
    if (!*r->source || !*r->target) *r->source = *r->target = 0;
}

void opus_readme_read(struct opus_readme *r, const char *text, size_t size)
{
    struct readme_fact source = { 0 }, target = { 0 }, download = { 0 };
    struct str url;

    memset(r, 0, sizeof *r);
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        struct str line = { text + at, end ? (size_t)(end - text) - at
                                           : size - at };

        note_line(&source, line, "source language(s)");
        note_line(&target, line, "target language(s)");
        note_line(&download, line, "download");
        at += line.n + 1;
    }
    url = link_target(download.value);
    fact_copy(&download, url, r->origin, sizeof r->origin);
    copy_code(&source, source.value, r->source, sizeof r->source);
    copy_code(&target, target.value, r->target, sizeof r->target);
    if (!source.found && !target.found) pair_of_address(r, &download, url);
}
